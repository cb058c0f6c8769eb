/** What moves between nodes, and what happened to it just now. */
import { type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import { OUTCOMES, type Marks } from "../model/marks";
import type { Recording } from "../model/recording.svelte";
import type { Said } from "./labels";
import { FEW, MANY, type Moment, type Placed } from "./place";

const REFUSED = OUTCOMES.indexOf("refused");
const DELIVERED = OUTCOMES.indexOf("delivered");
const STORED = OUTCOMES.indexOf("stored");
/** Transfers that are drawn at most. */
const MOST_MOVING = 5000;

/** Transfers: a dot where it takes as long as sending lasts, a streak where light has far to go. Returns how many are in flight. */
export function moving(pen: Pen, run: Recording, at: Placed, moment: Moment, colours: Palette): Said[] {
  const { transfers } = run;
  const flows = new Map<number, { from: number; to: number; count: number; far: boolean }>();
  const dots = new Map<string, number[]>();
  const streaks = new Map<string, { from: number; to: number; colour: string; spans: [number, number][] }>();
  let drawn = 0;
  transfers.at(moment.t, (id) => {
    if (drawn++ > MOST_MOVING) return;
    const [from, to] = [transfers.from.get(id), transfers.to.get(id)];
    const [start, sent, end] = [transfers.start.get(id), transfers.sent.get(id), transfers.end.get(id)];
    const outcome = transfers.outcome.get(id);
    const item = transfers.item.get(id);
    const followed = run.bundles !== undefined && item === moment.bundle;
    const colour = followed ? colours.text : outcome === REFUSED ? colours.refused : outcome === DELIVERED || outcome === STORED || outcome === 0 ? (transfers.what.get(id) === 1 ? colours.waiting : colours.carry) : colours.overflow;
    const whole = Number.isFinite(end) ? end - start : (sent === sent ? sent - start : 1) * 2;
    const light = sent === sent && Number.isFinite(end) ? end - sent : 0;
    const far = light > whole / 2 && light > 0.2;
    // Both directions keep to their right.
    const [dx, dy] = [at.x[to]! - at.x[from]!, at.y[to]! - at.y[from]!];
    const length = Math.hypot(dx, dy) || 1;
    const [ox, oy] = [(-dy / length) * 3, (dx / length) * 3];
    const point = (part: number) => [at.x[from]! + dx * between(part, at.radius, length) + ox, at.y[from]! + dy * between(part, at.radius, length) + oy] as const;
    const clamp = (part: number) => Math.min(1, Math.max(0, part));
    const flow = flows.get(from * 16_384 + to) ?? { from, to, count: 0, far: false };
    flow.count += 1;
    flow.far ||= far;
    flows.set(from * 16_384 + to, flow);
    if (far) {
      const [head, tail] = [clamp((moment.t - start) / light), clamp((moment.t - sent) / light)];
      const name = `${from} ${to} ${colour}`;
      const streak = streaks.get(name) ?? { from, to, colour, spans: [] };
      streak.spans.push([tail, Math.max(head, tail + 0.004)]);
      streaks.set(name, streak);
    } else {
      const list = dots.get(colour) ?? [];
      list.push(...point(clamp((moment.t - start) / Math.max(1e-9, whole))), followed ? 6 : 3.5);
      dots.set(colour, list);
    }
  });
  const small = run.names.length > MANY;
  for (const { from, to, colour, spans } of streaks.values()) {
    const [dx, dy] = [at.x[to]! - at.x[from]!, at.y[to]! - at.y[from]!];
    const length = Math.hypot(dx, dy) || 1;
    pen.strokeStyle = colour;
    pen.lineWidth = colour === colours.text ? 7 : 5;
    pen.beginPath();
    for (const span of merged(spans)) {
      const [tail, head] = span.map((part) => between(part, at.radius, length)) as [number, number];
      pen.moveTo(at.x[from]! + dx * tail - (dy / length) * 3, at.y[from]! + dy * tail + (dx / length) * 3);
      pen.lineTo(at.x[from]! + dx * head - (dy / length) * 3, at.y[from]! + dy * head + (dx / length) * 3);
    }
    pen.stroke();
  }
  for (const [colour, list] of dots) {
    pen.fillStyle = colour;
    pen.beginPath();
    for (let n = 0; n < list.length; n += 3) {
      const size = small ? 1.5 : list[n + 2]!;
      pen.moveTo(list[n]! + size, list[n + 1]!);
      pen.arc(list[n]!, list[n + 1]!, size, 0, 2 * Math.PI);
    }
    pen.fill();
  }
  return [...flows.values()].filter(({ far, count }) => far && count > 1).map(({ from, to, count }) => {
    // Beside the line, so that it hides nothing of what moves.
    const [dx, dy] = [at.x[to]! - at.x[from]!, at.y[to]! - at.y[from]!];
    const away = (dx < 0 ? -16 : 16) / (Math.hypot(dx, dy) || 1);
    const beside = (part: number, side: number): [number, number] => [at.x[from]! + dx * part + side * dy * away * 1.6, at.y[from]! + dy * part - side * dx * away];
    return { text: `${count.toLocaleString("en")} in flight`, places: [beside(0.5, 1), beside(0.5, -1), beside(0.35, 1), beside(0.65, 1)], colour: colours.carry };
  });
}

/** A part of the way from the edge of one node to that of the other, as a part of that between their centres. */
function between(part: number, radius: number, length: number): number {
  const edge = Math.min(0.45, radius / length);
  return edge + part * (1 - 2 * edge);
}

/** Bundles that follow each other closely are one streak. */
function merged(spans: [number, number][]): [number, number][] {
  const list: [number, number][] = [];
  for (const [tail, head] of spans.sort((a, b) => a[0] - b[0])) {
    const last = list.at(-1);
    if (last && tail <= last[1] + 0.002) last[1] = Math.max(last[1], head);
    else list.push([tail, head]);
  }
  return list;
}

/** What happened just now: rings that grow. Returns their counts. */
export function flashes(pen: Pen, run: Recording, at: Placed, moment: Moment, colours: Palette): Said[] {
  const said: Said[] = [];
  const kinds: [Marks, string, string, number][] = [[run.marks.dropped, colours.overflow, "−", -1], [run.marks.refused, colours.refused, "×", 0], [run.marks.delivered, colours.delivered, "+", 1]];
  for (const [marks, colour, sign, side] of kinds) {
    const counts = new Map<number, { count: number; last: number }>();
    const [from, to] = marks.span(moment.t - moment.stay, moment.t);
    for (let mark = Math.max(from, to - 20_000); mark < to; mark++) {
      const node = marks.node.get(mark);
      const there = counts.get(node) ?? { count: 0, last: 0 };
      counts.set(node, { count: there.count + 1, last: marks.time.get(mark) });
    }
    for (const [node, { count, last }] of counts) {
      const age = (moment.t - last) / moment.stay;
      pen.globalAlpha = 1 - 0.75 * age;
      pen.strokeStyle = colour;
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.arc(at.x[node]!, at.y[node]!, at.radius + 3 + 7 * age + (side + 1) * 1.5, 0, 2 * Math.PI);
      pen.stroke();
      pen.globalAlpha = 1;
      const [across, up] = [(side === -1 ? -1 : 1) * (at.radius + 18), side === 0 ? 8 : 2 - at.radius];
      const places = [[across, up], [across, -up], [across, 0], [-across, up], [-across, -up], [0, -at.radius - 14]].map(([dx, dy]): [number, number] => [at.x[node]! + dx!, at.y[node]! + dy!]);
      if (run.names.length <= FEW) said.push({ text: `${sign}${count}`, places, colour });
    }
  }
  return said;
}

/** Who has a copy of the bundle that is followed. */
export function holders(pen: Pen, run: Recording, at: Placed, moment: Moment, colours: Palette) {
  if (!run.bundles || moment.bundle === undefined) return;
  const { copies } = run.bundles;
  pen.strokeStyle = colours.text;
  pen.lineWidth = 2;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  copies.at(moment.t, (id) => {
    if (copies.bundle.get(id) !== moment.bundle) return;
    const node = copies.node.get(id);
    pen.moveTo(at.x[node]! + at.radius + 5, at.y[node]!);
    pen.arc(at.x[node]!, at.y[node]!, at.radius + 5, 0, 2 * Math.PI);
  });
  pen.stroke();
  pen.setLineDash([]);
}

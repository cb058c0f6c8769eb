/** The scene at a time: nodes with their buffers, contacts, what moves along them, what was lost just now. */
import { fill, mix, palette, type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import { FONT, fitted, SMALL } from "../draw/time";
import { bytes, span, words } from "../draw/words";
import { OUTCOMES, type Marks } from "../model/marks";
import type { Recording } from "../model/recording.svelte";
import type { Layout } from "./layout";

export interface Moment { t: number; /** Seconds of the run that marks stay. */ stay: number; node: number | undefined; bundle: number | undefined; zoom: number; dx: number; dy: number }
export interface Placed { x: Float64Array; y: Float64Array; radius: number }

const FEW = 60;
const MANY = 300;
const REFUSED = OUTCOMES.indexOf("refused");
const DELIVERED = OUTCOMES.indexOf("delivered");
const STORED = OUTCOMES.indexOf("stored");
/** Transfers that are drawn at most. */
const MOST_MOVING = 5000;

/** Pixels of all nodes. */
export function placed(run: Recording, layout: Layout, moment: Moment, width: number, height: number): Placed {
  const count = run.names.length;
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  // In a plane nodes may stand anywhere: the more there are, the smaller.
  const most = layout.kind === "plane" ? Math.sqrt((width * height) / Math.max(1, count)) / 9 : Math.min(width / 26, height / 15);
  const radius = count > MANY ? 3 : Math.min(28, Math.max(count > FEW ? 5 : 7, most));
  if (layout.kind === "plane" && layout.box) {
    const [left, bottom, right, top] = layout.box;
    const pad = radius + 14;
    const scale = Math.min((width - 2 * pad) / Math.max(1, right - left), (height - 2 * pad) / Math.max(1, top - bottom)) * moment.zoom;
    for (let node = 0; node < count; node++) {
      const place = run.place(node, moment.t) ?? [left, bottom];
      x[node] = width / 2 + (place[0] - (left + right) / 2) * scale + moment.dx;
      y[node] = height / 2 - (place[1] - (bottom + top) / 2) * scale + moment.dy;
    }
  } else {
    // A drawing that is much wider than high would say less: it stays in the middle.
    const room = Math.min(width, height * 1.9);
    const [padX, padY] = [Math.min(64, room * 0.12), layout.kind === "light" ? 24 : 26];
    for (let node = 0; node < count; node++) {
      x[node] = (padX + layout.x[node]! * (room - 2 * padX) - room / 2) * moment.zoom + width / 2 + moment.dx;
      y[node] = (padY + layout.y[node]! * (height - 2 * padY - 30) - height / 2) * moment.zoom + height / 2 + moment.dy;
    }
  }
  return { x, y, radius };
}

export function paint(pen: Pen, run: Recording, layout: Layout, moment: Moment, width: number, height: number): Placed {
  const at = placed(run, layout, moment, width, height);
  const colours = palette();
  pen.lineCap = "round";
  if (layout.kind === "light") backdrop(pen, layout, at, height, colours);
  if (layout.kind === "plane") ruler(pen, layout, moment, width, height, colours);
  contacts(pen, run, layout, at, moment, colours);
  moving(pen, run, at, moment, colours);
  if (run.names.length > MANY) crowd(pen, run, at, moment);
  else run.names.forEach((_, node) => one(pen, run, at, moment, node, width, layout.above[node] === 1, layout.kind === "plane", colours));
  flashes(pen, run, at, moment, colours);
  holders(pen, run, at, moment, colours);
  return at;
}

/** Bodies as discs that glow, and how long light takes between them. */
function backdrop(pen: Pen, layout: Layout, at: Placed, height: number, colours: Palette) {
  const centre = layout.bodies.map((body) => {
    const xs = body.nodes.map((node) => at.x[node]!);
    const ys = body.nodes.map((node) => at.y[node]!);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    return { body, x: (left + right) / 2, y: (Math.min(...ys) + Math.max(...ys)) / 2, left, right, radius: Math.max((right - left) / 2 + 52, ...xs.map((x, node) => Math.hypot(x - (left + right) / 2, ys[node]! - (Math.min(...ys) + Math.max(...ys)) / 2) + 10)) };
  });
  centre.forEach(({ x, y, radius }) => {
    for (let ring = 6; ring >= 0; ring--) {
      pen.globalAlpha = ring === 0 ? 0.9 : 0.16;
      pen.fillStyle = colours.glow;
      pen.beginPath();
      pen.arc(x, y, Math.min(radius, height * 0.35) * (1 + ring * 0.06), 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  });
  const y = height - 14;
  pen.font = "600 15px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colours.faint;
  const ends = centre.map(({ body, x, left, right }) => {
    pen.fillText(body.name, x, y);
    const half = body.name ? pen.measureText(body.name).width / 2 + 10 : (right - left) / 2 + 24;
    return [x - half, x + half] as const;
  });
  for (let next = 1; next < centre.length; next++) {
    const [one, other] = [centre[next - 1]!, centre[next]!];
    const delay = Math.max(0, ...layout.links.filter(({ a, b }) => (one.body.nodes.includes(a) && other.body.nodes.includes(b)) || (one.body.nodes.includes(b) && other.body.nodes.includes(a))).map((link) => link.delay));
    const [from, to] = [ends[next - 1]![1], ends[next]![0]];
    if (delay <= 0 || to - from < 60) continue;
    pen.strokeStyle = colours.faint;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [x, turn] of [[from, 1], [to, -1]] as const) { pen.moveTo(x + 5 * turn, y - 4); pen.lineTo(x, y); pen.lineTo(x + 5 * turn, y + 4); }
    pen.moveTo(from, y);
    pen.lineTo(to, y);
    pen.stroke();
    pen.font = SMALL;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = colours.faint;
    pen.fillText(fitted(pen, `light takes ${span(delay)}`, to - from), (from + to) / 2, y - 11);
  }
}

function ruler(pen: Pen, layout: Layout, moment: Moment, width: number, height: number, colours: Palette) {
  const [left, bottom, right, top] = layout.box!;
  const scale = Math.min((width - 40) / Math.max(1, right - left), (height - 40) / Math.max(1, top - bottom)) * moment.zoom;
  const rough = 90 / scale;
  const power = 10 ** Math.floor(Math.log10(rough));
  const metres = power * (rough / power >= 5 ? 5 : rough / power >= 2 ? 2 : 1);
  pen.strokeStyle = pen.fillStyle = colours.faint;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(12, height - 10);
  pen.lineTo(12 + metres * scale, height - 10);
  pen.stroke();
  pen.font = SMALL;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillText(metres >= 1000 ? `${metres / 1000} km` : `${metres} m`, 12, height - 15);
}

function contacts(pen: Pen, run: Recording, layout: Layout, at: Placed, moment: Moment, colours: Palette) {
  pen.lineWidth = 1;
  pen.strokeStyle = colours.contact;
  if (layout.kind !== "plane" && layout.links.length < 400) {
    pen.globalAlpha = 0.55;
    pen.setLineDash([2, 5]);
    pen.beginPath();
    for (const { a, b } of layout.links) { pen.moveTo(at.x[a]!, at.y[a]!); pen.lineTo(at.x[b]!, at.y[b]!); }
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = mix(colours.contact, colours.faint, 0.35);
  pen.lineWidth = run.names.length > MANY ? 0.7 : 2;
  pen.beginPath();
  run.contacts.at(moment.t, (id) => {
    const [a, b] = [run.contacts.a.get(id), run.contacts.b.get(id)];
    pen.moveTo(at.x[a]!, at.y[a]!);
    pen.lineTo(at.x[b]!, at.y[b]!);
  });
  pen.stroke();
}

/** Transfers: a dot where it takes as long as sending lasts, a streak where light has far to go. */
function moving(pen: Pen, run: Recording, at: Placed, moment: Moment, colours: Palette) {
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
  for (const { from, to, count, far } of flows.values()) {
    if (!far || count < 2) continue;
    // Above the line, so that it hides nothing of what moves.
    const [dx, dy] = [at.x[to]! - at.x[from]!, at.y[to]! - at.y[from]!];
    const away = (dx < 0 ? -16 : 16) / (Math.hypot(dx, dy) || 1);
    label(pen, `${count.toLocaleString("en")} in flight`, (at.x[from]! + at.x[to]!) / 2 + dy * away * 1.6, (at.y[from]! + at.y[to]!) / 2 - dx * away, colours.carry, colours);
  }
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

function label(pen: Pen, text: string, x: number, y: number, colour: string, colours: Palette) {
  pen.font = "600 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const wide = pen.measureText(text).width + 8;
  pen.fillStyle = colours.panel;
  pen.globalAlpha = 0.85;
  pen.fillRect(x - wide / 2, y - 8, wide, 16);
  pen.globalAlpha = 1;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

const share = (run: Recording, node: number, t: number) => {
  const used = run.used[node]!.at(t);
  const most = run.capacity[node] || 0;
  return most > 0 ? used / most : used > 0 ? Math.min(1, Math.log10(1 + used) / 7) : 0;
};

/** A node as a vessel: filled from below. */
function one(pen: Pen, run: Recording, at: Placed, moment: Moment, node: number, width: number, above: boolean, plane: boolean, colours: Palette) {
  const [x, y, radius] = [at.x[node]!, at.y[node]!, at.radius];
  const part = Math.min(1, share(run, node, moment.t));
  pen.fillStyle = colours.panel;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
  if (part > 0) {
    // The part of the disc below the level.
    const level = Math.asin(Math.min(1, Math.max(-1, 1 - 2 * Math.max(0.06, part))));
    pen.fillStyle = fill(part);
    pen.beginPath();
    pen.arc(x, y, radius, level, Math.PI - level);
    pen.closePath();
    pen.fill();
  }
  pen.strokeStyle = node === moment.node ? colours.accent : part >= 0.95 ? colours.overflow : colours.text;
  pen.lineWidth = node === moment.node ? 4 : 1.5;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
  if (run.names.length > FEW || (plane && run.names.length > 24 && node !== moment.node)) return;
  pen.font = run.names.length > 16 ? SMALL : FONT;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.fillStyle = colours.text;
  const room = run.names.length > 16 ? 70 : Math.min(150, width / 4.4);
  const edge = (text: string) => Math.min(Math.max(x, pen.measureText(text).width / 2 + 2), width - pen.measureText(text).width / 2 - 2);
  const lines = wrapped(pen, words(run.names[node]!), room);
  const used = run.used[node]!.at(moment.t);
  const rows = lines.length + (used > 0 && run.names.length <= 16 ? 1 : 0);
  const top = above ? y - radius - 6 - rows * 13 : y + radius + 5;
  const widest = Math.max(...lines.map((line) => pen.measureText(line).width));
  pen.fillStyle = colours.panel;
  pen.globalAlpha = 0.4;
  pen.fillRect(Math.min(Math.max(x, widest / 2 + 2), width - widest / 2 - 2) - widest / 2 - 2, top - 1, widest + 4, rows * 13 + 2);
  pen.globalAlpha = 1;
  pen.fillStyle = colours.text;
  lines.forEach((line, row) => pen.fillText(line, edge(line), top + row * 13));
  if (used <= 0 || run.names.length > 16) return;
  pen.font = SMALL;
  pen.fillStyle = part >= 0.95 && run.capacity[node]! > 0 ? colours.overflow : colours.faint;
  const text = run.capacity[node]! > 0 ? `${bytes(used)}, ${Math.round(part * 100)} % full` : bytes(used);
  pen.fillText(text, edge(text), top + lines.length * 13);
}

/** In at most three lines. */
function wrapped(pen: Pen, text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && (lines.length === 3 || pen.measureText(`${last} ${word}`).width <= room)) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => fitted(pen, line, room));
}

/** Thousands of nodes: squares, those of a colour at once. */
function crowd(pen: Pen, run: Recording, at: Placed, moment: Moment) {
  const steps = 12;
  const groups = Array.from({ length: steps + 1 }, () => [] as number[]);
  for (let node = 0; node < run.names.length; node++) groups[Math.min(steps, Math.ceil(share(run, node, moment.t) * steps))]!.push(node);
  const size = at.radius;
  groups.forEach((nodes, group) => {
    if (nodes.length === 0) return;
    pen.fillStyle = group === 0 ? palette().waiting : fill(group / steps);
    for (const node of nodes) pen.fillRect(at.x[node]! - size / 2, at.y[node]! - size / 2, size, size);
  });
  if (moment.node === undefined || moment.node >= run.names.length) return;
  pen.strokeStyle = palette().accent;
  pen.lineWidth = 3;
  pen.strokeRect(at.x[moment.node]! - 6, at.y[moment.node]! - 6, 12, 12);
}

/** What happened just now: rings that grow, with counts. */
function flashes(pen: Pen, run: Recording, at: Placed, moment: Moment, colours: Palette) {
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
      if (run.names.length <= FEW) label(pen, `${sign}${count}`, at.x[node]! + (side === -1 ? -1 : 1) * (at.radius + 16), at.y[node]! + (side === 0 ? 8 : -at.radius + 2), colour, colours);
    }
  }
}

/** Who has a copy of the bundle that is followed. */
function holders(pen: Pen, run: Recording, at: Placed, moment: Moment, colours: Palette) {
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

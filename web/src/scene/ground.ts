/** What lies under the nodes: streets, orbits and a scale; bodies and the light times between them. */
import { mix, type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import { fitted, SMALL } from "../draw/time";
import { span } from "../draw/words";
import type { Recording } from "../model/recording.svelte";
import type { Layout } from "./layout";
import type { Labels, Said } from "./labels";
import { SHORTEST, stepOf } from "./light";
import { across, FEW, Plane, type Moment, type Nearness, type Placed } from "./place";
import type { Streets } from "./streets";

const LIGHT_M_PER_S = 299_792_458;
/** Metres from which on a plane is space: paths are orbits there. */
const SPACE = 1e6;
/** Metres that a street is wide, between these pixels. */
const STREET = 9;
const THINNEST = 1;
const WIDEST = 5;
/** Pieces of one stroke: many more at once take longer. */
const STROKE = 1000;
/** Points of an orbit that are drawn. */
const ORBIT = 400;
/** Where along a link its light time may stand. */
const ALONG = [0.5, 0.4, 0.6, 0.3, 0.7];

/** A map, as far as it is seen. */
export function streets(pen: Pen, map: Streets, layout: Layout, view: Nearness, width: number, height: number, colours: Palette) {
  if (layout.kind !== "plane") return;
  const plane = new Plane(layout, view, width, height);
  pen.lineWidth = Math.min(WIDEST, Math.max(THINNEST, STREET * plane.scale));
  // The thinner a line is, the fainter it looks.
  pen.strokeStyle = mix(colours.street, colours.faint, 0.3 / pen.lineWidth ** 2);
  pen.lineCap = "round";
  pen.beginPath();
  let [count, lastX, lastY] = [0, NaN, NaN];
  map.visit(plane.seen(width, height, WIDEST), 1 / plane.scale, (x, y, toX, toY) => {
    if (++count % STROKE === 0) { pen.stroke(); pen.beginPath(); lastX = NaN; }
    if (x !== lastX || y !== lastY) pen.moveTo(plane.x(x), plane.y(y));
    pen.lineTo(plane.x(toX), plane.y(toY));
    [lastX, lastY] = [toX, toY];
  });
  pen.stroke();
  if (map.isOsm) credit(pen, width, height, colours);
}

/** What the licence of OpenStreetMap asks for. */
function credit(pen: Pen, width: number, height: number, colours: Palette) {
  pen.font = SMALL;
  pen.textAlign = "right";
  pen.textBaseline = "alphabetic";
  pen.fillStyle = colours.faint;
  pen.fillText("© OpenStreetMap contributors", width - 6, height - 5);
}

/** A round length, in metres or, in space, in light seconds. */
function roundLength(rough: number): [number, string] {
  const unit = rough >= LIGHT_M_PER_S ? LIGHT_M_PER_S : rough >= 1000 ? 1000 : 1;
  const power = 10 ** Math.floor(Math.log10(rough / unit));
  const part = rough / unit / power;
  const number = Number((power * (part >= 5 ? 5 : part >= 2 ? 2 : 1)).toPrecision(1));
  return [number * unit, `${number.toLocaleString("en", { maximumFractionDigits: 6 })} ${unit === 1 ? "m" : unit === 1000 ? "km" : "light s"}`];
}

/** How long a way is in a plane. */
export function ruler(pen: Pen, layout: Layout, view: Nearness, labels: Labels, colours: Palette) {
  const { width, height } = labels;
  const { scale } = new Plane(layout, view, width, height);
  const [metres, text] = roundLength(Math.max(1e-3, Math.min(110, width / 4) / scale));
  const [left, y] = [12, height - 9];
  pen.strokeStyle = pen.fillStyle = colours.faint;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(left, y - 4);
  pen.lineTo(left, y);
  pen.lineTo(left + metres * scale, y);
  pen.lineTo(left + metres * scale, y - 4);
  pen.stroke();
  pen.font = SMALL;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillText(text, left + 4, y - 5);
  labels.reserve([left, y - 18, left + Math.max(metres * scale, pen.measureText(text).width + 8), height]);
}

/** The paths of few nodes in space, and that of the node that is followed around the time. */
export function paths(pen: Pen, run: Recording, layout: Layout, moment: Moment, width: number, height: number, colours: Palette) {
  const plane = new Plane(layout, moment, width, height);
  const [left, bottom, right, top] = layout.box!;
  const isSpace = Math.max(right - left, top - bottom) >= SPACE && run.names.length <= FEW;
  pen.lineWidth = 1.5;
  const near = run.duration / 40;
  run.paths.forEach((path, node) => {
    const isFollowed = node === moment.node;
    if (!path || !(isSpace || isFollowed)) return;
    pen.strokeStyle = isFollowed ? mix(colours.panel, colours.accent, 0.6) : colours.contact;
    pen.beginPath();
    const stride = isSpace ? Math.max(1, Math.floor(path.time.length / ORBIT)) : 1;
    let begun = false;
    for (let at = 0; at < path.time.length; at += stride) {
      const [x, y] = [path.x.get(at), path.y.get(at)];
      if (!Number.isFinite(x + y) || (!isSpace && Math.abs(path.time.get(at) - moment.t) > near)) { begun = false; continue; }
      if (begun) pen.lineTo(plane.x(x), plane.y(y));
      else pen.moveTo(plane.x(x), plane.y(y));
      begun = true;
    }
    pen.stroke();
  });
}

/** Bodies as discs that glow, and between them a scale of light time. */
export function backdrop(pen: Pen, layout: Layout, moment: Moment, at: Placed, labels: Labels, colours: Palette) {
  const { width, height } = labels;
  const discs = layout.bodies.map(({ nodes, name, high }) => {
    const [xs, ys] = [nodes.map((node) => at.x[node]!), nodes.map((node) => at.y[node]!)];
    const [x, y] = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
    const radius = nodes.length === 1 ? at.radius + 18 : Math.max((Math.max(...xs) - Math.min(...xs)) / 2 + 52, ...xs.map((one, node) => Math.hypot(one - x, ys[node]! - y) + 10));
    return { x, y, name, radius: Math.min(radius, height * high * 0.38 * moment.zoom) };
  });
  pen.fillStyle = colours.glow;
  for (const { x, y, radius } of discs) {
    for (let ring = 6; ring >= 0; ring--) {
      pen.globalAlpha = ring === 0 ? 0.9 : 0.16;
      pen.beginPath();
      pen.arc(x, y, radius * (1 + ring * 0.06), 0, 2 * Math.PI);
      pen.fill();
    }
  }
  pen.globalAlpha = 1;
  pen.font = "600 15px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colours.faint;
  const isScaled = layout.bodies.every((body) => body.high === 1);
  const place = across(layout, moment, width, height);
  for (const { x, name } of discs) {
    if (!name) continue;
    const half = pen.measureText(name).width / 2;
    let middle = Math.min(Math.max(x, half + 2), width - half - 2);
    for (const { x: from, toX } of isScaled ? layout.spans : []) {
      // Beside the scale, not on it.
      const [left, right] = [place(from) - half - 12, place(toX) + half + 12];
      if (middle > left && middle < right) middle = middle < (left + right) / 2 ? left : right;
    }
    if (middle < half || middle > width - half) continue;
    pen.fillText(name, middle, height - 22);
    labels.reserve([middle - half - 4, height - 31, middle + half + 4, height - 12]);
  }
  // One after the other they have a scale below; else light times stand at the links.
  if (isScaled) layout.spans.forEach((one) => scaleOfLight(pen, layout, moment, one, labels, colours));
}

/** Light times of which a scale has marks, in seconds. */
const MARKS: [number, string][] = [[0.0001, ""], [0.001, "1 ms"], [0.01, ""], [0.1, ""], [1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [36_000, "10 h"]];

function scaleOfLight(pen: Pen, layout: Layout, moment: Moment, { x, toX, delay }: Layout["spans"][number], labels: Labels, colours: Palette) {
  const { width, height } = labels;
  const place = across(layout, moment, width, height);
  const [from, to, y] = [place(x), place(toX), height - 22];
  if (to - from < 60) return;
  labels.reserve([from - 4, y - 16, to + 4, height]);
  pen.strokeStyle = pen.fillStyle = colours.faint;
  pen.lineWidth = 1;
  pen.font = SMALL;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(to, y);
  let last = from;
  for (const [seconds, text] of MARKS) {
    const mark = from + (stepOf(seconds) / stepOf(delay)) * (to - from);
    if (mark > to) continue;
    pen.moveTo(mark, y);
    pen.lineTo(mark, y + (text ? 5 : 3));
    const half = pen.measureText(text).width / 2 + 4;
    if (!text || mark - half < last || mark + half > to + 12) continue;
    pen.fillText(text, mark, y + 13);
    last = mark + half;
  }
  for (const end of [from, to]) { pen.moveTo(end, y - 5); pen.lineTo(end, y + 5); }
  pen.stroke();
  const texts = [`light takes ${span(delay)}`, span(delay)];
  pen.fillText(texts.find((text) => pen.measureText(text).width <= to - from) ?? fitted(pen, texts[1]!, to - from), (from + to) / 2, y - 9);
}

/** One-way light times at the links where there is room, as they are at the time. */
export function lightTimes(run: Recording, layout: Layout, at: Placed, moment: Moment, colours: Palette): Said[] {
  if (layout.links.length > FEW) return [];
  const now = new Map<number, number>();
  run.contacts.at(moment.t, (id) => {
    const [a, b] = [run.contacts.a.get(id), run.contacts.b.get(id)];
    now.set(Math.min(a, b) * 16_384 + Math.max(a, b), Math.max(run.contacts.delay.get(id), run.contacts.delayBack.get(id)));
  });
  const body = new Map(layout.bodies.flatMap(({ nodes }, number) => nodes.map((node) => [node, number] as const)));
  const isScaled = layout.bodies.every(({ high }) => high === 1);
  const pairs = new Set<string>();
  const said: Said[] = [];
  for (const { a, b, delay } of layout.links) {
    const [one, other] = [body.get(a)!, body.get(b)!];
    // Between bodies, one for all links.
    const pair = `${Math.min(one, other)} ${Math.max(one, other)}`;
    if (one !== other && (isScaled || pairs.has(pair))) continue;
    const seconds = now.get(a * 16_384 + b) ?? delay;
    const [dx, dy] = [at.x[b]! - at.x[a]!, at.y[b]! - at.y[a]!];
    if (seconds < SHORTEST || Math.hypot(dx, dy) < 2 * at.radius + 52) continue;
    if (one !== other) pairs.add(pair);
    said.push({ text: span(seconds), places: ALONG.map((part) => [at.x[a]! + dx * part, at.y[a]! + dy * part]), colour: colours.faint });
  }
  return said;
}

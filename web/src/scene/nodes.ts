/** Nodes with their buffers and names. */
import { fill, palette, type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import { FONT, fitted, SMALL } from "../draw/time";
import { bytes, words } from "../draw/words";
import type { Recording } from "../model/recording.svelte";
import type { Labels } from "./labels";
import type { Layout } from "./layout";
import { FEW, type Moment, type Placed } from "./place";
import type { Box } from "./streets";

/** Nodes of a plane that have names at most, and pixels of a line of them. */
const CROWD = 24;
const LINE = 13;

const share = (run: Recording, node: number, t: number) => {
  const used = run.used[node]!.at(t);
  const most = run.capacity[node] || 0;
  return most > 0 ? used / most : used > 0 ? Math.min(1, Math.log10(1 + used) / 7) : 0;
};

/** A node as a vessel: filled from below. */
export function one(pen: Pen, run: Recording, at: Placed, moment: Moment, node: number, colours: Palette) {
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
}

/** Names above all nodes, with what buffers hold: where there is no room for both, the name alone; where there is none for that, nothing. */
export function names(run: Recording, layout: Layout, at: Placed, moment: Moment, labels: Labels, colours: Palette) {
  const [count, plane] = [run.names.length, layout.kind === "plane"];
  if (count > FEW) return;
  for (let node = 0; node < count; node++) labels.disc(at.x[node]!, at.y[node]!, at.radius);
  const order = run.names.map((_, node) => node).filter((node) => !plane || count <= CROWD || node === moment.node);
  // The one that is followed first.
  order.sort((a, b) => +(b === moment.node) - +(a === moment.node) || a - b);
  const { pen, width } = labels;
  for (const node of order) {
    pen.font = count > 16 ? SMALL : FONT;
    const lines = wrapped(pen, words(run.names[node]!), count > 16 ? 70 : Math.min(150, Math.max(84, width / 4.4)));
    const used = run.used[node]!.at(moment.t);
    const part = share(run, node, moment.t);
    const holds = used > 0 && count <= 16 ? [run.capacity[node]! > 0 ? `${bytes(used)}, ${Math.round(Math.min(1, part) * 100)} % full` : bytes(used)] : [];
    const [x, y, reach] = [at.x[node]!, at.y[node]!, at.radius + 5];
    const widest = (texts: string[]) => Math.max(...texts.map((text) => pen.measureText(text).width));
    const box = (texts: string[], [middle, top]: [number, number]): Box => [middle - widest(texts) / 2 - 2, top - 1, middle + widest(texts) / 2 + 2, top + texts.length * LINE];
    const places = (texts: string[], discs: boolean): [number, number][] => {
      const [half, high] = [widest(texts) / 2 + 2, texts.length * LINE];
      const middle = Math.min(Math.max(x, half), width - half);
      const [below, above]: [number, number][] = [[middle, y + reach], [middle, y - reach - high]];
      // What moves has its name on one side always.
      if (plane) return [below!];
      const near = layout.above[node] === 1 ? [above!, below!] : [below!, above!];
      return discs ? [...near, [x + reach + half, y - high / 2], [x - reach - half, y - high / 2]] : near;
    };
    let found: { texts: string[]; place: [number, number] } | undefined;
    for (const discs of [true, false]) for (const texts of [[...lines, ...holds], lines]) {
      const place = found ? undefined : places(texts, discs).find((place) => labels.isFree(box(texts, place), discs));
      if (place) found = { texts, place };
    }
    if (!found) continue;
    const { texts, place: [middle, top] } = found;
    const [left, , right] = box(texts, found.place);
    labels.reserve(box(texts, found.place));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.fillStyle = colours.panel;
    pen.globalAlpha = plane ? 0.7 : 0.4;
    pen.fillRect(left, top - 1, right - left, texts.length * LINE + 1);
    pen.globalAlpha = 1;
    texts.forEach((text, row) => {
      const isName = row < lines.length;
      pen.font = isName && count <= 16 ? FONT : SMALL;
      pen.fillStyle = isName ? colours.text : part >= 0.95 && run.capacity[node]! > 0 ? colours.overflow : colours.faint;
      pen.fillText(text, middle, top + row * LINE);
    });
  }
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
export function crowd(pen: Pen, run: Recording, at: Placed, moment: Moment) {
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


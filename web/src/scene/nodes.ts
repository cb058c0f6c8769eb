/** Nodes with their buffers and names. */
import { fill, palette, type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import { FONT, fitted, SMALL } from "../draw/time";
import { bytes, words } from "../draw/words";
import type { Recording } from "../model/recording.svelte";
import { FEW, type Moment, type Placed } from "./place";

const share = (run: Recording, node: number, t: number) => {
  const used = run.used[node]!.at(t);
  const most = run.capacity[node] || 0;
  return most > 0 ? used / most : used > 0 ? Math.min(1, Math.log10(1 + used) / 7) : 0;
};

/** A node as a vessel: filled from below. */
export function one(pen: Pen, run: Recording, at: Placed, moment: Moment, node: number, width: number, above: boolean, plane: boolean, colours: Palette) {
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


/** The scene at a time: nodes with their buffers, contacts, what moves along them, what was lost just now. */
import { mix, palette, type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import type { Recording } from "../model/recording.svelte";
import { backdrop, lightTimes, paths, ruler } from "./ground";
import type { Layout } from "./layout";
import { flashes, holders, moving } from "./moving";
import { crowd, one } from "./nodes";
import { MANY, placed, type Moment, type Placed } from "./place";

export function paint(pen: Pen, run: Recording, layout: Layout, moment: Moment, width: number, height: number): Placed {
  const at = placed(run, layout, moment, width, height);
  const colours = palette();
  pen.lineCap = "round";
  if (layout.kind === "light") backdrop(pen, layout, moment, at, width, height, colours);
  if (layout.kind === "plane") {
    paths(pen, run, layout, moment, width, height, colours);
    ruler(pen, layout, moment, width, height, colours);
  }
  contacts(pen, run, layout, at, moment, colours);
  if (layout.kind === "light") lightTimes(pen, run, layout, at, moment, colours);
  moving(pen, run, at, moment, colours);
  if (run.names.length > MANY) crowd(pen, run, at, moment);
  else run.names.forEach((_, node) => one(pen, run, at, moment, node, width, layout.above[node] === 1, layout.kind === "plane", colours));
  flashes(pen, run, at, moment, colours);
  holders(pen, run, at, moment, colours);
  return at;
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

/** The scene at a time: nodes with their buffers, contacts, what moves along them, what was lost just now. */
import { mix, palette, type Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import type { Recording } from "../model/recording.svelte";
import { backdrop, lightTimes, paths, ruler } from "./ground";
import { Labels } from "./labels";
import type { Layout } from "./layout";
import { flashes, holders, moving } from "./moving";
import { crowd, names, one } from "./nodes";
import { MANY, placed, type Moment, type Placed } from "./place";

/** Pixels that the buttons of the scene take above on the right. */
const BUTTONS = 76;

export function paint(pen: Pen, run: Recording, layout: Layout, moment: Moment, width: number, height: number): Placed {
  const at = placed(run, layout, moment, width, height);
  const colours = palette();
  pen.lineCap = "round";
  const labels = new Labels(pen, width, height);
  labels.reserve([width - BUTTONS, 0, width, BUTTONS / 2]);
  if (layout.kind === "light") backdrop(pen, layout, moment, at, labels, colours);
  if (layout.kind === "plane") {
    paths(pen, run, layout, moment, width, height, colours);
    ruler(pen, layout, moment, labels, colours);
  }
  contacts(pen, run, layout, at, moment, colours);
  const flights = moving(pen, run, at, moment, colours);
  if (run.names.length > MANY) crowd(pen, run, at, moment);
  else run.names.forEach((_, node) => one(pen, run, at, moment, node, colours));
  const counts = flashes(pen, run, at, moment, colours);
  holders(pen, run, at, moment, colours);
  // Above all of it, what matters most first.
  names(run, layout, at, moment, labels, colours);
  if (layout.kind === "light") for (const said of lightTimes(run, layout, at, moment, colours)) labels.say(said, colours);
  for (const said of [...counts, ...flights]) labels.say(said, colours);
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

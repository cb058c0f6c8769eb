/** From places to pixels. */
import type { Recording } from "../model/recording.svelte";
import type { Layout } from "./layout";
import type { Box } from "./streets";

export interface Moment { t: number; /** Seconds of the run that marks stay. */ stay: number; node: number | undefined; bundle: number | undefined; /** The last two in pixels. */ zoom: number; dx: number; dy: number }
export type Nearness = Pick<Moment, "zoom" | "dx" | "dy">;
export interface Placed { x: Float64Array; y: Float64Array; radius: number }

/** Nodes that still have names; and that are still discs. */
export const FEW = 60;
export const MANY = 300;

export function radiusOf(layout: Layout, width: number, height: number): number {
  const count = layout.x.length;
  // In a plane nodes may stand anywhere: the more there are, the smaller.
  const most = layout.kind === "plane" ? Math.sqrt((width * height) / Math.max(1, count)) / 9 : Math.min(width / 26, height / 15);
  return count > MANY ? 3 : Math.min(28, Math.max(count > FEW ? 5 : 7, most));
}

/** A plane in metres on a drawing. */
export class Plane {
  /** Pixels of a metre. */
  readonly scale: number;
  private readonly left: number;
  private readonly top: number;
  private readonly up: number;

  constructor(layout: Layout, view: Nearness, width: number, height: number) {
    const [left, bottom, right, top] = layout.box!;
    const pad = radiusOf(layout, width, height) + 14;
    this.scale = Math.min((width - 2 * pad) / Math.max(1, right - left), (height - 2 * pad) / Math.max(1, top - bottom)) * view.zoom;
    this.up = layout.isYDown ? 1 : -1;
    this.left = width / 2 + view.dx - ((left + right) / 2) * this.scale;
    this.top = height / 2 + view.dy - ((bottom + top) / 2) * this.up * this.scale;
  }
  x(metres: number) {
    return this.left + metres * this.scale;
  }
  y(metres: number) {
    return this.top + metres * this.up * this.scale;
  }
  /** What is seen, with a margin in pixels. */
  seen(width: number, height: number, margin: number): Box {
    const x = (pixel: number) => (pixel - this.left) / this.scale;
    const y = [-margin, height + margin].map((pixel) => ((pixel - this.top) / this.scale) * this.up);
    return [x(-margin), Math.min(...y), x(width + margin), Math.max(...y)];
  }
}

/** Horizontal pixels of a place in a schematic drawing, which is at most 1.9 times as wide as high. */
export function across(layout: Layout, view: Nearness, width: number, height: number) {
  const room = Math.min(width, height * (layout.kind === "light" ? 2.6 : 1.9));
  const pad = Math.min(64, room * 0.12);
  return (part: number) => (pad + part * (room - 2 * pad) - room / 2) * view.zoom + width / 2 + view.dx;
}

/** Pixels of all nodes. */
export function placed(run: Recording, layout: Layout, moment: Moment, width: number, height: number): Placed {
  const count = run.names.length;
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  const radius = radiusOf(layout, width, height);
  if (layout.kind === "plane" && layout.box) {
    const plane = new Plane(layout, moment, width, height);
    for (let node = 0; node < count; node++) {
      const place = run.place(node, moment.t) ?? [layout.box[0], layout.box[1]];
      x[node] = plane.x(place[0]);
      y[node] = plane.y(place[1]);
    }
  } else {
    const at = across(layout, moment, width, height);
    const [top, bottom] = layout.kind === "light" ? [24, 62] : [26, 56];
    for (let node = 0; node < count; node++) {
      x[node] = at(layout.x[node]!);
      y[node] = (top + layout.y[node]! * (height - top - bottom) - height / 2) * moment.zoom + height / 2 + moment.dy;
    }
  }
  return { x, y, radius };
}

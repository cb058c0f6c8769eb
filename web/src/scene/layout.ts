/** Where nodes stand: at their positions, or in a schematic drawing in which a long light time is a long way. */
import type { Recording } from "../model/recording.svelte";
import { light } from "./light";
import type { Box } from "./streets";

/** A planet and what is around it. */
export interface Body { nodes: number[]; name: string; /** The part of the height that it may have. */ high: number }
/** Two bodies, where the nodes stand between which light goes, and the one-way light time in seconds. */
export interface Span { from: number; to: number; x: number; toX: number; delay: number }
export interface Link { a: number; b: number; /** The longest one-way delay in seconds. */ delay: number }
export interface Layout {
  kind: "plane" | "light" | "layers" | "ring";
  /** Of each node, within 0 to 1 both ways. */
  x: Float64Array;
  y: Float64Array;
  /** Of each node, whether its name stands above it: names of columns beside each other keep apart. */
  above: Uint8Array;
  bodies: Body[];
  spans: Span[];
  /** Links that are ever there. */
  links: Link[];
  /** Of a plane: its corners in metres, and whether y grows downwards. */
  box?: Box;
  isYDown?: boolean;
}

/** From this delay on in seconds, light time shapes the drawing. */
export const FAR = 0.5;
const MOST_LAYERED = 60;
const MOST_LINKS = 4000;
/** A map that is wider than the nodes' places by more than this is not shown whole. */
const MAP_WIDER = 3;

export function layoutOf(run: Recording): Layout {
  const count = run.names.length;
  const links = linksOf(run);
  const layout: Layout = { kind: "ring", x: new Float64Array(count), y: new Float64Array(count), above: new Uint8Array(count), bodies: [], spans: [], links };
  const box = boxOf(run);
  if (box) return { ...layout, kind: "plane", box: framed(box, run.streets?.box), isYDown: run.streets?.isYDown ?? false };
  if (count > MOST_LAYERED || links.length === 0 || links.length > 3 * count) ring(layout, count);
  else if (links.some((link) => link.delay >= FAR)) light(run, layout, rootOf(run));
  else layers(layout, rootOf(run));
  return layout;
}

function linksOf(run: Recording): Link[] {
  const { contacts } = run;
  const found = new Map<number, Link>();
  for (let id = 0; id < contacts.length && found.size < MOST_LINKS; id++) {
    const [a, b] = [contacts.a.get(id), contacts.b.get(id)];
    const key = Math.min(a, b) * 16_384 + Math.max(a, b);
    const delay = Math.max(contacts.delay.get(id), contacts.delayBack.get(id));
    const link = found.get(key);
    if (!link) found.set(key, { a: Math.min(a, b), b: Math.max(a, b), delay });
    else link.delay = Math.max(link.delay, delay);
  }
  return [...found.values()];
}

function boxOf(run: Recording): Box | undefined {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const path of run.paths) {
    if (!path) continue;
    const stride = Math.max(1, Math.floor(path.time.length / 500));
    for (let at = 0; at < path.time.length; at += stride) {
      const [x, y] = [path.x.get(at), path.y.get(at)];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    }
  }
  return Number.isFinite(box[0]) ? box : undefined;
}

/** The nodes' places with the map around them. */
function framed(nodes: Box, map: Box | undefined): Box {
  if (!map) return nodes;
  const both: Box = [Math.min(nodes[0], map[0]), Math.min(nodes[1], map[1]), Math.max(nodes[2], map[2]), Math.max(nodes[3], map[3])];
  const size = (box: Box) => Math.max(box[2] - box[0], box[3] - box[1]);
  return size(both) <= MAP_WIDER * size(nodes) ? both : nodes;
}

/** The node to which most goes; where nothing says so, the first. */
function rootOf(run: Recording): number {
  if (!run.bundles) return 0;
  const counts = new Map<number, number>();
  const { destination } = run.bundles;
  for (let id = 0; id < destination.length; id++) counts.set(destination.get(id), (counts.get(destination.get(id)) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}

/** Columns by hops from some nodes; what none of them reaches begins anew. */
export function columnsOf(nodes: number[], entries: number[], links: Link[]): number[][] {
  const depth = new Map(nodes.map((node) => [node, -1]));
  const near = new Map(nodes.map((node) => [node, [] as number[]]));
  for (const { a, b } of links) if (near.has(a) && near.has(b)) { near.get(a)!.push(b); near.get(b)!.push(a); }
  const columns: number[][] = [];
  const put = (node: number, column: number) => { depth.set(node, column); (columns[column] ??= []).push(node); return node; };
  let queue = entries.map((node) => put(node, 0));
  for (;;) {
    for (; queue.length > 0; ) {
      const node = queue.shift()!;
      for (const peer of near.get(node)!) if (depth.get(peer)! < 0) queue.push(put(peer, depth.get(node)! + 1));
    }
    const left = nodes.find((node) => depth.get(node)! < 0);
    if (left === undefined) return columns;
    queue = [put(left, 0)];
  }
}

/** Rows of columns, between two heights: in the order of their neighbours in columns before, so that lines cross little. */
export function rows(layout: Layout, columns: number[][], [top, bottom]: [number, number]) {
  const placed = new Set<number>();
  columns.forEach((nodes, column) => {
    const before = (node: number) => layout.links.flatMap(({ a, b }) => (a === node && placed.has(b) ? [b] : b === node && placed.has(a) ? [a] : []));
    const middle = new Map(nodes.map((node) => { const list = before(node); return [node, list.reduce((sum, peer) => sum + layout.y[peer]!, 0) / Math.max(1, list.length)]; }));
    if (column > 0) nodes.sort((a, b) => middle.get(a)! - middle.get(b)! || a - b);
    nodes.forEach((node, row) => (layout.y[node] = top + ((row + 0.5) / nodes.length) * (bottom - top)));
    nodes.forEach((node) => placed.add(node));
  });
}

function layers(layout: Layout, root: number) {
  const columns = columnsOf(Array.from(layout.x.keys()), [root], layout.links);
  rows(layout, columns, [0, 1]);
  columns.forEach((nodes, column) => nodes.forEach((node) => {
    layout.x[node] = columns.length === 1 ? 0.5 : column / (columns.length - 1);
    layout.above[node] = column % 2;
  }));
  layout.kind = "layers";
}

function ring(layout: Layout, count: number) {
  for (let node = 0; node < count; node++) {
    // Few on a circle, many as a sunflower has its seeds.
    const many = count > 80;
    const angle = many ? node * 2.399963 : (2 * Math.PI * node) / count - Math.PI / 2;
    const radius = many ? 0.5 * Math.sqrt((node + 0.5) / count) : 0.46;
    layout.x[node] = 0.5 + radius * Math.cos(angle);
    layout.y[node] = 0.5 + radius * Math.sin(angle);
  }
}

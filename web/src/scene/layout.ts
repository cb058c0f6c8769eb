/** Where nodes stand: at their positions, or in a schematic drawing in which a long light time is a long way. */
import type { Recording } from "../model/recording.svelte";

export interface Body { x: number; y: number; radius: number; nodes: number[]; name: string }
export interface Layout {
  kind: "plane" | "light" | "layers" | "ring";
  /** Of each node, within 0 to 1 both ways; of a plane in metres. */
  x: Float64Array;
  y: Float64Array;
  /** Of each node, whether its name stands above it: names of columns beside each other keep apart. */
  above: Uint8Array;
  /** What belongs together: a planet and what is around it. */
  bodies: Body[];
  /** Links that are ever there: pairs of nodes and their one-way delay in seconds. */
  links: { a: number; b: number; delay: number }[];
  /** Of a plane: its corners in metres. */
  box?: [number, number, number, number];
}

/** From this delay on in seconds, light time shapes the drawing. */
const FAR = 0.5;
const MOST_LAYERED = 60;
const MOST_LINKS = 4000;

export function layoutOf(run: Recording): Layout {
  const count = run.names.length;
  const links = linksOf(run);
  const layout: Layout = { kind: "ring", x: new Float64Array(count), y: new Float64Array(count), above: new Uint8Array(count), bodies: [], links };
  const box = boxOf(run);
  if (box) return { ...layout, kind: "plane", box };
  if (count <= MOST_LAYERED && links.length > 0 && links.length <= 3 * count) layers(run, layout);
  else ring(layout, count);
  return layout;
}

function linksOf(run: Recording): Layout["links"] {
  const { contacts } = run;
  const found = new Map<number, { a: number; b: number; delay: number }>();
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

function boxOf(run: Recording): Layout["box"] | undefined {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
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

/** The node to which most goes; where nothing says so, the first. */
function rootOf(run: Recording): number {
  if (!run.bundles) return 0;
  const counts = new Map<number, number>();
  const { destination } = run.bundles;
  for (let id = 0; id < destination.length; id++) counts.set(destination.get(id), (counts.get(destination.get(id)) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}

/** Columns by hops from the root; the step over a long light time is the widest. */
function layers(run: Recording, layout: Layout) {
  const count = run.names.length;
  const near = Array.from({ length: count }, () => [] as number[]);
  for (const { a, b } of layout.links) { near[a]!.push(b); near[b]!.push(a); }
  const depth = new Array<number>(count).fill(-1);
  const columns: number[][] = [];
  for (let root = rootOf(run), next = 0; root >= 0; root = depth.findIndex((one) => one < 0)) {
    depth[root] = next;
    for (let queue = [root]; queue.length > 0;) {
      const node = queue.shift()!;
      (columns[depth[node]!] ??= []).push(node);
      for (const peer of near[node]!) if (depth[peer]! < 0) { depth[peer] = depth[node]! + 1; queue.push(peer); }
    }
    next = 0;
  }
  const wide = columns.map((_, column): number => {
    const delays = layout.links.filter(({ a, b }) => Math.max(depth[a]!, depth[b]!) === column && depth[a] !== depth[b]).map((link) => link.delay);
    return column === 0 ? 0 : Math.max(...delays) >= FAR ? 2.2 : 1;
  });
  const total = wide.reduce((sum, one) => sum + one, 0) || 1;
  let x = 0;
  columns.forEach((nodes, column) => {
    x += wide[column]! / total;
    // In the order of their neighbours in the column before, so that lines cross little.
    const middle = (node: number) => { const before = near[node]!.filter((peer) => depth[peer]! < column); return before.reduce((sum, peer) => sum + layout.y[peer]!, 0) / Math.max(1, before.length); };
    if (column > 0) nodes.sort((a, b) => middle(a) - middle(b) || a - b);
    nodes.forEach((node, row) => {
      layout.x[node] = columns.length === 1 ? 0.5 : x;
      layout.y[node] = (row + 0.5) / nodes.length;
      layout.above[node] = column % 2;
    });
  });
  layout.kind = Math.max(0, ...layout.links.map((link) => link.delay)) >= FAR ? "light" : "layers";
  if (layout.kind === "light") bodies(run, layout);
}

/** What light crosses quickly belongs together. */
function bodies(run: Recording, layout: Layout) {
  const group = run.names.map((_, node) => node);
  const find = (node: number): number => (group[node] === node ? node : (group[node] = find(group[node]!)));
  for (const { a, b, delay } of layout.links) if (delay < FAR) group[find(a)] = find(b);
  const all = new Map<number, number[]>();
  run.names.forEach((_, node) => all.set(find(node), [...(all.get(find(node)) ?? []), node]));
  const mean = (list: Float64Array, nodes: number[]) => nodes.reduce((sum, node) => sum + list[node]!, 0) / nodes.length;
  const made = [...all.values()].map((nodes) => {
    const [x, y] = [mean(layout.x, nodes), 0.5];
    return { x, y, nodes, name: "", radius: Math.max(0.12, ...nodes.map((node) => Math.abs(layout.x[node]! - x))) };
  }).sort((one, other) => one.x - other.x);
  // A scenario that is called after two places names them in this order.
  const words = (/^\s*name\s*=\s*"([a-z]+)_([a-z]+)"/m.exec(run.scenario ?? "") ?? []).slice(1);
  if (made.length === 2 && words.length === 2) made.forEach((body, at) => (body.name = words[at]![0]!.toUpperCase() + words[at]!.slice(1)));
  layout.bodies = made;
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

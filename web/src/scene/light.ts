/** The schematic drawing of a network in space: what light crosses quickly is a body, and the way to the next one is as long as the
 * logarithm of its light time. */
import type { Recording } from "../model/recording.svelte";
import { columnsOf, FAR, rows, type Layout, type Link } from "./layout";

/** Seconds that are the unit of length: a shorter way is no shorter. */
export const SHORTEST = 1e-4;
/** How long a way of this light time is: one more for ten times the time. */
export const stepOf = (delay: number) => 1 + Math.log10(Math.max(delay, SHORTEST) / SHORTEST);

/** A body, and from which other one light reaches it after how long. */
interface Reached { group: number; parent: number; delay: number }

export function light(run: Recording, layout: Layout, root: number) {
  const groups = groupsOf(layout);
  const order = reached(layout, groups, root);
  const members = new Map(order.map(({ group }) => [group, [] as number[]]));
  groups.forEach((group, node) => members.get(group)!.push(node));
  const high = heights(order);
  const ends = new Map<number, { end: number; columns: number }>();
  order.forEach(({ group, parent, delay }, at) => {
    const nodes = members.get(group)!;
    const gates = layout.links.filter(({ a, b }) => (groups[a] === group && groups[b] === parent) || (groups[b] === group && groups[a] === parent));
    const gatesOf = (of: number) => gates.flatMap(({ a, b }) => [a, b]).filter((node) => groups[node] === of);
    const entries = at === 0 ? [root] : [...new Set(gatesOf(group))];
    const columns = columnsOf(nodes, entries.length > 0 ? entries : [nodes[0]!], layout.links);
    rows(layout, columns, high.get(group)!);
    const before = ends.get(parent);
    const gate = Math.max(0, ...gatesOf(parent).map((node) => layout.x[node]!));
    let x = at === 0 ? 0 : Math.max(gate + stepOf(delay), (before?.end ?? 0) + 1);
    if (at > 0 && delay > 0) layout.spans.push({ from: order.findIndex((one) => one.group === parent), to: at, x: gate, toX: x, delay });
    columns.forEach((column, number) => {
      if (number > 0) x += stepOf(longest(layout.links, columns[number - 1]!, column));
      for (const node of column) { layout.x[node] = x; layout.above[node] = ((before?.columns ?? 0) + number) % 2; }
    });
    ends.set(group, { end: x, columns: (before?.columns ?? 0) + columns.length });
    layout.bodies.push({ nodes, name: "", high: high.get(group)![1] - high.get(group)![0] });
  });
  const wide = Math.max(...[...ends.values()].map(({ end }) => end)) || 1;
  for (let node = 0; node < layout.x.length; node++) layout.x[node]! /= wide;
  for (const span of layout.spans) { span.x /= wide; span.toX /= wide; }
  name(run, layout);
  layout.kind = "light";
}

const longest = (links: Link[], one: number[], other: number[]) =>
  Math.max(0, ...links.filter(({ a, b }) => (one.includes(a) && other.includes(b)) || (one.includes(b) && other.includes(a))).map((link) => link.delay));

/** The number of the body of each node: what light crosses quickly belongs together. */
function groupsOf(layout: Layout): number[] {
  const group = Array.from(layout.x.keys());
  const find = (node: number): number => (group[node] === node ? node : (group[node] = find(group[node]!)));
  for (const { a, b, delay } of layout.links) if (delay < FAR) group[find(a)] = find(b);
  return group.map((_, node) => find(node));
}

/** Bodies from the root's on, the nearest first, each with the one from which light reaches it soonest. */
function reached(layout: Layout, groups: number[], root: number): Reached[] {
  const order: Reached[] = [{ group: groups[root]!, parent: -1, delay: 0 }];
  const has = new Set([groups[root]!]);
  for (;;) {
    let best: Reached | undefined;
    for (const { a, b, delay } of layout.links) {
      for (const [from, to] of [[groups[a]!, groups[b]!], [groups[b]!, groups[a]!]] as const) {
        if (has.has(from) && !has.has(to) && delay < (best?.delay ?? Infinity)) best = { group: to, parent: from, delay };
      }
    }
    // What is out of reach stands beside the root's.
    best ??= groups.filter((group) => !has.has(group)).map((group) => ({ group, parent: groups[root]!, delay: 0 }))[0];
    if (!best) return order;
    has.add(best.group);
    order.push(best);
  }
}

/** From where to where in height each body stands: those that are reached from one stand above each other. */
function heights(order: Reached[]): Map<number, [number, number]> {
  const beyond = (group: number) => order.filter((one) => one.parent === group);
  const lanes = (group: number): number => Math.max(1, beyond(group).reduce((sum, one) => sum + lanes(one.group), 0));
  const all = new Map<number, [number, number]>();
  const put = (group: number, top: number, bottom: number) => {
    all.set(group, [top, bottom]);
    const part = (bottom - top) / lanes(group);
    let at = top;
    for (const one of beyond(group)) { const next = at + part * lanes(one.group); put(one.group, at, next); at = next; }
  };
  put(order[0]!.group, 0, 1);
  return all;
}

const PLACES = "sun mercury venus earth moon mars phobos deimos ceres jupiter io europa ganymede callisto saturn enceladus titan uranus neptune triton pluto".split(" ");

/** A scenario that is called after two places in space names them in this order. */
function name(run: Recording, { bodies }: Layout) {
  const words = (/^\s*name\s*=\s*"([a-z]+)_([a-z]+)"/m.exec(run.scenario ?? "") ?? []).slice(1);
  if (bodies.length !== 2 || words.length !== 2 || !words.every((word) => PLACES.includes(word))) return;
  bodies.forEach((body, at) => (body.name = words[at]![0]!.toUpperCase() + words[at]!.slice(1)));
}

/** The way of one bundle: where its copies were, how they moved, and a sentence for each step. */
import { REASONS, REFUSALS } from "./bundles";
import { OUTCOMES } from "./marks";
import type { Recording } from "./recording.svelte";
import { bytes, clock, span, words } from "../draw/words";

export interface Leg { start: number; sent: number; end: number; from: number; to: number; outcome: string; cause: string }
export interface Stay { start: number; end: number; node: number; reason: string }
export interface Step { time: number; text: string; fate: "created" | "moved" | "delivered" | "overflow" | "expired" | "refused" | "aborted" | "other" | "waiting"; node: number }
export interface Journey { bundle: number; created: number; admitted: number; nodes: number[]; legs: Leg[]; stays: Stay[]; steps: Step[] }

const MOST_STEPS = 2000;
const WHY: Record<string, string> = {
  held: "it has a copy already", delivered: "it has been delivered", expired: "its lifetime is over", no_space: "there is no space",
  dropped_before: "it has dropped it before", routing: "its router does not want it", congestion: "of congestion", other: "for another reason",
};

export function journeyOf(run: Recording, bundle: number): Journey | undefined {
  const all = run.bundles;
  if (!all || bundle >= all.source.length || Number.isNaN(all.created.get(bundle))) return undefined;
  const legs: Leg[] = [];
  const { transfers } = run;
  for (let id = 0; id < transfers.length; id++) {
    if (transfers.item.get(id) !== bundle) continue;
    const outcome = OUTCOMES[transfers.outcome.get(id)]!;
    legs.push({ start: transfers.start.get(id), sent: transfers.sent.get(id), end: transfers.end.get(id), from: transfers.from.get(id), to: transfers.to.get(id), outcome, cause: outcome === "refused" ? causeOf(run, transfers.end.get(id), transfers.to.get(id), bundle) : "" });
  }
  const stays: Stay[] = [];
  const { copies } = all;
  for (let id = 0; id < copies.length; id++) {
    if (copies.bundle.get(id) === bundle) stays.push({ start: copies.start.get(id), end: copies.end.get(id), node: copies.node.get(id), reason: REASONS[copies.reason.get(id)]! });
  }
  const nodes = [all.source.get(bundle)];
  for (const node of [...legs.flatMap((leg) => [leg.from, leg.to]), ...stays.map((stay) => stay.node), all.destination.get(bundle)]) if (!nodes.includes(node)) nodes.push(node);
  // The destination stands last.
  const goal = all.destination.get(bundle);
  if (nodes.length > 1) nodes.push(...nodes.splice(nodes.indexOf(goal), 1));
  return { bundle, created: all.created.get(bundle), admitted: all.admitted.get(bundle), nodes, legs, stays, steps: stepsOf(run, bundle, legs, stays) };
}

function causeOf(run: Recording, time: number, node: number, bundle: number): string {
  const { refused } = run.marks;
  const [from, to] = refused.span(time - 1e-9, time + 1e-9);
  for (let mark = from; mark < to; mark++) if (refused.node.get(mark) === node && refused.item.get(mark) === bundle) return REFUSALS[refused.why.get(mark)]!;
  return "other";
}

function stepsOf(run: Recording, bundle: number, legs: Leg[], stays: Stay[]): Step[] {
  const all = run.bundles!;
  const name = (node: number) => words(run.names[node]!);
  const [created, expires] = [all.created.get(bundle), all.expires.get(bundle)];
  const steps: Step[] = [];
  const source = all.source.get(bundle);
  const until = Number.isFinite(expires) ? `, to live until ${clock(expires, run.duration)}` : "";
  steps.push({ time: created, node: source, fate: "created", text: `${name(source)} creates it: ${bytes(all.size.get(bundle))} for ${name(all.destination.get(bundle))}${until}.` });
  const admitted = all.admitted.get(bundle);
  if (admitted > created) steps.push({ time: admitted, node: source, fate: "created", text: `${name(source)} takes it into its buffer: it waited outside for ${span(admitted - created)}, as its source held it back.` });
  if (all.fateOf(bundle) === "rejected") steps.push({ time: admitted, node: source, fate: "overflow", text: `${name(source)} refuses it: there is no room in its own buffer.` });
  let first = true;
  for (const leg of legs) {
    const stay = stays.find((stay) => stay.node === leg.from && stay.start <= leg.start && stay.end >= leg.start);
    const waited = stay && leg.start - stay.start > 0 ? ` after ${span(leg.start - stay.start)} in its buffer` : "";
    const light = leg.end - leg.sent;
    const sending = leg.sent === leg.sent ? `; sending lasts ${span(leg.sent - leg.start)}${Number.isFinite(light) && light > 0 ? `, the way ${span(light)}` : ""}` : "";
    steps.push({ time: leg.start, node: leg.from, fate: "moved", text: `${name(leg.from)} sends it to ${name(leg.to)}${waited}${sending}.` });
    if (leg.outcome === "stored") steps.push({ time: leg.end, node: leg.to, fate: "moved", text: `${name(leg.to)} stores it.` });
    else if (leg.outcome === "delivered") {
      steps.push({ time: leg.end, node: leg.to, fate: "delivered", text: first ? `${name(leg.to)} has it: delivered ${span(leg.end - created)} after it was created.` : `${name(leg.to)} gets another copy.` });
      first = false;
    } else if (leg.outcome === "refused") steps.push({ time: leg.end, node: leg.to, fate: "refused", text: `${name(leg.to)} refuses it, as ${WHY[leg.cause] ?? words(leg.cause)}.` });
    else if (leg.outcome === "aborted") steps.push({ time: leg.end, node: leg.from, fate: "aborted", text: `The transfer is cut: the contact ends, or the copy is gone, before its last bit has left.` });
    else steps.push({ time: leg.start, node: leg.from, fate: "moved", text: `It is on its way to ${name(leg.to)} when the recording ends.` });
  }
  for (const stay of stays) {
    const lasted = `after ${span(stay.end - stay.start)}`;
    if (stay.reason === "overflow") {
      const limit = run.capacity[stay.node]!;
      const full = limit > 0 ? ` (${Math.round((100 * (run.used[stay.node]!.at(stay.end) + all.size.get(bundle))) / limit)} % full)` : "";
      steps.push({ time: stay.end, node: stay.node, fate: "overflow", text: `${name(stay.node)} drops its copy ${lasted}, to make room in its buffer${full}.` });
    } else if (stay.reason === "expired") steps.push({ time: stay.end, node: stay.node, fate: "expired", text: `The lifetime ends: ${name(stay.node)} deletes its copy.` });
    else if (stay.reason === "acknowledged") steps.push({ time: stay.end, node: stay.node, fate: "other", text: `${name(stay.node)} learns that it was delivered and deletes its copy.` });
    else if (stay.reason === "replaced") steps.push({ time: stay.end, node: stay.node, fate: "other", text: `${name(stay.node)} replaces its copy.` });
    else if (stay.end === Infinity) steps.push({ time: run.until, node: stay.node, fate: "waiting", text: `${name(stay.node)} still has its copy when the recording ends.` });
  }
  const order = { created: 0, moved: 1, aborted: 2, refused: 3, overflow: 4, expired: 5, other: 6, delivered: 7, waiting: 8 };
  return steps.sort((a, b) => a.time - b.time || order[a.fate] - order[b.fate]).slice(0, MOST_STEPS);
}

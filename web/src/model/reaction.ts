/** What a sender did about a loss, from what is on the links: a trace does not say what it thought. */
import { bits, bytes, clock, span } from "../draw/words";
import { upTo } from "./grow";
import { DROPS } from "./links";
import type { Flow } from "./packets";

export interface Reaction {
  /** Losses that belong together: those within a round trip of the first. */
  first: number; last: number; time: number;
  /** When the first of them was sent again, and when all up to it were acknowledged; NaN: never. */
  again: number; repaired: number;
  /** When the round trip after the repair ends. */
  until: number;
  /** In flight at most, and sent a second: during the round trip before, and after the repair. */
  flight: [number, number]; rate: [number, number];
}

/** Looked at for a loss, at most: a sender that does not repeat has no reason to be searched to its end. */
const MOST_LOOKED = 50_000;

/** The round trip as it was measured last before a time; without samples, a hundredth of what was sent. */
function roundTrip(flow: Flow, time: number): number {
  const at = upTo(flow.rtt.time, time);
  if (flow.rtt.time.length > 0) return flow.rtt.value.get(Math.max(0, at - 1));
  return Math.max(1e-3, (flow.sent.time.last - flow.sent.time.get(0)) / 100);
}
/** The reaction to the last loss up to a time. */
export function reactionAt(flow: Flow, time: number): Reaction | undefined {
  const { lost, sent, acked } = flow;
  let last = upTo(lost.time, time) - 1;
  if (last < 0) return undefined;
  const round = roundTrip(flow, lost.time.get(last));
  let first = last;
  while (first > 0 && lost.time.get(last) - lost.time.get(first - 1) <= round) first -= 1;
  while (last + 1 < lost.time.length && lost.time.get(last + 1) - lost.time.get(first) <= round) last += 1;
  const [at, offset] = [lost.time.get(first), lost.offset.get(first)];
  let [again, highest] = [NaN, 0];
  for (let one = first; one <= last; one++) highest = Math.max(highest, lost.offset.get(one));
  const from = upTo(sent.time, at);
  for (let one = from; one < Math.min(sent.time.length, from + MOST_LOOKED); one++) {
    if (sent.offset.get(one) <= offset && offset < sent.offset.get(one) + sent.length.get(one)) { again = sent.time.get(one); break; }
  }
  const covered = upTo(acked.to, highest);
  const repaired = covered < acked.time.length ? Math.max(at, acked.time.get(covered)) : NaN;
  const settled = repaired === repaired ? repaired : (again === again ? again : at) + round;
  return {
    first, last, time: at, again, repaired, until: settled + round,
    flight: [flow.flight.peak(at - round, at), flow.flight.peak(settled, settled + round)],
    rate: [flow.sentRate(at - round, at), flow.sentRate(settled, settled + round)],
  };
}

const WHY: Record<string, (link: string) => string> = {
  full: (link) => `were dropped, as the queue of ${link} was full`, marked: (link) => `were dropped early by the queue of ${link}`,
  lost: (link) => `were lost on ${link}, not in a queue`, other: (link) => `were lost on ${link}`,
};
function change([before, after]: [number, number]): string {
  const part = Math.round((after / before - 1) * 100);
  return !(before > 0) ? "" : part === 0 ? " (the same)" : ` (${part > 0 ? "+" : "−"}${Math.abs(part)} %)`;
}

/** In sentences. */
export function told(flow: Flow, reaction: Reaction, links: string[], [until, duration]: [number, number]): string {
  const { first, last, time, again, repaired, flight, rate } = reaction;
  const why = (WHY[DROPS[flow.lost.why.get(first)]!] ?? WHY["other"]!)(links[flow.lost.link.get(first)] ?? "a link");
  const more = last > first ? `, with ${last - first} more within a round trip` : "";
  const parts = [`${clock(time, duration)}: data at ${bytes(flow.lost.offset.get(first))} of ${flow.name} ${why}${more}.`];
  if (again === again) {
    const done = repaired <= time ? "; the receiver had them already" : repaired === repaired ? `; all was acknowledged after ${span(repaired - time)}` : "";
    parts.push(`They were sent again after ${span(again - time)}${done}.`);
  } else parts.push("These bytes were not sent again as they were.");
  // Of a round trip that the run does not reach, nothing is known.
  if (reaction.until <= until) {
    const held = flight[0] > 0 && repaired === repaired ? `at most ${bytes(flight[1])} in flight, before it ${bytes(flight[0])}${change(flight)}; it sent ` : "";
    parts.push(`In the round trip after that: ${held}${bits(8 * rate[1])}${held ? ", before " : " sent, before "}${bits(8 * rate[0])}${change(rate)}.`);
  }
  return parts.join(" ");
}

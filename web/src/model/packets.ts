/** The world of packets: flows over links. */
import { bytes, Grow, reals, Steps, upTo, wholes } from "./grow";
import { DROPS, Links } from "./links";
import type { Recording, Rows } from "./recording.svelte";

/** A sender's view of its flow. */
export class Flow {
  /** Packets of data as they are sent: when, where they begin, how long they are, whether that was sent before. */
  readonly sent = { time: reals(), offset: reals(), length: wholes(), again: bytes(), /** Bytes until then, this packet's with them. */ total: reals() };
  /** Acknowledgements as they come back. */
  readonly acked = { time: reals(), to: reals() };
  /** Data that were dropped: when, where they begin, why (a number of `DROPS`), on which link. */
  readonly lost = { time: reals(), offset: reals(), why: bytes(), link: wholes() };
  /** Bytes that the receiver has, in all. */
  readonly delivered = new Steps();
  /** Round-trip samples in seconds: of data that were sent once. */
  readonly rtt = { time: reals(), value: reals() };
  /** Bytes sent and not acknowledged. */
  readonly flight = new Steps();
  private highest = -1;
  private base = NaN;
  private ackedTo = 0;
  private asked = 0;
  constructor(readonly name: string) {}

  send(time: number, offset: number, length: number) {
    // Offsets of datagrams begin anywhere; those of a stream at zero.
    if (Number.isNaN(this.base)) this.base = offset > 2 ** 40 ? offset : 0;
    const at = offset - this.base;
    this.sent.time.push(time);
    this.sent.offset.push(at);
    this.sent.length.push(length);
    this.sent.total.push((this.sent.total.length > 0 ? this.sent.total.last : 0) + length);
    this.sent.again.push(at <= this.highest ? 1 : 0);
    this.highest = Math.max(this.highest, at);
    this.sentTo = Math.max(this.sentTo, at + length);
    this.flight.push(time, Math.max(0, this.sentTo - this.ackedTo));
  }
  private sentTo = 0;
  ack(time: number, to: number) {
    if (to <= this.ackedTo || Number.isNaN(this.base) || this.base > 0) return;
    this.ackedTo = to;
    this.acked.time.push(time);
    this.acked.to.push(to);
    this.flight.push(time, Math.max(0, this.sentTo - to));
    // The last first-time packet that this acknowledges.
    let found: number | undefined;
    for (; this.asked < this.sent.time.length && this.sent.offset.get(this.asked) < to; this.asked++) {
      if (this.sent.again.get(this.asked) === 0) found = this.asked;
      else found = undefined;
    }
    if (found !== undefined) {
      this.rtt.time.push(time);
      this.rtt.value.push(time - this.sent.time.get(found));
    }
  }
  lose(time: number, offset: number, why: string, link: number) {
    this.lost.link.push(link);
    this.lost.time.push(time);
    this.lost.offset.push(offset - (Number.isNaN(this.base) ? 0 : this.base));
    this.lost.why.push(Math.max(1, DROPS.indexOf(why)));
  }
  /** Bytes a second that were sent after `from`, until `to`. */
  sentRate(from: number, to: number) {
    const until = (time: number) => { const count = upTo(this.sent.time, time); return count > 0 ? this.sent.total.get(count - 1) : 0; };
    return to > from ? (until(to) - until(from)) / (to - from) : 0;
  }
  /** Bytes a second that were delivered. */
  rate(from: number, to: number) {
    return to > from ? (this.delivered.at(to) - this.delivered.at(from)) / (to - from) : 0;
  }
}

export class Packets {
  readonly flows: Flow[] = [];
  readonly links: Links;
  constructor(private all: Recording) {
    this.links = new Links(all);
  }
  names(names: Record<string, unknown>) {
    (names["flows"] as string[]).forEach((name, flow) => this.flow(flow, name));
    this.all.names.length || meetAll(this.links, names);
  }
  private flow(flow: number, name: string) {
    if (flow > 100_000) throw new Error(`flow ${flow}: a page shows at most 100000 flows`);
    while (this.flows.length <= flow) this.flows.push(new Flow(this.flows.length === flow ? name : `flow ${this.flows.length}`));
    return this.flows[flow]!;
  }
  take(rows: Rows) {
    const of = (name: string) => rows.number(name);
    const [time, link, flow, hop, length, offset, ack, print, size, forward] =
      ["time_ns", "link", "flow", "hop", "length", "offset", "ack", "print", "bytes", "forward"].map(of) as ReturnType<typeof of>[] as [N, N, N, N, N, N, N, N, N, N];
    const [kind, why, linkName, from, to, flowName] = ["kind", "why", "link_name", "from_name", "to_name", "flow_name"].map((name) => rows.text(name)) as [T, T, T, T, T, T];
    for (let row = 0; row < rows.count; row++) {
      const at = (time(row) ?? 0) / 1e9;
      const what = kind(row);
      if (what === "end") continue;
      const number = flow(row) ?? 0;
      const one = this.flows[number] ?? this.flow(number, flowName(row) ?? `flow ${number}`);
      if (what === "delivered") {
        one.delivered.push(at, size(row) ?? 0);
        continue;
      }
      const on = link(row) ?? 0;
      if (this.links.name[on] === undefined) this.links.meet(on, linkName(row) ?? `link ${on}`, from(row) ?? "one end", to(row) ?? "the other end");
      const data = (length(row) ?? 0) > 0;
      const key = print(row) ?? (offset(row) ?? 0) * 64 + number;
      if (what === "offered") {
        this.links.offered(at, on, key, size(row) ?? 0, number, data ? 0 : 1);
        if (forward(row) === 1 && data && hop(row) === 0) one.send(at, offset(row) ?? 0, length(row) ?? 0);
      } else {
        const id = this.links.ended(at, on, key, what === "dropped" ? why(row) ?? "other" : undefined);
        if (id === undefined) continue;
        if (what === "dropped" && data) one.lose(at, offset(row) ?? 0, why(row) ?? "other", on);
        if (what === "arrived" && forward(row) === 0) one.ack(at, ack(row) ?? 0);
        else if (what === "arrived" && data) this.all.marks.delivered.push(at, this.links.to[on]!, number);
      }
    }
  }
}

/** Links that have appeared in records, with their ends. */
export function meetAll(links: Links, names: Record<string, unknown>) {
  const list = names["links"] as { name: string; from: unknown; to: unknown }[];
  const nodes = names["nodes"] as string[] | undefined;
  const called = (end: unknown) => (typeof end === "number" ? nodes?.[end] ?? `node ${end}` : String(end));
  list.forEach((one, at) => links.meet(at, one.name, called(one.from), called(one.to)));
}

/** Where a time stands in a growing list. */
export const indexAt = (list: Grow<Float64Array>, time: number) => upTo(list, time);
type N = (row: number) => number | undefined;
type T = (row: number) => string | undefined;

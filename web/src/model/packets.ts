/** The world of packets: flows over links. */
import { bytes, Grow, reals, Steps, upTo, wholes } from "./grow";
import { DROPS, Links } from "./links";
import type { Recording, Rows } from "./recording.svelte";

/** A sender's view of its flow. */
export class Flow {
  /** Packets of data as they are sent: when, where they begin (of datagrams: how much was sent before), how long they are, whether that was sent before. */
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
  private readonly unacknowledged = new Steps();
  /** Bytes sent, and neither lost nor arrived. */
  private readonly underway = new Steps();
  /** Packets that were sent before. */
  repeated = 0;
  private highest = -1;
  private ackedTo = 0;
  private asked = 0;
  private sentTo = 0;
  /** Where datagrams stand among all that was sent, by their number in the trace, until they arrive; and of those that arrived last,
   *  as they may go on over another link. */
  private places = new Map<number, number>();
  private landed = new Map<number, number>();
  private landedAt = NaN;
  constructor(readonly name: string) {}

  /** Whether the trace says what was acknowledged: of datagrams it does not. */
  get acknowledges() {
    return this.acked.time.length > 0;
  }
  /** Bytes in flight: sent and not acknowledged, or else those on their way. */
  get flight() {
    return this.acknowledges ? this.unacknowledged : this.underway;
  }

  send(time: number, number: number, length: number, stream: boolean) {
    const before = this.sent.total.length > 0 ? this.sent.total.last : 0;
    const known = this.places.get(number);
    const at = stream ? number : known ?? before;
    if (!stream) this.places.set(number, at);
    this.sent.time.push(time);
    this.sent.offset.push(at);
    this.sent.length.push(length);
    this.sent.total.push(before + length);
    const again = stream ? at <= this.highest : known !== undefined;
    this.sent.again.push(+again);
    this.repeated += +again;
    this.highest = Math.max(this.highest, at);
    this.sentTo = Math.max(this.sentTo, at + length);
    this.unacknowledged.push(time, Math.max(0, this.sentTo - this.ackedTo));
    this.underway.add(time, length);
  }
  /** A packet of data arrived at the end of a link, or goes on to the next one. */
  arrive(time: number, number: number, length: number) {
    const place = this.places.get(number);
    if (time !== this.landedAt) this.landed.clear();
    this.landedAt = time;
    if (place !== undefined) this.landed.set(number, place);
    this.places.delete(number);
    this.underway.add(time, -length);
  }
  goOn(time: number, number: number, length: number) {
    const place = this.landed.get(number);
    if (place !== undefined) this.places.set(number, place);
    this.underway.add(time, length);
  }
  ack(time: number, to: number) {
    if (to <= this.ackedTo) return;
    this.ackedTo = to;
    this.acked.time.push(time);
    this.acked.to.push(to);
    this.unacknowledged.push(time, Math.max(0, this.sentTo - to));
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
  lose(time: number, number: number, length: number, why: string, link: number) {
    this.lost.link.push(link);
    this.lost.time.push(time);
    this.lost.offset.push(this.places.get(number) ?? number);
    this.underway.add(time, -length);
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
    const what = rows.text("what") as T;
    const [kind, why, linkName, from, to, flowName] = ["kind", "why", "link_name", "from_name", "to_name", "flow_name"].map((name) => rows.text(name)) as [T, T, T, T, T, T];
    for (let row = 0; row < rows.count; row++) {
      const at = (time(row) ?? 0) / 1e9;
      const happened = kind(row);
      if (happened === "end") continue;
      const number = flow(row) ?? 0;
      const one = this.flows[number] ?? this.flow(number, flowName(row) ?? `flow ${number}`);
      if (happened === "delivered") {
        one.delivered.push(at, size(row) ?? 0);
        continue;
      }
      const on = link(row) ?? 0;
      if (this.links.name[on] === undefined) this.links.meet(on, linkName(row) ?? `link ${on}`, from(row) ?? "one end", to(row) ?? "the other end");
      const data = (length(row) ?? 0) > 0;
      const key = print(row) ?? (offset(row) ?? 0) * 64 + number;
      const [place, bytes, ours] = [offset(row) ?? 0, length(row) ?? 0, data && forward(row) === 1];
      if (happened === "offered") {
        this.links.offered(at, on, key, size(row) ?? 0, number, data ? 0 : 1);
        // `data` are bytes of a stream at an offset; anything else has a number.
        if (ours && hop(row) === 0) one.send(at, place, bytes, what(row) === "data");
        else if (ours) one.goOn(at, place, bytes);
      } else {
        const id = this.links.ended(at, on, key, happened === "dropped" ? why(row) ?? "other" : undefined);
        if (id === undefined) continue;
        if (happened === "dropped" && ours) one.lose(at, place, bytes, why(row) ?? "other", on);
        if (happened === "arrived" && forward(row) === 0) one.ack(at, ack(row) ?? 0);
        else if (happened === "arrived" && data) {
          if (ours) one.arrive(at, place, bytes);
          this.all.marks.delivered.push(at, this.links.to[on]!, number);
        }
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

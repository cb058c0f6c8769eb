import { bytes, reals, upTo, wholes } from "./grow";

/** Things that happen at a time, at a node, to a bundle (a packet, a name). */
export class Marks {
  readonly time = reals();
  readonly node = wholes();
  readonly item = wholes();
  readonly why = bytes();
  push(time: number, node: number, item: number, why = 0) {
    this.time.push(time);
    this.node.push(node);
    this.item.push(item);
    this.why.push(why);
  }
  get length() {
    return this.time.length;
  }
  /** The first after a time. */
  after(time: number): number | undefined {
    const at = upTo(this.time, time);
    return at < this.length ? at : undefined;
  }
  /** The last before a time. */
  before(time: number): number | undefined {
    let at = upTo(this.time, time) - 1;
    while (at >= 0 && this.time.get(at) >= time) at -= 1;
    return at >= 0 ? at : undefined;
  }
  /** Numbers of those from `from` (not at it) to `to`. */
  span(from: number, to: number): [number, number] {
    return [upTo(this.time, from), upTo(this.time, to)];
  }
}

/** What becomes of something; the order is that of counts and colours. */
export const FATES = ["waiting", "delivered", "overflow", "expired", "rejected", "other"] as const;
export type Fate = (typeof FATES)[number];
export const fateNumber = (fate: Fate) => FATES.indexOf(fate);

/** How a transfer ended. */
export const OUTCOMES = ["open", "stored", "delivered", "refused", "aborted", "dropped"] as const;

/** Counts of created things by their fate at every time. */
export class Tally {
  private births = reals();
  private sorted: Float64Array | undefined = new Float64Array();
  private time = reals();
  private counts = FATES.map(() => wholes());
  private now = FATES.map(() => 0);

  /** Something is there from a time on, which may lie before records that are there already: a source may hold back. */
  born(time: number) {
    this.births.push(time);
    this.sorted = undefined;
  }
  /** Something moves from one fate to another. Only those that are no longer waiting are kept: the rest waits. */
  move(time: number, from: number, to: number) {
    this.now[from]! -= 1;
    this.now[to]! += 1;
    const again = this.time.last === time;
    if (!again) this.time.push(time);
    this.counts.forEach((list, fate) => {
      if (fate > 0) again ? list.set(list.length - 1, this.now[fate]!) : list.push(this.now[fate]!);
    });
  }
  /** By the order of `FATES`. */
  at(time: number): number[] {
    this.sorted ??= this.births.data.slice(0, this.births.length).sort();
    const born = upTo({ data: this.sorted, length: this.sorted.length }, time);
    const count = upTo(this.time, time);
    const counts = this.counts.map((list, fate) => (fate > 0 && count > 0 ? list.get(count - 1) : 0));
    counts[0] = born - counts.reduce((sum, one) => sum + one, 0);
    return counts;
  }
}

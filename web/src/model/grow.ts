/** Lists of numbers that grow, in typed arrays. */
type Numbers = Float64Array | Uint32Array | Uint8Array;

export class Grow<T extends Numbers> {
  length = 0;
  constructor(public data: T) {}
  push(value: number) {
    if (this.length === this.data.length) {
      const larger = new (this.data.constructor as new (length: number) => T)(Math.max(16, this.length * 2));
      larger.set(this.data as never);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }
  get(at: number): number {
    return this.data[at]!;
  }
  set(at: number, value: number) {
    this.data[at] = value;
  }
  get last(): number {
    return this.length > 0 ? this.data[this.length - 1]! : NaN;
  }
}

export const reals = () => new Grow(new Float64Array(16));
export const wholes = () => new Grow(new Uint32Array(16));
export const bytes = () => new Grow(new Uint8Array(16));

/** How many of the first `length` of a sorted list are at most `value`. */
export function upTo(list: { data: Numbers; length: number }, value: number): number {
  const { data } = list;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (data[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A value that changes at times: the last one holds. */
export class Steps {
  readonly time = reals();
  readonly value = reals();
  push(time: number, value: number) {
    if (this.time.last === time) this.value.set(this.value.length - 1, value);
    else {
      this.time.push(time);
      this.value.push(value);
    }
  }
  add(time: number, change: number) {
    this.push(time, (this.value.length > 0 ? this.value.last : 0) + change);
  }
  at(time: number): number {
    const count = upTo(this.time, time);
    return count > 0 ? this.value.get(count - 1) : 0;
  }
  /** The largest value from `from` to `to`; long stretches are sampled, for a pixel by 32 looks. */
  most(from: number, to: number, looks = 32): number {
    let at = upTo(this.time, from);
    let most = at > 0 ? this.value.get(at - 1) : 0;
    const end = upTo(this.time, to);
    const stride = Math.max(1, Math.floor((end - at) / looks));
    for (; at < end; at += stride) most = Math.max(most, this.value.get(at));
    return most;
  }
  /** The same for a scale or a figure. */
  peak(from: number, to: number): number {
    return this.most(from, to, 100_000);
  }
}

/** Starts between two keyframes. */
const FRAME = 1024;

/** Stretches of time in the order of their starts. What is open at a time is found from a keyframe. */
export class Intervals {
  readonly start = reals();
  readonly end = reals();
  private frames: Uint32Array[] = [new Uint32Array()];

  get length() {
    return this.start.length;
  }
  begin(time: number): number {
    const id = this.start.length;
    this.start.push(time);
    this.end.push(Infinity);
    if ((id + 1) % FRAME === 0) this.frames.push(this.opened(id + 1 - FRAME));
    return id;
  }
  finish(id: number, time: number) {
    this.end.set(id, time);
  }
  /** What has not ended: of the last keyframe, and of those that began at `from` or later. */
  private opened(from: number): Uint32Array {
    const { data } = this.end;
    const open: number[] = [];
    for (const id of this.frames.at(-1)!) if (data[id] === Infinity) open.push(id);
    for (let id = from; id < this.length; id++) if (data[id] === Infinity) open.push(id);
    return Uint32Array.from(open);
  }
  /** Those that are open at a time: begun at it or before, and not ended. */
  at(time: number, visit: (id: number) => void) {
    const count = upTo(this.start, time);
    const frame = Math.floor(count / FRAME);
    for (const id of this.frames[frame]!) if (this.end.get(id) > time) visit(id);
    for (let id = frame * FRAME; id < count; id++) if (this.end.get(id) > time) visit(id);
  }
  /** Those that are open at some time from `from` to `to`. */
  between(from: number, to: number, visit: (id: number) => void) {
    this.at(from, visit);
    for (let id = upTo(this.start, from); id < this.length && this.start.get(id) <= to; id++) visit(id);
  }
}

const FREE = -1;

/** Ends by their keys, first in, first out. Keys are numbers of at least 0; they stand in a table of twice their number, each at
    its place or after it. */
export class Open {
  private keys = new Float64Array(64).fill(FREE);
  private ids = new Uint32Array(64);
  private count = 0;
  /** Further ends of a key. */
  private more = new Map<number, number[]>();

  put(key: number, id: number) {
    if (2 * this.count >= this.keys.length) this.grow();
    const at = this.place(key);
    if (this.keys[at] === key) {
      const list = this.more.get(key);
      if (list) list.push(id);
      else this.more.set(key, [id]);
      return;
    }
    this.keys[at] = key;
    this.ids[at] = id;
    this.count += 1;
  }
  take(key: number): number | undefined {
    const at = this.place(key);
    if (this.keys[at] !== key) return undefined;
    const id = this.ids[at]!;
    const list = this.more.size > 0 ? this.more.get(key) : undefined;
    if (list) {
      this.ids[at] = list.shift()!;
      if (list.length === 0) this.more.delete(key);
    } else this.free(at);
    return id;
  }
  peek(key: number): number | undefined {
    const at = this.place(key);
    return this.keys[at] === key ? this.ids[at] : undefined;
  }
  private home(key: number): number {
    const mixed = Math.imul((key | 0) ^ Math.imul((key / 4294967296) | 0, 0x9e3779b1), 0x85ebca6b);
    return (mixed ^ (mixed >>> 15)) & (this.keys.length - 1);
  }
  /** Where a key is, or would be. */
  private place(key: number): number {
    const last = this.keys.length - 1;
    let at = this.home(key);
    while (this.keys[at] !== key && this.keys[at] !== FREE) at = (at + 1) & last;
    return at;
  }
  /** Later ones move up, so that none stands behind a free place. */
  private free(gap: number) {
    const last = this.keys.length - 1;
    for (let at = (gap + 1) & last; this.keys[at] !== FREE; at = (at + 1) & last) {
      const way = (at - this.home(this.keys[at]!)) & last;
      if (way < ((at - gap) & last)) continue;
      this.keys[gap] = this.keys[at]!;
      this.ids[gap] = this.ids[at]!;
      gap = at;
    }
    this.keys[gap] = FREE;
    this.count -= 1;
  }
  private grow() {
    const [keys, ids] = [this.keys, this.ids];
    this.keys = new Float64Array(keys.length * 2).fill(FREE);
    this.ids = new Uint32Array(keys.length * 2);
    for (let from = 0; from < keys.length; from++) {
      if (keys[from] === FREE) continue;
      const at = this.place(keys[from]!);
      this.keys[at] = keys[from]!;
      this.ids[at] = ids[from]!;
    }
  }
}

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
  /** The largest value from `from` to `to`. */
  most(from: number, to: number): number {
    let at = upTo(this.time, from);
    let most = at > 0 ? this.value.get(at - 1) : 0;
    // Long stretches are sampled: at most 32 looks.
    const end = upTo(this.time, to);
    const stride = Math.max(1, (end - at) >> 5);
    for (; at < end; at += stride) most = Math.max(most, this.value.get(at));
    return most;
  }
}

/** Starts between two keyframes. */
const FRAME = 1024;

/** Stretches of time in the order of their starts. What is open at a time is found from a keyframe. */
export class Intervals {
  readonly start = reals();
  readonly end = reals();
  private frames: Uint32Array[] = [new Uint32Array()];
  private open = new Set<number>();

  get length() {
    return this.start.length;
  }
  begin(time: number): number {
    const id = this.start.length;
    this.start.push(time);
    this.end.push(Infinity);
    this.open.add(id);
    if ((id + 1) % FRAME === 0) this.frames.push(Uint32Array.from(this.open));
    return id;
  }
  finish(id: number, time: number) {
    this.end.set(id, time);
    this.open.delete(id);
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

/** Ends by their keys, first in, first out. */
export class Open {
  private map = new Map<number, number | number[]>();
  put(key: number, id: number) {
    const there = this.map.get(key);
    if (there === undefined) this.map.set(key, id);
    else if (typeof there === "number") this.map.set(key, [there, id]);
    else there.push(id);
  }
  take(key: number): number | undefined {
    const there = this.map.get(key);
    if (typeof there === "object") {
      const id = there.shift();
      if (there.length === 1) this.map.set(key, there[0]!);
      return id;
    }
    this.map.delete(key);
    return there;
  }
  peek(key: number): number | undefined {
    const there = this.map.get(key);
    return typeof there === "object" ? there[0] : there;
  }
}

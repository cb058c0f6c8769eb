/** Streets under the nodes: lines in metres, as fine as pixels can show and clipped to what is seen. */

/** Points that a map may have: a larger one is not drawn. */
export const MOST_POINTS = 1_000_000;
/** Pieces of streets that are drawn at once: where more are in sight, they are drawn coarser. */
export const MOST_DRAWN = 60_000;
/** Pixels that they are long in all: a city has a tenth of it. */
const MOST_LENGTH = 2_000_000;
/** Metres beyond which nothing is a street: such a point ends its line. */
const FARTHEST = 1e8;
/** Pieces that are few enough to be drawn as they are. */
const FEW = 3000;
/** How fine: kept for the steps of zoom that were seen last. */
const KEPT = 6;

/** A map as a run or a recording has it: x and y of points, of which one that is no place ends a line. */
export interface MapOf { points: Float32Array; count: number; is_y_down: boolean; is_osm: boolean }
/** What is seen, in metres: left, bottom, right, top. */
export type Box = [number, number, number, number];

export class Streets {
  /** Corners; undefined if there is no street. */
  readonly box: Box | undefined;
  readonly isYDown: boolean;
  readonly isOsm: boolean;
  /** Points of the map, and whether they are too many. */
  readonly count: number;
  readonly isTooLarge: boolean;
  private readonly points: Float32Array;
  /** Pieces: pairs of numbers of points. */
  private readonly pieces: Uint32Array;
  private levels = new Map<number, Uint32Array>();

  constructor(map: MapOf) {
    this.isTooLarge = !(map.count <= MOST_POINTS) || map.points.length > 4 * MOST_POINTS;
    [this.count, this.isYDown, this.isOsm] = [map.count, map.is_y_down, map.is_osm];
    this.points = this.isTooLarge ? new Float32Array() : map.points;
    const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
    const pieces = new Uint32Array(this.points.length);
    let length = 0;
    for (let at = 1; 2 * at + 1 < this.points.length; at++) {
      if (!this.isPlace(at) || !this.isPlace(at - 1)) continue;
      pieces[length++] = at - 1;
      pieces[length++] = at;
      for (const point of [at - 1, at]) this.widen(box, point);
    }
    this.pieces = pieces.subarray(0, length);
    this.box = length > 0 ? box : undefined;
  }
  private isPlace(point: number) {
    return Math.abs(this.points[2 * point]!) <= FARTHEST && Math.abs(this.points[2 * point + 1]!) <= FARTHEST;
  }
  private widen(box: Box, point: number) {
    const [x, y] = [this.points[2 * point]!, this.points[2 * point + 1]!];
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  /** Calls `line` with the ends of each piece that is in sight; `metres`: those of a pixel. */
  visit(seen: Box, metres: number, line: (x: number, y: number, toX: number, toY: number) => void) {
    const { points } = this;
    const inSight = this.inSight(seen, metres);
    for (let at = 0; at < inSight.length; at += 2) {
      const [from, to] = [2 * inSight[at]!, 2 * inSight[at + 1]!];
      line(points[from]!, points[from + 1]!, points[to]!, points[to + 1]!);
    }
  }
  private inSight(seen: Box, metres: number): Uint32Array {
    // Squares of less than a pixel; at most 2^40 metres wide, where all is one point.
    for (let exponent = Math.max(-20, Math.floor(Math.log2(0.7 * metres) || 0)); ; ) {
      const found = clipped(this.points, this.level(exponent), seen);
      const excess = Math.max(found.length / 2 / MOST_DRAWN, lengthOf(this.points, found, seen) / metres / MOST_LENGTH);
      if (excess <= 1 || exponent > 40) return found.subarray(0, 2 * MOST_DRAWN);
      exponent += Math.max(1, Math.round(Math.log2(excess) / 2));
    }
  }
  /** The pieces between squares of 2^exponent metres, each once. */
  private level(exponent: number): Uint32Array {
    if (this.pieces.length <= 2 * FEW) return this.pieces;
    const known = this.levels.get(exponent);
    if (known) return known;
    const made = distinct(this.pieces, stands(this.points, 2 ** exponent));
    if (this.levels.size >= KEPT) this.levels.delete(this.levels.keys().next().value!);
    this.levels.set(exponent, made);
    return made;
  }
}

/** Those of which a part may be in sight. */
function clipped(points: Float32Array, pieces: Uint32Array, [left, bottom, right, top]: Box): Uint32Array {
  const found = new Uint32Array(pieces.length);
  let length = 0;
  for (let at = 0; at < pieces.length; at += 2) {
    const [from, to] = [pieces[at]!, pieces[at + 1]!];
    const [x, toX, y, toY] = [points[2 * from]!, points[2 * to]!, points[2 * from + 1]!, points[2 * to + 1]!];
    if ((x < left && toX < left) || (x > right && toX > right) || (y < bottom && toY < bottom) || (y > top && toY > top)) continue;
    found[length++] = from;
    found[length++] = to;
  }
  return found.subarray(0, length);
}

/** Metres of pieces, none longer than what is seen. */
function lengthOf(points: Float32Array, pieces: Uint32Array, [left, bottom, right, top]: Box): number {
  const most = Math.hypot(right - left, top - bottom);
  let sum = 0;
  for (let at = 0; at < pieces.length; at += 2) {
    const [from, to] = [2 * pieces[at]!, 2 * pieces[at + 1]!];
    sum += Math.min(most, Math.hypot(points[to]! - points[from]!, points[to + 1]! - points[from + 1]!));
  }
  return sum;
}

/** A table of at least twice as many places, all free. */
const table = (count: number) => new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2))).fill(-1);
const mixed = (one: number, other: number) => { const sum = Math.imul(one, 0x9e3779b1) ^ Math.imul(other ^ (one >>> 15), 0x85ebca6b); return sum ^ (sum >>> 13); };

/** Of each point the first in its square, which stands for all of it. */
function stands(points: Float32Array, size: number): Uint32Array {
  const count = points.length / 2;
  const [first, places] = [new Uint32Array(count), table(count)];
  const square = (at: number) => Math.floor(points[at]! / size);
  for (let point = 0; point < count; point++) {
    const [x, y] = [square(2 * point), square(2 * point + 1)];
    // No piece has a point that is no number.
    if (Number.isNaN(x + y)) continue;
    let place = mixed(x, y) & (places.length - 1);
    for (let other = places[place]!; other >= 0 && !(square(2 * other) === x && square(2 * other + 1) === y); other = places[place]!) {
      place = (place + 1) & (places.length - 1);
    }
    if (places[place]! < 0) places[place] = point;
    first[point] = places[place]!;
  }
  return first;
}

/** The pieces between points that stand for theirs, each once. */
function distinct(pieces: Uint32Array, first: Uint32Array): Uint32Array {
  const [found, places] = [new Uint32Array(pieces.length), table(pieces.length / 2)];
  let length = 0;
  for (let at = 0; at < pieces.length; at += 2) {
    const [one, other] = [first[pieces[at]!]!, first[pieces[at + 1]!]!];
    if (one === other) continue;
    const [low, high] = one < other ? [one, other] : [other, one];
    let place = mixed(low, high) & (places.length - 1);
    for (let known = places[place]!; known >= 0; known = places[place]!) {
      if (Math.min(found[known]!, found[known + 1]!) === low && Math.max(found[known]!, found[known + 1]!) === high) break;
      place = (place + 1) & (places.length - 1);
    }
    if (places[place]! >= 0) continue;
    places[place] = length;
    found[length++] = one;
    found[length++] = other;
  }
  return found.slice(0, length);
}

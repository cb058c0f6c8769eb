/** A run as the page knows it: made of batches of records, whatever their source. */
import { GAP, NO_FLAG, type Batch, type Cells, type World } from "../read/columns";
import type { Run } from "../read/worker";
import { plain } from "../draw/words";
import type { Streets } from "../scene/streets";
import { Bundles } from "./bundles";
import { bytes, Intervals, reals, Steps, wholes } from "./grow";
import { Marks, Tally } from "./marks";
import { Packets } from "./packets";
import { NamedData } from "./names";

/** Contacts of nodes, or links. */
export class Contacts extends Intervals {
  readonly a = wholes();
  readonly b = wholes();
  /** Bits a second, and seconds. */
  readonly rate = reals();
  readonly rateBack = reals();
  readonly delay = reals();
  readonly delayBack = reals();
}

/** Keys of transfers have room for so many. */
export const MOST_NODES = 16_384;

/** Bundles (packets) on their way between two nodes: from the first bit's departure to the arrival. */
export class Transfers extends Intervals {
  readonly from = wholes();
  readonly to = wholes();
  readonly item = wholes();
  readonly bytes = reals();
  /** When the last bit left; NaN where it has not. */
  readonly sent = reals();
  readonly outcome = bytes();
  /** Of bundles: nothing; of packets: 0 data, 1 acknowledgements and control; of names: 0 Data, 1 Interests. */
  readonly what = bytes();
  /** What has begun: on its way from one node to another. */
  push(from: number, to: number, item: number, size: number, what: number) {
    this.from.push(from);
    this.to.push(to);
    this.item.push(item);
    this.bytes.push(size);
    this.sent.push(NaN);
    this.outcome.push(0);
    this.what.push(what);
  }
}

/** Where a node is, at times. */
export interface Path { time: ReturnType<typeof reals>; x: ReturnType<typeof reals>; y: ReturnType<typeof reals> }

/** Cells of a column that a batch does not have. */
const gaps = { whole: new Uint32Array(), real: new Float64Array(), flag: new Uint8Array() };

/** Cells of one batch by row. */
export class Rows {
  constructor(private batch: Batch, readonly texts: string[]) {}
  get count() {
    return this.batch.rows;
  }
  /** A column at once, with `GAP`, NaN or `NO_FLAG` for nothing. */
  whole(name: string): Uint32Array {
    const cells = this.batch.columns[name];
    if (cells instanceof Uint32Array) return cells;
    if (gaps.whole.length < this.count) gaps.whole = new Uint32Array(this.count).fill(GAP);
    return gaps.whole;
  }
  real(name: string): Float64Array {
    const cells = this.batch.columns[name];
    if (cells instanceof Float64Array) return cells;
    if (gaps.real.length < this.count) gaps.real = new Float64Array(this.count).fill(NaN);
    return gaps.real;
  }
  flag(name: string): Uint8Array {
    const cells = this.batch.columns[name];
    if (cells instanceof Uint8Array) return cells;
    if (gaps.flag.length < this.count) gaps.flag = new Uint8Array(this.count).fill(NO_FLAG);
    return gaps.flag;
  }
  /** A number by its column; `undefined` for nothing. */
  number(name: string): (row: number) => number | undefined {
    const cells: Cells | undefined = this.batch.columns[name];
    if (!cells) return () => undefined;
    if (cells instanceof Float64Array) return (row) => { const value = cells[row]!; return value === value ? value : undefined; };
    const gap = cells instanceof Uint8Array ? NO_FLAG : GAP;
    return (row) => (cells[row] === gap ? undefined : cells[row]);
  }
  text(name: string): (row: number) => string | undefined {
    const number = this.number(name);
    return (row) => { const at = number(row); return at === undefined ? undefined : this.texts[at]; };
  }
}

/** Which of a list of words a text is, by the text's number; the length of the list: none. */
export class Codes {
  private known: number[] = [];
  constructor(private list: readonly string[]) {}
  of(texts: string[]): number[] {
    while (this.known.length < texts.length) {
      const at = this.list.indexOf(texts[this.known.length]!);
      this.known.push(at < 0 ? this.list.length : at);
    }
    return this.known;
  }
}

interface Taker { take(rows: Rows): void; names?(names: Record<string, unknown>): void }

export class Recording {
  /** Counts batches: who draws depends on it. */
  version = $state(0);
  state = $state<"reading" | "whole" | "failed">("reading");
  error = $state("");
  world = $state<World | undefined>();
  title = $state("");
  /** Seconds: how far it goes, and how far records are there. */
  duration = $state(0);
  until = $state(0);
  rows = $state(0);
  figures = $state<Record<string, unknown> | undefined>();
  took = $state<number | undefined>();
  /** A trace without its end record: the run may have gone on. */
  cut = $state(false);
  /** The map on which the nodes move. */
  streets = $state.raw<Streets | undefined>();
  scenario: string | undefined;
  /** What was run, of a run in the page. */
  run: Run | undefined;

  names: string[] = [];
  /** Bytes of buffers; 0 where nothing is known. */
  capacity: number[] = [];
  used: Steps[] = [];
  paths: (Path | undefined)[] = [];
  readonly contacts = new Contacts();
  readonly transfers = new Transfers();
  readonly tally = new Tally();
  readonly marks: Record<"created" | "delivered" | "dropped" | "refused", Marks> = {
    created: new Marks(), delivered: new Marks(), dropped: new Marks(), refused: new Marks(),
  };
  bundles: Bundles | undefined;
  packets: Packets | undefined;
  named: NamedData | undefined;
  private texts: string[] = [];
  private taker: Taker | undefined;

  constructor(title: string) {
    this.title = plain(title);
  }
  /** What things of this world are called. */
  get item() {
    return this.world === "packets" ? "packet" : this.world === "names" ? "Interest" : "bundle";
  }
  begin(world: World) {
    if (this.taker) return;
    this.world = world;
    this.taker = world === "bundles" ? (this.bundles = new Bundles(this)) : world === "packets" ? (this.packets = new Packets(this)) : (this.named = new NamedData(this));
  }
  introduce(names: Record<string, unknown>) {
    this.begin(names["world"] as World);
    this.taker?.names?.(names);
    // Links of packets and names have no delay in their records.
    const links = names["links"] as { delay_s?: number }[] | undefined;
    if (links?.length === this.contacts.length) links.forEach((link, id) => this.contacts.delay.set(id, link.delay_s ?? 0));
  }
  take(world: World, batch: Batch, until?: number) {
    this.begin(world);
    if (world !== this.world) throw new Error("records of two worlds in one trace");
    for (const text of batch.texts) this.texts.push(plain(text));
    const rows = new Rows(batch, this.texts);
    this.taker!.take(rows);
    this.rows += batch.rows;
    const last = rows.number("time_ns")(batch.rows - 1);
    this.until = Math.max(this.until, until ?? 0, batch.rows > 0 && last !== undefined ? last / 1e9 : 0);
    this.duration = Math.max(this.duration, this.until);
    this.version += 1;
  }
  end(figures?: string, took?: number, cut = false) {
    if (figures) this.figures = JSON.parse(figures);
    this.cut = cut;
    this.took = took;
    if (!this.world) return this.fail("the trace has no records");
    this.duration = this.until;
    this.state = "whole";
    this.version += 1;
  }
  fail(what: string) {
    this.error = plain(what);
    this.state = "failed";
  }
  /** The number of a node of this name, new if no node has it. */
  node(name: string): number {
    let node = this.byName.get(name);
    if (node === undefined) {
      node = this.names.length;
      this.setNode(node, name, 0);
    }
    return node;
  }
  private byName = new Map<string, number>();
  setNode(node: number, name: string, capacity: number) {
    if (node >= MOST_NODES) throw new Error(`node ${node}: a page shows at most ${MOST_NODES} nodes`);
    while (this.names.length <= node) {
      this.names.push(`node ${this.names.length}`);
      this.capacity.push(0);
      this.used.push(new Steps());
      this.paths.push(undefined);
    }
    this.names[node] = name;
    this.capacity[node] = capacity;
    this.byName.set(name, node);
  }
  /** Where a node is: straight lines between positions. */
  place(node: number, time: number): [number, number] | undefined {
    const path = this.paths[node];
    if (!path || path.time.length === 0) return undefined;
    const { data } = path.time;
    let low = 0;
    let high = path.time.length;
    while (low < high) { const middle = (low + high) >>> 1; if (data[middle]! <= time) low = middle + 1; else high = middle; }
    const next = Math.min(low, path.time.length - 1);
    const last = Math.max(0, low - 1);
    const span = data[next]! - data[last]!;
    const part = span > 0 ? (time - data[last]!) / span : 0;
    return [path.x.get(last) + part * (path.x.get(next) - path.x.get(last)), path.y.get(last) + part * (path.y.get(next) - path.y.get(last))];
  }
}

/** The columns of traces that the page reads (docs/reference/traces.md), by world, and how a batch holds them. */

export type World = "bundles" | "packets" | "names";
export type Cells = Uint32Array | Float64Array | Uint8Array;
type Kind = "whole" | "real" | "flag" | "text";

/** In columns of whole numbers and texts: nothing. */
export const GAP = 0xffffffff;
export const NO_FLAG = 255;

/** Records since the last batch. Texts are numbers of `texts`, which are numbered on from batch to batch. */
export interface Batch {
  rows: number;
  columns: Record<string, Cells>;
  texts: string[];
}

const of = (kind: Kind, names: string) => names.split(" ").map((name) => [name, kind] as const);

export const COLUMNS: Record<World, Map<string, Kind>> = {
  bundles: new Map([
    ...of("real", "time_ns bytes since_ns expires_ns rate rate_back delay_ns delay_back_ns x_m y_m"),
    ...of("whole", "node peer bundle hops reply"), ...of("flag", "first"), ...of("text", "kind why node_name peer_name"),
  ]),
  packets: new Map([
    ...of("real", "time_ns bytes offset ack print"), ...of("whole", "link flow hop length"), ...of("flag", "forward"),
    ...of("text", "kind what why link_name from_name to_name flow_name"),
  ]),
  names: new Map([
    ...of("real", "time_ns print"), ...of("flag", "marked"),
    ...of("whole", "link node consumer producer prefix segment bytes nonce hop_limit lifetime_ms content"),
    ...of("text", "kind what why prefix_name link_name from_name to_name node_name consumer_name"),
  ]),
};

/** Records that the page takes at most: beyond them its memory would not be bounded. */
export const MOST_ROWS = 20_000_000;
export const MOST_BUNDLES = 10_000_000;

/** The world whose columns these are. */
export function worldOf(names: Iterable<string>): World {
  const has = new Set(names);
  if (has.has("time_ns") && has.has("kind")) {
    if (has.has("bundle") || has.has("x_m")) return "bundles";
    if (has.has("prefix") || has.has("consumer") || has.has("producer")) return "names";
    if (has.has("flow")) return "packets";
    if (has.has("node")) return "bundles";
  }
  throw new Error("not a trace of Lightlag: its columns should be time_ns, kind and those of bundles, packets or named data");
}

/** Fills batches from cells of any kind. */
export class Filler {
  private numbers = new Map<string, number>();
  private texts: string[] = [];

  /** A column of `rows` cells, of which `cell` gives each. */
  column(world: World, name: string, rows: number, cell: (row: number) => unknown): Cells {
    const kind = COLUMNS[world].get(name);
    if (kind === "real") {
      const cells = new Float64Array(rows);
      for (let row = 0; row < rows; row++) {
        const value = cell(row);
        cells[row] = typeof value === "bigint" || typeof value === "number" ? Number(value) : NaN;
      }
      return cells;
    }
    if (kind === "flag") {
      return Uint8Array.from({ length: rows }, (_, row) => { const value = cell(row); return value === true ? 1 : value === false ? 0 : NO_FLAG; });
    }
    const cells = new Uint32Array(rows);
    for (let row = 0; row < rows; row++) {
      const value = cell(row);
      if (kind === "text") cells[row] = typeof value === "string" ? this.number(value) : GAP;
      else cells[row] = typeof value === "bigint" || typeof value === "number" ? Number(value) : GAP;
    }
    return cells;
  }
  /** Texts since the last time. */
  taken(): string[] {
    return this.texts.splice(0);
  }
  private number(text: string): number {
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(text, number);
      // A name is for people: one that is longer than any label is cut.
      this.texts.push(text.length > 200 ? `${text.slice(0, 200)}…` : text);
    }
    return number;
  }
}

/** Off the page's thread: reads traces, and runs worlds as WebAssembly. A trap ends it; the page starts another. */
import init, { World, check, schema, streets } from "lightlag";
import { COLUMNS, type Batch, type World as Kind } from "./columns";
import { pieces } from "./gzip";
import { readJsonLines } from "./jsonl";
import { readParquet } from "./parquet";
import { Sound } from "./sound";
import type { MapOf } from "../scene/streets";
import { Table, type Declared, type ExactBatch } from "./table";

export type Settings = Record<string, string | number | boolean>;
export interface Run { /** All of the records, and their digest: for those who ask. */ whole?: boolean; text: string; seed: number | null; files: Record<string, Uint8Array>; point: number | null; set: Settings }
export type Ask =
  | { do: "read"; format: string; bytes: ArrayBuffer; /** JSON lines may be. */ gzipped: boolean }
  | { do: "wasm"; bytes: ArrayBuffer }
  | { do: "run"; run: Run }
  | { do: "table"; run: Run }
  | { do: "more" }
  | { do: "check"; id: number; text: string; files: Record<string, Uint8Array> }
  | { do: "schema"; id: number };
export interface Fault { file: string | null; line: number | null; column: number | null; end_column: number | null; what: string; right: string }
export type Answer =
  | { is: "batch"; world: Kind; batch: Batch; until?: number }
  | { is: "names"; names: string; duration: number }
  | { is: "map"; map: MapOf }
  | { is: "end"; figures?: string; took?: number; digest?: string; /** A trace without its end record. */ cut?: boolean }
  | { is: "table"; bytes: ArrayBuffer; rows: number }
  | { is: "error"; what: string; faults?: Fault[] }
  | { is: "value"; id: number; value?: string; what?: string; faults?: Fault[] };

const port = self as unknown as { postMessage(answer: Answer, transfer?: Transferable[]): void; onmessage: unknown };
let ready: Promise<unknown> = Promise.reject(new Error("this page was built without WebAssembly"));
ready.catch(() => {});

/** Batches that the page has not taken yet: more would only fill its memory. */
const MOST_AHEAD = 4;
let ahead = 0;
let taken = () => {};

async function send(world: Kind, batch: Batch, until?: number) {
  port.postMessage({ is: "batch", world, batch, until }, Object.values(batch.columns).map((cells) => cells.buffer as ArrayBuffer));
  ahead += 1;
  while (ahead >= MOST_AHEAD) await new Promise<void>((more) => (taken = more));
}

async function read(format: string, bytes: ArrayBuffer, gzipped: boolean) {
  if (format !== "parquet" && format !== "jsonl") throw new Error(`unknown format \`${format}\`; it should be parquet or jsonl`);
  const sound = new Sound();
  for await (const { world, batch } of format === "parquet" ? readParquet(bytes) : readJsonLines(pieces(new Uint8Array(bytes), gzipped))) {
    sound.look(batch);
    await send(world, batch);
  }
  port.postMessage({ is: "end", cut: !sound.ended });
}

/** The streets on which nodes move, if there are any. */
function sendMap(text: string, files: Run["files"], point: number | null, set: Settings) {
  const map = streets(text, files, point, set) as MapOf;
  if (map.count > 0) port.postMessage({ is: "map", map }, [map.points.buffer]);
}

async function play({ whole, text, seed, files, point, set }: Run) {
  const began = performance.now();
  const world = new World(text, seed, files, point, set, !whole);
  if (!whole) sendMap(text, files, point, set);
  const names = world.names();
  port.postMessage({ is: "names", names, duration: world.duration });
  const kind = JSON.parse(names).world as Kind;
  if (!whole) world.choose([...COLUMNS[kind].keys()]);
  let step = world.duration / 1000;
  for (let more = true; more;) {
    const from = performance.now();
    more = world.advance(step);
    const batch = world.records() as Batch;
    // Steps of some 50 ms: the page draws while it runs, and is not flooded.
    const took = performance.now() - from;
    step = Math.max(1e-6, step * Math.min(4, Math.max(0.25, 50 / Math.max(1, took))));
    await send(kind, batch, world.time);
  }
  port.postMessage({ is: "end", figures: world.figures(), took: performance.now() - began, digest: world.digest() });
  world.free();
}

/** The run again, as a table with all of its columns. */
function tabulate({ text, seed, files, point, set }: Run) {
  const world = World.exact(text, seed, files, point, set);
  const table = new Table(JSON.parse(world.columns()) as Declared[]);
  for (let more = true; more;) {
    more = world.advance(world.duration / 200);
    table.take(world.records() as ExactBatch);
  }
  world.free();
  const bytes = table.finish();
  port.postMessage({ is: "table", bytes, rows: table.rows }, [bytes]);
}

const failed = (error: unknown) => ({ what: error instanceof Error ? error.message : String(error), faults: (error as { faults?: Fault[] }).faults });

async function answer(ask: Ask) {
  if (ask.do === "more") {
    ahead -= 1;
    return taken();
  }
  if (ask.do === "read") return read(ask.format, ask.bytes, ask.gzipped);
  if (ask.do === "wasm") {
    ready = init({ module_or_path: ask.bytes });
    ready.catch(() => {});
    return;
  }
  await ready;
  if (ask.do === "run") return play(ask.run);
  if (ask.do === "table") return tabulate(ask.run);
  try {
    port.postMessage({ is: "value", id: ask.id, value: ask.do === "schema" ? schema() : check(ask.text, ask.files) });
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    port.postMessage({ is: "value", id: ask.id, ...failed(error) });
  }
}

port.onmessage = (event: MessageEvent<Ask>) => {
  answer(event.data).catch((error: unknown) => port.postMessage({ is: "error", ...failed(error) }));
};

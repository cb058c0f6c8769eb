/** Off the page's thread: reads traces, and runs worlds as WebAssembly. A trap ends it; the page starts another. */
import init, { World, check, schema } from "lightlag";
import type { Batch, World as Kind } from "./columns";
import { readJsonLines } from "./jsonl";
import { readParquet } from "./parquet";

export type Settings = Record<string, string | number | boolean>;
export interface Run { text: string; seed: number | null; files: Record<string, Uint8Array>; point: number | null; set: Settings }
export type Ask =
  | { do: "read"; format: string; bytes: ArrayBuffer }
  | { do: "wasm"; bytes: ArrayBuffer }
  | { do: "run"; run: Run }
  | { do: "check"; id: number; text: string; files: Record<string, Uint8Array> }
  | { do: "schema"; id: number };
export interface Fault { file: string | null; line: number | null; column: number | null; end_column: number | null; what: string; right: string }
export type Answer =
  | { is: "batch"; world: Kind; batch: Batch; until?: number }
  | { is: "names"; names: string; duration: number }
  | { is: "end"; figures?: string; took?: number; digest?: string }
  | { is: "error"; what: string; faults?: Fault[] }
  | { is: "value"; id: number; value?: string; what?: string; faults?: Fault[] };

const port = self as unknown as { postMessage(answer: Answer, transfer?: Transferable[]): void; onmessage: unknown };
let ready: Promise<unknown> = Promise.reject(new Error("this page was built without WebAssembly"));
ready.catch(() => {});

function send(world: Kind, batch: Batch, until?: number) {
  port.postMessage({ is: "batch", world, batch, until }, Object.values(batch.columns).map((cells) => cells.buffer as ArrayBuffer));
}

async function read(format: string, bytes: ArrayBuffer) {
  if (format === "parquet") for await (const { world, batch } of readParquet(bytes)) send(world, batch);
  else if (format === "jsonl") for (const { world, batch } of readJsonLines(new Uint8Array(bytes))) send(world, batch);
  else throw new Error(`unknown format \`${format}\`; it should be parquet or jsonl`);
  port.postMessage({ is: "end" });
}

function play({ text, seed, files, point, set }: Run) {
  const began = performance.now();
  const world = new World(text, seed, files, point, set);
  const names = world.names();
  port.postMessage({ is: "names", names, duration: world.duration });
  const kind = JSON.parse(names).world as Kind;
  let step = world.duration / 1000;
  for (let more = true; more;) {
    const from = performance.now();
    more = world.advance(step);
    const batch = world.records() as Batch;
    send(kind, batch, world.time);
    // Steps of some 50 ms: the page draws while it runs, and is not flooded.
    const took = performance.now() - from;
    step = Math.max(1e-6, step * Math.min(4, Math.max(0.25, 50 / Math.max(1, took))));
  }
  port.postMessage({ is: "end", figures: world.figures(), took: performance.now() - began, digest: world.digest() });
  world.free();
}

const failed = (error: unknown) => ({ what: error instanceof Error ? error.message : String(error), faults: (error as { faults?: Fault[] }).faults });

async function answer(ask: Ask) {
  if (ask.do === "read") return read(ask.format, ask.bytes);
  if (ask.do === "wasm") {
    ready = init({ module_or_path: ask.bytes });
    ready.catch(() => {});
    return;
  }
  await ready;
  if (ask.do === "run") return play(ask.run);
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

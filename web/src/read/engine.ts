/** The page's side of its workers. */
import Work from "./worker?worker&inline";
import { MOST_UNPACKED, unpacked } from "./gzip";
import type { Answer, Ask, Fault, Run } from "./worker";
export type { Answer, Fault, Run, Settings } from "./worker";

let bytes: Promise<ArrayBuffer> | undefined;

/** The WebAssembly in the page, unpacked once. */
function wasm(): Promise<ArrayBuffer> {
  bytes ??= unpack(document.getElementById("wasm")?.textContent ?? "", true).then((bytes) => {
    if (bytes.byteLength === 0) throw new Error("this page was built without WebAssembly: it shows recordings but runs nothing");
    return bytes;
  });
  return bytes;
}

/** Bytes of base64, gzipped or not; of what was gzipped at most `most`. */
export async function unpack(base64: string, gzipped: boolean, most = MOST_UNPACKED): Promise<ArrayBuffer> {
  const binary = atob(base64.trim());
  const packed = Uint8Array.from({ length: binary.length }, (_, at) => binary.charCodeAt(at));
  if (!gzipped || packed.length === 0) return packed.buffer;
  return new Response(unpacked(packed, most)).arrayBuffer();
}

/** A worker that tells what it does until it is stopped. */
export class Engine {
  private worker = new Work();
  constructor(heard: (answer: Answer) => void) {
    this.worker.onmessage = (event: MessageEvent<Answer>) => heard(event.data);
    this.worker.onerror = (event) => { event.preventDefault(); heard({ is: "error", what: `it stopped: ${event.message || "the worker could not start"}` }); };
  }
  ask(ask: Ask, transfer: Transferable[] = []) {
    this.worker.postMessage(ask, transfer);
  }
  /** Hands over the WebAssembly. */
  async arm() {
    const own = (await wasm()).slice(0);
    this.ask({ do: "wasm", bytes: own }, [own]);
  }
  stop() {
    this.worker.terminate();
  }
}

export function startRun(run: Run, heard: (answer: Answer) => void): Engine {
  const engine = new Engine(heard);
  engine.arm().then(() => engine.ask({ do: "run", run }), (error: Error) => heard({ is: "error", what: error.message }));
  return engine;
}

/** A run as a table in Parquet: it is run again for it. */
export function tableOf(run: Run): Promise<ArrayBuffer> {
  return new Promise((done, fail) => {
    const engine = new Engine((answer) => {
      engine.stop();
      answer.is === "table" ? done(answer.bytes) : fail(new Error(answer.is === "error" ? answer.what : "no table"));
    });
    engine.arm().then(() => engine.ask({ do: "table", run }), fail);
  });
}

/** Questions about a text: errors, the schema. After a trap it is started anew. */
export class Checker {
  private engine: Engine | undefined;
  private armed: Promise<void> = Promise.resolve();
  private waiting = new Map<number, (answer: { value?: string; what?: string; faults?: Fault[] }) => void>();
  private next = 0;

  check(text: string, files: Record<string, Uint8Array>) {
    return this.asked((id) => ({ do: "check", id, text, files }));
  }
  schema() {
    return this.asked((id) => ({ do: "schema", id }));
  }
  private async asked(ask: (id: number) => Ask) {
    if (!this.engine) {
      this.engine = new Engine((answer) => this.heard(answer));
      this.armed = this.engine.arm();
    }
    await this.armed;
    const id = this.next++;
    return new Promise<{ value?: string; what?: string; faults?: Fault[] }>((done) => {
      this.waiting.set(id, done);
      this.engine!.ask(ask(id));
    });
  }
  private heard(answer: Answer) {
    if (answer.is === "value") {
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    } else if (answer.is === "error") {
      this.engine?.stop();
      this.engine = undefined;
      for (const done of this.waiting.values()) done({ what: answer.what });
      this.waiting.clear();
    }
  }
}

/** What the page was given to show, and links that say it. */
import { MOST_POINTS, Streets } from "../scene/streets";
import { unpack, type Settings } from "./engine";

export type Source =
  | { kind: "trace"; title: string; format: string; url?: string; data?: string; scenario?: string | null; about?: { seed?: number; metrics?: Record<string, unknown>; map?: unknown } }
  | { kind: "scenario"; title: string; text: string; files?: Record<string, string>; seed?: number | null; set?: Settings }
  | { kind: "live"; title: string; url: string };

/** What a link holds. */
export interface Shared { text: string; seed: number | null; set: Settings; compare?: Settings | null; example?: string | undefined; /** Texts by name. */ files?: Record<string, string> }

const MOST_TEXT = 2_000_000;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** A source that is whole, or why it is none. */
function checked(value: unknown): Source {
  if (!isRecord(value)) throw new Error("a source should be an object");
  const title = typeof value["title"] === "string" ? value["title"].slice(0, 200) : "untitled";
  if (value["kind"] === "trace" && (typeof value["data"] === "string" || typeof value["url"] === "string")) return { ...value, title } as Source;
  if (value["kind"] === "scenario" && typeof value["text"] === "string") return { ...value, title } as Source;
  if (value["kind"] === "live" && typeof value["url"] === "string") return { ...value, title } as Source;
  throw new Error("a source should be a trace with `data` or `url`, a scenario with `text`, or live with `url`");
}

/** The map of a recorded run; none if what should be one is none. */
export async function mapOf(value: unknown): Promise<Streets | undefined> {
  if (!isRecord(value) || typeof value["points"] !== "string" || typeof value["count"] !== "number") return undefined;
  const { points, count, is_y_down, is_osm } = value;
  try {
    const bytes = await unpack(points as string, true, 16 * MOST_POINTS);
    const numbers = new Float32Array(bytes, 0, Math.floor(bytes.byteLength / 4));
    return new Streets({ points: numbers, count: count as number, is_y_down: is_y_down === true, is_osm: is_osm === true });
  } catch {
    return undefined;
  }
}

/** Sources in the page, or beside it where it is served. */
export async function findSources(): Promise<Source[]> {
  const elements = [...document.querySelectorAll("script.source[type='application/json']")];
  if (elements.length > 0) return elements.map((element) => checked(JSON.parse(element.textContent ?? "")));
  if (!location.protocol.startsWith("http")) return [];
  const answer = await fetch("sources.json").catch(() => undefined);
  if (!answer?.ok || !(answer.headers.get("content-type") ?? "json").includes("json")) return [];
  const list: unknown = await answer.json();
  return Array.isArray(list) ? list.map(checked) : [];
}

const base64url = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>) as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    // A link may unpack to a thousand times its size: not beyond what a scenario can be.
    if (size > MOST_TEXT) throw new Error("the link holds too much");
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}

export async function packed(shared: Shared): Promise<string> {
  return base64url(await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw")));
}

/** What a fragment asks for. */
export async function ofFragment(fragment: string): Promise<{ shared?: Shared; view?: string; t?: number; embed?: boolean }> {
  const values = new URLSearchParams(fragment.replace(/^#/, ""));
  const [s, view, time] = [values.get("s"), values.get("view") ?? undefined, values.get("t")];
  const t = time !== null && Number.isFinite(Number(time)) ? Number(time) : undefined;
  const rest = { ...(view ? { view } : {}), ...(t === undefined ? {} : { t }), ...(values.get("embed") === "1" ? { embed: true } : {}) };
  if (!s) return rest;
  let value: unknown;
  try {
    const bytes = Uint8Array.from(atob(s.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    value = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
  } catch {
    throw new Error("the link is damaged: it holds no scenario");
  }
  if (!isRecord(value) || typeof value["text"] !== "string") throw new Error("the link holds no scenario");
  const settings = (value: unknown): Settings => (isRecord(value) ? (Object.fromEntries(Object.entries(value).filter(([, one]) => ["string", "number", "boolean"].includes(typeof one))) as Settings) : {});
  const seed = typeof value["seed"] === "number" ? value["seed"] : null;
  const example = typeof value["example"] === "string" ? value["example"] : undefined;
  const files = isRecord(value["files"]) ? Object.fromEntries(Object.entries(value["files"]).filter((pair): pair is [string, string] => typeof pair[1] === "string")) : {};
  return { ...rest, shared: { text: value["text"], seed, set: settings(value["set"]), compare: isRecord(value["compare"]) ? settings(value["compare"]) : null, example, files } };
}

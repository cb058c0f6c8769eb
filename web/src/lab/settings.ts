/** What of a scenario a control can change: its algorithms where they are written, their parameters, and amounts. */
import { parse, stringify } from "smol-toml";
import type { Settings } from "../read/engine";

export type Kind = "mechanism" | "router" | "controller" | "queue" | "loss_model" | "mobility_model";
/** An algorithm as a scenario writes it: its name, and what of its table is written. */
export interface Algorithm { name: string; table: Record<string, unknown> }
export interface Setting { path: string; kind: Kind | "amount"; written: string; algorithm?: Algorithm }

/** By key: which kind it holds, and which key of its table has the name. */
const KEYS: Record<string, [Kind, string]> = {
  mechanism: ["mechanism", "name"], router: ["router", "name"], controller: ["controller", "name"], datagram_controller: ["controller", "name"],
  queue: ["queue", "discipline"], loss: ["loss_model", "model"], mobility: ["mobility_model", "model"],
};
const NAME_KEY = Object.fromEntries(Object.values(KEYS)) as Record<Kind, string>;
/** Kinds that a menu changes by name alone: models need keys of their own. */
export const NAMED: readonly string[] = ["mechanism", "router", "controller"];
const ORDER = ["mechanism", "router", "loss_model", "queue", "controller", "mobility_model", "amount"];
const MOST = 14;
const PLAIN = /^[\w-]+$/;

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The algorithm that a value names. */
function named(kind: Kind, value: unknown): Algorithm | undefined {
  const one = Array.isArray(value) ? value[0] : value;
  if (typeof one === "string" && NAMED.includes(kind) && !one.startsWith("$")) return { name: one, table: {} };
  if (!isTable(one)) return undefined;
  const { [NAME_KEY[kind]]: name, ...table } = one;
  return typeof name === "string" ? { name, table } : undefined;
}
/** A value of a setting as TOML. */
const ofText = (text: string): unknown => { try { return parse(`value = ${text}`)["value"]; } catch { return text; } };

/** The settings of a text, the algorithms first; `undefined` where it is no TOML. */
export function settingsOf(text: string): Setting[] | undefined {
  let tree: Record<string, unknown>;
  try {
    tree = parse(text);
  } catch {
    return undefined;
  }
  const parameters = isTable(tree["parameters"]) ? tree["parameters"] : {};
  const found = new Map<string, Setting>();
  const put = (path: string, kind: Kind, value: unknown) => {
    // A reference stands for a parameter, that perhaps for another: there it can be set.
    for (let depth = 0; typeof value === "string" && value.startsWith("$") && depth < 9; depth++) [path, value] = [value.slice(1), parameters[value.slice(1)]];
    const algorithm = named(kind, value);
    if (algorithm && !found.has(path)) found.set(path, { path, kind, written: Array.isArray(value) ? "as written" : algorithm.name, algorithm });
  };
  const walk = (table: Record<string, unknown>, before: string, depth: number) => {
    for (const [key, value] of Object.entries(table)) {
      if (!PLAIN.test(key) || depth > 6 || before === "" && key === "parameters") continue;
      const path = before + key;
      const kind = KEYS[key]?.[0];
      if (kind) put(path, kind, value);
      else if (isTable(value)) walk(value, `${path}.`, depth + 1);
      if (key === "buffer" && isAmount(value)) found.set(path, { path, kind: "amount", written: String(value) });
    }
  };
  walk(tree, "", 0);
  for (const [key, value] of Object.entries(parameters)) if (isAmount(value) && !found.has(key)) found.set(key, { path: key, kind: "amount", written: String(value) });
  return [...found.values()].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).slice(0, MOST);
}
const isAmount = (value: unknown) => /^[\d.]+( ?[\w/]+)?$/.test(typeof value === "number" || typeof value === "bigint" ? String(value) : typeof value === "string" ? value : "");

/** The algorithm that is in force: as set, else as written. */
export function inForce(setting: Setting, set: Settings): Algorithm | undefined {
  const text = set[setting.path];
  return text === undefined ? setting.algorithm : named(setting.kind as Kind, ofText(String(text)));
}
/** The setting that gives an algorithm these values; `undefined`: a parameter has its default. */
export function withParameter(setting: Setting, algorithm: Algorithm, name: string, value: unknown): string {
  const table = { ...algorithm.table, [name]: value };
  if (value === undefined) delete table[name];
  const key = NAME_KEY[setting.kind as Kind];
  if (Object.keys(table).length === 0 && NAMED.includes(setting.kind)) return algorithm.name;
  return inline({ [key]: algorithm.name, ...table });
}
/** TOML on one line. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isTable(value)) return `{ ${Object.entries(value).map(([key, one]) => `${PLAIN.test(key) ? key : JSON.stringify(key)} = ${inline(one)}`).join(", ")} }`;
  return stringify({ value }).trim().replace(/^value = /, "");
}

/** A written amount, times a factor. */
export function scaled(written: string, factor: number): string {
  const [, number, unit] = /^([\d.]+)(.*)$/.exec(written) ?? ["", "0", ""];
  const value = Number(number) * factor;
  const text = unit?.trim() || !Number.isInteger(Number(number)) ? Number(value.toPrecision(3)) : Math.max(1, Math.round(value));
  return `${text}${unit}`;
}

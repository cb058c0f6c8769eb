/** Completion from the JSON Schema of scenarios: which keys a section takes, and which values a key. */
type Schema = Record<string, unknown>;
export interface Choice { text: string; says: string }

let root: Schema = {};
export const setSchema = (text: string) => (root = JSON.parse(text) as Schema);

const MOST = 12;

/** All that a schema may be: references followed, alternatives side by side. */
function* each(schema: Schema | undefined, depth = 0): Generator<Schema> {
  if (!schema || depth > 12) return;
  yield schema;
  const reference = schema["$ref"];
  if (typeof reference === "string" && !reference.endsWith("/reference")) {
    let found: unknown = root;
    for (const part of reference.replace(/^#\//, "").split("/")) found = (found as Schema | undefined)?.[part];
    yield* each(found as Schema, depth + 1);
  }
  for (const list of ["anyOf", "oneOf", "allOf"]) for (const one of (schema[list] as Schema[] | undefined) ?? []) yield* each(one, depth + 1);
}

/** The scenario of a world: those with producers or consumers have another. */
function* world(text: string): Generator<Schema> {
  const names = /^\[(producers|consumers)/m.test(text);
  const packets = /^\[(links|flows)/m.test(text);
  const find = function* (schema: Schema | undefined, depth: number): Generator<Schema> {
    if (!schema || depth > 4) return;
    if (schema["properties"]) yield schema;
    yield* find(schema["then"] as Schema, depth + 1);
    yield* find(schema["else"] as Schema, depth + 1);
  };
  const all = [...find(root, 0)];
  const has = (schema: Schema, key: string) => key in (schema["properties"] as Schema);
  yield* all.filter((schema) => (names ? has(schema, "consumers") : packets ? has(schema, "flows") : has(schema, "nodes") && !has(schema, "consumers")));
}

function step(schemas: Schema[], part: string): Schema[] {
  const found: Schema[] = [];
  for (const schema of schemas) for (const one of each(schema)) {
    const property = (one["properties"] as Record<string, Schema> | undefined)?.[part];
    if (property) found.push(property);
    else if (typeof one["additionalProperties"] === "object" && one["additionalProperties"]) found.push(one["additionalProperties"] as Schema);
  }
  return found;
}

/** What could stand at `cursor`, and from where on it would replace. */
export function complete(text: string, cursor: number): { from: number; choices: Choice[] } {
  const before = text.slice(0, cursor);
  const lines = before.split("\n");
  const line = lines.at(-1)!;
  if (/(^|\s)#/.test(line.replace(/"[^"]*"/g, ""))) return { from: cursor, choices: [] };
  let section: string[] = [];
  for (const one of lines.slice(0, -1)) {
    const header = /^\s*\[\[?([\w.\- "]+)\]\]?/.exec(one);
    if (header) section = header[1]!.split(".").map((part) => part.trim().replaceAll('"', ""));
  }
  let schemas = [...world(text)];
  for (const part of section) schemas = step(schemas, part);
  // Within an inline table: go on from its key.
  let rest = line;
  for (let open = /^\s*([\w.-]+)\s*=\s*\{/.exec(rest); open; open = /(?:^|[{,])\s*([\w.-]+)\s*=\s*\{/.exec(rest)) {
    schemas = step(schemas, open[1]!);
    rest = rest.slice(open[0].length);
  }
  const assigned = /(?:^|[{,])\s*([\w.-]+)\s*=\s*(?:\[[^\]]*?)?"?([\w.-]*)$/.exec(rest);
  if (assigned) return { from: cursor - assigned[2]!.length, choices: values(step(schemas, assigned[1]!), assigned[2]!, /"[\w.-]*$/.test(rest)) };
  const key = /(?:^|[{,])\s*([\w-]*)$/.exec(rest);
  if (!key) return { from: cursor, choices: [] };
  return { from: cursor - key[1]!.length, choices: keys(schemas, key[1]!) };
}

function keys(schemas: Schema[], start: string): Choice[] {
  const found = new Map<string, string>();
  for (const schema of schemas) for (const one of each(schema)) {
    for (const [name, property] of Object.entries((one["properties"] as Record<string, Schema> | undefined) ?? {})) {
      if (name.startsWith(start) && name !== start) found.set(name, String(property["description"] ?? ""));
    }
  }
  return [...found].slice(0, MOST).map(([text, says]) => ({ text, says }));
}

function values(schemas: Schema[], start: string, quoted: boolean): Choice[] {
  const found = new Set<string>();
  for (const schema of schemas) for (const one of each(schema)) {
    const list = [...((one["enum"] as unknown[]) ?? []), ...("const" in one ? [one["const"]] : []), ...((one["examples"] as unknown[]) ?? [])];
    if (one["type"] === "boolean") list.push(true, false);
    for (const value of list) {
      const text = typeof value === "string" && !quoted ? `"${value}"` : String(value);
      if (text.replaceAll('"', "").startsWith(start) && text !== start) found.add(text);
    }
  }
  return [...found].slice(0, 30).map((text) => ({ text, says: "" }));
}

/** Names that a kind of algorithm has: `mechanism`, `router`, `controller`. */
export function namesOf(kind: string): string[] {
  const schema = (root["$defs"] as Record<string, Schema> | undefined)?.[kind];
  const found = new Set<string>();
  for (const one of each(schema)) for (const name of (one["enum"] as unknown[]) ?? []) if (typeof name === "string") found.add(name);
  return [...found].sort();
}

export interface Setting { path: string; kind: string; written: string }

/** What of a scenario a menu can change: its algorithms where they are written, and parameters. */
export function settingsOf(text: string): Setting[] {
  const found: Setting[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    const header = /^\s*\[([\w.-]+)\]/.exec(line);
    if (header) section = header[1]!;
    const pair = /^\s*(\w+)\s*=\s*(.+?)\s*(#.*)?$/.exec(line);
    if (!pair) continue;
    const path = section === "" || section === "parameters" ? pair[1]! : `${section}.${pair[1]}`;
    const written = pair[2]!.replace(/^"(.*)"$/, "$1");
    if (/^(mechanism|router|controller)$/.test(pair[1]!) && !written.startsWith("$")) found.push({ path, kind: pair[1]!, written });
    else if ((section === "parameters" || pair[1] === "buffer") && /^[\d.]+( ?[\w/]+)?$/.test(written)) found.push({ path, kind: "amount", written });
  }
  return found.slice(0, 14);
}

/** A written amount, times a factor. */
export function scaled(written: string, factor: number): string {
  const [, number, unit] = /^([\d.]+)(.*)$/.exec(written) ?? ["", "0", ""];
  const value = Number(number) * factor;
  const text = unit?.trim() || !Number.isInteger(Number(number)) ? Number(value.toPrecision(3)) : Math.max(1, Math.round(value));
  return `${text}${unit}`;
}

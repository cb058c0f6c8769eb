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

/** A parameter of an algorithm, as the registry declares it. */
export interface Parameter {
  name: string;
  meaning: string;
  unit: string;
  /** As a scenario writes it; `undefined`: none. */
  default: string | number | boolean | undefined;
  /** Of a number. */
  range: [number, number] | undefined;
  whole: boolean;
  /** Of a word. */
  words: string[] | undefined;
}

/** The parameters of an algorithm, by its kind and name. */
export function parametersOf(kind: string, name: string): Parameter[] {
  const kinds = (root["$defs"] as Record<string, Schema> | undefined)?.[kind];
  for (const one of each(kinds)) {
    const properties = one["properties"] as Record<string, Schema> | undefined;
    const isNamed = (property: Schema | undefined) => [...each(property)].some((form) => form["const"] === name);
    if (!properties || !["name", "model", "discipline"].some((key) => isNamed(properties[key]))) continue;
    // Only parameters have a unit, which may be empty.
    return Object.entries(properties).filter(([, property]) => "x-unit" in property).map(([name, property]) => parameter(name, property));
  }
  return [];
}
function parameter(name: string, property: Schema): Parameter {
  const forms = [...each(property)];
  return {
    name, meaning: String(property["description"] ?? ""), unit: String(property["x-unit"] ?? ""),
    default: property["default"] as Parameter["default"], range: property["x-range"] as Parameter["range"],
    whole: forms.some((form) => form["type"] === "integer"), words: forms.find((form) => form["enum"])?.["enum"] as string[] | undefined,
  };
}

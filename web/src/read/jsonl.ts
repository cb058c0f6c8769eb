/** A trace in lines of JSON. */
import { COLUMNS, Filler, MOST_ROWS, worldOf, type Batch, type World } from "./columns";

const BATCH = 65_536;
const MOST_LINE = 1_000_000;
type Line = Record<string, unknown>;

export function* readJsonLines(bytes: Uint8Array): Generator<{ world: World; batch: Batch }> {
  const filler = new Filler();
  let world: World | undefined;
  let lines: Line[] = [];
  let count = 0;
  const batch = () => {
    world ??= worldOf(new Set(lines.flatMap((line) => Object.keys(line))));
    const rows = lines;
    const columns: Batch["columns"] = {};
    for (const name of COLUMNS[world].keys()) {
      if (rows.some((line) => line[name] !== undefined)) columns[name] = filler.column(world, name, rows.length, (row) => rows[row]![name]);
    }
    lines = [];
    return { world, batch: { rows: rows.length, columns, texts: filler.taken() } };
  };
  for (const text of eachLine(bytes)) {
    count += 1;
    if (!text.trim()) continue;
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      throw new Error(`line ${count} is not JSON; each line should be one record`);
    }
    if (typeof line !== "object" || line === null || Array.isArray(line)) throw new Error(`line ${count} is not a record`);
    if (count > MOST_ROWS) throw new Error(`more than ${MOST_ROWS} records: cut the trace`);
    lines.push(line as Line);
    if (lines.length === BATCH) yield batch();
  }
  if (lines.length > 0) yield batch();
}

/** Lines, decoded a piece at a time: the whole text would not fit into one string. */
function* eachLine(bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for (let at = 0; at < bytes.length; at += 4_194_304) {
    const parts = (rest + decoder.decode(bytes.subarray(at, at + 4_194_304), { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > MOST_LINE) throw new Error(`a line is longer than ${MOST_LINE} characters; each line should be one record`);
    yield* parts;
  }
  yield rest + decoder.decode();
}

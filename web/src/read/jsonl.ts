/** A trace in lines of JSON. */
import { COLUMNS, Filler, MOST_ROWS, worldOf, type Batch, type World } from "./columns";

const BATCH = 65_536;
const MOST_LINE = 1_000_000;
type Line = Record<string, unknown>;

export async function* readJsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<{ world: World; batch: Batch }> {
  const filler = new Filler();
  let world: World | undefined;
  let taken: Line[] = [];
  let count = 0;
  const batch = () => {
    const rows = taken;
    world ??= worldOf(new Set(rows.flatMap((line) => Object.keys(line))));
    const columns: Batch["columns"] = {};
    for (const name of COLUMNS[world].keys()) {
      if (rows.some((line) => line[name] !== undefined)) columns[name] = filler.column(world, name, rows.length, (row) => rows[row]![name]);
    }
    taken = [];
    return { world, batch: { rows: rows.length, columns, texts: filler.taken() } };
  };
  for await (const lines of eachPiece(bytes)) for (const text of lines) {
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
    taken.push(line as Line);
    if (taken.length === BATCH) yield batch();
  }
  if (taken.length > 0) yield batch();
}

/** Lines, decoded a piece at a time: the whole text would not fit into one string. */
async function* eachPiece(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MOST_LINE) throw new Error(`a line is longer than ${MOST_LINE} characters; each line should be one record`);
    yield lines;
  }
  yield [rest + decoder.decode()];
}

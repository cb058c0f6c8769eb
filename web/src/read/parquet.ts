/** A trace in Parquet, a row group at a time. */
import { parquetMetadata, parquetScan } from "hyparquet";
import { COLUMNS, Filler, MOST_ROWS, worldOf, type Batch, type World } from "./columns";

/** Rows that a batch has at most. */
const BATCH = 262_144;
/** Values that a byte of a file can stand for, if it is no bomb: a run of one value costs a few bytes a page. */
const MOST_VALUES_A_BYTE = 4_000;

export async function* readParquet(buffer: ArrayBuffer): AsyncGenerator<{ world: World; batch: Batch }> {
  let metadata;
  try {
    metadata = parquetMetadata(buffer);
  } catch (error) {
    throw new Error(`not a whole Parquet file: ${(error as Error).message}`);
  }
  const total = Number(metadata.num_rows);
  const sum = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (!(total >= 0) || sum !== total) throw new Error("damaged Parquet file: its row groups do not add up to its rows");
  if (total > MOST_ROWS) throw new Error(`${total} records; a page shows at most ${MOST_ROWS}: cut the trace`);
  if (total > buffer.byteLength * MOST_VALUES_A_BYTE) throw new Error(`damaged Parquet file: ${total} records in ${buffer.byteLength} bytes`);
  const names = metadata.schema.slice(1).map((element) => element.name);
  const world = worldOf(names);
  const wanted = names.filter((name) => COLUMNS[world].has(name));
  const scan = parquetScan({ file: { byteLength: buffer.byteLength, slice: (from, to) => buffer.slice(from, to) }, metadata, columns: wanted });
  const filler = new Filler();
  for (const range of (await scan).ranges) {
    for (let start = range.rowStart; start < range.rowEnd; start += BATCH) {
      const end = Math.min(range.rowEnd, start + BATCH);
      const batch: Batch = { rows: end - start, columns: {}, texts: [] };
      for (const column of wanted) {
        const cells = await (await scan).readColumn({ column, rowStart: start, rowEnd: end })
          .catch((error: Error) => { throw new Error(`damaged Parquet file: column \`${column}\` from record ${start + 1} on: ${error.message}`); });
        if (cells.length !== batch.rows) throw new Error(`damaged Parquet file: column \`${column}\` is too short`);
        batch.columns[column] = filler.column(world, column, batch.rows, (row) => cells[row]);
      }
      batch.texts = filler.taken();
      yield { world, batch };
    }
  }
}

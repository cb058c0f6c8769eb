/** A run as a table in Parquet: the columns and the numbers that `lightlag run --trace` writes. */
import type { SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { GAP, MOST_ROWS, NO_FLAG } from "./columns";

/** A column as the world declares it. */
export interface Declared { name: string; type: "uint32" | "uint64" | "int64" | "float64" | "boolean" | "text"; optional: boolean }
/** Records with exact numbers. */
export interface ExactBatch { rows: number; columns: Record<string, Uint32Array | Float64Array | Uint8Array | BigInt64Array>; texts: string[] }

const WIDE_GAP = -(2n ** 63n);
/** Rows that are written at once: more compress better, and take more memory. */
const ROW_GROUP = 50_000;

const TYPES: Record<Declared["type"], Partial<SchemaElement>> = {
  uint32: { type: "INT32", converted_type: "UINT_32" }, uint64: { type: "INT64", converted_type: "UINT_64" }, int64: { type: "INT64" },
  float64: { type: "DOUBLE" }, boolean: { type: "BOOLEAN" }, text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
};

export class Table {
  private bytes = new ByteWriter();
  private writer: ParquetWriter;
  private texts: string[] = [];
  private cells: unknown[][];
  private waiting = 0;
  rows = 0;

  constructor(private declared: Declared[]) {
    const schema = declared.map(({ name, type, optional }) => ({ name, ...TYPES[type], repetition_type: optional ? "OPTIONAL" : "REQUIRED" }) as SchemaElement);
    this.writer = new ParquetWriter({ writer: this.bytes, schema: [{ name: "root", num_children: schema.length }, ...schema], statistics: false, createdBy: "lightlag" });
    this.cells = declared.map(() => []);
  }
  take(batch: ExactBatch) {
    for (const text of batch.texts) this.texts.push(text);
    this.rows += batch.rows;
    if (this.rows > MOST_ROWS) throw new Error(`more than ${MOST_ROWS} records: shorten the run, or save it with \`lightlag run --trace\``);
    this.declared.forEach(({ name, type }, at) => {
      const list = this.cells[at]!;
      const column = batch.columns[name];
      for (let row = 0; row < batch.rows; row++) list.push(column && this.cell(type, column[row]!));
    });
    this.waiting += batch.rows;
    if (this.waiting >= ROW_GROUP) this.flush();
  }
  /** The file. */
  finish(): ArrayBuffer {
    if (this.waiting > 0) this.flush();
    this.writer.finish();
    return this.bytes.getBuffer();
  }
  private cell(type: Declared["type"], value: number | bigint): unknown {
    if (type === "text") return value === GAP ? undefined : this.texts[value as number];
    if (type === "boolean") return value === NO_FLAG ? undefined : value === 1;
    if (type === "float64") return Number.isNaN(value) ? undefined : value;
    if (value === (type === "uint32" ? GAP : WIDE_GAP)) return undefined;
    return type === "uint64" ? BigInt.asUintN(64, value as bigint) : value;
  }
  private flush() {
    this.writer.write({ columnData: this.declared.map(({ name }, at) => ({ name, data: this.cells[at] as never })), rowGroupSize: this.waiting });
    this.cells = this.declared.map(() => []);
    this.waiting = 0;
  }
}

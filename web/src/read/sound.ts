/** Whether records can be those of a run: the first that cannot is said in one line. */
import { MOST_BUNDLES, type Batch } from "./columns";

/** From where to where numbers of a column go. Places reach a hundred light years. */
const BOUNDS: Record<string, [number, number]> = {
  time_ns: [0, 2 ** 63], since_ns: [0, 2 ** 63], expires_ns: [-(2 ** 63), 2 ** 63], delay_ns: [0, 2 ** 63], delay_back_ns: [0, 2 ** 63],
  bytes: [0, 2 ** 64], x_m: [-1e18, 1e18], y_m: [-1e18, 1e18],
};
const seconds = (ns: number) => `${Number((ns / 1e9).toPrecision(9))} s`;

/** Looks at the records of one trace, batch by batch. */
export class Sound {
  /** Whether the last record is the one with which a run ends. */
  ended = false;
  private rows = 0;
  private last = 0;
  private texts: string[] = [];
  private created = new Uint8Array(1024);

  look({ rows, columns, texts }: Batch) {
    for (const text of texts) this.texts.push(text);
    const bounded = Object.entries(BOUNDS).flatMap(([name, [low, high]]) => (columns[name] instanceof Float64Array ? [{ name, low, high, cells: columns[name] }] : []));
    const [time, kind, bundle, x, y] = ["time_ns", "kind", "bundle", "x_m", "y_m"].map((name) => columns[name]);
    for (let row = 0; row < rows; row++) {
      const at = time?.[row] ?? NaN;
      const what = this.texts[kind?.[row] ?? -1] ?? "";
      if (this.ended) this.wrong(row, what, "comes after the end record: that should be the last");
      if (Number.isNaN(at)) this.wrong(row, what, "has no time; `time_ns` should be a number");
      if (what === "position" && Number.isNaN((x?.[row] ?? NaN) + (y?.[row] ?? NaN))) this.wrong(row, what, "has no place; `x_m` and `y_m` should be numbers");
      for (const { name, low, high, cells } of bounded) {
        if (cells[row]! < low || cells[row]! > high) this.wrong(row, what, `has ${name} ${cells[row]}; it should be from ${low} to ${high}`);
      }
      if (at < this.last) this.wrong(row, what, `is at ${seconds(at)}, and the one before at ${seconds(this.last)}; records should be in the order of time`);
      // What is lost on a link is recorded when it leaves its queue, with the time at which its last bit leaves.
      if (what !== "dropped") this.last = at;
      if (what === "created" || what === "rejected") this.create(row, what, bundle?.[row] ?? 0);
      this.ended = what === "end";
    }
    this.rows += rows;
  }
  private create(row: number, what: string, id: number) {
    if (id > MOST_BUNDLES) return;
    if (id >= this.created.length) {
      const larger = new Uint8Array(2 ** Math.ceil(Math.log2(id + 1)));
      larger.set(this.created);
      this.created = larger;
    }
    if (this.created[id]) this.wrong(row, what, `creates bundle ${id} a second time`);
    this.created[id] = 1;
  }
  private wrong(row: number, what: string, why: string): never {
    throw new Error(`record ${this.rows + row + 1}${what ? ` (\`${what.slice(0, 40)}\`)` : ""} ${why}`);
  }
}

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { parquetReadObjects } from "hyparquet";
import { shownAt, stateAt } from "./expect.mjs";
import { close, lines, open, pixels, trace } from "./helper.mjs";

const file = new URL("walkers.parquet", import.meta.url).pathname;
const bytes = readFileSync(file);
const rowsOf = async () => (await parquetReadObjects({ file: { byteLength: bytes.length, slice: (from, to) => bytes.buffer.slice(bytes.byteOffset + from, bytes.byteOffset + (to ?? bytes.length)) } }))
  .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => [key, typeof value === "bigint" ? Number(value) : value])));

after(close);

test("a trace opens from a file with marks, without a word on the console or a request", async () => {
  const { page, said, close } = await open([trace(bytes, { title: "walkers" })], { hash: "#view=buffers" });
  assert.ok(await pixels(page, "Buffers over time") > 1000, "buffers have marks");
  await page.getByRole("tab", { name: "Contacts" }).click();
  assert.ok(await pixels(page, "Contacts over time") > 1000, "contacts have marks");
  assert.deepEqual(said, []);
  await close();
});

test("scrubbing to a time shows the state that the trace has then", async () => {
  const rows = await rowsOf();
  const { page, close } = await open([trace(bytes), lines(rows)]);
  for (const t of [0, 17, 300.5, 901, 1234.56789, 60, 1799, 1800]) {
    const wanted = stateAt(rows, t);
    assert.deepEqual(await shownAt(page, t, 0), wanted, `Parquet at ${t}`);
    assert.deepEqual(await shownAt(page, t, 1), wanted, `JSON lines at ${t}`);
  }
  await page.evaluate(() => window.lightlag.clock.seek(900));
  const shown = Number((await page.locator("[data-fate=delivered]").first().textContent()).replaceAll(",", ""));
  assert.equal(shown, stateAt(rows, 900).delivered, "and the headline says it");
  await close();
});

const PYTHON = new URL("../../.venv/bin/python", import.meta.url).pathname;
const SCRIPT = `
import json, sys
import polars
held, size, out = set(), {}, {}
for row in polars.read_parquet(sys.argv[1]).iter_rows(named=True):
    if row["time_ns"] / 1e9 > float(sys.argv[2]):
        break
    kind, bundle = row["kind"], row["bundle"]
    if kind == "created":
        size[bundle] = row["bytes"]
        held.add((row["node"], bundle))
    if kind == "stored":
        held.add((row["peer"], bundle))
    if kind == "gone":
        held.discard((row["node"], bundle))
for node, bundle in held:
    out[node] = out.get(node, 0) + size[bundle]
print(json.dumps(out))
`;
let hasPython = true;
try { execFileSync(PYTHON, ["-c", "import polars"], { stdio: "ignore" }); } catch { hasPython = false; }

test("Python reads the same buffers from the same Parquet", { skip: !hasPython && "no .venv with polars; bash tools/venv.sh" }, async () => {
  const { page, close } = await open([trace(bytes)]);
  for (const t of [411, 1500]) {
    const wanted = JSON.parse(execFileSync(PYTHON, ["-c", SCRIPT, file, String(t)], { encoding: "utf8" }));
    assert.deepEqual((await shownAt(page, t)).used, wanted);
  }
  await close();
});

/** What the page saves for Python: the records of a run as a table, the same as the native trace. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { close, open } from "./helper.mjs";

after(close);
const top = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const PYTHON = top(".venv/bin/python");
const LIGHTLAG = process.env.LIGHTLAG ?? [top("target/debug/lightlag"), top("target/release/lightlag")].find(existsSync);
let hasPython = true;
try { execFileSync(PYTHON, ["-c", "import polars"], { stdio: "ignore" }); } catch { hasPython = false; }
const skip = !hasPython ? "no .venv with polars; bash tools/venv.sh" : !LIGHTLAG && "no binary; cargo build -p lightlag-cli";

/** Texts are categories in the native file: compared as text. All else, types too, has to be the same. */
const SCRIPT = `
import sys
import polars as pl
from polars.testing import assert_frame_equal
one, other = (pl.read_parquet(path).with_columns(pl.col(pl.Categorical).cast(pl.String)) for path in sys.argv[1:])
assert_frame_equal(one, other, check_exact=True)
print(one.height, one.width)
`;

const folder = mkdtempSync(join(tmpdir(), "lightlag-table-"));
for (const [name, path, set, least] of [["bundles", "try/walkers.toml", { mechanism: '{ name = "credit", unit = "20 s" }' }, 1_000], ["bundles with a plan", "try/contacts.toml", {}, 100], ["packets", "try/link.toml", { controller: "bbr" }, 10_000], ["named data", "try/names.toml", { duration: "5 s" }, 1_000]]) {
  test(`a run of ${name} is saved as the table that \`lightlag run --trace\` writes, for Python`, { skip }, async () => {
    const options = Object.entries(set).map(([key, value]) => (key === "controller" ? ["flows.file.controller", value] : [key, value]));
    const native = join(folder, `${name}.parquet`);
    execFileSync(LIGHTLAG, ["run", top(`scenarios/${path}`), "--seed", "2", "--trace", native, ...options.flatMap(([key, value]) => ["--set", `${key}=${value}`])], { stdio: "ignore" });
    const { page, said, close } = await open([{ kind: "scenario", title: name, text: readFileSync(top(`scenarios/${path}`), "utf8"), seed: 2, set: Object.fromEntries(options) }]);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Parquet, ${name}` }).click()]);
    assert.equal(download.suggestedFilename(), `${name.replaceAll(" ", "_")}.parquet`);
    const [rows] = execFileSync(PYTHON, ["-c", SCRIPT, await download.path(), native], { encoding: "utf8" }).split(" ").map(Number);
    assert.ok(rows > least, `${rows} rows`);
    assert.deepEqual(said, []);
    await close();
  });
}

test("of two runs each is saved on its own, and what cannot be saved is one clear line", async () => {
  const text = readFileSync(top("scenarios/try/walkers.toml"), "utf8");
  const { page, said, close } = await open(["none", "credit"].map((mechanism) => ({ kind: "scenario", title: mechanism, text, seed: 1, set: { mechanism } })));
  const sizes = [];
  for (const mechanism of ["none", "credit"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Parquet, ${mechanism}` }).click()]);
    sizes.push(readFileSync(await download.path()).subarray(0, 4).toString());
  }
  assert.deepEqual(sizes, ["PAR1", "PAR1"]);
  await page.evaluate(() => { window.lightlag.sides[0].run.text = "duration = 5"; });
  await page.getByRole("button", { name: "Parquet, none" }).click();
  await page.waitForFunction(() => document.querySelector(".said").textContent.startsWith("No table: "));
  assert.deepEqual(said, []);
  await close();
});

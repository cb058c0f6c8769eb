/** Speeds of the page in headless Chromium, beside what they should be: node bench.mjs [BINARY of lightlag]. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { close, launch, lines, open, PAGE } from "./test/helper.mjs";

const scenario = readFileSync(new URL("../scenarios/universal/walkers.toml", import.meta.url), "utf8");
const source = (text) => ({ kind: "scenario", title: "walkers", text, seed: 1, set: {} });
const say = (what, value, limit = "") => console.log(`${what.padEnd(58)} ${String(value).padEnd(44)} ${limit}`.trimEnd());
/** A value beside the most, or the least, that it should be. */
const at = (value, text, most) => [text, `at most ${most}${value <= most ? "" : ": MISSED"}`];
const fast = (value, least) => [rate(value), `at least ${least}${1000 / Math.max(value.median, 1000 / 60) >= least ? "" : ": MISSED"}`];

/** Frames a second while the clock is moved by hand, from place to place or on and on. */
const scrub = (page, moves) => page.evaluate(async (moves) => {
  const { clock } = window.lightlag;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  const times = [];
  for (let at = 0; at < 60; at++) {
    const before = performance.now();
    clock.seek(moves === "jump" ? ((at * 0.618) % 1) * clock.duration : (0.3 + at / 2000) * clock.duration);
    await frame();
    await frame();
    times.push((performance.now() - before) / 2);
  }
  times.sort((a, b) => a - b);
  return { median: times[30], slow: times[57] };
}, moves);
const rate = ({ median, slow }) => `${(1000 / Math.max(median, 1000 / 60)).toFixed(0)} frames/s (frame ${median.toFixed(1)} ms, slowest of 20: ${slow.toFixed(1)} ms)`;

/** The most memory that a process of a page has had so far, in MB: its thread's, its workers', and that of WebAssembly. */
async function memory() {
  const session = await (await launch()).newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const peak = (id) => { try { return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1000; } catch { return 0; } };
  return Math.max(...processInfo.filter((one) => one.type === "renderer").map((one) => peak(one.id)));
}

const size = readFileSync(PAGE).length / 1e6;
say("page, MB", ...at(size, size.toFixed(2), 3));
{
  const before = performance.now();
  const { page, close } = await open([lines([{ time_ns: 0, kind: "node", node: 0, bytes: 1, bundle: 0 }])]);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN);
  say("first drawn, ms after the address was opened", ...at(paint, paint.toFixed(0), 1000));
  say("a trace is there, with a new window of the browser, s", ((performance.now() - before) / 1000).toFixed(2));
  await close();
}
{
  const { page, close } = await open([source(scenario.replace('duration = "12 h"', 'duration = "4 h"'))]);
  const records = await page.evaluate(() => window.lightlag.sides[0].rows);
  say("records of 4 h of walkers", records.toLocaleString("en"), `at least ${(2e6).toLocaleString("en")}${records >= 2e6 ? "" : ": MISSED"}`);
  for (const view of ["Scene", "Contacts", "Buffers", "Fates"]) {
    await page.getByRole("tab", { name: view }).click();
    await page.waitForTimeout(500);
    say(`  ${view}: scrub from place to place`, ...fast(await scrub(page, "jump"), 30));
  }
  await close();
}
{
  const rows = [];
  for (let node = 0; node < 10_000; node++) rows.push({ time_ns: 0, kind: "node", node, bytes: 1000, node_name: `n${node}` });
  for (let step = 0; step <= 20; step++) for (let node = 0; node < 10_000; node++) {
    rows.push({ time_ns: step * 1e10, kind: "position", node, x_m: 5000 * Math.cos(node) + 40 * step * Math.sin(node * 7), y_m: 5000 * Math.sin(node * 3) + 40 * step * Math.cos(node * 5) });
    if (node % 20 === step % 20) rows.push({ time_ns: step * 1e10, kind: "contact_up", node, peer: (node * 7 + 1) % 10_000, rate: 1, rate_back: 1, delay_ns: 0, delay_back_ns: 0 });
  }
  const { page, close } = await open([lines(rows)]);
  say("10,000 nodes move, 10,000 contacts", ...fast(await scrub(page, "on"), 30));
  await close();
}
{
  const { page, close } = await open([source(scenario)]);
  const { took, rows } = await page.evaluate(() => ({ took: window.lightlag.sides[0].took / 1000, rows: window.lightlag.sides[0].rows }));
  say("12 h of walkers in the page, with all that it shows, s", ...at(took, `${took.toFixed(1)} (${rows.toLocaleString("en")} records)`, 6));
  const most = await memory();
  say("  memory of the page's process at its peak, MB", ...at(most, most.toFixed(0), 1000));
  await close();
  const binary = process.argv[2];
  if (binary) {
    const time = (more) => { const before = performance.now(); execFileSync(binary, ["run", new URL("../scenarios/universal/walkers.toml", import.meta.url).pathname, "--seed", "1", "--no-judge", ...more], { stdio: "ignore" }); return (performance.now() - before) / 1000; };
    const alone = time([]);
    say("  the same natively, without records, s", alone.toFixed(1));
    say("  the page's time as a multiple of it", ...at(took / alone, (took / alone).toFixed(1), 2.5));
    say("  the same natively, with a trace in Parquet, s", time(["--trace", join(tmpdir(), "lightlag-bench.parquet")]).toFixed(1));
  }
}
{
  const docs = new URL("../docs/algorithms/", import.meta.url);
  const links = readdirSync(docs).flatMap((name) => { const found = /page\.html#[^"]*?\bs=([^&"]+)/.exec(readFileSync(new URL(name, docs), "utf8")); return found ? [[name.replace(".md", ""), found[1]]] : []; });
  const { page, close } = await open([], { hash: `#embed=1&s=${links[0][1]}` });
  const times = [];
  for (const [name, link] of links) {
    // As when a control is moved: a new worker, the WebAssembly, the run, its figures.
    const took = await page.evaluate(async (shared) => {
      const before = performance.now();
      window.lightlag.choose(shared);
      while (!window.lightlag.sides.every((side) => side.state !== "reading")) await new Promise((more) => setTimeout(more, 5));
      return window.lightlag.sides.every((side) => side.figures) ? performance.now() - before : Infinity;
    }, JSON.parse(inflateRawSync(Buffer.from(link, "base64url"))));
    times.push([took / 1000, name]);
  }
  await close();
  times.sort(([one], [other]) => one - other);
  const [slowest, which] = times.at(-1);
  say(`${times.length} live examples of the manual, control to figures, s`, ...at(slowest, `median ${times[times.length >> 1][0].toFixed(2)}, slowest ${slowest.toFixed(2)} (${which})`, 1));
}
await close();

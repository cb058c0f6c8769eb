/** Traces, sources and links that want harm: one clear line each, and no script of theirs runs. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { close, lines, open, trace } from "./helper.mjs";

after(close);
const bytes = readFileSync(new URL("walkers.parquet", import.meta.url));
const EVIL = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script></script>\u0000"'`;

const errorOf = async (source) => {
  const { page, said, close } = await open([source]);
  const texts = await page.locator("[role=alert]").allTextContents();
  await close();
  assert.deepEqual(said, [], "nothing on the console");
  assert.equal(texts.length, 1, `one line: ${texts}`);
  assert.ok(texts[0].length < 300 && !texts[0].includes("\n"), texts[0]);
  return texts[0];
};

/** A number as Parquet's footer has it. */
const varint = (value) => {
  const out = [];
  for (let left = BigInt(value) * 2n; ; left >>= 7n) { if (left < 128n) { out.push(Number(left)); break; } out.push(Number(left & 127n) | 128); }
  return out;
};
function claim(rows) {
  const length = bytes.readUInt32LE(bytes.length - 8);
  let footer = bytes.subarray(bytes.length - 8 - length, bytes.length - 8);
  // i64 fields are 0x16 and a varint: the rows of the file, and those of its row group.
  const find = (from) => { for (let at = from; at < footer.length - 3; at++) if (footer[at] === 0x16) { const value = footer[at + 1] & 127 | (footer[at + 2] & 127) << 7; if (value / 2 === totalRows) return at; } return -1; };
  for (let at = find(0); at >= 0; at = find(at + 2)) footer = Buffer.concat([footer.subarray(0, at + 1), Buffer.from(varint(rows)), footer.subarray(at + 1 + varint(totalRows).length)]);
  const end = Buffer.alloc(8);
  end.writeUInt32LE(footer.length);
  end.write("PAR1", 4);
  return Buffer.concat([bytes.subarray(0, bytes.length - 8 - length), footer, end]);
}
const { parquetMetadata } = await import("hyparquet");
const totalRows = Number(parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)).num_rows);

test("a truncated file, and one that is none", async () => {
  assert.match(await errorOf(trace(bytes.subarray(0, 50_000))), /not a whole Parquet file/);
  assert.match(await errorOf(trace(Buffer.from("hello"))), /not a whole Parquet file/);
  assert.match(await errorOf(trace(Buffer.concat([bytes.subarray(0, 4), Buffer.alloc(30_000, 7), bytes.subarray(30_004)]))), /./);
  assert.match(await errorOf(trace(Buffer.from("{\n"), { format: "jsonl" })), /line 1 is not JSON/);
  assert.match(await errorOf(trace(Buffer.from("[1]\n"), { format: "jsonl" })), /line 1 is not a record/);
  assert.match(await errorOf(trace(Buffer.from(""), { format: "jsonl" })), /no records/);
  assert.match(await errorOf(trace(bytes, { format: "csv" })), /unknown format/);
});

test("wrong columns", async () => {
  assert.match(await errorOf(lines([{ a: 1 }, { a: 2 }])), /not a trace of Lightlag/);
});

test("a file that claims a thousand million rows", async () => {
  assert.match(await errorOf(trace(claim(1_000_000_000))), /1000000000 records; a page shows at most/);
  assert.match(await errorOf(trace(claim(19_000_000))), /damaged|too short|Parquet|parquet|offset|bounds|length/i);
});

test("numbers that would fill memory, and numbers that are none", async () => {
  assert.match(await errorOf(lines([{ time_ns: 0, kind: "node", node: 4_000_000_000, bytes: 1, bundle: 0 }])), /at most 16384 nodes/);
  assert.match(await errorOf(lines([{ time_ns: 0, kind: "created", node: 0, peer: 1, bundle: 4_000_000_000, bytes: 1 }])), /at most 10000000 bundles/);
  const { page, said, close } = await open([lines([
    { time_ns: "later", kind: "created", node: "x", peer: -1, bundle: 0, bytes: -5 }, { time_ns: 1e300, kind: "stored", node: 1, peer: 2, bundle: 77 }, { time_ns: 5, kind: 12, bundle: {} },
    { time_ns: 6, kind: "contact_up", node: 0, peer: 1, rate: 1e308, delay_ns: 1e308 }, { time_ns: 3, kind: "gone", node: 9, bundle: 9 }])]);
  for (const tab of await page.getByRole("tab").all()) await tab.click();
  assert.deepEqual(said, []);
  await close();
});

test("scripts in names stay text, in every view and in what is saved", async () => {
  const rows = [
    { time_ns: 0, kind: "node", node: 0, bytes: 1000, node_name: EVIL }, { time_ns: 0, kind: "node", node: 1, bytes: 1000, node_name: `${EVIL}2` },
    { time_ns: 1e9, kind: "contact_up", node: 0, peer: 1, rate: 8000, rate_back: 8000, delay_ns: 1e9, delay_back_ns: 1e9 },
    { time_ns: 2e9, kind: "created", node: 0, peer: 1, bundle: 0, bytes: 600, since_ns: 2e9, expires_ns: 9e9 }, { time_ns: 3e9, kind: "started", node: 0, peer: 1, bundle: 0 },
    { time_ns: 4e9, kind: "sent", node: 0, peer: 1, bundle: 0 }, { time_ns: 5e9, kind: "refused", node: 0, peer: 1, bundle: 0, since_ns: 3e9, why: EVIL },
    { time_ns: 6e9, kind: "gone", node: 0, bundle: 0, why: EVIL, since_ns: 2e9 }, { time_ns: 8e9, kind: "end" }];
  const { page, said, close } = await open([{ ...lines(rows), title: EVIL, scenario: `name = "a_b"\n# ${EVIL}` }]);
  for (const tab of await page.getByRole("tab").all()) { await tab.click(); await page.waitForTimeout(50); }
  await page.getByRole("tab", { name: "Fates" }).click();
  await page.evaluate(() => window.lightlag.clock.seek(8));
  await page.getByRole("button", { name: "lost otherwise" }).click();
  await page.getByRole("button", { name: "Journey of bundle 0" }).click();
  assert.match(await page.locator(".steps").textContent(), /onerror/, "the name is shown as text");
  assert.equal(await page.locator("main img, main script, footer img").count(), 0);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "SVG" }).click()]);
  const svg = readFileSync(await download.path(), "utf8");
  assert.ok(!/<(img|script)|[^&]onerror="/.test(svg), "and in the SVG");
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.deepEqual(said, []);
  await close();
});

const node = (number, name, time_ns = 0) => ({ time_ns, kind: "node", node: number, bytes: 1000, node_name: name });
const made = (time_ns, bundle = 0) => ({ time_ns, kind: "created", node: 0, peer: 1, bundle, bytes: 600, since_ns: time_ns, expires_ns: 9e9 });
const END = { time_ns: 8e9, kind: "end" };

test("records that no run can have end in one line that says which, and what is wrong", async () => {
  const start = [node(0, "a"), node(1, "b")];
  for (const [rows, wanted] of [
    [[...start, made(2e9), END, made(8e9, 1)], /^record 5 \(`created`\) comes after the end record/],
    [[...start, END, END], /^record 4 \(`end`\) comes after the end record/],
    [[...start, { ...made(0), time_ns: -5e12 }, END], /^record 3 \(`created`\) has time_ns -5000000000000; it should be from 0/],
    [[...start, made(2e9), made(3e9), END], /^record 4 \(`created`\) creates bundle 0 a second time/],
    [[...start, made(6e9), { ...made(3e9, 1) }, END], /^record 4 \(`created`\) is at 3 s, and the one before at 6 s; records should be in the order of time/],
    [[...start, { time_ns: 0, kind: "position", node: 0, x_m: "a" }, END], /^record 3 \(`position`\) has no place/],
    [[...start, { kind: "created", node: 0, peer: 1, bundle: 0 }, END], /^record 3 \(`created`\) has no time/],
    [[...start, { time_ns: 0, kind: "position", node: 0, x_m: 1e308, y_m: 0 }, END], /^record 3 \(`position`\) has x_m 1e\+308; it should be from -1000000000000000000 to 1000000000000000000/],
  ]) assert.match(await errorOf(lines(rows)), wanted);
});

test("what is lost on a link is recorded before its time, and no error", async () => {
  const row = (kind, at, print, more) => ({ time_ns: at, kind, link: 0, flow: 0, forward: true, hop: 0, bytes: 1000, length: 960, offset: 960 * print, print, ...more });
  const { page, said, close } = await open([lines([row("offered", 0, 1), row("offered", 1e9, 2), row("dropped", 3e9, 2, { why: "lost" }), row("arrived", 2e9, 1), { time_ns: 4e9, kind: "end" }])]);
  assert.deepEqual(await page.locator("[role=alert]").allTextContents(), []);
  assert.deepEqual(said, []);
  await close();
});

test("a trace without its end record is shown, with a note that the run may have gone on", async () => {
  const rows = [node(0, "a"), node(1, "b"), made(2e9), { time_ns: 6e9, kind: "gone", node: 0, bundle: 0, why: "expired", since_ns: 2e9 }];
  for (const [more, wanted] of [[[], ["The trace ends without its end record: the run may have gone on after 6.00 s."]], [[END], []]]) {
    const { page, said, close } = await open([lines([...rows, ...more])]);
    assert.deepEqual(await page.locator("section [role=note]").allTextContents(), wanted);
    assert.deepEqual(await page.locator("[role=alert]").allTextContents(), []);
    assert.deepEqual(said, []);
    await close();
  }
  const text = readFileSync(new URL("walkers.toml", import.meta.url), "utf8").replace(/duration = "[^"]*"/, 'duration = "1 min"');
  const { page, close } = await open([scenario(text)]);
  assert.equal(await page.evaluate(() => window.lightlag.sides[0].state), "whole");
  assert.equal(await page.locator("[role=note]").count(), 0, "a world that runs in the page");
  await close();
});

test("signs that steer how others are shown stand as replacement characters", async () => {
  const steers = "\u202e\u0007\u0000\u2066\u200b\ufeff";
  const { page, said, close } = await open([{ ...lines([node(0, `ab${steers}cd`), node(1, "نود 👩‍🚀"), made(2e9), END]), title: `run${steers}` }], { hash: "#view=buffers" });
  const shown = await page.evaluate(() => ({ names: window.lightlag.sides[0].names, text: document.body.innerText + document.title + document.querySelector("main").innerHTML + window.lightlagSvg() }));
  assert.deepEqual(shown.names, [`ab${"\ufffd".repeat(6)}cd`, "نود 👩‍🚀"]);
  assert.ok(![...steers].some((sign) => shown.text.includes(sign)));
  assert.ok(shown.text.includes("run\ufffd"));
  assert.deepEqual(said, []);
  await close();
});

test("links that are damaged, and one that unpacks to more than a scenario can be", async () => {
  const { deflateRawSync } = await import("node:zlib");
  const url = (text) => `#s=${deflateRawSync(Buffer.from(text)).toString("base64url")}`;
  for (const [hash, wanted] of [["#s=!!!", /damaged/], ["#s=AAAA", /damaged/], [url("{}"), /no scenario/], [url(JSON.stringify({ text: "a".repeat(50_000_000) })), /damaged/]]) {
    const { page, close } = await open([], { hash, until: "load" });
    await page.waitForSelector("[role=alert]");
    assert.match(await page.locator("[role=alert]").first().textContent(), wanted);
    await close();
  }
});

const scenario = (text, more = {}) => ({ kind: "scenario", title: "mine", text, seed: 1, set: {}, ...more });

test("values within values without end", async () => {
  const deep = (open, close, depth = 100_000) => open.repeat(depth) + close.repeat(depth);
  const row = (value) => trace(Buffer.from(`{"time_ns":0,"kind":${value},"node":0,"bundle":0}\n`), { format: "jsonl" });
  for (const value of [deep("[", "]"), `${"[".repeat(100_000)}`, deep('{"a":', "}").replace(":}", ":0}")]) {
    const { page, said, close } = await open([row(value)]);
    assert.ok((await page.locator("[role=alert]").count()) <= 1);
    assert.deepEqual(said, []);
    await close();
  }
  for (const text of [`a = ${deep("[", "]")}`, `a = ${deep("{a=", "}").replace("=}", "=0}")}`, `${"[a.".repeat(50_000)}b]`, `${"a.".repeat(50_000)}a = 1`]) {
    assert.match(await errorOf(scenario(text)), /./);
    // The laboratory reads it at each key.
    const { page, said, close } = await open([scenario(text)], { hash: "#view=laboratory" });
    await page.waitForSelector(".faults .error");
    assert.ok((await page.locator(".faults .error").first().textContent()).length < 1000);
    assert.deepEqual(said, []);
    await close();
  }
});

test("a scenario of more nodes, bundles or time than a machine has room for", async () => {
  const text = readFileSync(new URL("walkers.toml", import.meta.url), "utf8");
  const count = text.replace(/count = \d+/, "count = 4000000000");
  const often = text.replace(/interval = "[^"]*"/, 'interval = "1 ns"');
  const long = text.replace(/duration = "[^"]*"/, 'duration = "200 years"');
  for (const wrong of [count, often, long, text.replace(/duration = "[^"]*"/, 'duration = "1e300 years"')]) {
    assert.notEqual(wrong, text);
    assert.match(await errorOf(scenario(wrong)), /./);
  }
});

test("words of the address that are none", async () => {
  const [many, script] = ["x".repeat(500_000), encodeURIComponent("<script>window.harmed=1</script>")];
  for (const hash of [`#view=${script}&t=${script}`, "#t=1e999&view=__proto__", "#t=-1e300&view=constructor", `#view=${many}`, "#embed=1&embed=2&t=NaN", "#%", `#s=${many}`]) {
    const { page, said, close } = await open([trace(bytes)], { hash, until: "load" });
    await page.waitForFunction(() => window.lightlag?.error || window.lightlag?.sides[0]?.state === "whole");
    const { t, duration } = await page.evaluate(() => ({ t: window.lightlag.clock.t, duration: window.lightlag.clock.duration }));
    assert.ok(t >= 0 && t <= duration, `${t} for ${hash.slice(0, 40)}`);
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.deepEqual(said, []);
    await close();
  }
});

test("a gzip bomb of JSON lines ends with a line, not with the page", { skip: process.env.SLOW ? false : "SLOW=1" }, async () => {
  const bomb = gzipSync(Buffer.alloc(400_000_000, "a"));
  assert.match(await errorOf({ ...trace(Buffer.from("")), format: "jsonl", data: bomb.toString("base64") }), /./);
});

test("no code of the page makes markup of data", () => {
  const walk = (folder) => readdirSync(folder).flatMap((name) => (statSync(join(folder, name)).isDirectory() ? walk(join(folder, name)) : [join(folder, name)]));
  for (const file of walk(new URL("../src", import.meta.url).pathname)) {
    assert.ok(!/\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(readFileSync(file, "utf8")), file);
    assert.ok(readFileSync(file, "utf8").split("\n").length <= 400, `${file} is long`);
  }
});

/** Every view in every world: marks, names, keys, sizes, light and dark; runs in the page; what is saved and shared. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { close, embed, launch, open, PAGE, pixels, trace } from "./helper.mjs";

after(close);
const bytes = readFileSync(new URL("walkers.parquet", import.meta.url));
const read = (path) => readFileSync(new URL(`../../scenarios/${path}`, import.meta.url), "utf8");
const bundles = () => [trace(bytes, { title: "first" }), trace(bytes, { title: "second" })];
const packets = (set = {}) => ({ kind: "scenario", title: "packets", text: read("papers/adaptive_short.toml").replace("20 min", "60 s"), seed: 1, set });
const names = () => ({ kind: "scenario", title: "names", text: read("papers/dcp_caching.toml").replace('duration = "60 s"', 'duration = "8 s"'), seed: 1, set: {} });
const WORLDS = [["bundles", bundles, ["Scene", "Contacts", "Buffers", "Fates", "Journey"]], ["packets", () => [packets(), packets({ controller: "bbr" })], ["Scene", "Contacts", "Buffers", "Packets"]], ["names", () => [names()], ["Scene", "Contacts", "Buffers", "Names"]]];

for (const [world, sources, views] of WORLDS) {
  test(`every view of ${world} has marks, names on its controls, and fits from 400 to 2500 pixels, light and dark`, async () => {
    for (const [width, scheme] of [[400, "light"], [1100, "dark"], [2500, "light"]]) {
      const { page, said, close } = await open(sources(), { width, scheme });
      for (const view of views) {
        await page.getByRole("tab", { name: view, exact: true }).click();
        await page.waitForTimeout(150);
        assert.ok(await pixels(page, view) > 300, `${view} has marks at ${width}`);
        const { wide, nameless } = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth - innerWidth,
          nameless: [...document.querySelectorAll("button, select, input, textarea, canvas")].filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.closest("label"))).map((one) => one.outerHTML.slice(0, 100)),
        }));
        assert.ok(wide <= 0, `${view} is ${wide} px too wide at ${width}`);
        assert.deepEqual(nameless, [], `${view}: all controls have names`);
      }
      assert.deepEqual(said, []);
      await close();
    }
  });
}

test("the steps of a journey stand below each other, that of the clock among them, and drawings beside each other at one height", async () => {
  for (const width of [400, 1100, 2500]) {
    const { page, close } = await open(bundles(), { width, hash: "#view=journey" });
    const steps = page.locator(".steps").first().getByRole("listitem");
    await page.evaluate(() => window.lightlag.clock.seek(window.lightlag.clock.duration));
    assert.equal(await page.locator(".steps .now").first().count(), 1, "one step is marked");
    let below = 0;
    for (const step of await steps.all()) {
      const { y, width: wide } = await step.boundingBox();
      assert.ok(y > below && wide > 200, `a step at ${y}, ${wide} wide, below ${below}, at ${width}`);
      below = y;
    }
    await page.getByRole("tab", { name: "Scene" }).click();
    const tops = await page.locator("canvas[aria-label^=Scene]").evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    assert.ok(width < 900 || tops[0] === tops[1], `${tops} at ${width}`);
    await close();
  }
});

test("keys play, pause, step and zoom", async () => {
  const { page, close } = await open(bundles());
  const state = () => page.evaluate(() => { const { clock, bundle } = window.lightlag; return { t: clock.t, playing: clock.playing, wide: clock.to - clock.from, bundle }; });
  await page.keyboard.press("Space");
  assert.equal((await state()).playing, true);
  await page.waitForTimeout(300);
  await page.keyboard.press("Space");
  const first = await state();
  assert.ok(!first.playing && first.t > 900, "it played on from the middle");
  await page.keyboard.press("ArrowRight");
  assert.ok((await state()).t > first.t);
  await page.selectOption("[aria-label='Kind of event to step to']", "delivered");
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("Home");
  await page.keyboard.press("n");
  const step = await state();
  const wanted = await page.evaluate(() => window.lightlag.sides[0].marks.delivered.time.get(0));
  assert.equal(step.t, wanted, "the first delivery");
  await page.keyboard.press("n");
  await page.keyboard.press("p");
  assert.equal((await state()).t, wanted, "and back");
  await page.keyboard.press("+");
  assert.ok((await state()).wide < first.wide / 1.9);
  await page.getByRole("tab", { name: "Scene" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("tab", { name: "Contacts" }).getAttribute("aria-selected"), "true");
  await close();
});

test("a run in the page ends with the figures that it counts, and both sides follow one clock", async () => {
  const text = readFileSync(new URL("walkers.toml", import.meta.url), "utf8");
  const { page, said, close } = await open([{ kind: "scenario", title: "none", text, seed: 1, set: {} }, { kind: "scenario", title: "copy_value", text, seed: 1, set: { mechanism: "copy_value" } }, trace(bytes, { title: "native" })]);
  const sides = await page.evaluate(() => window.lightlag.sides.map((side) => ({ delivered: side.tally.at(Infinity)[1], created: side.tally.at(Infinity).reduce((sum, one) => sum + one, 0), rows: side.rows, figures: side.figures })));
  for (const side of sides.slice(0, 2)) assert.deepEqual([side.delivered, side.created], [side.figures.delivered, side.figures.created]);
  assert.deepEqual([sides[0].rows, sides[0].delivered], [sides[2].rows, sides[2].delivered], "the native trace has the same");
  assert.notEqual(sides[0].delivered, sides[1].delivered);
  assert.deepEqual(said, []);
  await close();
});

const NODE = process.env.LIGHTLAG_WEB_NODE ?? fileURLToPath(new URL("../../out/web/node/lightlag_web.js", import.meta.url));
test("runs in Chromium have the digests of runs under Node, which are native ones", { skip: !existsSync(NODE) && "the worlds are not built for Node: make web" }, async () => {
  const { run } = createRequire(import.meta.url)(NODE);
  const walkers = readFileSync(new URL("walkers.toml", import.meta.url), "utf8").replace(/positions_every.*/, "");
  const sources = [{ kind: "scenario", title: "walkers", text: walkers, seed: 3, set: { router: "epidemic", mechanism: "copy_value" } }, packets(), names()];
  const { page, close } = await open(sources);
  const found = await page.evaluate(() => Promise.all(window.lightlag.sides.map((side) => window.lightlag.digestOf(side))));
  await close();
  assert.deepEqual(found, sources.map(({ text, seed, set }) => JSON.parse(run(text, seed, {}, 0, set, true)).digest));
});

test("the laboratory marks errors at the key, completes, and changes a mechanism with a menu", async () => {
  const { page, said, close } = await open([{ kind: "scenario", title: "mine", text: readFileSync(new URL("walkers.toml", import.meta.url), "utf8"), seed: 1, set: {} }], { hash: "#view=laboratory" });
  const editor = page.getByLabel("Scenario in TOML");
  const text = await editor.inputValue();
  await editor.fill(text.replace("buffer", "bufer"));
  await page.waitForSelector(".faults .error");
  assert.match(await page.locator(".faults").textContent(), /Line 7: unknown key `bufer`; did you mean `buffer`\?/);
  assert.equal(await page.locator(".sheet .wrong").textContent(), "bufer");
  await editor.fill(text.replace('mechanism = "none"', 'mechanism = "copy'));
  await editor.evaluate((area) => { const at = area.value.indexOf('"copy') + 5; area.setSelectionRange(at, at); });
  await page.keyboard.press("Control+Space");
  await page.waitForSelector("[role=option]");
  await page.keyboard.press("Enter");
  assert.match(await editor.inputValue(), /mechanism = "copy_value\n/);
  await editor.fill(text);
  const before = await page.evaluate(() => window.lightlag.sides[0].figures.delivered);
  await page.getByLabel("mechanism, first run").selectOption("copy_value");
  await page.waitForFunction(() => window.lightlag.sides[0]?.state === "whole");
  assert.notEqual(await page.evaluate(() => window.lightlag.sides[0].figures.delivered), before);
  // The address holds it all: another page that opens it shows the same.
  await page.getByRole("button", { name: "Link" }).click();
  await page.waitForFunction(() => location.hash.includes("s="));
  const hash = await page.evaluate(() => location.hash);
  const wanted = await page.evaluate(() => JSON.stringify(window.lightlag.sides[0].figures));
  const second = await open([], { hash });
  assert.equal(await second.page.evaluate(() => JSON.stringify(window.lightlag.sides[0].figures)), wanted);
  assert.deepEqual([...said, ...second.said], []);
  await second.close();
  await close();
});

test("PNG, SVG and CZML are saved whole", async () => {
  const { page, close } = await open(bundles());
  const saved = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    return readFileSync(await download.path());
  };
  assert.equal((await saved("PNG")).subarray(1, 4).toString(), "PNG");
  for (const tab of ["Scene", "Contacts", "Buffers", "Fates", "Journey"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(100);
    const svg = (await saved("SVG")).toString();
    const { faults, marks } = await page.evaluate((svg) => { const made = new DOMParser().parseFromString(svg, "image/svg+xml"); return { faults: made.querySelectorAll("parsererror").length, marks: made.querySelectorAll("path, rect, text").length }; }, svg);
    assert.ok(faults === 0 && marks > 20 && !/NaN|undefined/.test(svg), `${tab}: ${marks} marks`);
  }
  const czml = JSON.parse((await saved("CZML")).toString());
  assert.equal(czml[0].id, "document");
  assert.equal(czml.filter((one) => one.id.startsWith("node/")).length, 12);
  assert.ok(czml.find((one) => one.id === "node/3").position.cartographicDegrees.length > 40);
  await close();
});

test("each loss of a flow is told with the sender's reaction, and the buttons go from loss to loss", async () => {
  const { page, said, close } = await open([packets()], { hash: "#view=packets&t=0" });
  const line = page.locator(".reaction");
  assert.match(await line.textContent(), /has lost nothing so far; it loses \d+ times/);
  assert.ok(await page.getByRole("button", { name: "Loss before" }).isDisabled());
  const told = new Set();
  for (const next = page.getByRole("button", { name: "Next loss" }); await next.isEnabled();) {
    await next.click();
    told.add(await line.textContent());
  }
  assert.ok(told.size > 5, `${told.size} reactions`);
  for (const text of told) assert.match(text, /^[\d.]+ s: data at .+ of file were (dropped|lost).+(sent again after|were not sent again)/);
  assert.ok([...told].some((text) => /acknowledged after .+ in flight, before it .+ \(−\d+ %\); it sent/.test(text)), "a window is cut");
  assert.deepEqual(said, []);
  await close();
});

test("a run of packets is saved as qlog 0.3, which qvis reads: each packet sent once, acknowledged at most once, in order of time", async () => {
  const { page, close } = await open([packets()], { hash: "#view=packets" });
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "qlog" }).click()]);
  const log = JSON.parse(readFileSync(await download.path(), "utf8"));
  const [sent, lost] = await page.evaluate(() => { const [flow] = window.lightlag.sides[0].packets.flows; return [flow.sent.time.length, flow.lost.time.length]; });
  await close();
  assert.deepEqual([log.qlog_version, log.traces.length, log.traces[0].vantage_point.type], ["0.3", 1, "client"]);
  const { events } = log.traces[0];
  const of = (name) => events.filter((event) => event.name === name);
  assert.ok(events.every((event, at) => at === 0 || event.time >= events[at - 1].time));
  const numbers = of("transport:packet_sent").map((event) => { assert.ok(event.data.raw.length > 0); return event.data.header.packet_number; });
  assert.deepEqual(numbers, Array.from({ length: sent }, (_, at) => at));
  const acked = of("transport:packet_received").flatMap((event) => event.data.frames[0].acked_ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at)));
  assert.equal(new Set(acked).size, acked.length);
  assert.ok(acked.length > 0.9 * sent && acked.every((packet) => packet < sent));
  assert.equal(of("recovery:packet_lost").length, lost);
  assert.ok(of("recovery:metrics_updated").some((event) => event.data.latest_rtt > 0));
});

test("a served page fetches its sources, and shows a daemon by its events", async (t) => {
  const peer = { name: "<b>mars</b>", is_known: true, stack: "udpdtn", why: "TCP is silent", since_s: 60, switches: 1, history: [[60, "udpdtn", "TCP is silent"]], tcp: null, tcp_trouble: "refused", udpdtn: null, retransmitted: 0, bytes: [["udpdtn", 5000, 10]],
    connections: [{ id: "1", is_ours: true, target: "shop:80", state: "open", stack: "udpdtn", priority: 1, durable: true, accepted: [9, false], delivered: 5, backlog: 12_345, received: 3, age_s: 9 }] };
  const status = (age) => JSON.stringify({ version: "0.1.0", key: "k", age_s: age, peers: [{ ...peer, bytes: [["udpdtn", 5000 * age, 10]] }], custody: 777, memory: { used: 1, limit: 2, connections_max: 3 }, trouble: null, lost: [], direct: [0, 0], intruders: 0 });
  const server = createServer((request, answer) => {
    if (request.url === "/") { answer.setHeader("content-type", "text/html"); answer.end(readFileSync(PAGE)); }
    else if (request.url === "/sources.json") { answer.setHeader("content-type", "application/json"); answer.end(JSON.stringify([{ kind: "live", title: "here", url: "events" }, { kind: "trace", title: "beside", format: "parquet", url: "trace-0.parquet" }, { kind: "trace", title: "gone", format: "parquet", url: "trace-1.parquet" }])); }
    else if (request.url === "/trace-0.parquet") answer.end(bytes);
    else if (request.url === "/events") { answer.setHeader("content-type", "text/event-stream"); for (const age of [100, 101]) answer.write(`data: ${status(age)}\n\n`); }
    else { answer.statusCode = 404; answer.end(); }
  }).listen(0);
  t.after(() => { server.closeAllConnections(); server.close(); });
  const page = await (await launch()).newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.getByRole("tab", { name: "Live" }).click();
  await page.waitForSelector("text=shop:80");
  const text = await page.locator("main").textContent();
  for (const wanted of ["<b>mars</b>: udpdtn", "TCP is silent", "12.3 kB", "777 B stored"]) assert.ok(text.includes(wanted), wanted);
  await page.getByRole("tab", { name: "Buffers" }).click();
  await page.waitForFunction(() => window.lightlag.sides[0].state === "whole");
  assert.match(await page.locator("[role=alert]").textContent(), /cannot read `trace-1.parquet`: the server says 404/);
  await page.close();
});

test("the page works within a frame of its text alone", async () => {
  const page = await (await launch()).newPage();
  page.setDefaultTimeout(15_000);
  const html = readFileSync(PAGE, "utf8").replace("<!-- sources -->", () => embed(trace(bytes)));
  await page.setContent("<iframe width=800 height=600></iframe>");
  await page.evaluate((html) => { document.querySelector("iframe").srcdoc = html; }, html);
  await page.waitForFunction(() => document.querySelector("iframe").contentWindow.lightlag?.sides[0]?.state === "whole");
  await page.close();
});

test("the page is one file below 3 MB", () => assert.ok(readFileSync(PAGE).length < 3e6));

test("on a narrow screen the summary says in what runs differ, and menus show whole names at every width", async () => {
  const { page, close } = await open([trace(bytes, { title: "walk, seed 1, mechanism none" }), trace(bytes, { title: "walk, seed 1, mechanism copy_value" })], { width: 400 });
  const heads = await page.locator(".strip h2").evaluateAll((all) => all.map((one) => ({ text: one.innerText.trim(), cut: one.scrollWidth > one.clientWidth })));
  assert.deepEqual(heads, [{ text: "none", cut: false }, { text: "copy value", cut: false }]);
  await close();
  for (const width of [400, 1100, 2500]) {
    const { page, close } = await open([], { width });
    await page.locator(".settings select").first().waitFor();
    const cut = await page.locator(".settings select").evaluateAll((all) => all.filter((one) => {
      const style = getComputedStyle(one);
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = style.font;
      // The arrow takes some 20 pixels.
      return pen.measureText(one.selectedOptions[0].text).width > one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 20;
    }).map((one) => one.selectedOptions[0].text));
    assert.deepEqual(cut, [], `at ${width}`);
    await close();
  }
});

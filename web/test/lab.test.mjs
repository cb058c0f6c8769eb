/** The laboratory: parameters on sliders, figures before and after, the examples of the manual. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { inflateRawSync } from "node:zlib";
import { close, open } from "./helper.mjs";

after(close);
const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const scenario = (name, set = {}, change = (text) => text) => ({ kind: "scenario", title: name, text: change(read(`scenarios/try/${name}.toml`)), seed: 1, set });
const credit = () => [scenario("walkers", { mechanism: "credit" })];
const whole = (page) => page.waitForFunction(() => window.lightlag.sides.length > 0 && window.lightlag.sides.every((side) => side.state === "whole"));
/** Waits until the run that a control asked for has ended: its settings are those of the sides. */
const ranWith = (page, path, wanted) => page.waitForFunction(([path, wanted]) => window.lightlag.sides.every((side) => side.state === "whole") && String(window.lightlag.sides.at(-1).run.set[path] ?? "") === wanted, [path, wanted]);
const figures = async (page) => (await page.locator("[aria-label=Figures] tr").allInnerTexts()).map((row) => row.split("\t").map((cell) => cell.trim()));

test("each parameter of the chosen mechanism has a slider with its name, unit, range, meaning and a mark at its default", async () => {
  const { page, said, close } = await open(credit(), { hash: "#view=laboratory" });
  const rows = [...read("docs/algorithms/credit.md").matchAll(/^\| `(\w+)` \| (\S+) \| (\S*) ?\| (.+?) \| (.+) \|$/gm)];
  assert.equal(rows.length, 12);
  const block = page.locator("details", { hasText: /^credit/ }).first();
  for (const [, name, usual, unit, range, meaning] of rows) {
    const control = page.getByLabel(`${name} of credit`, { exact: true });
    const line = block.getByRole("listitem").filter({ has: control });
    assert.match(await line.innerText(), new RegExp(`${meaning.slice(0, 20).replace(/[()[\]]/g, ".")}`), name);
    assert.ok((await line.innerText()).includes(`Default ${usual}`), `${name}: ${await line.innerText()}`);
    const [, low, high] = /number from (\S+) to (\S+)/.exec(range) ?? [];
    if (low === undefined) continue;
    const field = line.getByRole("spinbutton", { name: `${name} of credit, as a number${unit ? ` in ${unit}` : ""}`, exact: true });
    assert.deepEqual([await field.inputValue(), await field.getAttribute("min"), await field.getAttribute("max")], [usual, low, high]);
    const mark = await line.locator(".default").boundingBox();
    const track = await control.boundingBox();
    const at = 8 + (track.width - 16) * Number(await control.inputValue());
    assert.ok(Math.abs(mark.x + mark.width / 2 - track.x - at) < 2, `${name}: the mark is below the thumb of the default`);
    assert.equal(await control.getAttribute("aria-valuetext"), `${usual} ${unit}`);
  }
  assert.deepEqual(said, []);
  await close();
});

test("a slider moved with the keyboard runs again, and the figures stand beside those before it moved", async () => {
  const { page, said, close } = await open(credit(), { hash: "#view=laboratory" });
  await whole(page);
  const first = await page.evaluate(() => window.lightlag.sides[0].figures);
  const slider = page.getByRole("slider", { name: "unit of credit" });
  await slider.focus();
  for (let press = 0; press < 8; press++) await page.keyboard.press("ArrowLeft");
  const value = (await slider.getAttribute("aria-valuetext")).trim();
  assert.match(value, /^[\d.]+ s$/);
  assert.ok(parseFloat(value) < 40, value);
  await ranWith(page, "mechanism", `{ name = "credit", unit = "${value}" }`);
  const now = await page.evaluate(() => window.lightlag.sides[0].figures);
  assert.notEqual(now.delivered, first.delivered);
  const row = (await figures(page)).find(([name]) => name === "delivered");
  assert.deepEqual(row.slice(0, 3), ["delivered", first.delivered.toLocaleString("en"), now.delivered.toLocaleString("en")]);
  assert.match(row[3], /^[+−]\d+ %$/);
  // Moved on, the figures before are still those before this slider was touched.
  await page.keyboard.press("ArrowLeft");
  await ranWith(page, "mechanism", `{ name = "credit", unit = "${(await slider.getAttribute("aria-valuetext")).trim()}" }`);
  assert.equal((await figures(page)).find(([name]) => name === "delivered")[1], first.delivered.toLocaleString("en"));
  assert.deepEqual(said, []);
  await close();
});

test("a number is exact, a link holds it, and the default comes back", async () => {
  const { page, close } = await open(credit(), { hash: "#view=laboratory" });
  await whole(page);
  const wanted = await page.evaluate(() => JSON.stringify(window.lightlag.sides[0].figures));
  await page.getByLabel("initial of credit, as a number").fill("37.5");
  await page.keyboard.press("Tab");
  await ranWith(page, "mechanism", '{ name = "credit", initial = 37.5 }');
  await page.getByLabel("receiver of credit", { exact: true }).selectOption("max");
  await page.getByLabel("proactive of credit", { exact: true }).check();
  const set = '{ name = "credit", initial = 37.5, receiver = "max", proactive = true }';
  await ranWith(page, "mechanism", set);
  await page.getByRole("button", { name: "Link" }).click();
  await page.waitForFunction(() => location.hash.includes("s="));
  const second = await open([], { hash: await page.evaluate(() => location.hash) });
  assert.equal(await second.page.getByLabel("initial of credit, as a number").inputValue(), "37.5");
  assert.equal(await second.page.evaluate(() => window.lightlag.sides[0].run.set.mechanism), set);
  await second.close();
  for (const name of ["initial", "receiver", "proactive"]) await page.getByRole("button", { name: new RegExp(`^${name} of credit: back to its default`) }).click();
  await ranWith(page, "mechanism", "credit");
  assert.equal(await page.evaluate(() => JSON.stringify(window.lightlag.sides[0].figures)), wanted);
  await close();
});

test("parameters that a scenario writes stand on the sliders: of links, queues, loss models and mobility models too", async () => {
  const models = (text) => text.replace("loss = 0.0005", 'loss = { model = "uniform", share = 0.0005 }').replace('queue = "80 packets"', 'queue = { discipline = "codel", limit = "80 packets" }');
  const { page, close } = await open([scenario("link", {}, models)], { hash: "#view=laboratory" });
  for (const block of [/^uniform/, /^codel/, /^cubic/]) await page.locator("summary", { hasText: block }).waitFor();
  const share = page.getByLabel("share of uniform (links.satellite.loss), as a number");
  assert.equal(await share.inputValue(), "0.0005");
  await whole(page);
  const before = await page.evaluate(() => window.lightlag.sides[0].figures.packets_lost);
  await share.fill("0.02");
  await page.keyboard.press("Tab");
  await ranWith(page, "links.satellite.loss", '{ model = "uniform", share = 0.02 }');
  const lost = await page.evaluate(() => window.lightlag.sides[0].figures.packets_lost);
  assert.ok(lost > 2 * before, `${lost} lost, before ${before}`);
  await close();
  const walkers = await open([scenario("walkers")], { hash: "#view=laboratory" });
  const speed = walkers.page.getByLabel("speed of random_waypoint (mobility)", { exact: true });
  assert.equal(await speed.inputValue(), "0.5..1.5 m/s");
  await speed.fill("5..15 m/s");
  await walkers.page.keyboard.press("Tab");
  await ranWith(walkers.page, "mobility", '{ model = "random_waypoint", area = "600 m x 600 m", speed = "5..15 m/s", pause = "0..60 s" }');
  await walkers.close();
});

test("of two runs, each algorithm has its own sliders", async () => {
  const [source] = credit();
  const { page, close } = await open([source, { ...source, title: "second", set: { mechanism: "rrcc" } }], { hash: "#view=laboratory" });
  await whole(page);
  await page.locator("summary", { hasText: "rrcc, second run" }).click();
  const field = page.getByRole("spinbutton", { name: /^\w+ of rrcc, second run, as a number/ }).first();
  assert.ok(await field.isVisible());
  assert.ok(await page.getByLabel("unit of credit, first run", { exact: true }).isVisible());
  await close();
});

test("a value out of its range in a link is one clear line, and nothing of it is markup", async () => {
  for (const [value, what] of [['{ name = "credit", unit = "-5 s" }', /unit/], ['{ name = "credit", unit = "<img src=x onerror=window.harmed=1>" }', /unit/], ['{ name = "credit", <b>', /mechanism/], [`{ name = "${"x".repeat(5000)}" }`, /mechanism/]]) {
    const { page, said, close } = await open([scenario("walkers", { mechanism: value })], { hash: "#view=laboratory" });
    await page.waitForSelector(".faults .error");
    const lines = await page.locator(".faults .error").allTextContents();
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(lines[0], what);
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.deepEqual(said, []);
    await close();
  }
});

const PAGES = readdirSync(new URL("../../docs/algorithms", import.meta.url)).filter((name) => /^[a-z].*\.md$/.test(name));
const fragmentsOf = (name) => [...read(`docs/algorithms/${name}`).matchAll(/page\.html(#[^"]+)"/g)].map((found) => found[1]);

const NODE = process.env.LIGHTLAG_WEB_NODE ?? fileURLToPath(new URL("../../out/web/node/lightlag_web.js", import.meta.url));
test("the example of every algorithm in the manual runs", { skip: !existsSync(NODE) && "the worlds are not built for Node: make web" }, () => {
  const { run } = createRequire(import.meta.url)(NODE);
  for (const name of PAGES) {
    const [embedded, whole] = fragmentsOf(name).map((one) => new URLSearchParams(one.slice(1)));
    assert.equal(embedded.get("embed"), "1", name);
    assert.equal(embedded.get("s"), whole.get("s"), name);
    const { text, seed, files } = JSON.parse(inflateRawSync(Buffer.from(whole.get("s"), "base64url")));
    const { figures, violations_total } = JSON.parse(run(text, seed, files ?? {}, 0, {}, false));
    assert.equal(violations_total, 0, name);
    // `passive` sends nothing.
    assert.ok(Math.max(figures.created ?? 0, figures.delivered_bytes ?? 0) > 0, `${name}: ${JSON.stringify(figures).slice(0, 200)}`);
  }
});

test("within a page of the manual it shows controls and figures alone, from 400 to 1280 pixels, and opens whole", async () => {
  for (const [name, width, scheme] of [["credit.md", 700, "light"], ["bbr.md", 400, "dark"], ["bus.md", 1280, "light"], ["recorded.md", 700, "dark"]]) {
    const { page, said, close } = await open([], { hash: fragmentsOf(name)[0], width, height: 480, scheme });
    await page.waitForSelector("[aria-label=Figures] td");
    assert.equal(await page.getByRole("tab").count(), 0);
    assert.equal(await page.getByRole("combobox", { name: "Speed", exact: true }).count(), 0, "no clock");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, `${name} fits ${width} px`);
    const control = page.getByLabel(new RegExp(` of ${name.replace(".md", "")}`)).first();
    await control.waitFor({ state: "visible" });
    assert.equal(await page.evaluate(() => [...document.querySelectorAll("button, select, input, textarea, canvas")].filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.closest("label"))).length), 0);
    const whole = page.getByRole("link", { name: "Open the page" });
    await page.waitForFunction(() => document.querySelector("a.whole")?.getAttribute("href")?.startsWith("#s="));
    const second = await open([], { hash: await whole.getAttribute("href") });
    assert.equal(await second.page.getByRole("tab", { name: "Laboratory" }).getAttribute("aria-selected"), "true");
    assert.deepEqual([...said, ...second.said], []);
    await second.close();
    await close();
  }
});

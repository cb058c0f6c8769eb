/** The view of packets: rows of what a trace has over one axis, with losses and the reaction through all of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { close, lines, open } from "./helper.mjs";

after(close);
const link = (controller) => ({ kind: "scenario", title: controller, text: readFileSync(new URL("../../scenarios/try/link.toml", import.meta.url), "utf8"), seed: 1, set: { "flows.file.controller": controller } });
/** Titles of rows, and rectangles of a colour and an opacity, of the drawing as it is saved. */
const drawn = (page) => page.evaluate(() => {
  const svg = new DOMParser().parseFromString(window.lightlagSvg(), "image/svg+xml");
  const titles = [...svg.querySelectorAll("text[font-weight]")].map((one) => one.textContent);
  const shaded = [...svg.querySelectorAll("rect[opacity='0.16']")].map((one) => ({ left: Number(one.getAttribute("x")), width: Number(one.getAttribute("width")), height: Number(one.getAttribute("height")) }));
  const losses = [...svg.querySelectorAll("rect[height='5'][width='1.5']")].map((one) => Number(one.getAttribute("y")));
  return { titles, shaded, losses, height: Number(svg.documentElement.getAttribute("height")) };
});
const ROWS = [/^Sequence/, /^Window/, /^Rate/, /^Round-trip time$/, /^Queue/];

test("two controllers have the same five rows on one clock, and a loss is marked in each of them", async () => {
  const { page, said, close } = await open([link("cubic"), link("bbr")], { hash: "#view=packets&t=30", width: 1280 });
  const { titles, losses } = await drawn(page);
  assert.equal(titles.length, 10, titles.join("\n"));
  titles.forEach((title, at) => assert.match(title, ROWS[at % 5]));
  const [cubic] = await page.evaluate(() => window.lightlag.sides.map((side) => side.packets.flows[0].lost.time.length));
  assert.ok(cubic > 10);
  // The tops of rows: at each, as many marks.
  const counts = Object.values(losses.reduce((counts, y) => ({ ...counts, [y]: (counts[y] ?? 0) + 1 }), {}));
  assert.equal(counts.length, 5);
  assert.ok(counts[0] > 5 && counts.every((count) => count === counts[0]), counts.join());
  assert.deepEqual(said, []);
  await close();
});

test("the reaction to a loss is shaded through all rows: until sent again, and until acknowledged", async () => {
  const { page, close } = await open([link("cubic")], { hash: "#view=packets&t=0" });
  assert.deepEqual((await drawn(page)).shaded, [], "no loss yet");
  for (const next = page.getByRole("button", { name: "Next loss" }); (await drawn(page)).shaded.length < 2;) await next.click();
  const { shaded: [lost, repair], height } = await drawn(page);
  assert.ok(lost.height > 0.6 * height && repair.height === lost.height, "through all rows");
  assert.ok(Math.abs(lost.left + lost.width - repair.left) < 0.1 && repair.width > 1, "one after the other");
  await close();
});

test("a row that a trace has no records for is omitted", async () => {
  const row = (kind, at, more) => ({ time_ns: at, kind, link: 0, flow: 0, link_name: "l", from_name: "a", to_name: "b", flow_name: "f", forward: true, hop: 0, bytes: 1000, length: 960, ...more });
  const rows = Array.from({ length: 200 }, (_, at) => [row("offered", at * 1e7, { offset: at * 960, print: at + 1 }), row("arrived", at * 1e7 + 5e6, { offset: at * 960, print: at + 1 })]).flat();
  const { page, said, close } = await open([lines(rows)], { hash: "#view=packets&t=1" });
  const { titles } = await drawn(page);
  assert.deepEqual(titles.map((title) => title.split(/[: ]/)[0]), ["Sequence", "Window", "Rate", "Queue"], "no acknowledgement: no round trip");
  assert.deepEqual(said, []);
  await close();
});

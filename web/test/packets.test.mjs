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

test("the sequence of a datagram flow ends at the bytes sent, its losses stand within it, and its window does not grow for ever", async () => {
  // Numbers of datagrams as the world of LTP has them: the block times 2^32. Each crosses two links; of every tenth the second one loses it.
  const [length, count] = [1000, 300];
  const row = (kind, at, hop, number, more) => ({ time_ns: at * 1e9, kind, link: hop, flow: 0, link_name: `l${hop}`, from_name: `n${hop}`, to_name: `n${hop + 1}`, flow_name: "f", forward: true, hop, what: "datagram", bytes: length + 40, length, offset: (number + 1) * 2 ** 32 + (number % 7), print: number + 1, ...more });
  const rows = Array.from({ length: count }, (_, at) => [row("offered", at / 10, 0, at), row("arrived", at / 10 + 0.2, 0, at), row("offered", at / 10 + 0.2, 1, at),
    at % 10 === 9 ? row("dropped", at / 10 + 0.25, 1, at, { why: "lost" }) : row("arrived", at / 10 + 0.4, 1, at)]).flat().sort((a, b) => a.time_ns - b.time_ns);
  const { page, said, close } = await open([lines([...rows, { time_ns: 31e9, kind: "end", flow: 0 }])], { hash: "#view=packets&t=20" });
  const flow = await page.evaluate(() => { const [flow] = window.lightlag.sides[0].packets.flows; const { sent, lost, flight } = flow;
    return { ends: sent.offset.last + sent.length.last, total: sent.total.last, lost: [...lost.offset.data.slice(0, lost.offset.length)], most: flight.peak(0, Infinity), last: flight.value.last }; });
  assert.equal(flow.ends, count * length);
  assert.equal(flow.total, count * length);
  assert.deepEqual(flow.lost, Array.from({ length: count / 10 }, (_, at) => (10 * at + 9) * length), "where they stand among what was sent");
  assert.ok(flow.most >= 4 * length && flow.most <= 5 * length, `${flow.most} B on the way`);
  assert.equal(flow.last, 0);
  assert.deepEqual((await drawn(page)).titles.slice(0, 2), ["Sequence: sent, lost", "Window: sent, neither arrived nor lost"]);
  assert.deepEqual(said, []);
  await close();
});

/** The scene: streets where the map has them, light times, zoom, and maps that want harm. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { close, lines, open, pixels, trace } from "./helper.mjs";

after(close);
const bytes = readFileSync(new URL("walkers.parquet", import.meta.url));
const read = (path) => readFileSync(new URL(`../../scenarios/${path}`, import.meta.url), "utf8");

/** Three streets to the east and three to the north that cross, and a diagonal one. */
const [WIDE, HIGH] = [600, 300];
const STREETS = [[[0, 0], [300, 0], [600, 0]], [[0, 100], [300, 100], [600, 100]], [[0, 300], [300, 300], [600, 300]], [[0, 0], [0, 100], [0, 300]], [[300, 0], [300, 100], [300, 300]], [[600, 0], [600, 100], [600, 300]], [[300, 100], [600, 300]]];
const WKT = STREETS.map((line) => `LINESTRING (${line.map(([x, y]) => `${x + 25_000} ${y - 700}`).join(", ")})`).join("\n");
const ON = [[150, 0], [450, 100], [10, 300], [0, 220], [300, 40], [600, 170], [450, 200], [375, 150]];
const BESIDE = [[150, 50], [450, 50], [150, 200], [360, 240], [540, 160]];
const WALK = `duration = "10 min"
seeds = [1]
router = "epidemic"
mechanism = "none"
buffer = "300 kB"
[nodes.walker]
count = 9
mobility = { model = "shortest_path_map", map = "roads.wkt", speed = "1..2 m/s", pause = "0..20 s" }
radio = { range = "60 m", rate = "1 Mbit/s" }
[traffic.mail]
interval = "5..20 s"
size = "20..50 kB"
lifetime = "5 min"
`;
const walk = (text = WALK) => ({ kind: "scenario", title: "walk", text, seed: 1, set: {}, files: { "roads.wkt": gzipSync(Buffer.from(WKT)).toString("base64") } });

const packed = (numbers) => gzipSync(Buffer.from(Float32Array.from(numbers).buffer)).toString("base64");
const map = (numbers, more = {}) => ({ points: packed(numbers), count: numbers.length / 2, is_y_down: false, is_osm: false, ...more });
const streets = STREETS.flatMap((line) => [...line.flat(), NaN, NaN]);
/** A run of nodes that stand at these places. */
const standing = (places, about = {}, more = {}) => lines([
  ...places.map((_, node) => ({ time_ns: 0, kind: "node", node, bytes: 1000, node_name: `n${node}` })),
  ...[0, 100].flatMap((s) => places.map(([x, y], node) => ({ time_ns: s * 1e9, kind: "position", node, x_m: x, y_m: y }))),
  { time_ns: 1e11, kind: "end" }], { about, ...more });

/** Whether the ground has a mark at places of the map, found by the frame of all its marks. */
const marked = (page, places) => page.evaluate(([places, wide, high]) => {
  const canvas = document.querySelector("canvas.ground");
  const { width, height } = canvas;
  const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const has = (x, y) => data[4 * (y * width + x) + 3] > 0;
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) if (has(x, y)) { left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y); }
  // The lines are as wide beyond the corners as elsewhere.
  const pen = ((right - left) * high - (bottom - top) * wide) / (high - wide);
  const scale = (right - left - pen) / wide;
  const at = ([x, y]) => [Math.round(left + pen / 2 + x * scale), Math.round(bottom - pen / 2 - y * scale)];
  return places.map((place) => { const [x, y] = at(place); return [-1, 0, 1].some((dx) => [-1, 0, 1].some((dy) => has(x + dx, y + dy))); });
}, [places, WIDE, HIGH]);
const svgOf = (page) => page.evaluate(() => window.lightlagSvg());
const texts = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map((found) => found[1]);
const places = (page, t) => page.evaluate((t) => { const [side] = window.lightlag.sides; window.lightlag.clock.seek(t); return side.names.map((_, node) => side.place(node, t)); }, t);

test("streets lie where the scenario's map has them, and nodes walk on them, from 400 to 2500 pixels, light and dark", async () => {
  for (const [width, scheme] of [[400, "light"], [1280, "dark"], [2500, "light"]]) {
    const { page, said, close } = await open([walk()], { width, scheme });
    await page.waitForTimeout(200);
    assert.deepEqual(await marked(page, ON), ON.map(() => true), `streets at ${width}`);
    assert.deepEqual(await marked(page, BESIDE), BESIDE.map(() => false), `no streets beside them at ${width}`);
    const nodes = await places(page, 120);
    assert.equal(nodes.length, 9);
    assert.deepEqual(await marked(page, nodes), nodes.map(() => true), "each node is on a street");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `it fits ${width}`);
    assert.deepEqual(said, []);
    await close();
  }
});

test("maps of The ONE have north above: their y grows downwards", async () => {
  const { page, close } = await open([standing([[0, 0], [600, 300]], { map: map(streets, { is_y_down: true }) })]);
  await page.waitForTimeout(200);
  const upside = ON.map(([x, y]) => [x, HIGH - y]);
  assert.deepEqual(await marked(page, upside), ON.map(() => true));
  await close();
});

test("a recorded run has the streets of its map, with the attribution of OpenStreetMap in what is saved", async () => {
  const { page, said, close } = await open([standing([[0, 0], [600, 300]], { map: map(streets, { is_osm: true }) })]);
  await page.waitForTimeout(200);
  const svg = await svgOf(page);
  assert.ok(texts(svg).includes("© OpenStreetMap contributors"));
  assert.ok((svg.match(/L/g) ?? []).length >= 13, "streets are in the picture");
  assert.deepEqual(said, []);
  await close();
});

test("the scale is as long as it says", async () => {
  const { page, close } = await open([standing([[0, 0], [600, 300]])]);
  const svg = await svgOf(page);
  const [, metres] = /^(\d+) m$/.exec(texts(svg).find((text) => / m$/.test(text)));
  const [, from, to] = /M[\d.]+ [\d.]+L([\d.]+) [\d.]+L([\d.]+) [\d.]+L/.exec(svg);
  const nodes = [...svg.matchAll(/<path d="M([\d.]+) [\d.]+A[^"]*" fill="none"/g)].map((found) => Number(found[1]));
  const [left, right] = [Math.min(...nodes), Math.max(...nodes)];
  assert.ok(Math.abs((to - from) / metres - (right - left) / WIDE) < 1e-3, `${to - from} px are ${metres} m`);
  await close();
});

test("positions in space have orbits, and a scale in light seconds", async () => {
  const rows = [{ time_ns: 0, kind: "node", node: 0, bytes: 1, node_name: "earth" }, { time_ns: 0, kind: "node", node: 1, bytes: 1, node_name: "probe" }];
  for (let step = 0; step <= 60; step++) rows.push({ time_ns: step * 1e12, kind: "position", node: 0, x_m: 0, y_m: 0 }, { time_ns: step * 1e12, kind: "position", node: 1, x_m: 3.84e9 * Math.cos(step / 9.6), y_m: 3.84e9 * Math.sin(step / 9.6) });
  const { page, said, close } = await open([lines(rows)]);
  const svg = await svgOf(page);
  assert.ok(texts(svg).some((text) => /^[\d.]+ light s$/.test(text)), texts(svg).join());
  assert.ok([...svg.matchAll(/d="(M[^"A]*)"/g)].some(([, path]) => path.split("L").length > 50), "the path of the probe");
  assert.deepEqual(said, []);
  await close();
});

test("light times stand at links, the way between planets grows with their logarithm, and a bundle moves with the light", async () => {
  const ends = ["rover", "orbiter", "station"];
  const rows = [...ends.map((name, node) => ({ time_ns: 0, kind: "node", node, bytes: 9000, node_name: name })),
    { time_ns: 0, kind: "created", node: 2, peer: 0, bundle: 0, bytes: 600, since_ns: 0, expires_ns: 9e11 },
    ...[[0, 1, 1e7], [1, 2, 1e11]].map(([node, peer, delay]) => ({ time_ns: 0, kind: "contact_up", node, peer, rate: 8000, rate_back: 8000, delay_ns: delay, delay_back_ns: delay })),
    { time_ns: 1e9, kind: "started", node: 2, peer: 1, bundle: 0 }, { time_ns: 2e9, kind: "sent", node: 2, peer: 1, bundle: 0 }, { time_ns: 102e9, kind: "stored", node: 2, peer: 1, bundle: 0 }, { time_ns: 2e11, kind: "end" }];
  const { page, said, close } = await open([lines(rows)]);
  await page.evaluate(() => window.lightlag.clock.seek(51.5));
  const svg = await svgOf(page);
  assert.ok(texts(svg).includes("light takes 100 s") && texts(svg).includes("10 ms"), texts(svg).join());
  const nodes = [...svg.matchAll(/<path d="M([\d.]+) [\d.]+A([\d.]+)[^"]*" fill="none"/g)].map((found) => Number(found[1]) - Number(found[2]));
  const [one, two, three] = nodes.slice(0, 3);
  // A decade of light time is as long everywhere: from 0.1 ms to 10 ms two of them and one for the start, to 100 s six.
  assert.ok(Math.abs((three - two) / (two - one) - 7 / 3) < 0.02, nodes.join());
  const [, tail, head] = /d="M([\d.]+) [\d.]+L([\d.]+) [\d.]+"[^>]*stroke-width="5"/.exec(svg);
  assert.ok(Math.abs((Number(tail) + Number(head)) / 2 - (two + three) / 2) < 3, "half way at half the time");
  assert.deepEqual(said, []);
  await close();
});

test("wheel, keys and two fingers bring the scene closer on both sides, and one button shows the whole again", async () => {
  const { page, said, close } = await open([walk(), walk()], { width: 1280 });
  const scene = page.getByLabel(/^Scene, walk/).first();
  const box = await scene.boundingBox();
  const ground = () => page.locator("canvas.ground").first().evaluate((one) => one.toDataURL());
  const whole = await ground();
  const bare = await scene.evaluate((one) => one.toDataURL());
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -900);
  await page.getByRole("button", { name: "Whole scene" }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Whole scene" }).count(), 2, "both sides");
  assert.ok((await ground()) !== whole);
  await page.getByRole("button", { name: "Whole scene" }).first().click();
  assert.ok((await ground()) === whole);
  await scene.focus();
  const before = await page.evaluate(() => window.lightlag.clock.to - window.lightlag.clock.from);
  await page.keyboard.press("+");
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok((await scene.evaluate((one) => one.toDataURL())) !== bare);
  assert.equal(await page.evaluate(() => window.lightlag.clock.to - window.lightlag.clock.from), before, "the stretch of time stays");
  await page.keyboard.press("0");
  assert.ok((await ground()) === whole);
  const session = await page.context().newCDPSession(page);
  const touch = (type, apart) => session.send("Input.dispatchTouchEvent", { type, touchPoints: apart === undefined ? [] : [-1, 1].map((side, id) => ({ id, x: box.x + box.width / 2 + side * apart, y: box.y + box.height / 2 })) });
  await touch("touchStart", 40);
  for (const apart of [60, 90, 130]) await touch("touchMove", apart);
  await touch("touchEnd");
  assert.ok((await ground()) !== whole, "two fingers");
  assert.equal(await page.evaluate(() => window.lightlag.node), undefined, "no node was chosen");
  assert.deepEqual(said, []);
  await close();
});

const drawn = async (about, most = 2) => {
  const { page, said, close } = await open([standing([[0, 0], [600, 300], [90, 40]], about)]);
  await page.waitForTimeout(300);
  assert.ok(await pixels(page, "Scene") > 300, "nodes are there");
  for (let turn = 0; turn < most; turn++) await page.getByRole("button", { name: "Scene closer" }).click();
  const found = { alerts: await page.locator("[role=alert]").allTextContents(), said, text: await page.locator("main").textContent(), ground: await pixels(page, "Under") };
  await close();
  assert.deepEqual([found.alerts, found.said], [[], []]);
  return found;
};

test("a map that is none, or is damaged, leaves the run without streets and without an error", async () => {
  for (const map of [null, 7, "map", [], {}, { points: 5, count: 2 }, { points: "!!!", count: 2 }, { points: gzipSync(Buffer.from("abc")).toString("base64"), count: 1 }, { points: packed(streets).slice(0, 40), count: 20 }, { points: gzipSync(Buffer.alloc(40_000_000)).toString("base64"), count: 5 }]) {
    assert.equal((await drawn({ map })).ground, -1, JSON.stringify(map)?.slice(0, 60));
  }
});

test("points that are no places end their line, and one far away does not move the scene", async () => {
  const odd = [NaN, 1, Infinity, 0, 3e38, -3e38, 0, 0, 600, 0, 3e38, 5, 600, 0, 600, 300, NaN, NaN, 9e7, 9e7, 9e7, 9e7 + 64];
  const found = await drawn({ map: map(odd) }, 0);
  assert.ok(found.ground > 200, "the street that is sound is there");
  assert.equal((await drawn({ map: map([NaN, NaN, NaN, NaN]) })).ground, -1, "nothing but gaps is no map");
});

test("a million points at random are drawn coarser, and more than a million are not", async () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const noise = Array.from({ length: 2_000_000 }, (_, at) => random() * (at % 2 ? HIGH : WIDE));
  assert.ok((await drawn({ map: map(noise) }, 0)).ground > 1000);
  const { text, ground } = await drawn({ map: map([...noise, 0, 0]) }, 0);
  assert.match(text, /The map has 1,000,001 points: the page draws at most 1,000,000/);
  assert.equal(ground, -1);
});

test("a page shows a run of The ONE's kind without a map as before", async () => {
  const { page, said, close } = await open([trace(bytes)]);
  assert.equal(await page.locator("canvas.ground").count(), 0);
  assert.deepEqual(said, []);
  await close();
});

test("the light times of links of packets shape their scene", async () => {
  const text = read("papers/adaptive_short.toml").replace("20 min", "20 s");
  const { page, said, close } = await open([{ kind: "scenario", title: "packets", text, seed: 1, set: {} }]);
  assert.ok(texts(await svgOf(page)).some((text) => text === "light takes 5 s"));
  assert.deepEqual(said, []);
  await close();
});

/** Boxes of the texts of the scene as it is saved, and whether texts stand after all nodes. */
const labelled = (page) => page.evaluate(() => {
  const svg = new DOMParser().parseFromString(window.lightlagSvg(), "image/svg+xml").documentElement;
  document.body.append(svg);
  const all = [...svg.querySelectorAll("text")].map((one) => { const { x, y, width, height } = one.getBBox(); return { text: one.textContent, left: x + 1, top: y + 3, right: x + width - 1, bottom: y + height - 3 }; });
  const marks = [...svg.querySelectorAll("text, path")];
  const names = marks.flatMap((one, at) => (one.tagName === "text" && /^n\d+$/.test(one.textContent) ? [at] : []));
  const nodes = marks.flatMap((one, at) => (one.tagName === "path" && one.getAttribute("d").includes("A") ? [at] : []));
  svg.remove();
  return { all, onTop: Math.min(...names, Infinity) > Math.max(...nodes), names: names.length };
});
const overlaps = (all) => all.flatMap((one, at) => all.slice(at + 1).filter((other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom).map((other) => `${one.text} on ${other.text}`));

test("names stand above all nodes, and none on another text", async () => {
  for (const [width, count] of [[400, 20], [1100, 24], [2500, 12]]) {
    const { page, said, close } = await open([standing(Array.from({ length: count }, (_, at) => [(at * 37) % 100, (at * 53) % 60]))], { width });
    const { all, onTop, names } = await labelled(page);
    assert.ok(onTop && names > count / 4, `${names} names at ${width}`);
    assert.deepEqual(overlaps(all), [], `at ${width}`);
    assert.deepEqual(said, []);
    await close();
  }
});

test("labels of links, buffers and scales leave each other room on a small screen", async () => {
  const ends = ["mission control", "goldstone", "canberra", "madrid", "mars orbiter", "second orbiter", "rover one", "rover two"];
  const rows = [...ends.map((name, node) => ({ time_ns: 0, kind: "node", node, bytes: 9000, node_name: name })),
    ...[[0, 1, 1e7], [0, 2, 7e7], [0, 3, 7e7], [1, 4, 6e11], [2, 4, 6e11], [3, 5, 6e11], [4, 6, 1e7], [5, 7, 1e7]].map(([node, peer, delay]) => ({ time_ns: 0, kind: "contact_up", node, peer, rate: 8e6, rate_back: 8e6, delay_ns: delay, delay_back_ns: delay })),
    ...ends.map((_, node) => ({ time_ns: 1, kind: "created", node, peer: 0, bundle: node, bytes: 2000, since_ns: 0, expires_ns: 9e12 })),
    { time_ns: 2e12, kind: "end" }];
  for (const width of [400, 700, 1100, 2500]) {
    const { page, close } = await open([lines(rows)], { width });
    const { all } = await labelled(page);
    assert.ok(all.length > 8, `${all.length} texts at ${width}`);
    assert.deepEqual(overlaps(all), [], `at ${width}`);
    await close();
  }
});

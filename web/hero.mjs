/** The picture of the project: Earth and Mars without congestion control and with copy_value, as an SVG that moves.
 * node hero.mjs OUT.svg [FRAMES]; the runs are made in the page. */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { close, open } from "./test/helper.mjs";

const [out = "hero.svg", frames = "72"] = process.argv.slice(2);
const SECONDS_A_FRAME = 0.3;
const read = (path) => readFileSync(new URL(`../scenarios/${path}`, import.meta.url));
const text = read("earth_mars.toml").toString();
const side = (title, mechanism) => ({ kind: "scenario", title, text, seed: 1, set: { mechanism, router: "epidemic" }, files: { "places/earth_mars.contacts": gzipSync(read("places/earth_mars.contacts")).toString("base64") } });
const COLOURS = { delivered: "#16835a", waiting: "#7b8ea6", overflow: "#d1361b", rejected: "#a8326e" };
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const { page, close: shut } = await open([side("none", "none"), side("copy_value", "copy_value")], { width: 1180, height: 740, hash: "#view=scene" });
const shots = [];
let size = { width: 0, height: 0 };
for (let frame = 0; frame < Number(frames); frame++) {
  const shot = await page.evaluate(async (part) => {
    const { clock, sides } = window.lightlag;
    // The end, with the answer, stays for the last frames.
    clock.seek(Math.min(1, part) * clock.duration);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const end = sides.map((side) => side.tally.at(Infinity).reduce((sum, one) => sum + one, 0));
    return { svg: window.lightlagSvg(), t: clock.t, total: Math.max(...end), counts: sides.map((side) => side.tally.at(clock.t)) };
  }, (frame + 1) / (Number(frames) - 8));
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(shot.svg);
  size = { width: Number(width), height: Number(height) };
  // Clips have names of their own in each frame.
  const inner = shot.svg.replace(/^<svg[^>]*>|<\/svg>$/g, "").replaceAll("clip", `f${frame}clip`).replaceAll(/f\d+clip-path/g, "clip-path").replaceAll(/<f\d+clipPath|<\/f\d+clipPath/g, (tag) => tag.replace(/f\d+clip/, "clip"));
  shots.push({ ...shot, inner });
}
await shut();
await close();

const TOP = 92;
const half = size.width / 2;
function head({ counts, total, t }) {
  const clock = `${Math.floor(t / 3600)} h ${String(Math.floor(t / 60) % 60).padStart(2, "0")}`;
  return counts.map(([waiting, delivered, overflow, , rejected], at) => {
    const left = at * half + 22;
    const wide = half - 44;
    let x = left;
    const bar = Object.entries({ delivered, waiting, overflow, rejected }).map(([fate, count]) => { const part = (count / total) * wide; x += part; return `<rect x="${(x - part).toFixed(1)}" y="34" width="${part.toFixed(1)}" height="10" fill="${COLOURS[fate]}"/>`; }).join("");
    const numbers = Object.entries({ delivered, waiting, dropped: overflow + rejected }).map(([name, count], column) => `<text x="${left + column * 120}" y="70" font-size="24" font-weight="650" fill="#1b2430">${count.toLocaleString("en")}</text><text x="${left + column * 120}" y="86" font-size="12" fill="${COLOURS[name] ?? COLOURS.overflow}">${name}</text>`).join("");
    return `<text x="${left}" y="24" font-size="17" font-weight="650" fill="#1b2430">${escaped(["no congestion control", "copy_value"][at])}</text><text x="${left + wide}" y="24" font-size="13" text-anchor="end" fill="#5a6675">${clock}</text><rect x="${left}" y="34" width="${wide}" height="10" fill="#e9edf2"/>${bar}${numbers}`;
  }).join("");
}
const total = shots.length * SECONDS_A_FRAME;
const part = (100 / shots.length).toFixed(4);
const style = `@keyframes show{0%{visibility:visible}${part}%{visibility:hidden}100%{visibility:hidden}}g.f{visibility:hidden;animation:show ${total}s step-end infinite}@media(prefers-reduced-motion:reduce){g.f{animation:none}g.f.last{visibility:visible}}`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height + TOP}" viewBox="0 0 ${size.width} ${size.height + TOP}" font-family="system-ui, sans-serif"><title>Two rovers on Mars send to Earth for 48 hours: without congestion control, and with copy_value</title><style>${style}</style><rect width="100%" height="100%" fill="#fff"/>`
  + shots.map((shot, at) => `<g class="f${at === shots.length - 1 ? " last" : ""}" style="animation-delay:${at * SECONDS_A_FRAME}s">${head(shot)}<g transform="translate(0 ${TOP})">${shot.inner}</g></g>`).join("\n") + "</svg>";
writeFileSync(out, svg);
console.log(`${out}: ${(svg.length / 1e6).toFixed(2)} MB, ${shots.length} frames`);

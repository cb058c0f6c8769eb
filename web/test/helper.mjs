/** Opens the built page with sources in Chromium. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

export const PAGE = fileURLToPath(new URL("../dist/page.html", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "lightlag-page-"));
let files = 0;
let browser;

export const launch = async () => (browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--enable-precise-memory-info"] }));
export const close = async () => { await browser?.close(); browser = undefined; };

/** As programs embed sources: JSON in which no tag can end. */
export const embed = (source) => `<script type="application/json" class="source">${JSON.stringify(source).replaceAll("</", "<\\/").replaceAll("<!--", "<\\!--")}</script>`;
export const trace = (bytes, more = {}) => {
  const format = more.format ?? "parquet";
  return { kind: "trace", title: "run", format, data: (format === "jsonl" ? gzipSync(bytes) : bytes).toString("base64"), scenario: null, ...more };
};
export const lines = (rows, more = {}) => trace(Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")), { format: "jsonl", ...more });

/** The file of a page that has these sources. */
export function written(sources) {
  const html = readFileSync(PAGE, "utf8");
  const path = join(folder, `${files++}.html`);
  writeFileSync(path, html.replace("<!-- sources -->", () => sources.map(embed).join("\n")));
  return path;
}

/** A tab with the page, and what its console and network said. */
export async function open(sources, { hash = "", width = 1100, height = 800, scheme = "light", until = "whole" } = {}) {
  const context = await (await launch()).newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => /^https?:/.test(request.url()) && said.push(`asked for ${request.url()}`));
  await page.goto(`file://${written(sources)}${hash}`);
  if (until === "whole") await page.waitForFunction(() => window.lightlag?.error || window.lightlag?.sides.length > 0 && window.lightlag.sides.every((side) => side.state !== "reading"), undefined, { timeout: Number(process.env.PAGE_WAIT ?? 60_000) }).catch((error) => { throw new Error(`${error.message}\n${said.join("\n")}`); });
  return { page, said, close: () => context.close() };
}

/** Tags that no data may have made, and scripts that ran. */
export const pixels = (page, label) => page.evaluate((label) => {
  const canvas = [...document.querySelectorAll("canvas")].find((one) => one.getAttribute("aria-label")?.startsWith(label));
  if (!canvas) return -1;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 3; at < data.length; at += 4) if (data[at] > 0) count += 1;
  return count;
}, label);

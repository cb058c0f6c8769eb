import { svelte } from "@sveltejs/vite-plugin-svelte";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { defineConfig } from "vite";

const BINDINGS = fileURLToPath(new URL("../out/web/web/", import.meta.url));
const EMPTY = "\0no-bindings";

/** The bindings that `make web` has made; without them the page opens, but runs nothing. */
const bindings = {
  name: "bindings",
  resolveId: (id) => (id === "lightlag" ? (existsSync(BINDINGS) ? `${BINDINGS}lightlag_web.js` : EMPTY) : null),
  load: (id) => (id === EMPTY ? "export default () => { throw Error('this page was built without WebAssembly'); };"
    + "export const World = null, check = null, schema = null, streets = null, run = null, version = null;" : null),
  // The page hands over the bytes: nothing is to be fetched.
  transform: (code, id) => (id.endsWith("lightlag_web.js")
    ? code.replace(/new URL\('lightlag_web_bg.wasm', import.meta.url\)/, "undefined") : null),
};

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** One file: script, style and WebAssembly in it, and what it may do. */
const oneFile = {
  name: "one-file",
  enforce: "post",
  generateBundle(_, bundle) {
    const all = Object.values(bundle);
    const script = all.find((file) => file.type === "chunk").code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
    const style = all.filter((file) => file.fileName.endsWith(".css")).map((file) => file.source).join("");
    const policy = `default-src 'none'; script-src ${hash(script)} 'wasm-unsafe-eval' blob:; worker-src blob:; `
      + "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'";
    const wasm = existsSync(BINDINGS) ? gzipSync(readFileSync(`${BINDINGS}lightlag_web_bg.wasm`), { level: 9 }).toString("base64") : "";
    let html = all.find((file) => file.fileName === "index.html").source;
    html = html.replace(/<script type="module"[^>]*><\/script>/g, "").replace(/<link [^>]*>/g, "");
    html = html.replace('<meta charset="utf-8">', () => `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`);
    html = html.replace("</head>", () => `<style>${style}</style>\n</head>`);
    html = html.replace("</body>", () => `<script type="application/octet-stream" id="wasm">${wasm}</script>\n<script type="module">${script}</script>\n</body>`);
    for (const name of Object.keys(bundle)) delete bundle[name];
    this.emitFile({ type: "asset", fileName: "page.html", source: html });
  },
};

export default defineConfig({
  plugins: [bindings, svelte(), oneFile],
  worker: { format: "iife", plugins: () => [bindings] },
  server: { fs: { allow: [".."] } },
  build: { target: "es2024", assetsInlineLimit: 1e9, cssCodeSplit: false, modulePreload: false, chunkSizeWarningLimit: 1e6 },
});

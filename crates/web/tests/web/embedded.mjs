// Runs jobs by the WebAssembly of a page under Node: `node embedded.mjs GLUE WASM JOBS`. GLUE is the JavaScript for pages, WASM
// what the page has: Base64 of gzip.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [glue, packed, list] = process.argv.slice(2);
// Node takes a file for a module by the end of its name.
const module = `${glue}.mjs`;
writeFileSync(module, readFileSync(glue));
const { initSync, run } = await import(pathToFileURL(module));
initSync({ module: gunzipSync(Buffer.from(readFileSync(packed, "latin1"), "base64")) });
for (const job of JSON.parse(readFileSync(list, "utf8"))) {
  try {
    console.log(JSON.stringify({ name: job.name, outcome: run(job.text, job.seed, job.files, job.point, job.set) }));
  } catch (error) {
    console.log(JSON.stringify({ name: job.name, error: error.faults ?? String(error.stack) }));
  }
}

// Runs the jobs of a file under Node and prints their outcomes, one JSON a line: `node run.mjs BINDINGS JOBS`.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [bindings, list] = process.argv.slice(2);
const { run, World } = createRequire(import.meta.url)(bindings);

// Plays a world in steps of some seconds and adds up what its records say.
function play({ text, files, seed, point, set }, step) {
  const world = new World(text, seed, files, point, set);
  const texts = [], kinds = {};
  let rows = 0, last = -Infinity, ordered = true;
  for (let more = true; more;) {
    more = world.advance(step);
    const batch = world.records();
    texts.push(...batch.texts);
    rows += batch.rows;
    for (const time of batch.columns.time_ns ?? []) {
      ordered &&= time >= last;
      last = time;
    }
    for (const kind of batch.columns.kind ?? []) kinds[texts[kind]] = (kinds[texts[kind]] ?? 0) + 1;
  }
  const made = { digest: world.digest(), figures: JSON.parse(world.figures()), rows, ordered, kinds };
  world.free();
  return made;
}

for (const job of JSON.parse(readFileSync(list, "utf8"))) {
  try {
    const started = performance.now();
    const outcome = run(job.text, job.seed, job.files, job.point, job.set);
    const took_ms = performance.now() - started;
    const played = job.step ? play(job, job.step) : undefined;
    console.log(JSON.stringify({ name: job.name, outcome, played, took_ms }));
  } catch (error) {
    console.log(JSON.stringify({ name: job.name, error: error.faults ?? String(error.stack) }));
  }
}

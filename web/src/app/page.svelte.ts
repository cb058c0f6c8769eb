/** What the page shows: its sides, the clock, what is followed, and the laboratory's scenario. */
import { EXAMPLES } from "../read/examples";
import { Engine, startRun, unpack, type Answer, type Fault, type Settings } from "../read/engine";
import { findSources, mapOf, ofFragment, packed, type Shared, type Source } from "../read/sources";
import { inForce, settingsOf } from "../lab/settings";
import { Streets } from "../scene/streets";
import { parsed, words } from "../draw/words";
import { Clock, speedFor } from "../model/clock.svelte";
import { Recording } from "../model/recording.svelte";

export type Step = "any" | "dropped" | "refused" | "delivered" | "created";

class Page {
  readonly clock = new Clock();
  sides = $state.raw<Recording[]>([]);
  view = $state("scene");
  error = $state("");
  /** What is followed: a node, a bundle. */
  node = $state<number | undefined>();
  bundle = $state<number | undefined>();
  stepTo = $state<Step>("any");
  live = $state.raw<{ url: string; title: string } | undefined>();
  faults = $state.raw<Fault[]>([]);
  /** The laboratory's. */
  lab = $state<Shared>({ text: EXAMPLES[0]!.text, seed: null, set: {}, compare: EXAMPLES[0]!.compare, example: EXAMPLES[0]!.name });
  files: Record<string, Uint8Array> = {};
  /** Within another page: the laboratory's controls and figures alone. */
  embedded = $state(false);
  running = $state(0);
  private engines: Engine[] = [];
  private wantedTime: number | undefined;

  /** What the titles of all sides have in common. */
  get common(): string[] {
    const [first, ...others] = this.sides.map((side) => side.title.split(", "));
    return others.length > 0 ? first!.filter((part) => others.every((title) => title.includes(part))) : [];
  }
  /** What is left of a title: what is different. */
  own(title: string): string {
    const parts = title.split(", ").filter((part) => !this.common.includes(part));
    return parts.length > 0 ? parts.join(", ") : title;
  }
  /** The same without the words with which it begins on all sides. */
  short(title: string): string {
    const all = this.sides.map((side) => words(this.own(side.title)).split(" "));
    let same = 0;
    while (all.length > 1 && all.every((list) => list.length > same + 1 && list[same] === all[0]![same])) same += 1;
    return words(this.own(title)).split(" ").slice(same).join(" ");
  }
  get first(): Recording | undefined {
    return this.sides[0];
  }
  /** The bundle that tells most: lost here and delivered there; otherwise one that was lost, or delivered. */
  get instructive(): number | undefined {
    const [one, other] = this.sides.map((side) => side.bundles);
    if (!one) return undefined;
    const { dropped, delivered } = this.first!.marks;
    for (let mark = 0; other && mark < dropped.length; mark++) {
      const id = dropped.item.get(mark);
      if (one.fateOf(id) !== "delivered" && id < other.source.length && other.fateOf(id) === "delivered") return id;
    }
    return dropped.length > 0 ? dropped.item.get(0) : delivered.length > 0 ? delivered.item.get(0) : 0;
  }
  async start() {
    try {
      const asked = await ofFragment(location.hash);
      this.wantedTime = asked.t;
      this.embedded = asked.embed ?? false;
      if (asked.shared) {
        this.view = (!this.embedded && asked.view) || "laboratory";
        return this.choose(asked.shared);
      }
      const sources = await findSources();
      for (const source of sources) await this.open(source);
      const live = sources.every((source) => source.kind === "live");
      this.view = asked.view ?? (sources.length === 0 ? "laboratory" : live ? "live" : "scene");
      if (sources.length === 0) this.choose(this.lab);
    } catch (error) {
      this.error = (error as Error).message;
    }
  }
  /** The laboratory's scenario from now on; it runs. */
  choose(lab: Shared) {
    this.lab = lab;
    this.files = filesOf(lab);
    this.run();
  }
  private async open(source: Source) {
    if (source.kind === "live") {
      this.live = source;
      return;
    }
    const side = this.side(source.title);
    if (source.kind === "scenario") {
      const files: Record<string, Uint8Array> = {};
      for (const [name, data] of Object.entries(source.files ?? {})) files[name] = new Uint8Array(await unpack(data, true));
      if (this.sides.length === 1) {
        this.lab = { text: source.text, seed: source.seed ?? null, set: source.set ?? {}, compare: null };
        this.files = files;
      } else if (this.lab.text === source.text) this.lab.compare = source.set ?? {};
      side.scenario = source.text;
      this.play(side, { text: source.text, seed: source.seed ?? null, files, point: null, set: source.set ?? {} });
      return;
    }
    side.scenario = source.scenario ?? undefined;
    if (source.scenario && this.sides.length === 1) this.lab = { text: source.scenario, seed: source.about?.seed ?? null, set: {}, compare: null };
    try {
      side.streets = await mapOf(source.about?.map);
      const bytes = source.data !== undefined ? await unpack(source.data, false) : await fetched(source.url!);
      const gzipped = source.data !== undefined && source.format === "jsonl";
      const engine = new Engine((answer) => this.heard(side, answer, engine));
      this.engines.push(engine);
      engine.ask({ do: "read", format: source.format, bytes, gzipped }, [bytes]);
    } catch (error) {
      side.fail((error as Error).message);
    }
  }
  private side(title: string): Recording {
    const side = new Recording(title);
    this.sides = [...this.sides, side];
    return side;
  }
  private play(side: Recording, run: Parameters<typeof startRun>[0]) {
    this.running += 1;
    side.run = run;
    const engine = startRun(run, (answer) => this.heard(side, answer, engine));
    this.engines.push(engine);
  }
  private heard(side: Recording, answer: Answer, engine: Engine) {
    if (!this.sides.includes(side)) return;
    try {
      if (answer.is === "batch") {
        side.take(answer.world, answer.batch, answer.until);
        engine.ask({ do: "more" });
      }
      else if (answer.is === "names") { side.duration = answer.duration; side.introduce(parsed(answer.names) as Record<string, unknown>); }
      else if (answer.is === "map") side.streets = new Streets(answer.map);
      else if (answer.is === "end") { side.end(answer.figures, answer.took, answer.cut); this.ended(engine); }
      else if (answer.is === "error") { this.faults = answer.faults ?? []; this.broken(side, answer.what, engine); }
    } catch (error) {
      this.broken(side, (error as Error).message, engine);
    }
    const before = this.clock.duration;
    this.clock.extend(side.duration);
    if (before === 0 && this.clock.duration > 0) {
      this.clock.speed = speedFor(this.clock.duration);
      this.clock.seek(this.wantedTime ?? this.clock.duration / 2);
    } else if (answer.is === "end" && this.sides.every((one) => one.state !== "reading")) this.settle();
  }
  /** All records are read: only now the ends of runs that ended early, and of traces, are known. */
  private settle() {
    const length = Math.max(...this.sides.map((side) => side.duration));
    const grew = length !== this.clock.duration || this.sides.some((side) => side.took === undefined);
    if (!grew || !(length > 0)) return;
    this.clock.duration = length;
    this.clock.show(0, length);
    this.clock.speed = speedFor(length);
    this.clock.seek(this.wantedTime ?? length / 2);
  }
  private broken(side: Recording, what: string, engine: Engine) {
    side.fail(what);
    this.ended(engine);
  }
  private ended(engine: Engine) {
    engine.stop();
    if (this.engines.includes(engine)) {
      this.engines = this.engines.filter((one) => one !== engine);
      this.running = Math.max(0, this.running - 1);
    }
  }
  /** Runs the laboratory's scenario, and beside it the one to compare with. */
  run() {
    for (const engine of this.engines) engine.stop();
    this.engines = [];
    this.running = 0;
    this.faults = [];
    this.clock.playing = false;
    this.clock.duration = this.clock.to = this.clock.from = 0;
    this.sides = [];
    this.node = this.bundle = undefined;
    const { text, seed, set, compare } = $state.snapshot(this.lab);
    const runs = compare ? [set, { ...set, ...compare }] : [set];
    const titles = runs.map((settings, at) => this.titleOf(settings, at === 0 && compare ? Object.keys(compare) : []));
    titles.forEach((title) => (this.side(title).scenario = text));
    runs.forEach((settings, at) => this.play(this.sides[at]!, { text, seed, files: this.files, point: null, set: settings }));
  }
  /** SHA-256 of all records of a run in the page, the same as natively: it is run again for it. */
  digestOf(side: Recording): Promise<string | undefined> {
    return new Promise((done, fail) => {
      const engine = startRun({ ...side.run!, whole: true }, (answer) => {
        if (answer.is === "batch") return engine.ask({ do: "more" });
        if (answer.is === "names" || answer.is === "map") return;
        engine.stop();
        answer.is === "end" ? done(answer.digest) : fail(new Error(answer.is === "error" ? answer.what : "no digest"));
      });
    });
  }
  private titleOf(set: Settings, keys: string[]) {
    const written = settingsOf(this.lab.text) ?? [];
    const parts = Object.entries(set).map(([key, value]) => {
      const setting = written.find((one) => one.path === key && one.kind !== "amount");
      const algorithm = setting && inForce(setting, set);
      if (!algorithm) return `${key} ${value}`;
      return `${key} ${[algorithm.name, ...Object.entries(algorithm.table).map(([name, one]) => `${name} ${String(one)}`)].join(" ")}`;
    });
    for (const key of keys) if (!(key in set)) parts.push(`${key} ${written.find((one) => one.path === key)?.written ?? "as written"}`);
    return parts.join(", ") || "as written";
  }
  async link(): Promise<string> {
    const s = await packed($state.snapshot(this.lab) as Shared);
    return `#s=${s}&view=${encodeURIComponent(this.view)}&t=${this.clock.t.toPrecision(6)}`;
  }
  /** Goes to the next thing that happens on some side (the one before, backwards). */
  step(backwards = false) {
    const { t } = this.clock;
    const kinds = this.stepTo === "any" ? (["dropped", "refused", "delivered", "created"] as const) : ([this.stepTo] as const);
    let best: { time: number; item: number; node: number } | undefined;
    for (const side of this.sides) for (const kind of kinds) {
      const marks = side.marks[kind];
      const at = backwards ? marks.before(t) : marks.after(t);
      if (at === undefined) continue;
      const time = marks.time.get(at);
      if (!best || (backwards ? time > best.time : time < best.time)) best = { time, item: marks.item.get(at), node: marks.node.get(at) };
    }
    if (!best) return;
    this.clock.playing = false;
    this.clock.seek(best.time);
    if (this.first?.world === "bundles") this.bundle = best.item;
  }
}

async function fetched(url: string): Promise<ArrayBuffer> {
  const answer = await fetch(url).catch(() => undefined);
  if (!answer?.ok) throw new Error(`cannot read \`${url}\`: ${answer ? `the server says ${answer.status}` : "it does not answer"}`);
  return answer.arrayBuffer();
}

/** The files that a scenario of the laboratory names: those of an example, and those that a link holds. */
function filesOf(lab: Shared): Record<string, Uint8Array> {
  const encoder = new TextEncoder();
  const files = { ...EXAMPLES.find((one) => one.name === lab.example)?.files, ...lab.files };
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, encoder.encode(text)]));
}

export const page = new Page();

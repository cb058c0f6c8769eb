/** The world of named data: Interests, Data, caches. */
import { Intervals, Open, Steps, wholes } from "./grow";
import { Links } from "./links";
import { Marks } from "./marks";
import { meetAll } from "./packets";
import type { Recording, Rows } from "./recording.svelte";

/** Interests that are pending at a node. */
class Pending extends Intervals {
  readonly node = wholes();
  readonly prefix = wholes();
  readonly segment = wholes();
}

export class NamedData {
  readonly links: Links;
  readonly pending = new Pending();
  /** Of each node. */
  readonly count: Steps[] = [];
  readonly hits: Steps[] = [];
  /** Of each consumer. */
  readonly asked: Steps[] = [];
  readonly got: Steps[] = [];
  readonly consumers: string[] = [];
  readonly prefixes: string[] = [];
  /** Data as they reach their consumer: `item` is the consumer, `why` the links that the Interest had crossed when it was answered. */
  readonly answers = new Marks();
  private waiting = new Open();
  private hops = new Map<number, number>();

  constructor(private all: Recording) {
    this.links = new Links(all);
  }
  names(names: Record<string, unknown>) {
    (names["nodes"] as string[]).forEach((name, node) => this.all.setNode(node, name, 0));
    this.consumers.push(...(names["consumers"] as string[]));
    meetAll(this.links, names);
  }
  private steps(list: Steps[], at: number) {
    if (at > 1_000_000) throw new Error(`${at}: a page shows at most 1000000 nodes and consumers`);
    while (list.length <= at) list.push(new Steps());
    return list[at]!;
  }
  take(rows: Rows) {
    const of = (name: string) => rows.number(name);
    const [time, link, node, consumer, prefix, segment, size, nonce, limit, print] =
      ["time_ns", "link", "node", "consumer", "prefix", "segment", "bytes", "nonce", "hop_limit", "print"].map(of) as [N, N, N, N, N, N, N, N, N, N];
    const [kind, what, why, prefixName, linkName, from, to, nodeName, consumerName] =
      ["kind", "what", "why", "prefix_name", "link_name", "from_name", "to_name", "node_name", "consumer_name"].map((name) => rows.text(name)) as [T, T, T, T, T, T, T, T, T];
    const { all } = this;
    for (let row = 0; row < rows.count; row++) {
      const at = (time(row) ?? 0) / 1e9;
      const event = kind(row);
      if (event === "end") continue;
      const [p, s] = [prefix(row) ?? 0, segment(row) ?? 0];
      const name = p * 4_294_967_296 + s;
      this.prefixes[p] ??= prefixName(row) ?? `prefix ${p}`;
      if (event === "offered" || event === "arrived" || event === "dropped") {
        const on = link(row) ?? 0;
        if (this.links.name[on] === undefined) this.links.meet(on, linkName(row) ?? `link ${on}`, from(row) ?? "one end", to(row) ?? "the other end");
        const interest = what(row) === "interest";
        const key = (interest ? nonce(row) : print(row)) ?? 0;
        if (event === "offered") {
          this.links.offered(at, on, key, size(row) ?? 0, p, interest ? 1 : 0);
          if (interest) this.wait(at, this.links.from[on]!, name, p, s);
          continue;
        }
        this.links.ended(at, on, key, event === "dropped" ? why(row) ?? "other" : undefined);
        if (event === "arrived" && !interest) this.answered(at, this.links.to[on]!, name);
        if (event === "arrived" && interest) this.hops.set(name, 255 - (limit(row) ?? 255));
        continue;
      }
      const where = nodeName(row) !== undefined ? all.node(nodeName(row)!) : node(row) ?? 0;
      const who = consumer(row) ?? 0;
      if (event === "asked") {
        this.consumers[who] ??= consumerName(row) ?? `consumer ${who}`;
        this.steps(this.asked, who).add(at, 1);
        all.marks.created.push(at, where, p);
      } else if (event === "delivered") {
        this.steps(this.got, who).add(at, 1);
        this.answers.push(at, where, who, Math.min(255, this.hops.get(name) ?? 0));
        all.marks.delivered.push(at, where, p);
      } else if (event === "hit") this.steps(this.hits, where).add(at, 1);
      else if (event === "refused") all.marks.refused.push(at, where, p);
    }
  }
  private wait(at: number, node: number, name: number, prefix: number, segment: number) {
    const key = name * 256 + node;
    if (this.waiting.peek(key) !== undefined) return;
    this.waiting.put(key, this.pending.begin(at));
    this.pending.node.push(node);
    this.pending.prefix.push(prefix);
    this.pending.segment.push(segment);
    this.steps(this.count, node).add(at, 1);
  }
  private answered(at: number, node: number, name: number) {
    const id = this.waiting.take(name * 256 + node);
    if (id === undefined) return;
    this.pending.finish(id, at);
    this.steps(this.count, node).add(at, -1);
  }
}
type N = (row: number) => number | undefined;
type T = (row: number) => string | undefined;

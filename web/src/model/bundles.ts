/** The world of bundles: copies at nodes, transfers between them, and what becomes of each bundle. */
import { bytes, Intervals, Open, reals, wholes } from "./grow";
import { fateNumber, FATES, OUTCOMES } from "./marks";
import { GAP, MOST_BUNDLES } from "../read/columns";
import { Codes, MOST_NODES, type Recording, type Rows } from "./recording.svelte";

/** Copies in buffers. */
export class Copies extends Intervals {
  readonly node = wholes();
  readonly bundle = wholes();
  /** Why it is gone: a number of `REASONS`; 0 while it is there. */
  readonly reason = bytes();
}
export const REASONS = ["", "overflow", "expired", "acknowledged", "handed_over", "replaced", "other"];
export const REFUSALS = ["", "held", "delivered", "expired", "no_space", "dropped_before", "routing", "congestion", "other"];
const reasonNumber = (why: string | undefined) => Math.max(REASONS.indexOf(why ?? "other"), 0) || REASONS.length - 1;
const refusalNumber = (why: string | undefined) => Math.max(REFUSALS.indexOf(why ?? "other"), 0) || REFUSALS.length - 1;

const WAITING = fateNumber("waiting");
const DELIVERED = fateNumber("delivered");
const outcome = (name: (typeof OUTCOMES)[number]) => OUTCOMES.indexOf(name);
const [STORED, ARRIVED, REFUSED, ABORTED] = [outcome("stored"), outcome("delivered"), outcome("refused"), outcome("aborted")];
/** Kinds of rows that are looked at. */
const KIND = { started: 0, sent: 1, stored: 2, gone: 3, delivered: 4, refused: 5, aborted: 6, position: 7, contact_up: 8, contact_down: 9, rate: 10, created: 11, rejected: 12, node: 13 };

export class Bundles {
  readonly copies = new Copies();
  /** Of each bundle by its number. */
  readonly source = wholes();
  readonly destination = wholes();
  readonly size = reals();
  /** When its application made it, and when its source took it: a source may hold back what has no room. */
  readonly created = reals();
  readonly admitted = reals();
  readonly expires = reals();
  readonly fate = bytes();
  readonly fateAt = reals();
  /** At which node it was delivered, or its last copy went. */
  readonly fateNode = wholes();
  /** Copies in buffers and on links. */
  private alive = wholes();
  private held = new Open();
  private moving = new Open();
  private meeting = new Open();
  private kinds = new Codes(Object.keys(KIND));

  constructor(private all: Recording) {}

  names(names: Record<string, unknown>) {
    (names["nodes"] as string[]).forEach((name, node) => this.all.setNode(node, name, 0));
  }
  take(rows: Rows) {
    const [time, size, rate, back] = [rows.real("time_ns"), rows.real("bytes"), rows.real("rate"), rows.real("rate_back")];
    const [delay, delayBack, x, y] = [rows.real("delay_ns"), rows.real("delay_back_ns"), rows.real("x_m"), rows.real("y_m")];
    const [node, peer, bundle, kind, why, name] = [rows.whole("node"), rows.whole("peer"), rows.whole("bundle"), rows.whole("kind"), rows.whole("why"), rows.whole("node_name")];
    const [expires, since, first] = [rows.real("expires_ns"), rows.real("since_ns"), rows.flag("first")];
    const [kinds, { all }] = [this.kinds.of(rows.texts), this];
    const or = (value: number, other: number) => (value === value ? value : other);
    const number = (cell: number) => (cell === GAP ? 0 : cell);
    for (let row = 0; row < rows.count; row++) {
      const at = or(time[row]!, 0) / 1e9;
      const a = number(node[row]!);
      const b = number(peer[row]!);
      const id = number(bundle[row]!);
      switch (kinds[kind[row]!]) {
        case KIND.started: this.started(at, a, b, id); break;
        case KIND.sent: this.sent(at, a, b, id); break;
        case KIND.stored: this.arrived(at, a, b, id, STORED); this.keep(at, b, id); break;
        case KIND.gone: this.gone(at, a, id, rows.texts[why[row]!]); break;
        case KIND.delivered:
          this.arrived(at, a, b, id, ARRIVED);
          all.marks.delivered.push(at, b, id, first[row] === 0 ? 1 : 0);
          if (first[row] !== 0) this.become(at, id, DELIVERED, b);
          break;
        case KIND.refused:
          this.arrived(at, a, b, id, REFUSED);
          all.marks.refused.push(at, b, id, refusalNumber(rows.texts[why[row]!]));
          this.settle(at, id, WAITING, b, undefined);
          break;
        case KIND.aborted: this.arrived(at, a, b, id, ABORTED); this.settle(at, id, WAITING, a, undefined); break;
        case KIND.position: this.position(at, a, or(x[row]!, 0), or(y[row]!, 0)); break;
        case KIND.contact_up: this.contact(at, a, b, [or(rate[row]!, 0), or(back[row]!, 0), or(delay[row]!, 0) / 1e9, or(delayBack[row]!, 0) / 1e9]); break;
        case KIND.contact_down: this.parted(at, a, b); break;
        case KIND.rate: this.rated(at, a, b, or(rate[row]!, 0), or(back[row]!, 0)); break;
        case KIND.created: case KIND.rejected:
          this.introduce(at, id, [a, b], or(size[row]!, 0), [or(since[row]!, at * 1e9) / 1e9, or(expires[row]!, Infinity) / 1e9], kinds[kind[row]!] === KIND.created);
          break;
        case KIND.node: all.setNode(a, rows.texts[name[row]!] ?? all.names[a] ?? `node ${a}`, or(size[row]!, 0)); break;
      }
    }
  }
  private key(bundle: number, from: number, to: number) {
    return (bundle * MOST_NODES + from) * MOST_NODES + to;
  }
  private ensure(node: number) {
    if (node >= this.all.names.length) this.all.setNode(node, `node ${node}`, 0);
  }
  private position(at: number, node: number, x: number, y: number) {
    this.ensure(node);
    const path = (this.all.paths[node] ??= { time: reals(), x: reals(), y: reals() });
    path.time.push(at);
    path.x.push(x);
    path.y.push(y);
  }
  private contact(at: number, a: number, b: number, [rate, back, delay, delayBack]: [number, number, number, number]) {
    this.ensure(a);
    this.ensure(b);
    const { contacts } = this.all;
    this.meeting.put(this.key(0, a, b), contacts.begin(at));
    contacts.a.push(a);
    contacts.b.push(b);
    contacts.rate.push(rate);
    contacts.rateBack.push(back);
    contacts.delay.push(delay);
    contacts.delayBack.push(delayBack);
  }
  private parted(at: number, a: number, b: number) {
    const id = this.meeting.take(this.key(0, a, b)) ?? this.meeting.take(this.key(0, b, a));
    if (id !== undefined) this.all.contacts.finish(id, at);
    return id;
  }
  private rated(at: number, a: number, b: number, rate: number, back: number) {
    const { contacts } = this.all;
    const id = this.parted(at, a, b);
    if (id !== undefined) this.contact(at, a, b, [rate, back, contacts.delay.get(id), contacts.delayBack.get(id)]);
  }
  private introduce(at: number, id: number, [source, destination]: [number, number], size: number, [created, expires]: [number, number], stored: boolean) {
    if (id > MOST_BUNDLES) throw new Error(`bundle ${id}: a page shows at most ${MOST_BUNDLES} bundles`);
    this.ensure(source);
    this.ensure(destination);
    while (this.source.length <= id) {
      for (const list of [this.source, this.destination, this.size, this.fate, this.fateAt, this.fateNode, this.alive]) list.push(0);
      this.created.push(NaN);
      this.admitted.push(NaN);
      this.expires.push(Infinity);
    }
    this.source.set(id, source);
    this.destination.set(id, destination);
    this.size.set(id, size);
    this.created.set(id, created);
    this.admitted.set(id, at);
    this.expires.set(id, expires);
    this.all.marks.created.push(at, source, id);
    this.fate.set(id, WAITING);
    this.all.tally.born(created);
    if (stored) this.keep(at, source, id);
    else {
      this.all.marks.dropped.push(at, source, id, fateNumber("rejected"));
      this.become(at, id, fateNumber("rejected"), source);
    }
  }
  private known(id: number) {
    return id < this.source.length;
  }
  private keep(at: number, node: number, id: number) {
    if (!this.known(id)) return;
    const key = this.key(id, node, 0);
    if (this.held.peek(key) !== undefined) return;
    this.ensure(node);
    const copy = this.copies.begin(at);
    this.copies.node.push(node);
    this.copies.bundle.push(id);
    this.copies.reason.push(0);
    this.held.put(key, copy);
    this.alive.set(id, this.alive.get(id) + 1);
    this.all.used[node]!.add(at, this.size.get(id));
    if (this.fate.get(id) !== DELIVERED) this.become(at, id, WAITING, node);
  }
  private gone(at: number, node: number, id: number, why: string | undefined) {
    const copy = this.held.take(this.key(id, node, 0));
    if (copy === undefined) return;
    this.copies.finish(copy, at);
    this.copies.reason.set(copy, reasonNumber(why));
    this.all.used[node]!.add(at, -this.size.get(id));
    this.alive.set(id, this.alive.get(id) - 1);
    const fate = why === "overflow" ? fateNumber("overflow") : why === "expired" ? fateNumber("expired") : fateNumber("other");
    if (why === "overflow" || why === "expired") this.all.marks.dropped.push(at, node, id, fate);
    this.settle(at, id, fate, node, why);
  }
  /** A bundle of which nothing is left has this fate. */
  private settle(at: number, id: number, fate: number, node: number, why: string | undefined) {
    if (!this.known(id) || this.alive.get(id) > 0 || this.fate.get(id) === DELIVERED) return;
    if (why === undefined && fate === WAITING) fate = fateNumber("other");
    this.become(at, id, fate, node);
  }
  private become(at: number, id: number, fate: number, node: number) {
    if (!this.known(id)) return;
    const before = this.fate.get(id);
    this.fateAt.set(id, at);
    this.fateNode.set(id, node);
    if (before === fate || before === DELIVERED) return;
    this.fate.set(id, fate);
    this.all.tally.move(at, before, fate);
  }
  private started(at: number, from: number, to: number, id: number) {
    this.ensure(from);
    this.ensure(to);
    const { transfers } = this.all;
    this.moving.put(this.key(id, from, to), transfers.begin(at));
    transfers.push(from, to, id, this.known(id) ? this.size.get(id) : 0, 0);
  }
  /** The last that began and has not left wholly; earlier ones are on their way. */
  private sent(at: number, from: number, to: number, id: number) {
    const transfer = this.moving.peek(this.key(id, from, to));
    if (transfer === undefined || !this.known(id)) return;
    this.all.transfers.sent.set(transfer, at);
    this.alive.set(id, this.alive.get(id) + 1);
  }
  private arrived(at: number, from: number, to: number, id: number, how: number) {
    const transfer = this.moving.take(this.key(id, from, to));
    if (transfer === undefined) return;
    const { transfers } = this.all;
    transfers.finish(transfer, at);
    transfers.outcome.set(transfer, how);
    const sent = transfers.sent.get(transfer);
    if (sent === sent && this.known(id)) this.alive.set(id, this.alive.get(id) - 1);
  }
  /** Fates of all bundles as they stand, by name. */
  fateOf(id: number) {
    return FATES[this.fate.get(id)]!;
  }
}

/** Links of the worlds of packets and names, and what is on them. */
import { Open, Steps } from "./grow";
import { fateNumber, OUTCOMES } from "./marks";
import type { Recording } from "./recording.svelte";

const WAITING = fateNumber("waiting");
/** Why a packet was dropped: `full`, `marked` by the queue, `lost` on the link. */
export const DROPS = ["", "full", "marked", "lost", "other"];
const MOST_LINKS = 100_000;

export class Links {
  readonly name: string[] = [];
  readonly from: number[] = [];
  readonly to: number[] = [];
  /** Bytes queued and on their way, of each link. */
  readonly load: Steps[] = [];
  private waiting: Open[] = [];

  constructor(private all: Recording) {}

  meet(link: number, name: string, from: string, to: string) {
    if (this.name[link] !== undefined) return;
    if (link > MOST_LINKS) throw new Error(`link ${link}: a page shows at most ${MOST_LINKS} links`);
    while (this.name.length <= link) {
      this.name.push(undefined as never);
      this.load.push(new Steps());
      this.waiting.push(new Open());
    }
    this.name[link] = name;
    this.from[link] = this.all.node(from);
    this.to[link] = this.all.node(to);
    const { contacts } = this.all;
    contacts.begin(0);
    contacts.a.push(this.from[link]!);
    contacts.b.push(this.to[link]!);
    for (const list of [contacts.rate, contacts.rateBack, contacts.delay, contacts.delayBack]) list.push(0);
  }
  offered(at: number, link: number, key: number, size: number, item: number, what: number) {
    const { transfers, tally, used } = this.all;
    const id = transfers.begin(at);
    this.waiting[link]!.put(key, id);
    transfers.push(this.from[link]!, this.to[link]!, item, size, what);
    this.load[link]!.add(at, size);
    used[this.from[link]!]!.add(at, size);
    tally.born(at);
    return id;
  }
  /** Its transfer, if it was offered. */
  ended(at: number, link: number, key: number, drop: string | undefined): number | undefined {
    const { transfers, tally, used, marks } = this.all;
    const id = this.waiting[link]?.take(key);
    if (id === undefined) return undefined;
    transfers.finish(id, at);
    transfers.outcome.set(id, OUTCOMES.indexOf(drop ? "dropped" : "delivered"));
    this.load[link]!.add(at, -transfers.bytes.get(id));
    used[this.from[link]!]!.add(at, -transfers.bytes.get(id));
    const fate = !drop ? "delivered" : drop === "lost" ? "other" : "overflow";
    tally.move(at, WAITING, fateNumber(fate));
    if (drop) marks.dropped.push(at, this.from[link]!, transfers.item.get(id), fateNumber(fate));
    return id;
  }
}

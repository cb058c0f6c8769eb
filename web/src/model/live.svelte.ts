/** A daemon as it reports itself once a second (crates/daemon/src/status.rs), and what changed since the last reports. */
import { parsed } from "../draw/words";
import { Steps } from "./grow";

export interface Connection { id: string; is_ours: boolean; target: string; state: string; stack: string; priority: number; durable: boolean; accepted: [number, boolean] | null; delivered: number; backlog: number; received: number; age_s: number }
export interface Peer {
  name: string; is_known: boolean; stack: string; why: string; since_s: number; switches: number; history: [number, string, string][];
  tcp: { round_trip_s: number; backoff: number; retransmitted: number; delivery_rate: number; acknowledged: number } | null;
  tcp_trouble: string | null;
  udpdtn: { address: string; round_trip_s: number | null; rate: number | null; left: number; given_up: number; came: number; heard_s: number | null } | null;
  retransmitted: number; bytes: [string, number, number][]; connections: Connection[];
}
export interface Status { version: string; age_s: number; peers: Peer[]; custody: number; memory: { used: number; limit: number; connections_max: number }; trouble: string | null; lost: string[] }

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const MOST_TEXT = 50_000_000;

/** Rates of a peer by stack, in bytes a second, over the daemon's time. */
export interface Rates { out: Steps; back: Steps; backlog: Steps; roundTrip: Steps }

export class Live {
  status = $state.raw<Status | undefined>();
  trouble = $state("");
  version = $state(0);
  readonly rates = new Map<string, Rates>();
  private last = new Map<string, { at: number; out: number; back: number }>();
  private source: EventSource;

  constructor(url: string) {
    this.source = new EventSource(url);
    this.source.onmessage = (event: MessageEvent<string>) => this.heard(event.data);
    this.source.onerror = () => { this.trouble = "the daemon does not answer; trying again"; };
  }
  heard(text: string) {
    try {
      if (text.length > MOST_TEXT) throw new Error("too long");
      const status = parsed(text);
      if (!isObject(status) || !Array.isArray(status["peers"]) || typeof status["age_s"] !== "number") throw new Error("no status");
      this.status = status as unknown as Status;
      this.trouble = "";
      for (const peer of this.status.peers) this.measure(peer, this.status.age_s);
      this.version += 1;
    } catch {
      this.trouble = "the daemon sends what is no status of lightlagd";
    }
  }
  private measure(peer: Peer, at: number) {
    let rates = this.rates.get(peer.name);
    if (!rates) this.rates.set(peer.name, (rates = { out: new Steps(), back: new Steps(), backlog: new Steps(), roundTrip: new Steps() }));
    const [out, back] = [1, 2].map((which) => (peer.bytes ?? []).reduce((sum, one) => sum + Number(one[which]), 0)) as [number, number];
    const last = this.last.get(peer.name);
    // A daemon that was started again counts from zero.
    if (last && at > last.at && out >= last.out) {
      rates.out.push(at, (out - last.out) / (at - last.at));
      rates.back.push(at, (back - last.back) / (at - last.at));
    }
    this.last.set(peer.name, { at, out, back });
    rates.backlog.push(at, peer.connections.reduce((sum, one) => sum + one.backlog, 0));
    const trip = peer.stack === "tcp" ? peer.tcp?.round_trip_s : peer.udpdtn?.round_trip_s;
    if (trip !== undefined && trip !== null) rates.roundTrip.push(at, trip);
  }
  stop() {
    this.source.close();
  }
}

/** Packet runs in qlog 0.3 as JSON, the form that qvis reads: a trace for each flow, as its sender sees it. */
import { DROPS } from "./links";
import type { Flow } from "./packets";
import type { Recording } from "./recording.svelte";

const MOST_EVENTS = 400_000;
const KIND = "1RTT";

interface Event { time: number; name: string; data: object }

/** Times are milliseconds. Numbers of packets are the order in which they were sent; an acknowledgement covers those below it. */
export function asQlog(run: Recording): string {
  const traces = (run.packets?.flows ?? []).filter((flow) => flow.sent.time.length > 0).map((flow) => ({
    title: flow.name,
    vantage_point: { name: flow.name, type: "client" },
    common_fields: { time_format: "relative", reference_time: 0, protocol_type: ["QUIC"] },
    events: eventsOf(flow),
  }));
  const description = "Sent data, acknowledgements, losses and round trips of a simulated run; no QUIC was spoken unless the flow says so.";
  return JSON.stringify({ qlog_version: "0.3", qlog_format: "JSON", title: run.title, description, traces });
}

function eventsOf(flow: Flow): Event[] {
  const events: Event[] = [];
  const { sent, acked, lost, rtt } = flow;
  const count = Math.min(sent.time.length, MOST_EVENTS);
  const until = count < sent.time.length ? sent.time.get(count) : Infinity;
  const put = (time: number, name: string, data: object) => { if (time < until) events.push({ time: time * 1000, name, data }); };
  const header = (packet_number: number) => ({ packet_type: KIND, packet_number });
  /** Packets by the offset that they carried. */
  const carried = new Map<number, number[]>();
  let [next, number] = [0, 0];
  const open: { end: number; packet: number }[] = [];
  const send = (time: number) => {
    for (; next < count && sent.time.get(next) <= time; next++) {
      const [offset, length] = [sent.offset.get(next), sent.length.get(next)];
      put(sent.time.get(next), "transport:packet_sent", { header: header(next), raw: { length, payload_length: length }, frames: [{ frame_type: "stream", stream_id: 0, offset, length }] });
      const list = carried.get(offset);
      if (list) list.push(next);
      else carried.set(offset, [next]);
      open.push({ end: offset + length, packet: next });
    }
  };
  for (let at = 0; at < acked.time.length && acked.time.get(at) < until; at++) {
    const time = acked.time.get(at);
    send(time);
    const covered = open.filter((one) => one.end <= acked.to.get(at)).map((one) => one.packet);
    const rest = open.filter((one) => one.end > acked.to.get(at));
    open.splice(0, open.length, ...rest);
    if (covered.length > 0) put(time, "transport:packet_received", { header: header(number++), raw: { length: 40 }, frames: [{ frame_type: "ack", acked_ranges: ranges(covered) }] });
    put(time, "recovery:metrics_updated", { bytes_in_flight: flow.flight.at(time) });
  }
  send(Infinity);
  for (let at = 0; at < rtt.time.length; at++) put(rtt.time.get(at), "recovery:metrics_updated", { latest_rtt: rtt.value.get(at) * 1000 });
  for (let at = 0; at < lost.time.length; at++) {
    const packet = carried.get(lost.offset.get(at))?.findLast((one) => sent.time.get(one) <= lost.time.get(at));
    if (packet !== undefined) put(lost.time.get(at), "recovery:packet_lost", { header: header(packet), trigger: DROPS[lost.why.get(at)] });
  }
  return events.sort((a, b) => a.time - b.time);
}

/** Numbers in order as stretches, both ends in them. */
function ranges(numbers: number[]): [number, number][] {
  const list: [number, number][] = [];
  for (const number of numbers) {
    const end = list.at(-1);
    if (end && number === end[1] + 1) end[1] = number;
    else list.push([number, number]);
  }
  return list;
}

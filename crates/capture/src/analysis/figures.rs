//! The figures of an analysis.

use super::anomalies;
use super::flow::{Flow, Protocol, State};
use super::graph::Graph;
use super::half::Half;
use super::messages::MessageFigures;
use super::moments::Spread;
use super::notes::Notes;
use super::pauses::Pauses;
use super::reaction::Losses;
use super::table::Table;
use serde::Serialize;

/// What a capture shows.
#[derive(Clone, Debug, Serialize)]
pub struct Analysed {
    /// Packets of the capture.
    pub packets: u64,
    /// Bytes that they had on the wire.
    pub wire_bytes: u64,
    /// From the first packet to the last, in seconds.
    pub duration_s: f64,
    /// The first packet, in seconds since 1970 (UTC).
    pub began_s: f64,
    /// The same, in nanoseconds.
    #[serde(skip)]
    pub began_ns: i64,
    /// What is wrong with the capture, and which packets were skipped.
    pub notes: Vec<String>,
    /// By their first packet.
    pub flows: Vec<FlowFigures>,
}

/// What a flow shows.
#[derive(Clone, Debug, Serialize)]
pub struct FlowFigures {
    /// From 1.
    pub number: usize,
    /// What it speaks.
    pub protocol: Protocol,
    /// Whose packet was first: address and port.
    pub first: String,
    /// The other end.
    pub second: String,
    /// First packet, since the capture began.
    pub from_s: f64,
    /// From its first packet to its last.
    pub duration_s: f64,
    /// From the first end to the second.
    pub out: HalfFigures,
    /// And back.
    pub back: HalfFigures,
    /// What is odd, in sentences.
    pub anomalies: Vec<String>,
    /// What is drawn of both directions.
    #[serde(skip)]
    pub graphs: Option<[Box<Graph>; 2]>,
}

/// What a direction shows.
#[derive(Clone, Debug, Serialize)]
pub struct HalfFigures {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Bytes of payload, retransmissions included.
    pub data_bytes: u64,
    /// Bytes of payload, each once.
    pub unique_bytes: u64,
    /// Unique bytes over the whole time of the flow, in bit/s.
    pub goodput_bit_per_s: f64,
    /// Packets with payload, SYN or FIN that was sent before.
    pub retransmitted_packets: u64,
    /// Bytes of payload that were sent before; SYN and FIN count as one each.
    pub retransmitted_bytes: u64,
    /// Of these packets, those that acknowledgements asked for.
    pub retransmitted_fast: u64,
    /// Those that a timer sent.
    pub retransmitted_by_timeout: u64,
    /// Those that had arrived already, as the receiver says.
    pub retransmitted_needlessly: u64,
    /// Packets that never arrived, as the receiver says: Ack Vectors, reports; without Ack Vectors one for each rise of the
    /// loss event rate. None where the protocol does not say so, as TCP.
    pub lost_packets: Option<u64>,
    /// Packets that were captured later than one sent after them.
    pub out_of_order: u64,
    /// Acknowledgements without payload.
    pub pure_acks: u64,
    /// Those that acknowledge nothing new while data is outstanding.
    pub duplicate_acks: u64,
    /// Acknowledgements with blocks or an Ack Vector.
    pub sacks: u64,
    /// Acknowledgements that report duplicates (RFC 2883).
    pub dsacks: u64,
    /// Closed windows announced.
    pub zero_windows: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Packets with a mark of congestion (ECN).
    pub marked: u64,
    /// Packets that open, close, reset or synchronise.
    pub control_packets: u64,
    /// Of these, those that refuse a packet because of its number (Sync).
    pub syncs: u64,
    /// Round trips in ms, from here to the other end and back.
    pub rtt_ms: Option<Spread>,
    /// What was outstanding after each sending: bytes; packets in DCCP.
    pub outstanding: Option<Outstanding>,
    /// Part of the packets with payload that left while no other was outstanding.
    pub alone: Option<f64>,
    /// Messages above the transport: blocks of LTP, transfers of TCPCL, bundles, Interests. None without any.
    pub messages: Option<MessageFigures>,
    /// Losses and what followed.
    pub losses: Losses,
    /// Pauses.
    pub pauses: Pauses,
}

/// What was outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outstanding {
    /// Most.
    pub max: u64,
    /// Median over sendings, to 1/16.
    pub median: u64,
    /// Mean over sendings.
    pub avg: f64,
    /// Mean over time.
    pub weighted_avg: f64,
}

/// All figures of a capture; `notes`: what was wrong with it.
pub fn analysed(mut table: Table, notes: &Notes) -> Analysed {
    let [first_ns, last_ns] = table.seen_ns.unwrap_or_default();
    let flows: Vec<Flow> = table.wanted();
    let mut notes = notes.lines();
    if flows.is_empty() && table.is_filtered() && table.packets > 0 {
        notes.push("no flow passed the filters, all of which must hold".to_owned());
    }
    let flows = flows.into_iter().zip(1..);
    Analysed {
        packets: table.packets,
        wire_bytes: table.bytes,
        duration_s: seconds(last_ns.saturating_sub(first_ns)),
        began_s: seconds(first_ns),
        began_ns: first_ns,
        notes,
        flows: flows.map(|(flow, number)| flow_figures(flow, number, [first_ns, last_ns])).collect(),
    }
}

/// `seen_ns`: the first and the last packet of the capture.
fn flow_figures(mut flow: Flow, number: usize, [first_ns, last_ns]: [i64; 2]) -> FlowFigures {
    if let State::Ndn(ndn) = &flow.state {
        ndn.finish(&mut flow.halves, last_ns);
    }
    let [from_ns, to_ns] = flow.seen_ns;
    let anomalies = anomalies::of(&flow, first_ns);
    let graphs = match flow.halves.each_mut().map(|half| half.graph.take()) {
        [Some(out), Some(back)] => Some([out, back]),
        _ => None,
    };
    let duration_s = seconds(to_ns.saturating_sub(from_ns));
    let [out, back] = flow.halves.map(|half| half_figures(half, flow.protocol, duration_s));
    let mut figures = FlowFigures {
        number,
        protocol: flow.protocol,
        first: flow.ends[0].to_string(),
        second: flow.ends[1].to_string(),
        from_s: seconds(from_ns.saturating_sub(first_ns)),
        duration_s,
        out,
        back,
        anomalies,
        graphs,
    };
    figures.anomalies.extend(anomalies::of_losses(&figures));
    figures
}

fn half_figures(half: Half, protocol: Protocol, duration_s: f64) -> HalfFigures {
    let Half { counts, rtt_ms, .. } = half;
    let outstanding = half.outstanding.spread().map(|spread| Outstanding {
        max: spread.max as u64,
        median: half.outstanding_sizes.median().unwrap_or_default(),
        avg: spread.avg,
        weighted_avg: half.weighted.mean().unwrap_or(spread.avg),
    });
    HalfFigures {
        packets: counts.packets,
        wire_bytes: counts.wire_bytes,
        data_packets: counts.data_packets,
        data_bytes: counts.data_bytes,
        unique_bytes: counts.unique_bytes,
        goodput_bit_per_s: if duration_s > 0.0 { counts.unique_bytes as f64 * 8.0 / duration_s } else { 0.0 },
        retransmitted_packets: counts.again_packets,
        retransmitted_bytes: counts.again_bytes,
        retransmitted_fast: counts.again_packets - counts.again_by_timer,
        retransmitted_by_timeout: counts.again_by_timer,
        retransmitted_needlessly: counts.spurious,
        lost_packets: protocol.reports_losses().then_some(counts.lost),
        out_of_order: counts.late,
        pure_acks: counts.pure_acks,
        duplicate_acks: counts.duplicate_acks,
        sacks: counts.sacks,
        dsacks: counts.dsacks,
        zero_windows: counts.zero_windows,
        window_probes: counts.probes,
        marked: counts.marked,
        control_packets: counts.control,
        syncs: counts.syncs,
        rtt_ms: rtt_ms.spread(),
        outstanding,
        alone: half.outstanding_packets.share_up_to(1),
        messages: half.messages.figures(protocol),
        losses: half.reactions.finish(),
        pauses: half.pauses,
    }
}

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}

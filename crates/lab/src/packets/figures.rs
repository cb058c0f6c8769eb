//! The figures of a run of packets.

use crate::metrics::metrics;
use crate::shares::{jain, ratio};
use lightlag_protocols::link::Counts;
use lightlag_protocols::time::Instant;
use lightlag_worlds::packets::{FlowOutcome, Outcome};

metrics! {
    /// All flows of a run together.
    PACKETS of Outcome {
        goodput_bit_per_s: "Bytes delivered in order, in bits over the time from the first start to the last end.",
            |run| ratio(8.0 * flows(run, |flow| flow.delivered.0) as f64, duration_s(run)).into();
        delivered_bytes: "Bytes delivered in order.", |run| flows(run, |flow| flow.delivered.0).into();
        duration_s: "Time from the first start of a flow to the last end of one.", |run| duration_s(run).into();
        flows_complete: "Flows that delivered all their data.",
            |run| flows(run, |flow| u64::from(flow.complete)).into();
        packets_sent: "Packets of data sent, repairs included.", |run| flows(run, |flow| flow.sent).into();
        packets_repaired: "Packets sent to repair a loss.", |run| flows(run, |flow| flow.repairs).into();
        timeouts: "Expiries of retransmission timers.", |run| flows(run, |flow| flow.timeouts).into();
        loss_episodes: "Times that a controller responded to a loss.",
            |run| flows(run, |flow| flow.episodes).into();
        packets_missing: "Packets of plain UDP that did not arrive.", |run| flows(run, |flow| flow.missing).into();
        packets_lost: "Packets lost on links.", |run| links(run, |link| link.lost).into();
        packets_dropped: "Packets dropped by queues.", |run| links(run, |link| link.dropped).into();
        packets_marked: "Packets that queues marked instead of dropping them.",
            |run| links(run, |link| link.marked).into();
        queue_packets_max: "Most packets that waited at one link.",
            |run| run.links.iter().map(|link| link.queue_packets_max).max().unwrap_or(0).into();
        jain: "Jain's index of the goodputs of the flows: 1 when all are equal.",
            |run| jain(run.flows.iter().map(goodput)).into();
    }
    /// Each flow.
    FLOWS of FlowOutcome {
        goodput_bit_per_s: "Bytes delivered in order, in bits over `duration_s`.", |flow| goodput(flow).into();
        delivered_bytes: "Bytes delivered in order.", |flow| flow.delivered.0.into();
        start_s: "When it started.", |flow| (flow.start - Instant::ZERO).as_secs_f64().into();
        duration_s: "Time from its start to its end.", |flow| (flow.end - flow.start).as_secs_f64().into();
        complete: "1 if it delivered all its data, else 0.", |flow| u64::from(flow.complete).into();
        packets_sent: "Packets of data sent, repairs included.", |flow| flow.sent.into();
        packets_repaired: "Packets sent to repair a loss.", |flow| flow.repairs.into();
        timeouts: "Expiries of its retransmission timer.", |flow| flow.timeouts.into();
        loss_episodes: "Times that its controller responded to a loss.", |flow| flow.episodes.into();
        packets_missing: "Packets of plain UDP that did not arrive.", |flow| flow.missing.into();
    }
}

fn flows(run: &Outcome, pick: fn(&FlowOutcome) -> u64) -> u64 {
    run.flows.iter().map(pick).sum()
}

fn links(run: &Outcome, pick: fn(&Counts) -> u64) -> u64 {
    run.links.iter().map(pick).sum()
}

fn duration_s(run: &Outcome) -> f64 {
    let start = run.flows.iter().map(|flow| flow.start).min().unwrap_or_default();
    let end = run.flows.iter().map(|flow| flow.end).max().unwrap_or_default();
    (end - start).as_secs_f64()
}

fn goodput(flow: &FlowOutcome) -> f64 {
    ratio(8.0 * flow.delivered.0 as f64, (flow.end - flow.start).as_secs_f64())
}

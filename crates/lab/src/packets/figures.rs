//! The figures of a run of packets.

use crate::metrics::Number::{self, Count, Real};
use crate::statistics::{jain, ratio};
use lightlag_protocols::time::Instant;
use lightlag_worlds::packets::{FlowOutcome, Outcome};

/// All flows together: goodput is what was delivered in order over the time from the first start to
/// the last end.
pub fn figures(outcome: &Outcome) -> Vec<(&'static str, Number)> {
    let flows = &outcome.flows;
    let sum = |pick: fn(&FlowOutcome) -> u64| flows.iter().map(pick).sum::<u64>();
    let delivered = sum(|flow| flow.delivered.0);
    let start = flows.iter().map(|flow| flow.start).min().unwrap_or_default();
    let end = flows.iter().map(|flow| flow.end).max().unwrap_or_default();
    let duration_s = (end - start).as_secs_f64();
    let link =
        |pick: fn(&lightlag_protocols::link::Counts) -> u64| outcome.links.iter().map(pick).sum::<u64>();
    vec![
        ("goodput_bit_per_s", Real(ratio(8.0 * delivered as f64, duration_s))),
        ("delivered_bytes", Count(delivered)),
        ("duration_s", Real(duration_s)),
        ("flows_complete", Count(sum(|flow| u64::from(flow.complete)))),
        ("packets_sent", Count(sum(|flow| flow.sent))),
        ("packets_repaired", Count(sum(|flow| flow.repairs))),
        ("timeouts", Count(sum(|flow| flow.timeouts))),
        ("loss_episodes", Count(sum(|flow| flow.episodes))),
        ("packets_lost", Count(link(|counts| counts.lost))),
        ("packets_dropped", Count(link(|counts| counts.dropped))),
        (
            "queue_packets_max",
            Count(outcome.links.iter().map(|counts| counts.queue_packets_max).max().unwrap_or(0)),
        ),
        ("jain", Real(jain(flows.iter().map(goodput)))),
    ]
}

/// What each flow got, in their order.
pub fn of_flows(outcome: &Outcome) -> Vec<Vec<(&'static str, Number)>> {
    outcome.flows.iter().map(of_flow).collect()
}

fn of_flow(flow: &FlowOutcome) -> Vec<(&'static str, Number)> {
    let duration_s = (flow.end - flow.start).as_secs_f64();
    vec![
        ("goodput_bit_per_s", Real(goodput(flow))),
        ("delivered_bytes", Count(flow.delivered.0)),
        ("start_s", Real((flow.start - Instant::ZERO).as_secs_f64())),
        ("duration_s", Real(duration_s)),
        ("complete", Count(u64::from(flow.complete))),
        ("packets_sent", Count(flow.sent)),
        ("packets_repaired", Count(flow.repairs)),
        ("timeouts", Count(flow.timeouts)),
        ("loss_episodes", Count(flow.episodes)),
    ]
}

fn goodput(flow: &FlowOutcome) -> f64 {
    ratio(8.0 * flow.delivered.0 as f64, (flow.end - flow.start).as_secs_f64())
}

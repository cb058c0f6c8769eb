//! The figures of a run of names.

use crate::metrics::Number::{self, Count, Real};
use crate::metrics::{Figures, Part};
use crate::statistics::{jain, ratio};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::names::NameNetwork;
use lightlag_worlds::names::{ConsumerOutcome, NodeOutcome, Outcome};

/// All consumers together, each consumer, and each node.
pub fn figures(network: &NameNetwork, outcome: &Outcome) -> Figures {
    let consumers = network.consumers.iter().zip(&outcome.consumers).map(|(plan, one)| Part {
        kind: "consumers",
        name: plan.name.clone(),
        numbers: of_consumer(one),
    });
    let nodes = network.nodes.iter().zip(&outcome.nodes).map(|(plan, one)| Part {
        kind: "nodes",
        name: plan.name.clone(),
        numbers: of_node(one),
    });
    let parts = consumers.chain(nodes).collect();
    Figures { numbers: of_all(outcome), latencies: Vec::new(), parts }
}

fn of_all(outcome: &Outcome) -> Vec<(&'static str, Number)> {
    let consumers = &outcome.consumers;
    let sum = |pick: fn(&ConsumerOutcome) -> u64| consumers.iter().map(pick).sum::<u64>();
    let from = consumers.iter().map(|one| one.measured_from).min().unwrap_or_default();
    let end = consumers.iter().map(|one| one.end).max().unwrap_or_default();
    let measured = sum(|one| one.measured.0);
    let hits = outcome.nodes.iter().map(|node| node.counts.hits).sum::<u64>();
    let arrived = outcome.links.iter().map(|link| link.arrived).sum();
    vec![
        ("goodput_bit_per_s", Real(ratio(8.0 * measured as f64, (end - from).as_secs_f64()))),
        ("delivered_bytes", Count(sum(|one| one.counts.delivered.0))),
        ("duration_s", Real((outcome.ended - Instant::ZERO).as_secs_f64())),
        ("consumers_complete", Count(sum(|one| u64::from(one.complete)))),
        ("interests_sent", Count(sum(|one| one.counts.interests))),
        ("interests_repaired", Count(sum(|one| one.counts.repairs))),
        ("timeouts", Count(sum(|one| one.counts.timeouts))),
        ("drops", Count(sum(|one| one.drops))),
        ("cache_hits", Count(hits)),
        ("packets_arrived", Count(arrived)),
        (
            "queue_packets_max",
            Count(outcome.links.iter().map(|link| link.queue_packets_max).max().unwrap_or(0)),
        ),
        ("jain", Real(jain(consumers.iter().map(goodput)))),
    ]
}

fn of_consumer(one: &ConsumerOutcome) -> Vec<(&'static str, Number)> {
    vec![
        ("goodput_bit_per_s", Real(goodput(one))),
        ("window_median", Real(one.window_median.unwrap_or(f64::NAN))),
        ("timeouts", Count(one.counts.timeouts)),
        ("drops", Count(one.drops)),
        ("queueing_delay_p50_s", Real(seconds(one.queueing_delay_p50))),
        ("queueing_delay_p99_s", Real(seconds(one.queueing_delay_p99))),
        ("delivered_bytes", Count(one.counts.delivered.0)),
        ("start_s", Real((one.start - Instant::ZERO).as_secs_f64())),
        ("end_s", Real((one.end - Instant::ZERO).as_secs_f64())),
        ("complete", Count(u64::from(one.complete))),
        ("interests_sent", Count(one.counts.interests)),
        ("interests_repaired", Count(one.counts.repairs)),
        ("loss_episodes", Count(one.counts.episodes)),
    ]
}

fn of_node(one: &NodeOutcome) -> Vec<(&'static str, Number)> {
    vec![
        ("interests", Count(one.counts.interests)),
        ("cache_hits", Count(one.counts.hits)),
        ("aggregated", Count(one.counts.aggregated)),
        ("data", Count(one.counts.data)),
        ("refused", Count(one.counts.refused)),
        ("expired", Count(one.expired)),
        ("pending_max", Count(one.pending_max)),
    ]
}

/// From when it is measured to its end.
fn goodput(one: &ConsumerOutcome) -> f64 {
    ratio(8.0 * one.measured.0 as f64, (one.end - one.measured_from).as_secs_f64())
}

fn seconds(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, Duration::as_secs_f64)
}

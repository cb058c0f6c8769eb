//! The figures of a run of named data.

use crate::metrics::{Figures, Part, metrics, numbers};
use crate::shares::{jain, ratio};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::names::NameNetwork;
use lightlag_worlds::names::{ConsumerOutcome, NodeOutcome, Outcome};

metrics! {
    /// All consumers of a run together.
    NAMES of Outcome {
        goodput_bit_per_s: "Content delivered from `measure_from` on, in bits over the time to the last end.",
            |run| ratio(8.0 * consumers(run, |one| one.measured.0) as f64, measured_s(run)).into();
        delivered_bytes: "Bytes of content delivered.", |run| consumers(run, |one| one.counts.delivered.0).into();
        duration_s: "Length of the run.", |run| (run.ended - Instant::ZERO).as_secs_f64().into();
        consumers_complete: "Consumers that received all they requested.",
            |run| consumers(run, |one| u64::from(one.complete)).into();
        interests_sent: "Interests sent, repairs included.",
            |run| consumers(run, |one| one.counts.interests).into();
        interests_repaired: "Interests sent again.", |run| consumers(run, |one| one.counts.repairs).into();
        timeouts: "Expiries of retransmission timers.", |run| consumers(run, |one| one.counts.timeouts).into();
        drops: "Packets for a consumer, or from it, that were dropped or lost.",
            |run| consumers(run, |one| one.drops).into();
        cache_hits: "Interests answered from content stores.",
            |run| run.nodes.iter().map(|node| node.counts.hits).sum::<u64>().into();
        packets_arrived: "Packets that crossed a link.",
            |run| run.links.iter().map(|link| link.arrived).sum::<u64>().into();
        queue_packets_max: "Most packets that waited at one link.",
            |run| run.links.iter().map(|link| link.queue_packets_max).max().unwrap_or(0).into();
        jain: "Jain's index of the goodputs of the consumers: 1 when all are equal.",
            |run| jain(run.consumers.iter().map(goodput)).into();
    }
    /// Each consumer.
    CONSUMERS of ConsumerOutcome {
        goodput_bit_per_s: "Content delivered from `measure_from` on, in bits over the time to its end.",
            |one| goodput(one).into();
        window_median: "Median over time of the Interests that the window allows to be pending.",
            |one| one.window_median.unwrap_or(f64::NAN).into();
        timeouts: "Expiries of its retransmission timer.", |one| one.counts.timeouts.into();
        drops: "Packets for it, or from it, that were dropped or lost.", |one| one.drops.into();
        queueing_delay_p50_s: "Median of the time that its Data waited in queues.",
            |one| seconds(one.queueing_delay_p50).into();
        queueing_delay_p99_s: "The same, exceeded by one Data packet in a hundred.",
            |one| seconds(one.queueing_delay_p99).into();
        interest_queueing_delay_p50_s: "Median of the time that its Interests waited in queues.",
            |one| seconds(one.interest_queueing_delay_p50).into();
        interest_queueing_delay_p99_s: "The same, exceeded by one Interest in a hundred.",
            |one| seconds(one.interest_queueing_delay_p99).into();
        delivered_bytes: "Bytes of content delivered.", |one| one.counts.delivered.0.into();
        start_s: "When it sent its first Interest.", |one| (one.start - Instant::ZERO).as_secs_f64().into();
        end_s: "When it received its last Data, or the run ended.",
            |one| (one.end - Instant::ZERO).as_secs_f64().into();
        complete: "1 if it received all it requested, else 0.", |one| u64::from(one.complete).into();
        interests_sent: "Interests sent, repairs included.", |one| one.counts.interests.into();
        interests_repaired: "Interests sent again.", |one| one.counts.repairs.into();
        interests_dropped: "Its Interests that were dropped or lost.", |one| one.interest_drops.into();
        loss_episodes: "Times that its controller responded to a loss.", |one| one.counts.episodes.into();
    }
    /// Each node of a network of named data.
    NODES of NodeOutcome {
        interests: "Interests received.", |node| node.counts.interests.into();
        cache_hits: "Interests answered from the content store.", |node| node.counts.hits.into();
        aggregated: "Interests that found the same Interest pending.", |node| node.counts.aggregated.into();
        data: "Data received.", |node| node.counts.data.into();
        refused: "Interests and Data not forwarded.", |node| node.counts.refused.into();
        expired: "Pending Interests whose lifetime ended.", |node| node.expired.into();
        pending_max: "Most Interests pending at once.", |node| node.pending_max.into();
    }
}

/// All consumers together, each consumer, and each node.
pub(crate) fn figures(network: &NameNetwork, outcome: &Outcome) -> Figures {
    let consumers = network.consumers.iter().zip(&outcome.consumers);
    let consumers = consumers.map(|(plan, one)| Part::new("consumers", &plan.name, numbers(CONSUMERS, one)));
    let nodes = network.nodes.iter().zip(&outcome.nodes);
    let nodes = nodes.map(|(plan, one)| Part::new("nodes", &plan.name, numbers(NODES, one)));
    let parts = consumers.chain(nodes).collect();
    Figures { numbers: numbers(NAMES, outcome), parts, ..Figures::default() }
}

fn consumers(run: &Outcome, pick: fn(&ConsumerOutcome) -> u64) -> u64 {
    run.consumers.iter().map(pick).sum()
}

/// From the first instant that is measured to the last end.
fn measured_s(run: &Outcome) -> f64 {
    let from = run.consumers.iter().map(|one| one.measured_from).min().unwrap_or_default();
    let end = run.consumers.iter().map(|one| one.end).max().unwrap_or_default();
    (end - from).as_secs_f64()
}

/// From when it is measured to its end.
fn goodput(one: &ConsumerOutcome) -> f64 {
    ratio(8.0 * one.measured.0 as f64, (one.end - one.measured_from).as_secs_f64())
}

fn seconds(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, Duration::as_secs_f64)
}

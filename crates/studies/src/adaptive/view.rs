//! Packets that were delivered, beside the limit.

use super::curves::Curve;
use super::plan::{CURVE, CURVES, ORACLE, POLICY, SCENARIOS, TCP, TCP_2008};
use crate::view::{levels, metrics};
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Estimate, estimate};

/// Payload of a packet, as the paper has it; TCP alone has that of a segment.
pub const PAYLOAD: f64 = 1024.0;
const SEGMENT: f64 = 1036.0;

/// The limit of a scenario of the paper.
pub fn limit(figure: &str) -> f64 {
    if figure == SCENARIOS[0].0 { Curve::short().limit() } else { Curve::long().limit() }
}

/// Packets that a variant delivered in a scenario, by seed.
pub fn packets(results: &Results, figure: &str, variant: &str) -> Vec<f64> {
    let payload = if [TCP, TCP_2008].contains(&variant) { SEGMENT } else { PAYLOAD };
    let bytes = metrics(results, figure, variant, &[], "delivered_bytes");
    bytes.into_iter().map(|bytes| bytes / payload).collect()
}

/// Their mean and interval.
pub fn mean(results: &Results, figure: &str, variant: &str) -> Option<Estimate> {
    estimate(&packets(results, figure, variant))
}

/// Of each curve that was drawn: its number, what the oracle and the policy delivered on average, and the limit.
pub fn curves(results: &Results) -> Vec<(u64, f64, f64, f64)> {
    let of = |number: f64, variant| {
        let bytes = metrics(results, CURVES, variant, &[(CURVE, number)], "delivered_bytes");
        lightlag_lab::statistics::mean(&bytes).map(|bytes| bytes / PAYLOAD)
    };
    let one = |number: f64| {
        let limit = Curve::drawn(number as u64).limit();
        Some((number as u64, of(number, ORACLE)?, of(number, POLICY)?, limit))
    };
    levels(results, CURVES, CURVE).into_iter().filter_map(one).collect()
}

//! Goodputs of the study, and their limit.

use crate::view::metrics;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Estimate, estimate};

/// Goodputs in kbit/s of all seeds where a variant of a figure stands at these places.
pub fn goodputs(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Vec<f64> {
    let bits = metrics(results, figure, variant, places, "goodput_bit_per_s");
    bits.into_iter().map(|bits| bits / 1e3).collect()
}

/// Their mean and interval.
pub fn goodput(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Option<Estimate> {
    estimate(&goodputs(results, figure, variant, places))
}

/// Goodput in kbit/s of a sender that knows the rate, codes without overhead and waits for nothing: half a round
/// trip, and the packets of 1500 B with 1460 B of payload that make up for those lost.
pub fn limit(rtt_s: f64, loss: f64, size: f64) -> f64 {
    let sending_s = size / 1460.0 * 1500.0 * 8.0 / 1e6 / (1.0 - loss);
    size * 8.0 / (rtt_s / 2.0 + sending_s) / 1e3
}

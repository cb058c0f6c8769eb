//! Goodputs of the study, picked by figure, variant and place on the axis.

use super::plan::{FIGURE, VARIANT};
use crate::results::{Results, Row};
use crate::statistics::{Estimate, estimate};

/// A number in a column.
fn number(row: &Row, column: &str) -> f64 {
    row.value(column).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

fn is_in(row: &Row, figure: &str) -> bool {
    row.value(FIGURE).is_some_and(|figures| figures.split(' ').any(|one| one == figure))
}

/// A metric of all seeds where a variant of a figure stands at these places.
pub fn metrics(
    results: &Results,
    figure: &str,
    variant: &str,
    places: &[(&str, f64)],
    metric: &str,
) -> Vec<f64> {
    let here = |row: &&Row| {
        is_in(row, figure)
            && row.value(VARIANT) == Some(variant)
            && places.iter().all(|&(column, value)| number(row, column) == value)
    };
    results.rows.iter().filter(here).filter_map(|row| row.metric(metric)).collect()
}

/// Their goodputs in kbit/s.
pub fn goodputs(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Vec<f64> {
    let bits = metrics(results, figure, variant, places, "goodput_bit_per_s");
    bits.into_iter().map(|bits| bits / 1e3).collect()
}

/// Their mean and interval.
pub fn goodput(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Option<Estimate> {
    estimate(&goodputs(results, figure, variant, places))
}

/// The places of a column in a figure, ascending.
pub fn levels(results: &Results, figure: &str, column: &str) -> Vec<f64> {
    let rows = results.rows.iter().filter(|row| is_in(row, figure));
    let mut all: Vec<f64> = rows.map(|row| number(row, column)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Goodput in kbit/s of a sender that knows the rate, codes without overhead and waits for nothing: half a round
/// trip, and the packets of 1500 B with 1460 B of payload that make up for those lost.
pub fn limit(rtt_s: f64, loss: f64, size: f64) -> f64 {
    let sending_s = size / 1460.0 * 1500.0 * 8.0 / 1e6 / (1.0 - loss);
    size * 8.0 / (rtt_s / 2.0 + sending_s) / 1e3
}

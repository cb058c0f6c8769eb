//! Adaptive Rate Control.
//!
//! "A Congestion Control Algorithm for the Planetary Internet" (Grieco and Mascolo, IFAC 2005): its figures 3, 4
//! and 5 with its TCPs and ARC, beside newer controllers, UDPDTN at the rate of the contact, and the limit.

mod charts;
mod claims;
mod plan;

use crate::shared::points::metrics_of;
use crate::shared::runs::Runs;
use crate::shared::words::Words;
use crate::shared::{Evidence, Real, Said, Study};
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Estimate, estimate};
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "arc",
    paper: "Grieco and Mascolo, 2005",
    summary: "ARC and TCP on planetary links, beside UDPDTN and the limit",
    takes: "1 min quick, 4 min in full",
    words: &WORDS,
    plan: |order| Ok(plan::plan(order.quick)?),
    metrics: |outcome| {
        let column = |part| (format!("goodput_of_{part}"), part, "goodput_bit_per_s");
        metrics_of(outcome, ["ours", "beside"].map(column))
    },
    evaluate: |evidence: &Evidence<'_>| {
        let results = evidence.results;
        let claims = WORDS.verdicts(claims::CLAIMS, |test| test(results));
        Ok(Said {
            claims,
            figures: charts::figures(results),
            tables: charts::tables(results),
            ..Said::default()
        })
    },
    real: Real::Nothing,
    by_controller: false,
};

/// Goodputs in kbit/s of all seeds where a variant of a figure stands at these places.
fn goodputs(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Vec<f64> {
    let bits = Runs::of(results, figure).at(variant, places).each("goodput_bit_per_s");
    bits.into_iter().map(|bits| bits / 1e3).collect()
}

/// Their mean and interval.
fn goodput(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Option<Estimate> {
    estimate(&goodputs(results, figure, variant, places))
}

/// Goodputs in kbit/s of ours and of CUBIC beside each other, and of CUBIC alone.
fn contest(results: &Results, variant: &str, rtt: f64, loss: f64) -> Option<[f64; 3]> {
    let here = [(plan::RTT, rtt), (plan::LOSS, loss)];
    let runs = Runs::of(results, "beside").at(variant, &here);
    let mean = |metric| {
        let kbit: Vec<f64> = runs.each(metric).into_iter().map(|bits| bits / 1e3).collect();
        estimate(&kbit).map(|value| value.mean)
    };
    let alone = goodput(results, "beside", plan::ALONE, &here)?.mean;
    Some([mean("goodput_of_ours")?, mean("goodput_of_beside")?, alone])
}

/// What each contest of ours with CUBIC was, with its round-trip time and its loss.
fn contests(results: &Results) -> Vec<(&'static str, f64, f64, [f64; 3])> {
    let runs = Runs::of(results, "beside");
    let (rtts, losses) = (runs.numbers(plan::RTT), runs.numbers(plan::LOSS));
    let places = rtts.iter().flat_map(|&rtt| losses.iter().map(move |&loss| (rtt, loss))).collect::<Vec<_>>();
    let of = |variant| {
        let one = move |&(rtt, loss): &(f64, f64)| {
            Some((variant, rtt, loss, contest(results, variant, rtt, loss)?))
        };
        places.iter().filter_map(one).collect::<Vec<_>>()
    };
    plan::OURS.into_iter().flat_map(of).collect()
}

/// Goodput in kbit/s of a sender that knows the rate, codes without overhead and never waits: half a round trip, and
/// the packets of 1500 B with 1460 B of payload that make up for those lost.
fn limit(rtt_s: f64, loss: f64, size: f64) -> f64 {
    let sending_s = size / 1460.0 * 1500.0 * 8.0 / 1e6 / (1.0 - loss);
    size * 8.0 / (rtt_s / 2.0 + sending_s) / 1e3
}

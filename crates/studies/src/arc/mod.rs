//! Adaptive Rate Control.
//!
//! "A Congestion Control Algorithm for the Planetary Internet" (Grieco and Mascolo, IFAC 2005): its figures 3, 4
//! and 5 with its TCPs and ARC, beside newer controllers, UDPDTN at the rate of the contact, and the limit.

mod charts;
mod claims;
mod front;
mod plan;

use crate::shared::points::metrics_of;
use crate::shared::runs::{Runs, least, most};
use crate::shared::words::Words;
use crate::shared::{Evidence, Real, Said, Study};
use lightlag_lab::metrics::Part;
use lightlag_lab::results::Results;
use lightlag_lab::run::Outcome;
use lightlag_lab::statistics::{self, Domain, Estimate, estimate};
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "arc",
    paper: "Grieco and Mascolo, 2005",
    summary: "ARC and TCP on planetary links, beside UDPDTN and the limit",
    takes: "1 min quick, 3 min in full",
    words: &WORDS,
    plan: |order| Ok(plan::plan(order.quick)?),
    metrics: |outcome| {
        let column = |part| (format!("goodput_of_{part}"), part, "goodput_bit_per_s");
        let mut metrics = metrics_of(outcome, ["ours", "beside"].map(column));
        metrics.push((OVERLAP.into(), overlap(outcome)));
        metrics
    },
    evaluate: |evidence: &Evidence<'_>| {
        let results = evidence.results;
        let claims = WORDS.verdicts(claims::CLAIMS, |test| test(results));
        Ok(Said {
            front: front::front(results),
            views: evidence.views(|_| front::views())?,
            claims,
            figures: charts::figures(results),
            tables: charts::tables(results),
            ..Said::default()
        })
    },
    real: Real::Nothing,
    judges_controllers: false,
    draws_networks: false,
};

/// Column of the table of runs: share of the shortest flow's time in which all flows send.
const OVERLAP: &str = "overlap";

fn overlap(outcome: &Outcome) -> f64 {
    let parts = || outcome.figures.parts.iter().filter(|part| part.kind == "flows");
    let of = |part: &Part| {
        let number = |name| outcome.figures.of_part(&part.name, name).unwrap_or(f64::NAN);
        (number("start_s"), number("start_s") + number("duration_s"))
    };
    let (starts, ends): (Vec<f64>, Vec<f64>) = parts().map(of).unzip();
    let all = least(&ends).zip(most(&starts)).map(|(end, start)| (end - start).max(0.0));
    let spans: Vec<f64> = starts.iter().zip(&ends).map(|(start, end)| end - start).collect();
    all.zip(least(&spans)).map_or(f64::NAN, |(all, span)| statistics::ratio(all, span))
}

/// Goodputs in kbit/s of all seeds where a variant of a figure stands at these places.
fn goodputs(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Vec<f64> {
    let bits = Runs::of(results, figure).at(variant, places).each("goodput_bit_per_s");
    bits.into_iter().map(|bits| bits / 1e3).collect()
}

/// Their mean and interval.
fn goodput(results: &Results, figure: &str, variant: &str, places: &[(&str, f64)]) -> Option<Estimate> {
    estimate(&goodputs(results, figure, variant, places)).map(|made| made.of(Domain::Amount))
}

/// Goodputs in kbit/s of two flows beside each other.
fn both(results: &Results, figure: &str, variant: &str, here: &[(&str, f64)]) -> Option<[f64; 2]> {
    let runs = Runs::of(results, figure).at(variant, here);
    let mean = |metric| statistics::mean(&runs.each(metric)).map(|bits| bits / 1e3);
    Some([mean("goodput_of_ours")?, mean("goodput_of_beside")?])
}

/// Goodputs in kbit/s of ours and of CUBIC beside each other, and of CUBIC alone.
fn contest(results: &Results, variant: &str, rtt: f64, loss: f64) -> Option<[f64; 3]> {
    let here = [(plan::RTT, rtt), (plan::LOSS, loss)];
    let alone = goodput(results, "beside", plan::ALONE, &here)?.mean;
    let [ours, cubic] = both(results, "beside", variant, &here)?;
    Some([ours, cubic, alone])
}

/// With its round-trip time and its loss: goodputs in kbit/s of ARC and of NewReno beside each other, and of a NewReno
/// beside another.
fn friendliness(results: &Results) -> Vec<(f64, f64, [f64; 3])> {
    let one = |(rtt, loss): (f64, f64)| {
        let here = [(plan::RTT, rtt), (plan::LOSS, loss)];
        let [arc, new_reno] = both(results, plan::FRIENDLY, plan::ARC, &here)?;
        let fair = both(results, plan::FRIENDLY, "new_reno", &here)?;
        Some((rtt, loss, [arc, new_reno, fair[1]]))
    };
    places(&Runs::of(results, plan::FRIENDLY)).into_iter().filter_map(one).collect()
}

/// Round-trip times and losses of some runs.
fn places(runs: &Runs<'_>) -> Vec<(f64, f64)> {
    let losses = runs.numbers(plan::LOSS);
    let with_losses = |rtt: f64| losses.iter().map(move |&loss| (rtt, loss)).collect::<Vec<_>>();
    runs.numbers(plan::RTT).into_iter().flat_map(with_losses).collect()
}

/// What each contest of ours with CUBIC was, with its round-trip time and its loss.
fn contests(results: &Results) -> Vec<(&'static str, f64, f64, [f64; 3])> {
    let places = places(&Runs::of(results, "beside"));
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

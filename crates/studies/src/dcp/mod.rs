//! DCP.
//!
//! "A Delay-Based Congestion-Control Protocol for Information-Centric Networks" (Albalawi and Garcia-Luna-Aceves,
//! 2019): its figures 3, 4 and 5 and its claims, its readings, and its limits; beside it the controllers of today's
//! consumers of named data, and short_queue.

mod charts;
mod claims;
mod curves;
mod front;
mod ours;
mod plan;
mod reference;
mod tables;
#[cfg(test)]
mod tests;
mod variants;

use crate::shared::points::metrics_of;
use crate::shared::runs::Runs;
use crate::shared::words::Words;
use crate::shared::{Evidence, Real, Said, Study};
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Domain, Estimate, estimate};
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "dcp",
    paper: "Albalawi and Garcia-Luna-Aceves, 2019",
    summary: "DCP and ten other controllers for named data",
    takes: "45 s quick, 3 min in full",
    words: &WORDS,
    plan: |order| Ok(plan::plan(order.quick)?),
    metrics: |outcome| {
        let of = |part| OF_CONSUMERS.map(|(name, figure)| (format!("{name}_of_{part}"), part, figure));
        let aggregated = (AGGREGATED.0.to_owned(), "near", "aggregated");
        metrics_of(outcome, ["one", "two"].into_iter().flat_map(of).chain([aggregated]))
    },
    evaluate: |evidence: &Evidence<'_>| {
        let (results, curves) = (evidence.results, curves::all()?);
        let mut claims =
            WORDS.verdicts(claims::CLAIMS, |test| test(&claims::Data { results, curves: &curves }));
        claims.extend(WORDS.verdicts(ours::CLAIMS, |test| test(results)));
        let (figures, tables) = (charts::all(results, &curves), tables::all(results));
        let (front, views) = (front::front(results), evidence.views(|_| front::views())?);
        Ok(Said { front, claims, figures, tables, views, ..Said::default() })
    },
    real: Real::Nothing,
    judges_controllers: false,
    draws_networks: false,
};

/// Figures of each consumer that are kept in the table of runs, and their names there.
const OF_CONSUMERS: [(&str, &str); 11] = [
    ("goodput", "goodput_bit_per_s"),
    ("window", "window_median"),
    ("timeouts", "timeouts"),
    ("drops", "drops"),
    ("queueing_p50", "queueing_delay_p50_s"),
    ("queueing_p99", "queueing_delay_p99_s"),
    ("interests", "interests_sent"),
    ("interests_dropped", "interests_dropped"),
    ("interests_repaired", "interests_repaired"),
    ("interest_queueing_p50", "interest_queueing_delay_p50_s"),
    ("interest_queueing_p99", "interest_queueing_delay_p99_s"),
];

/// A number of a run: its column, and what it is multiplied by.
#[derive(Clone, Copy)]
struct Number(&'static str, f64);

/// Goodputs in Mbit/s.
const GOODPUT: [Number; 2] = [Number("goodput_of_one", 1e-6), Number("goodput_of_two", 1e-6)];
/// Packets dropped at full queues.
const DROPS: [Number; 2] = [Number("drops_of_one", 1.0), Number("drops_of_two", 1.0)];
/// Of the first consumer, in Interests.
const WINDOW: Number = Number("window_of_one", 1.0);
/// Of the first consumer.
const TIMEOUTS: Number = Number("timeouts_of_one", 1.0);
/// Of the Data of the first consumer, in milliseconds: median and 99th percentile.
const QUEUEING: Number = Number("queueing_p50_of_one", 1e3);
const QUEUEING_WORST: Number = Number("queueing_p99_of_one", 1e3);
/// Interests of each consumer; of the first those that were dropped, and those sent again.
const SENT: [Number; 2] = [Number("interests_of_one", 1.0), Number("interests_of_two", 1.0)];
const INTERESTS_DROPPED: Number = Number("interests_dropped_of_one", 1.0);
const INTERESTS_REPAIRED: Number = Number("interests_repaired_of_one", 1.0);
/// Of the Interests of the first consumer, in milliseconds: median and 99th percentile.
const INTEREST_QUEUEING: Number = Number("interest_queueing_p50_of_one", 1e3);
const INTEREST_QUEUEING_WORST: Number = Number("interest_queueing_p99_of_one", 1e3);
/// Interests that the router next to both consumers aggregated.
const AGGREGATED: Number = Number("aggregated", 1.0);
/// Jain's index of the goodputs of the two consumers.
const JAIN: Number = Number("jain", 1.0);

type Places<'a> = &'a [(&'a str, f64)];

impl Number {
    /// Of all seeds where a variant of a figure stands at these places.
    fn each(self, results: &Results, figure: &str, variant: &str, places: Places<'_>) -> Vec<f64> {
        let raw = Runs::of(results, figure).at(variant, places).each(self.0);
        raw.into_iter().map(|value| value * self.1).collect()
    }
    /// Their mean and interval.
    fn of(self, results: &Results, figure: &str, variant: &str, places: Places<'_>) -> Option<Estimate> {
        let made = estimate(&self.each(results, figure, variant, places));
        made.map(|made| made.of(Domain::of(self.0)))
    }
    /// Their mean.
    fn mean(self, results: &Results, figure: &str, variant: &str, places: Places<'_>) -> Option<f64> {
        self.of(results, figure, variant, places).map(|value| value.mean)
    }
}

/// Mean and interval, from 0 to 1, of shares in percent.
fn estimate_share(percent: &[f64]) -> Option<Estimate> {
    let shares: Vec<f64> = percent.iter().map(|share| share / 100.0).collect();
    estimate(&shares).map(|made| made.of(Domain::Share))
}

/// Shares of one of two flows, in percent of what both get, by seed.
fn shares(results: &Results, figure: &str, variant: &str, places: Places<'_>, of: usize) -> Vec<f64> {
    let runs = Runs::of(results, figure).at(variant, places);
    let both = GOODPUT.map(|goodput| runs.each(goodput.0));
    let share = |(one, two): (&f64, &f64)| 100.0 * [one, two][of] / (one + two);
    both[0].iter().zip(&both[1]).map(share).collect()
}

//! Connections that move between TCP and datagrams.
//!
//! "An Adaptive Architecture to Support Delay Tolerant Networking" (Petz and Julien, University of Texas, 2008): its two
//! scenarios and Figures 7a to 7d, beside a reliable transport moved by an oracle and by a policy, and fifty delay
//! curves that the paper does not have.

mod charts;
mod claims;
mod curves;
mod front;
mod plan;
pub mod real;
mod tables;
#[cfg(test)]
mod tests;

use crate::shared::over_time::{Series, sampled, values};
use crate::shared::points::scenario;
use crate::shared::runs::Runs;
use crate::shared::words::Words;
use crate::shared::{Evidence, Real, Said, Study};
use curves::Curve;
use lightlag_lab::results::Results;
use lightlag_lab::run::Outcome;
use lightlag_lab::statistics::{self, Estimate, estimate};
use lightlag_protocols::session::Kind;
use plan::{CURVE, CURVES, ORACLE, POLICY, SCENARIOS, TCP, TCP_2008, VARIANTS, sets};
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "adaptive",
    paper: "Petz and Julien, 2008",
    summary: "connections that move between TCP and datagrams while the delay changes",
    takes: "20 s quick, 1 min in full, 20 min more with --real (as root)",
    words: &WORDS,
    plan: |order| Ok(plan::plan(order.quick)?),
    metrics: Outcome::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let (results, simulated) = (evidence.results, over_time()?);
        let all: Vec<&Series> = evidence.over_time.iter().chain(&simulated).collect();
        let data = claims::Data { results, over_time: &all };
        let claims = WORDS.verdicts(claims::CLAIMS, |test| test(&data));
        let (figures, tables) = (charts::all(results, &all), tables::all(results, &all));
        let (front, views) = (front::front(results), evidence.views(|_| front::views())?);
        Ok(Said { front, claims, figures, tables, views, ..Said::default() })
    },
    real: Real::OnRequest(|| real::run(&crate::real::transfer)),
    judges_controllers: false,
    draws_networks: false,
};

/// Payload of a packet, as the paper has it; TCP alone has that of a segment.
const PAYLOAD: f64 = 1024.0;
const SEGMENT: f64 = 1036.0;
/// Throughput is averaged over this many seconds.
const EVERY_S: usize = 5;

/// One run of each scenario and variant over time.
fn over_time() -> Result<Vec<Series>, lightlag_scenario::Error> {
    let mut all = Vec::new();
    for (figure, name) in SCENARIOS {
        for variant in VARIANTS {
            let outcome = sampled(&scenario(name, sets(variant))?, None)?;
            let changes = outcome.changes.iter().map(|change| {
                let to = if change.to == Kind::Stream { "TCP" } else { "datagrams" };
                let why = change.why.map_or("the delay passed 250 ms".to_owned(), |why| why.to_string());
                (change.at.as_secs_f64(), to, why)
            });
            let changes = changes.collect();
            all.push(Series { figure, variant, throughput: throughput(&outcome), changes });
        }
    }
    Ok(all)
}

fn throughput(outcome: &Outcome) -> Vec<(f64, f64)> {
    let delivered = values(outcome, "file", "delivered").into_iter().step_by(EVERY_S);
    let each: Vec<(f64, f64)> = delivered.map(|(at, bytes)| (at, bytes / PAYLOAD)).collect();
    each.windows(2).map(|two| (two[1].0, (two[1].1 - two[0].1) / (two[1].0 - two[0].0))).collect()
}

/// The limit of a scenario of the paper.
fn limit(figure: &str) -> f64 {
    if figure == SCENARIOS[0].0 { Curve::short().limit() } else { Curve::long().limit() }
}

/// Packets that a variant delivered in a scenario, by seed.
fn packets(results: &Results, figure: &str, variant: &str) -> Vec<f64> {
    let payload = if [TCP, TCP_2008].contains(&variant) { SEGMENT } else { PAYLOAD };
    let bytes = Runs::of(results, figure).at(variant, &[]).each("delivered_bytes");
    bytes.into_iter().map(|bytes| bytes / payload).collect()
}

/// Packets whose data never arrived: gaps in the numbers of plain UDP. The receiver of a stream compares every byte.
fn lost(results: &Results, figure: &str, variant: &str) -> Option<Estimate> {
    estimate(&Runs::of(results, figure).at(variant, &[]).each("packets_missing"))
}

/// Their mean and interval.
fn mean(results: &Results, figure: &str, variant: &str) -> Option<Estimate> {
    estimate(&packets(results, figure, variant))
}

/// Of each curve that was drawn: its number, what the oracle and the policy delivered on average, and the limit.
fn on_curves(results: &Results) -> Vec<(u64, f64, f64, f64)> {
    let runs = Runs::of(results, CURVES);
    let of = |number: f64, variant| {
        let bytes = runs.at(variant, &[(CURVE, number)]).each("delivered_bytes");
        statistics::mean(&bytes).map(|bytes| bytes / PAYLOAD)
    };
    let one = |number: f64| {
        let limit = Curve::drawn(number as u64).limit();
        Some((number as u64, of(number, ORACLE)?, of(number, POLICY)?, limit))
    };
    runs.numbers(CURVE).into_iter().filter_map(one).collect()
}

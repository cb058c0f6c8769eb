//! DCCP between DTN nodes.
//!
//! "Analysis of DCCP for Delay/Disruption Tolerant Networking" (Jero, Ohio University, 2010) found DCCP in Linux
//! slower than TCP and UDP, stuck at one packet a round trip, pausing, and inconsistent after losses. Its
//! measurements are repeated with our DCCP, beside TCP with the same controllers, and beside the faults.

mod charts;
mod claims;
mod curves;
mod front;
mod here;
mod plan;
mod seen;
pub mod sockets;
mod tables;
#[cfg(test)]
mod tests;
mod variants;

use crate::shared::words::Words;
use crate::shared::{Evidence, Measured, Real, Said, Study};
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "dccp",
    paper: "Jero, 2010",
    summary: "DCCP beside TCP with the same controllers, the faults of Linux, and real sockets",
    takes: "30 s quick, 7 min in full (5 of them on real sockets)",
    words: &WORDS,
    plan: |order| Ok(plan::plan(order.quick)?),
    metrics: seen::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let results = evidence.results;
        let (curves, connections) = curves::all()?;
        let claims = WORDS.verdicts(claims::CLAIMS, |test| test(results));
        let figures = charts::all(results, &curves).into_iter().chain(connections).collect();
        let (front, views) = (front::front(results), evidence.views(|_| front::views())?);
        Ok(Said { front, claims, figures, tables: tables::all(results), views, ..Said::default() })
    },
    real: Real::Always(|| Ok(Measured { rows: sockets::run(&crate::real::connect)?, over_time: Vec::new() })),
    judges_controllers: false,
    draws_networks: false,
};

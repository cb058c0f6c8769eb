//! The comparative study of DTN congestion control.
//!
//! "Congestion Control in Disruption-Tolerant Networks: a Comparative Study for Interplanetary and Terrestrial
//! Networking Applications" (Silva, Burleigh, Hirata, Obraczka): its figures and claims, under every reading of what it
//! leaves open.

pub mod cell;
mod charts;
pub mod claims;
mod front;
mod learnt;
pub(crate) mod plan;
mod readings;
mod tables;
#[cfg(test)]
pub(crate) mod tests;

use crate::shared::words::Words;
use crate::shared::{Evidence, Real, Said, Study};
use lightlag_lab::run::Outcome;
use std::sync::LazyLock;

pub use charts::all as figures;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "dtn-congestion",
    paper: "Silva, Burleigh, Hirata and Obraczka",
    summary: "four congestion mechanisms under three routers, between planets and on Earth",
    takes: "30 s quick, 9 min in full",
    words: &WORDS,
    plan: |order| plan::points(order.quick, &order.out.join("scenarios")),
    metrics: Outcome::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let results = evidence.results;
        let tested = claims::evaluate(results);
        let (figures, tables) = (charts::all(results), tables::all(results, &tested));
        let facts = learnt::facts(results, &tested);
        let claims = tested.iter().map(claims::Tested::verdict).collect();
        let front = front::front(results, learnt::answer(results, &tested));
        let views = evidence.views(|out| front::views(&out.join("scenarios")))?;
        Ok(Said { front, claims, figures, tables, facts, views, ..Said::default() })
    },
    real: Real::Nothing,
    judges_controllers: false,
    draws_networks: false,
};

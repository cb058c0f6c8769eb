//! One congestion mechanism for delay-tolerant networks against all others, in networks that are drawn.
//!
//! [`networks`] draws them, [`plan`] runs all [`treatments`] in each, [`cells`] compares ours with the best of the
//! others, and [`regret`] says what each mechanism loses by not being the best.

pub(crate) mod cells;
mod charts;
mod claims;
mod front;
mod networks;
mod plan;
mod regret;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod treatments;

use crate::shared::words::Words;
use crate::shared::{Evidence, Order, Real, Said, Study};
use lightlag_lab::run::Outcome;
use std::sync::LazyLock;
pub(crate) use tables::REGRETS;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "universal",
    paper: "(ours)",
    summary: "copy_value against every other congestion mechanism, in networks that are drawn",
    takes: "2 min quick, 10 min in full",
    words: &WORDS,
    plan: |order: &Order<'_>| Ok(plan::plan(order.quick, order.seed.unwrap_or(plan::JUDGEMENT))?),
    metrics: Outcome::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let standings = cells::standings(evidence.results);
        let regrets = regret::regrets(&standings);
        let tables = [tables::kinds(&standings), tables::behind(&standings)];
        let answer = tables::answer(&standings, &regrets);
        Ok(Said {
            front: front::front(&standings, &regrets, answer),
            views: evidence.views(|_| front::views(&standings))?,
            claims: claims::evaluate(&standings, &regrets),
            opening: vec![tables::regrets(&regrets)],
            figures: charts::all(&standings),
            tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
            facts: tables::facts(&standings, &regrets, evidence.results.rows.len()),
            scenarios: tables::files(&standings),
            ..Said::default()
        })
    },
    real: Real::Nothing,
    judges_controllers: false,
    draws_networks: true,
};

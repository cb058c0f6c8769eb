//! What papers claim, as functions of a table of results.
//!
//! A claim is a small pure function that looks at runs and says whether what the paper says is so. Nothing in it is
//! tuned: the same few tests serve every claim ([`crate::parts`]), and their margins are named constants.

mod both_worlds;
mod interplanetary;
mod terrestrial;
pub mod view;

use lightlag_lab::report::{Finding, Holds, Verdict};
use lightlag_lab::results::Results;
use view::{Data, Reading};

/// Which of the paper's open points a claim depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Contact tables, traffic and propagation between planets.
    Interplanetary,
    /// What nodes remember and tell on Earth.
    Terrestrial,
}

/// A claim of the study.
pub(crate) struct Claim {
    id: &'static str,
    figure: &'static str,
    paper_says: &'static str,
    scope: Scope,
    check: fn(&Data<'_>) -> Finding,
}

/// Tests every claim of the study on its table of results.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = [interplanetary::CLAIMS, terrestrial::CLAIMS, both_worlds::CLAIMS]
        .into_iter()
        .flatten()
        .map(|claim| claim.verdict(results))
        .collect();
    verdicts.sort_by_key(|verdict| verdict.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    verdicts
}

impl Claim {
    fn verdict(&self, results: &Results) -> Verdict {
        let primary = (self.check)(&Data::of(results, &Reading::PRIMARY));
        let others = Reading::others(self.scope);
        let readings = others.iter().filter_map(|reading| {
            let found = (self.check)(&Data::of(results, reading)).holds;
            // A reading that was not run says nothing.
            (!matches!(found, Holds::Untestable(_))).then(|| (reading.name.to_string(), found))
        });
        Verdict {
            id: self.id,
            figure: self.figure,
            paper_says: self.paper_says,
            readings: readings.collect(),
            we_measure: primary.we_measure,
            holds: primary.holds,
        }
    }
}

#[cfg(test)]
mod tests;

//! What papers claim, as functions of a table of results.
//!
//! A claim is a small pure function that looks at runs and says whether what the paper says is so. Nothing in it is
//! tuned: the same few tests serve every claim ([`parts`]), and their margins are named constants.

mod both_worlds;
mod interplanetary;
pub mod parts;
mod terrestrial;
pub mod view;

use crate::results::Results;
use serde::Serialize;
use view::{Data, Reading};

/// Whether a claim is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// All of it.
    Yes,
    /// None of it.
    No,
    /// Some of it, or the direction is right but chance would explain it.
    Partly,
    /// These runs cannot tell, for this reason.
    Untestable(String),
}

impl Holds {
    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Partly => "partly",
            Self::Untestable(_) => "untestable",
        }
    }

    /// Why it cannot be tested; empty otherwise.
    pub fn reason(&self) -> &str {
        if let Self::Untestable(reason) = self { reason } else { "" }
    }
}

/// What a claim's function finds under one reading of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it is so.
    pub holds: Holds,
    /// Figures and intervals.
    pub we_measure: String,
}

impl Finding {
    /// These runs cannot tell.
    pub fn untestable(reason: impl Into<String>) -> Self {
        Self { holds: Holds::Untestable(reason.into()), we_measure: String::new() }
    }
}

/// A claim beside what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Its number.
    pub id: &'static str,
    /// Figure or section of the paper.
    pub figure: &'static str,
    /// The claim in short.
    pub paper_says: &'static str,
    /// Figures and intervals under the primary reading.
    pub we_measure: String,
    /// Whether it is so under the primary reading.
    pub holds: Holds,
    /// The same test where the paper can be read otherwise.
    pub readings: Vec<(String, Holds)>,
}

impl Verdict {
    /// Of a claim that can be read in one way only.
    pub fn new(id: &'static str, figure: &'static str, paper_says: &'static str, finding: Finding) -> Self {
        let Finding { holds, we_measure } = finding;
        Self { id, figure, paper_says, we_measure, holds, readings: Vec::new() }
    }
}

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

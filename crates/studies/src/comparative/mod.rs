//! The comparative study of DTN congestion control, run again.
//!
//! "Congestion Control in Disruption-Tolerant Networks: a Comparative Study for Interplanetary and Terrestrial
//! Networking Applications" (Silva, Burleigh, Hirata, Obraczka): which scenario files it takes ([`plan()`]), and
//! figures, claims and tables from their results ([`evaluate`]).

pub mod cell;
pub mod claims;
mod figures;
mod plan;
mod run;
mod tables;

use lightlag_lab::report::Verdict;
use lightlag_lab::report::{Figure, Report, ScenarioText, Table};
use lightlag_lab::results::Results;

pub use cell::{Cell, Cells, cell_of};
pub use plan::{FIGURE_FILES, LIFETIMES_FILE, Plan, RunSet, SWITCHES_FILE, plan};
pub use run::run;

/// Heading of the report.
pub const TITLE: &str = "DTN congestion control: a comparative study, run again";

/// What the study says.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyReport {
    /// The paper's figures from our runs.
    pub figures: Vec<Figure>,
    /// The paper's claims beside what we measure.
    pub claims: Vec<Verdict>,
    /// The numbers behind the figures, and what the paper does not show.
    pub tables: Vec<Table>,
}

/// Figures, claims and tables from the results of a plan.
pub fn evaluate(results: &Results) -> StudyReport {
    StudyReport {
        figures: figures::all(results),
        claims: claims::evaluate(results),
        tables: tables::all(results),
    }
}

impl StudyReport {
    /// The report of the study, ready to be written.
    pub fn report(self, results: &Results, plan: &Plan, scenarios: Vec<ScenarioText>) -> Report {
        let again = if plan.quick {
            "lightlag study dtn-congestion --quick"
        } else {
            "lightlag study dtn-congestion"
        };
        Report {
            title: TITLE.to_string(),
            introduction: introduction(),
            warnings: plan.warnings(),
            build: results.build.clone(),
            seeds: results.seeds(),
            runs: results.rows.len(),
            again: vec![again.to_string()],
            claims: self.claims,
            figures: self.figures,
            tables: self.tables,
            scenarios,
        }
    }
}

fn introduction() -> Vec<String> {
    [
        "The paper compares four congestion mechanisms (RRCC, AFNER, storage routing and credit-based control) with \
         no control, under three routers, between planets and on Earth. Here its figures are drawn from our own runs, \
         and each of its claims is tested on them.",
        "The paper leaves much open: its contact tables fit no single schedule, its traffic is told in two ways, its \
         mechanisms contradict themselves in places, and its map may not be used outside The ONE (a generated street \
         grid of our own takes its place). Where it can be read otherwise, the claims are tested under the other \
         readings too.",
    ]
    .map(str::to_string)
    .to_vec()
}

#[cfg(test)]
pub(crate) mod tests;

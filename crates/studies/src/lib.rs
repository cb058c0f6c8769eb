//! Does the paper hold? One folder a study: what it runs (plan), what it claims, and its figures; what they share stands here.

pub mod adaptive;
pub mod arc;
pub mod comparative;
pub mod dccp;
pub mod dcp;
mod files;
pub mod parts;
pub mod points;
pub mod real;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
pub mod universal;
pub mod view;

use lightlag_lab::report::Report;
use lightlag_lab::results::Results;
use lightlag_lab::sweep;

/// Why a study stopped; one line each.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] lightlag_scenario::Error),
    /// The folder cannot be used, or a run failed.
    #[error(transparent)]
    Sweep(#[from] sweep::Error),
    /// The scenario files cannot be written.
    #[error("cannot write {0}: {1}")]
    Disk(String, std::io::Error),
    /// What was to be measured in real time cannot be measured here.
    #[error("{0}")]
    Real(String),
}

/// A study that is done.
#[derive(Clone, Debug)]
pub struct Studied {
    /// All its runs.
    pub results: Results,
    /// What it says, ready to be written.
    pub report: Report,
    /// How many violations the judge found in all runs.
    pub violations: u64,
}

impl Studied {
    /// The study's verdicts and numbers for a terminal.
    pub fn terminal(&self) -> String {
        let mut text = String::new();
        for claim in &self.report.claims {
            text += &format!("{:4} {:10} {}\n", claim.id, claim.holds.word(), claim.paper_says);
        }
        text + "\n" + &headline(&self.report)
    }
}

/// The five mechanisms under the three routers on Earth, which the paper's figures 9 to 11 draw; in other studies
/// the first table.
fn headline(report: &Report) -> String {
    let wanted = report.tables.iter().find(|table| table.title.starts_with("Figures 9 to 11"));
    let Some(table) = wanted.or(report.tables.first()) else { return String::new() };
    lightlag_lab::results::table_text(&table.head, &table.rows)
}

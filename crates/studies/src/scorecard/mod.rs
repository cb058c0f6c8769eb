//! How controllers behave over the space of networks, in the frame of RFC 9743.
//!
//! [`space`] draws networks, [`text`] writes their scenarios, [`plan`] runs every controller in each, [`measures`]
//! reads the runs, [`standing`] compares them with the limits.

pub mod adversary;
mod change;
mod charts;
mod claims;
pub mod controllers;
mod corners;
mod envelope;
mod front;
mod limit;
mod measures;
mod names;
mod plan;
pub mod space;
mod standing;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use crate::shared::words::Words;
use crate::shared::{Evidence, Real, Said, Study};
use controllers::CONTESTANTS;
use lightlag_lab::report::ScenarioText;
use lightlag_lab::run::Outcome;
pub use plan::{SEED, scenario};
use standing::{Standing, standings};
use std::sync::LazyLock;
pub use text::scenario as scenario_text;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));

/// Networks in the table of the worst.
const WORST: usize = 10;

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "scorecard",
    paper: "(ours), in the frame of RFC 9743",
    summary: "every controller over the space of networks: share, drops, queues, fairness, harm",
    takes: "3 min quick, 60 min in full",
    words: &WORDS,
    plan: plan::plan,
    metrics: Outcome::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let standings = standings(evidence.results);
        let worst = worst(&standings);
        let files = files(&worst);
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let count = plan::network_count(evidence.quick);
        let (answer, facts) = claims::sentences(&standings, count);
        Ok(Said {
            front: front::front(&standings, answer),
            views: evidence.views(|_| front::views(&worst))?,
            claims: claims::verdicts(&standings, |id, finding| WORDS.verdict(id, finding)),
            opening: vec![tables::worst(&worst, &names)],
            figures: charts::figures(&standings),
            tables: vec![
                tables::side_by_side(&standings, count),
                tables::where_kept(&standings),
                tables::space(),
            ],
            facts,
            scenarios: files,
            ..Said::default()
        })
    },
    real: Real::Nothing,
    judges_controllers: true,
    draws_networks: true,
};

/// The worst runs of the judged controllers, by turns, each network once.
fn worst<'s, 'a>(standings: &'s [Standing<'a>]) -> Vec<&'s Standing<'a>> {
    let ranked = |name: &&str| {
        let mut all: Vec<&Standing<'a>> = standings.iter().filter(|one| one.controller == *name).collect();
        all.sort_by(|one, other| one.grade().total_cmp(&other.grade()));
        all
    };
    let judged: Vec<Vec<&Standing<'a>>> = claims::judged(standings).iter().map(ranked).collect();
    let most = judged.iter().map(Vec::len).max().unwrap_or(0);
    let by_turns = (0..most).flat_map(|rank| judged.iter().filter_map(move |all| all.get(rank)));
    let mut worst: Vec<&Standing<'a>> = Vec::new();
    for standing in by_turns {
        if worst.len() < WORST && worst.iter().all(|one| one.network.name != standing.network.name) {
            worst.push(standing);
        }
    }
    worst
}

/// Their scenarios, written beside the report.
fn files(worst: &[&Standing<'_>]) -> Vec<ScenarioText> {
    let file = |(number, standing): (usize, &&Standing<'_>)| {
        let contestant = CONTESTANTS.iter().find(|row| row.name == standing.controller)?;
        let name = format!("worst/{number:02}_{}_{}.toml", standing.controller, standing.network.name);
        Some(ScenarioText { name, text: text::scenario(&standing.network, contestant) })
    };
    (1..).zip(worst).filter_map(file).collect()
}

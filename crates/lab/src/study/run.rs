//! Runs the study: its scenario files are compiled in, so that it needs nothing but the program.

use super::cell::{Cells, cell_of};
use super::{Plan, RunSet, evaluate, plan};
use crate::report::{Report, ScenarioText};
use crate::results::{Build, Results};
use crate::run::{ContactsCache, Options, run as run_one};
use crate::sweep::{self, Job, Sweep};
use include_dir::{Dir, include_dir};
use lightlag_scenario::{Scenario, ScenarioFile, Seed};
use std::path::Path;

/// The files of papers, compiled in.
pub(super) static PAPERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/papers");

/// Where the scenario files are put, beside the results.
const SCENARIOS: &str = "scenarios";
/// Where the table of runs is put.
const RUNS: &str = "runs";

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

/// Runs the study into a folder, on so many threads (0: one per core), and goes on where it was stopped.
///
/// # Errors
/// The folder cannot be used.
pub fn run(quick: bool, out: &Path, threads: usize) -> Result<Studied, Error> {
    let plan = plan(quick);
    let folder = out.join(SCENARIOS);
    unpack(&PAPERS, &folder)?;
    let mut cells: Cells<Scenario> = Cells::default();
    for set in &plan.sets {
        add_cells(&mut cells, set, &folder)?;
    }
    let results = sweep_cells(&cells, &plan, &out.join(RUNS), threads)?;
    let violations = results.rows.iter().filter_map(|row| row.metric("violations")).sum::<f64>() as u64;
    let report = evaluate(&results).report(&results, &plan, texts(&plan));
    Ok(Studied { results, report, violations })
}

/// Puts files that are compiled in where they can be read.
pub(super) fn unpack(files: &Dir<'_>, folder: &Path) -> Result<(), Error> {
    let wrong = |error| Error::Disk(folder.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(wrong)?;
    files.extract(folder).map_err(wrong)
}

fn add_cells(cells: &mut Cells<Scenario>, set: &RunSet, folder: &Path) -> Result<(), Error> {
    let path = folder.join(set.file);
    let mut file = ScenarioFile::read(&[&path])?;
    for (key, value) in &set.set {
        file.set(key, value)?;
    }
    let seeds: Vec<u64> = file
        .seeds()?
        .into_iter()
        .filter_map(|seed| match seed {
            Seed::Number(number) => Some(number),
            Seed::Own => None,
        })
        .collect();
    // The compiled-in text is the one that was read a moment ago.
    let said: toml::Table = text_of(set.file).parse().unwrap_or_default();
    for point in file.points()?.list {
        let set = set.set.iter().map(|(key, value)| ((*key).to_owned(), value.trim_matches('"').to_owned()));
        let axes: Vec<(String, String)> = point.values.into_iter().chain(set).collect();
        cells.add(cell_of(&said, &axes), &seeds, point.scenario);
    }
    Ok(())
}

fn sweep_cells(
    cells: &Cells<Scenario>,
    plan: &Plan,
    out: &Path,
    threads: usize,
) -> Result<Results, sweep::Error> {
    let jobs = cells.jobs();
    let text: String = texts(plan).into_iter().map(|scenario| scenario.text).collect();
    let sweep = Sweep { out, scenario: &text, build: Build::this(), jobs: &jobs, threads, progress: true };
    let cache = ContactsCache::default();
    let options = Options::default();
    sweep.run(|job: &Job| {
        run_one(cells.scenario(job.point), Seed::Number(job.seed), &cache, &options)
            .map(|outcome| outcome.metrics())
    })
}

fn texts(plan: &Plan) -> Vec<ScenarioText> {
    let text = |file: &str| ScenarioText { name: file.to_owned(), text: text_of(file).to_owned() };
    plan.files().into_iter().map(text).collect()
}

fn text_of(file: &str) -> &'static str {
    PAPERS.get_file(file).and_then(|file| file.contents_utf8()).unwrap_or_default()
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
    crate::results::table_text(&table.head, &table.rows)
}

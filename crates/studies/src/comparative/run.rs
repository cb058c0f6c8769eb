//! Runs the study: its scenario files are compiled in, so that it needs nothing but the program.

use super::cell::{Cells, cell_of};
use super::{Plan, RunSet, evaluate, plan};
use crate::files::{PAPERS, unpack};
use crate::{Error, Studied};
use lightlag_lab::report::ScenarioText;
use lightlag_lab::results::{Build, Results};
use lightlag_lab::run::{ContactsCache, Options, run as run_one};
use lightlag_lab::sweep::{self, Job, Sweep};
use lightlag_scenario::{Scenario, ScenarioFile, Seed};
use std::path::Path;

/// Where the scenario files are put, beside the results.
const SCENARIOS: &str = "scenarios";
/// Where the table of runs is put.
const RUNS: &str = "runs";

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

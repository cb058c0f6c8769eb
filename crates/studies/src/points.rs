//! Points that studies of packets and names run: scenarios that are compiled in, with some keys set.

use super::view::{FIGURE, VARIANT};
use lightlag_capture::analysis;
use lightlag_lab::bound::bound;
use lightlag_lab::report::ScenarioText;
use lightlag_lab::results::{Build, Metrics, Results};
use lightlag_lab::run::{ContactsCache, Options, Outcome, run};
use lightlag_lab::sweep::{self, Job, Sweep};
use lightlag_scenario::{Catalogue, Scenario, ScenarioFile, Seed};
use std::path::Path;

/// A scenario that is compiled in.
#[derive(Clone, Copy)]
pub struct Text {
    /// Of its file.
    pub name: &'static str,
    /// What it says.
    pub toml: &'static str,
}

impl Text {
    /// The file, to set keys in.
    ///
    /// # Errors
    /// None with a scenario that is read by tests.
    pub fn file(self) -> Result<ScenarioFile, lightlag_scenario::Error> {
        ScenarioFile::from_toml(self.name, self.toml, ".".into(), Catalogue::default().into())
    }
    /// For the report.
    pub fn shown(self) -> ScenarioText {
        ScenarioText { name: self.name.to_owned(), text: self.toml.to_owned() }
    }
}

/// A point of a study.
pub struct Point {
    /// Its columns.
    pub values: Vec<(String, String)>,
    /// What is run.
    pub scenario: Scenario,
    /// With how many seeds, where not as many as the others.
    pub seeds: Option<u64>,
    /// What a capture of its runs shows is wanted, too.
    pub analysed: bool,
    /// It is not run: what bounds its runs is wanted.
    pub bounded: bool,
}

impl Point {
    /// The only point of a file, in these figures (with a blank between two), under these columns.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn new<'a>(
        file: &ScenarioFile,
        (figure, variant): (&str, &str),
        columns: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Result<Self, lightlag_scenario::Error> {
        let known = [(FIGURE, figure.to_owned()), (VARIANT, variant.to_owned())];
        let values = known.into_iter().chain(columns).map(|(name, value)| (name.to_owned(), value));
        let scenario = file.points()?.list.remove(0).scenario;
        Ok(Self { values: values.collect(), scenario, seeds: None, analysed: false, bounded: false })
    }
}

/// All that a study runs.
pub struct Points {
    /// The points.
    pub list: Vec<Point>,
    /// With how many seeds.
    pub seeds: u64,
}

impl Points {
    /// Every point with every seed.
    pub fn jobs(&self) -> Vec<Job> {
        let of = |(index, point): (usize, &Point)| {
            let values = point.values.clone();
            let job = move |seed| Job { point: index, seed, values: values.clone() };
            (1..=point.seeds.unwrap_or(self.seeds)).map(job)
        };
        self.list.iter().enumerate().flat_map(of).collect()
    }
    /// Runs every job, or those that a killed study left; the judge watches one seed of every third
    /// point, as watching costs as much as running.
    ///
    /// # Errors
    /// The folder cannot be used, or a run failed.
    pub fn run(
        &self,
        (out, threads): (&Path, usize),
        scenario: &str,
        metrics: impl Fn(&Outcome) -> Metrics + Sync,
    ) -> Result<Results, sweep::Error> {
        let jobs = self.jobs();
        let sweep = Sweep { out, scenario, build: Build::this(), jobs: &jobs, threads, progress: true };
        let cache = ContactsCache::default();
        sweep.run(|job: &Job| {
            let point = &self.list[job.point];
            if point.bounded {
                return bound(&point.scenario, Seed::Number(job.seed), &cache).map(|bound| bound.metrics());
            }
            let analysis = point.analysed.then(analysis::Options::default);
            let judge = job.seed == 1 && job.point.is_multiple_of(3);
            let options = Options { judge, analysis, ..Options::default() };
            run(&point.scenario, Seed::Number(job.seed), &cache, &options).map(|outcome| metrics(&outcome))
        })
    }
}

/// How many violations the judge found in all runs.
pub fn violations(results: &Results) -> u64 {
    results.rows.iter().filter_map(|row| row.metric("violations")).sum::<f64>() as u64
}

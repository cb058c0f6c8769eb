//! What a study runs: scenarios that are compiled in, with some keys set.

use super::Order;
use super::runs::{FIGURE, VARIANT};
use crate::Error;
use include_dir::{Dir, include_dir};
use lightlag_capture::analysis;
use lightlag_lab::bound::bound;
use lightlag_lab::report::ScenarioText;
use lightlag_lab::results::{Build, Metrics, Results};
use lightlag_lab::run::{ContactsCache, Options, Outcome, Progress, run};
use lightlag_lab::sweep::{Job, Sweep};
use lightlag_scenario::{Catalogue, Scenario, ScenarioFile, Seed};
use std::path::Path;

/// The scenario files of papers.
pub(crate) static PAPERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios/papers");

/// Writes compiled-in files into a folder.
pub(crate) fn unpack(files: &Dir<'_>, folder: &Path) -> Result<(), Error> {
    let wrong = |error| Error::Disk(folder.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(wrong)?;
    files.extract(folder).map_err(wrong)
}

/// The text of a paper's scenario.
pub(crate) fn text_of(name: &str) -> &'static str {
    PAPERS.get_file(name).and_then(|file| file.contents_utf8()).unwrap_or_default()
}

/// A paper's scenario with these keys set.
pub(crate) fn scenario<V: AsRef<str>>(
    name: &str,
    sets: impl IntoIterator<Item = (&'static str, V)>,
) -> Result<ScenarioFile, lightlag_scenario::Error> {
    let mut file = ScenarioFile::from_toml(name, text_of(name), ".".into(), Catalogue::default().into())?;
    for (key, value) in sets {
        file.set(key, value.as_ref())?;
    }
    Ok(file)
}

/// The only point of a scenario file.
pub(crate) fn only(file: &ScenarioFile) -> Result<Scenario, lightlag_scenario::Error> {
    Ok(file.points()?.list.remove(0).scenario)
}

/// What reads the metrics of a run.
pub type Measure = Box<dyn Fn(&Outcome) -> Metrics + Send + Sync>;

/// A point of a study.
pub struct Point {
    /// Its columns.
    pub values: Vec<(String, String)>,
    /// What is run.
    pub scenario: Scenario,
    /// Number of seeds, where it is not that of the others.
    pub seeds: Option<u64>,
    /// Whether a capture of its runs is analysed.
    pub analysed: bool,
    /// Whether the bound of its runs is computed instead of running it.
    pub bounded: bool,
    /// What reads its metrics from the counts of its packets, in place of the metrics of the study.
    pub measure: Option<Measure>,
}

impl Point {
    /// A point with columns.
    pub fn new(values: Vec<(String, String)>, scenario: Scenario) -> Self {
        Self { values, scenario, seeds: None, analysed: false, bounded: false, measure: None }
    }

    /// The only point of a file, in these figures (with a blank between two), under these columns.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn of<'a, V: ToString>(
        file: &ScenarioFile,
        (figure, variant): (&str, &str),
        columns: impl IntoIterator<Item = (&'a str, V)>,
    ) -> Result<Self, lightlag_scenario::Error> {
        let known = [(FIGURE, figure.to_owned()), (VARIANT, variant.to_owned())];
        let columns = columns.into_iter().map(|(name, value)| (name, value.to_string()));
        let values = known.into_iter().chain(columns).map(|(name, value)| (name.to_owned(), value));
        Ok(Self::new(values.collect(), only(file)?))
    }

    /// With this number of seeds.
    #[must_use]
    pub fn with_seeds(self, seeds: impl Into<Option<u64>>) -> Self {
        Self { seeds: seeds.into(), ..self }
    }
}

/// All that a study runs.
pub struct Points {
    /// The points.
    pub list: Vec<Point>,
    /// Number of seeds of a point.
    pub seeds: u64,
    /// Whether the judge replays every run; otherwise one seed of every third point, as judging costs as much as running.
    pub all_judged: bool,
    /// The text that is kept with the results.
    pub text: String,
    /// Scenarios for the report.
    pub scenarios: Vec<ScenarioText>,
}

impl Points {
    /// Points of some papers' scenarios; the first is kept with the results.
    pub fn of(list: Vec<Point>, seeds: u64, scenarios: &[&str]) -> Self {
        let shown = |name: &&str| ScenarioText { name: (*name).to_owned(), text: text_of(name).to_owned() };
        let scenarios: Vec<ScenarioText> = scenarios.iter().map(shown).collect();
        let text = scenarios.first().map_or(String::new(), |first| first.text.clone());
        Self { list, seeds, all_judged: false, text, scenarios }
    }

    /// Every point with every seed.
    pub fn jobs(&self) -> Vec<Job> {
        let of = |(index, point): (usize, &Point)| {
            let values = point.values.clone();
            let job = move |seed| Job { point: index, seed, values: values.clone() };
            (1..=point.seeds.unwrap_or(self.seeds)).map(job)
        };
        self.list.iter().enumerate().flat_map(of).collect()
    }

    /// Runs every job that an interrupted study left to do.
    ///
    /// # Errors
    /// The folder cannot be used, or a run failed.
    pub fn run(
        &self,
        order: &Order<'_>,
        metrics: impl Fn(&Outcome) -> Metrics + Sync,
    ) -> Result<Results, Error> {
        let (jobs, out) = (self.jobs(), order.out.join("runs"));
        let (scenario, threads) = (self.text.as_str(), order.threads);
        let sweep = Sweep {
            out: &out,
            scenario,
            identity: scenario,
            shard: None,
            build: Build::this(),
            jobs: &jobs,
            threads,
            watch: order.watch,
        };
        let cache = ContactsCache::default();
        let line = |error: lightlag_scenario::Error| error.to_string();
        Ok(sweep.run(|job: &Job| {
            if order.watch.is_some_and(Progress::is_stopped) {
                return Err("stopped before it began".to_owned());
            }
            let (point, seed) = (&self.list[job.point], Seed::Number(job.seed));
            if point.bounded {
                return bound(&point.scenario, seed, &cache).map(|bound| bound.metrics()).map_err(line);
            }
            let analysis = point.analysed.then(analysis::Options::default);
            let judge = self.all_judged || (job.seed == 1 && job.point.is_multiple_of(3));
            let account = point.measure.is_some();
            let options =
                Options { judge, analysis, account, progress: order.watch.cloned(), ..Options::default() };
            let measured = |outcome| {
                point.measure.as_ref().map_or_else(|| metrics(&outcome), |measure| measure(&outcome))
            };
            run(&point.scenario, seed, &cache, &options).map(measured).map_err(line)
        })?)
    }
}

/// The metrics of a run, and figures of its parts: (column, part, figure).
pub fn metrics_of<'a>(
    outcome: &Outcome,
    parts: impl IntoIterator<Item = (String, &'a str, &'a str)>,
) -> Metrics {
    let mut metrics = outcome.metrics();
    for (name, part, figure) in parts {
        metrics.extend(outcome.figures.of_part(part, figure).map(|value| (name.into(), value)));
    }
    metrics
}

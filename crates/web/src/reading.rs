//! A scenario as text, with the files that it names.

use super::faults::Faults;
use super::playing::{Playing, Purpose};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, GivenFiles, Point, Scenario, ScenarioFile, Seed, Streets};
use serde_json::{Value, json};
use std::path::Path;

/// A scenario and the files that it names, as a page has them: texts and bytes.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its name, as errors have it; files are named relative to its folder.
    pub name: String,
    /// TOML.
    pub text: String,
    /// Files by name.
    pub files: GivenFiles,
    /// Keys to set beside the text, and their values: a slider of the page, for example.
    pub set: Vec<(String, String)>,
}

/// The seed of a run of an experiment.
fn number(seed: Seed, point: &Point) -> u64 {
    match seed {
        Seed::Own => point.scenario.head().own_seed,
        Seed::Number(number) => number,
    }
}

/// Violations that are listed.
const SHOWN: usize = 20;

impl Reading {
    /// A scenario of this name, without files and settings.
    pub fn new(name: &str, text: &str) -> Self {
        let (name, text) = (name.to_owned(), text.to_owned());
        Self { name, text, files: GivenFiles::default(), set: Vec::new() }
    }
    /// What the scenario describes, as JSON: for each experiment of its sweep the values that distinguish it, the seeds, and
    /// warnings.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn points(&self) -> Result<String, Faults> {
        self.within(|file| {
            let points = file.points()?;
            let values = |point: &Point| {
                let pairs =
                    point.values.iter().map(|(path, value)| (path.clone(), Value::from(value.as_str())));
                Value::Object(pairs.collect())
            };
            let list: Vec<Value> = points.list.iter().map(values).collect();
            let seeds: Vec<u64> = match points.list.first() {
                Some(point) => file.seeds()?.into_iter().map(|seed| number(seed, point)).collect(),
                None => Vec::new(),
            };
            Ok(json!({ "points": list, "seeds": seeds, "warnings": points.warnings() }).to_string())
        })
    }
    /// Runs an experiment to its end. `seed`: the first of the scenario's by default; `point`: which experiment of a sweep, counted
    /// from 0; `digest`: whether to compute that of its records, which may take as long as the run. Returns as JSON its figures and
    /// the verdict of the judge.
    ///
    /// # Errors
    /// All that is wrong with the scenario.
    pub fn run(&self, seed: Option<u64>, point: usize, digest: bool) -> Result<String, Faults> {
        self.at(seed, point, |point, seed, warnings| {
            let options = Options { digest, ..Options::default() };
            let outcome = run(&point.scenario, seed, &ContactsCache::default(), &options)?;
            // Figures are JSON.
            let figures: Value = serde_json::from_str(&outcome.figures.json()).unwrap_or_default();
            let shown: Vec<&String> = outcome.violations.iter().take(SHOWN).collect();
            Ok(json!({
                "scenario": point.scenario.head().name,
                "seed": number(seed, &point),
                "version": lightlag_lab::VERSION,
                "figures": figures,
                "violations": shown,
                "violations_total": outcome.violations_total,
                "warnings": warnings,
                "digest": outcome.digest,
            })
            .to_string())
        })
    }
    /// The same experiment at time zero, to be played step by step.
    ///
    /// # Errors
    /// All that is wrong with the scenario.
    pub fn play(&self, seed: Option<u64>, point: usize, purpose: Purpose) -> Result<Playing, Faults> {
        self.at(seed, point, |mut point, seed, _| {
            if let (Purpose::Drawing, Scenario::Bundles(network)) = (purpose, &mut point.scenario) {
                network.record_positions();
            }
            Playing::new(point.scenario, seed, purpose)
        })
    }
    /// The map on which nodes move.
    ///
    /// # Errors
    /// All that is wrong with the scenario.
    pub fn streets(&self, point: usize) -> Result<Streets, Faults> {
        self.at(None, point, |point, _, _| match point.scenario.bundles() {
            Some(network) => network.streets(),
            None => Ok(Streets::default()),
        })
    }
    fn at<T>(
        &self,
        seed: Option<u64>,
        point: usize,
        work: impl FnOnce(Point, Seed, Vec<String>) -> lightlag_scenario::Result<T>,
    ) -> Result<T, Faults> {
        let made = self.within(|file| {
            let mut points = file.points()?;
            let warnings = points.warnings();
            if point >= points.list.len() {
                return Ok(Err(points.list.len()));
            }
            let seed = match seed {
                Some(number) => Seed::Number(number),
                None => file.seeds()?.first().copied().unwrap_or(Seed::Own),
            };
            work(points.list.swap_remove(point), seed, warnings).map(Ok)
        })?;
        made.map_err(|count| {
            Faults::of(
                &format!("there is no experiment {point}"),
                &format!("choose one of 0 to {}", count - 1),
            )
        })
    }
    fn within<T>(
        &self,
        work: impl FnOnce(ScenarioFile) -> lightlag_scenario::Result<T>,
    ) -> Result<T, Faults> {
        let folder = Path::new(&self.name).parent().unwrap_or(Path::new("")).to_owned();
        let made = self.files.within(|| {
            let catalogue = Catalogue::default().into();
            let mut file = ScenarioFile::from_toml(&self.name, &self.text, folder, catalogue)?;
            self.set.iter().try_for_each(|(path, value)| file.set(path, value))?;
            work(file)
        });
        made.map_err(|error| Faults::new(error, &self.name, &self.text))
    }
}

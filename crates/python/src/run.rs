//! One run.

use crate::error::scenario_error;
use crate::hooks::catching;
use crate::interrupt::interruptible;
use lightlag_capture::Where;
use lightlag_lab::explain::{self, Asked, Explanation};
use lightlag_lab::metrics::{Number, RunName};
use lightlag_lab::results::Build;
use lightlag_lab::run::{self, ContactsCache, Options, Progress};
use lightlag_scenario::{Error, Place, Point, Seed};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// Contacts of runs of this program: scripts run many mechanisms under the same seeds.
pub static CACHE: LazyLock<ContactsCache> = LazyLock::new(ContactsCache::default);

/// What to make of a run beside its figures.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    judge: bool,
    reports: bool,
    series: bool,
    trace: Option<PathBuf>,
    capture: Option<String>,
}

/// Runs a scenario with a seed; other threads of Python run meanwhile. `watch` is called now and then with how far the run has
/// come and how long it lasts, in seconds.
///
/// # Errors
/// What is wrong with the scenario, the exception of a hook or of `watch`, or what a handler of signals raised.
pub fn run(
    py: Python<'_>,
    point: &Arc<Point>,
    seed: Seed,
    wanted: Wanted,
    watch: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let Wanted { judge, reports, series, trace, capture } = wanted;
    let capture = capture.as_deref().map_or_else(Where::default, Where::parse);
    let traces = trace.into_iter().collect();
    let progress = Progress::default();
    let shown = Some(progress.clone());
    let options = Options { judge, reports, series, traces, capture, progress: shown, ..Options::default() };
    let running = point.clone();
    let work = move || catching(|| run::run(&running.scenario, seed, &CACHE, &options));
    let head = point.scenario.head();
    let lasts_s = head.duration.as_secs_f64();
    let watched = progress.clone();
    let tell = |py: Python<'_>| match &watch {
        None => Ok(()),
        Some(watch) => watch.call1(py, (watched.now().as_secs_f64(), lasts_s)).map(drop),
    };
    let mut outcome = interruptible(py, &progress, tell, work)??.map_err(scenario_error)?;
    let (scenario, seed) = (head.name.clone(), head.seed_number(seed));
    outcome.figures.run = Some(RunName { scenario, seed, build: Build::this() });
    Ok(Outcome { seed, outcome })
}

/// What `explain` reports of a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AskedOf {
    bundle: Option<BundleKey>,
    all: bool,
    lost: bool,
    why: bool,
}

/// Which bundle.
#[derive(FromPyObject)]
enum BundleKey {
    Number(u32),
    Name(String),
}

impl AskedOf {
    /// What that is; `named` finds the number of a bundle.
    fn resolved(self, named: impl FnOnce(&str) -> PyResult<u32>) -> PyResult<Asked> {
        Ok(match self {
            Self { bundle: Some(key), all, .. } => {
                let id = match key {
                    BundleKey::Number(id) => id,
                    BundleKey::Name(name) => named(&name)?,
                };
                if all { Asked::AllCopies(id) } else { Asked::Bundle(id) }
            }
            Self { lost: true, .. } => Asked::Lost,
            Self { why: true, .. } => Asked::Why,
            _ => Asked::Summary,
        })
    }
}

/// Text and JSON of an explanation.
pub type Explained = (String, String);

fn explained(made: lightlag_scenario::Result<Explanation>) -> PyResult<Explained> {
    let made = made.map_err(scenario_error)?;
    Ok((made.text, made.json.to_string()))
}

/// Runs a scenario with a seed and explains the run.
///
/// # Errors
/// What is wrong with the scenario, or the exception of a hook.
pub fn explain(py: Python<'_>, point: &Arc<Point>, seed: Seed, asked: AskedOf) -> PyResult<Explained> {
    let named = |name: &str| explain::bundle_of_name(&point.scenario, seed, name).map_err(scenario_error);
    let name = match &asked.bundle {
        Some(BundleKey::Name(name)) => Some(name.clone()),
        _ => None,
    };
    let asked = asked.resolved(named)?;
    let (progress, running) = (Progress::default(), point.clone());
    let shown = Some(progress.clone());
    let work = move || catching(|| explain::of_run(&running.scenario, seed, &CACHE, asked, shown));
    let made = interruptible(py, &progress, |_| Ok(()), work)??;
    explained(made.map(|made| match &name {
        Some(name) => made.of_name(name),
        None => made,
    }))
}

/// Explains the run of a trace: a file or a folder with one.
///
/// # Errors
/// What is wrong with it.
#[pyfunction]
pub fn explain_trace(py: Python<'_>, path: PathBuf, asked: AskedOf) -> PyResult<Explained> {
    let place = Place::File(path.display().to_string().as_str().into());
    let asked = asked.resolved(|_| {
        let error = Error::new(&place, "bundle: a trace numbers its bundles", "give a number, from 0 on");
        Err(scenario_error(error))
    })?;
    explained(py.detach(|| explain::of_trace(&path, asked)))
}

/// Figures by name.
type Told = Vec<(&'static str, Py<PyAny>)>;

/// Counts are whole numbers.
fn told(py: Python<'_>, numbers: &[(&'static str, Number)]) -> PyResult<Told> {
    let told = |&(name, number): &(&'static str, Number)| match number {
        Number::Count(count) => Ok((name, count.into_py_any(py)?)),
        Number::Real(real) => Ok((name, real.into_py_any(py)?)),
    };
    numbers.iter().map(told).collect()
}

/// The outcome of a run.
#[pyclass(frozen, module = "lightlag._lightlag")]
pub struct Outcome {
    seed: u64,
    outcome: run::Outcome,
}

#[pymethods]
impl Outcome {
    /// The number that the seed stands for.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }
    /// The figures by name: counts are whole numbers.
    fn numbers(&self, py: Python<'_>) -> PyResult<Told> {
        told(py, &self.outcome.figures.numbers)
    }
    /// Those of each flow, consumer or node, where there are any: its kind, its name, its figures.
    fn parts(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String, Told)>> {
        let parts = self.outcome.figures.parts.iter();
        parts.map(|part| Ok((part.kind, part.name.clone(), told(py, &part.numbers)?))).collect()
    }
    /// The figures as the command line prints them.
    fn json(&self) -> String {
        self.outcome.figures.json()
    }
    /// Why it created or delivered nothing, if so.
    fn why(&self) -> Option<String> {
        self.outcome.figures.why.clone()
    }
    fn latencies_s(&self) -> Vec<f64> {
        self.outcome.figures.latencies.iter().map(|delay| delay.as_secs_f64()).collect()
    }
    /// The first violations that the judge found.
    fn violations(&self) -> Vec<String> {
        self.outcome.violations.clone()
    }
    /// How many it found in all.
    fn violations_total(&self) -> u64 {
        self.outcome.violations_total
    }
    /// The ONE's report files: path and text.
    fn reports(&self) -> Vec<(PathBuf, String)> {
        self.outcome.reports.clone()
    }
    /// The time series as a Parquet file.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(series) = &self.outcome.series else { return Ok(None) };
        let mut bytes = Vec::new();
        series.write_parquet(&mut bytes).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Some(PyBytes::new(py, &bytes)))
    }
}

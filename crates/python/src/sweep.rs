//! Sweeps and their comparison.

use crate::error::{compare_error, results_error, scenario_error, sweep_error};
use crate::hooks::catching;
use crate::interrupt::{attached, counting, interruptible};
use crate::run::CACHE;
use crate::scenario::{ScenarioFile, seed};
use lightlag_lab::compare::{self, Asked, Difference};
use lightlag_lab::results::{Build, Metrics, Results, Row};
use lightlag_lab::run::Progress;
use lightlag_lab::statistics::Estimate;
use lightlag_lab::sweep::{self as lab, Shard};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// All runs of a scenario.
#[pyclass(frozen, module = "lightlag._lightlag")]
pub struct Plan(Arc<lab::Plan>);

#[pymethods]
impl Plan {
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &ScenarioFile,
        text: &str,
        seeds: Vec<Option<u64>>,
        code: &str,
    ) -> PyResult<Self> {
        let file = scenario.known();
        let seeds: Vec<_> = seeds.into_iter().map(seed).collect();
        py.detach(|| lab::Plan::new(&file, text, &seeds))
            .map(|plan| Self(Arc::new(plan.with_code(code))))
            .map_err(scenario_error)
    }
    /// Does what is missing in a folder, on this many threads; gives how many violations the judge found. `watch` is called now
    /// and then with how many of the missing runs are done, and how many there are.
    fn sweep(
        &self,
        py: Python<'_>,
        out: PathBuf,
        threads: usize,
        judge: bool,
        shard: Option<&str>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        let shard = shard.map(Shard::parse).transpose().map_err(scenario_error)?;
        let (plan, stop) = (self.0.clone(), Progress::default());
        let stopping = stop.clone();
        let work = move || {
            catching(|| plan.run_until(&out, shard, threads, judge, Some(&stopping), &|run| attached(run)))
        };
        let done = interruptible(py, &stop, counting(&stop, watch), work)?;
        Ok(done?.map_err(sweep_error)?.violations)
    }
    /// Does runs, and gives what each measured.
    fn run(&self, py: Python<'_>, positions: Vec<usize>, judge: bool) -> PyResult<Vec<(usize, Named)>> {
        let one = |position: usize| Ok((position, named(self.0.measured(position, judge, &CACHE)?)));
        let all = || positions.into_iter().map(one).collect::<lightlag_scenario::Result<Vec<_>>>();
        py.detach(|| catching(all))?.map_err(scenario_error)
    }
    /// Opens a folder for what the runs measure.
    fn open(slf: Bound<'_, Self>, out: PathBuf, shard: Option<&str>) -> PyResult<Folder> {
        let shard = shard.map(Shard::parse).transpose().map_err(scenario_error)?;
        let open = slf.get().0.open(&out, shard).map_err(sweep_error)?;
        Ok(Folder { plan: slf.unbind(), out, shard, open: Some(open) })
    }
}

/// A sweep's folder while runs come in.
#[pyclass(module = "lightlag._lightlag")]
pub struct Folder {
    plan: Py<Plan>,
    out: PathBuf,
    shard: Option<Shard>,
    open: Option<lab::Open>,
}

#[pymethods]
impl Folder {
    /// The runs that are not done yet.
    fn missing(&self) -> Vec<usize> {
        self.open.as_ref().map_or_else(Vec::new, |open| open.missing().to_vec())
    }
    /// Keeps what a run has measured.
    fn add(&mut self, position: usize, metrics: Named) -> PyResult<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        self.plan.get().0.add(open, position, from_named(metrics)).map_err(sweep_error)
    }
    /// Writes the tables; gives how many violations the judge found.
    fn finish(&mut self, py: Python<'_>) -> PyResult<u64> {
        let Some(open) = self.open.take() else { return Ok(0) };
        let plan = &self.plan.get().0;
        let done = py.detach(|| plan.finish(open, &self.out, self.shard));
        Ok(done.map_err(sweep_error)?.violations)
    }
}

/// Metrics by name.
type Named = Vec<(String, f64)>;

fn named(metrics: Metrics) -> Named {
    metrics.into_iter().map(|(name, number)| (name.to_string(), number)).collect()
}

fn from_named(metrics: Named) -> Metrics {
    metrics.into_iter().map(|(name, number)| (name.into(), number)).collect()
}

/// A run of a table: point, seed, values of the scenario, measured numbers.
type Run = (usize, u64, Vec<(String, String)>, Named);

/// Mean, lower and upper end of its 95% interval, number of runs.
type Told = (f64, Option<f64>, Option<f64>, usize);

/// Values of the scenario, metric, first sweep, second sweep, second minus first, its share of the first, corrected p.
type Compared =
    (Vec<(String, String)>, String, Option<Told>, Option<Told>, Option<Told>, Option<f64>, Option<f64>);

/// Checks what all processes of a sweep have run and writes it as one table; gives how many runs are missing.
///
/// # Errors
/// Files that do not fit together, or that cannot be written.
#[pyfunction]
pub fn merge(py: Python<'_>, folder: PathBuf) -> PyResult<usize> {
    py.detach(|| lightlag_lab::sweep::merge(&folder)).map(|results| results.missing).map_err(sweep_error)
}

/// The table of a folder as a Parquet file: the union of what all processes have run; `any`: also that of a single run, of
/// `run --out` or `run --json`.
///
/// # Errors
/// Why it cannot be read.
#[pyfunction]
pub fn read_results<'py>(py: Python<'py>, path: PathBuf, any: bool) -> PyResult<Bound<'py, PyBytes>> {
    let read = || if any { Results::read_any(&path) } else { Results::read(&path) };
    let bytes = py.detach(|| read().and_then(|results| results.parquet()));
    Ok(PyBytes::new(py, &bytes.map_err(results_error)?))
}

/// Compares two tables at the points that belong together, or one at the values of an axis. `metrics`: empty for the
/// headlines, `all` alone for all.
///
/// # Errors
/// Nothing in them can be compared.
#[pyfunction]
#[pyo3(signature = (first, second, by, base, metrics))]
pub fn compare_runs(
    py: Python<'_>,
    first: Vec<Run>,
    second: Vec<Run>,
    by: Option<&str>,
    base: Option<&str>,
    metrics: Vec<String>,
) -> PyResult<Vec<Compared>> {
    let asked = Asked::from(metrics);
    py.detach(|| {
        let (first, second) = match by {
            Some(axis) => compare::by(&results(first), axis, base).map_err(compare_error)?,
            None => (results(first), results(second)),
        };
        let compared = compare::compare(&first, &second, &asked).map_err(compare_error)?;
        Ok(compared.differences.into_iter().map(difference).collect())
    })
}

fn results(runs: Vec<Run>) -> Results {
    let row = |(point, seed, values, metrics): Run| Row { point, seed, values, metrics: from_named(metrics) };
    Results {
        build: Build::this(),
        scenario: String::new(),
        rows: runs.into_iter().map(row).collect(),
        missing: 0,
    }
}

fn difference(made: Difference) -> Compared {
    let difference = made.paired.map(|paired| told(paired.difference));
    (made.values, made.metric, made.first.map(told), made.second.map(told), difference, made.change, made.p)
}

fn told(estimate: Estimate) -> Told {
    (estimate.mean, estimate.low(), estimate.high(), estimate.n)
}

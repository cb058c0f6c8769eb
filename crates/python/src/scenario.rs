//! Scenarios as they are written, and the points of their sweeps.

use crate::algorithms::catalogue;
use crate::error::{ScenarioError, scenario_error};
use crate::run::{AskedOf, Explained, Outcome, Wanted};
use lightlag_scenario::{Scenario, Seed};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario as it was written.
#[pyclass(module = "lightlag._lightlag")]
#[derive(Clone)]
pub struct ScenarioFile {
    file: lightlag_scenario::ScenarioFile,
}

#[pymethods]
impl ScenarioFile {
    /// From TOML text; `folder` is what its file names are relative to.
    #[staticmethod]
    fn from_toml(name: &str, text: &str, folder: PathBuf) -> PyResult<Self> {
        let file = lightlag_scenario::ScenarioFile::from_toml(name, text, folder, catalogue());
        file.map(|file| Self { file }).map_err(scenario_error)
    }
    /// From a TOML file, or from layers of The ONE's settings.
    #[staticmethod]
    fn read(paths: Vec<PathBuf>, defaults: bool) -> PyResult<Self> {
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let file = lightlag_scenario::ScenarioFile::read_with(&paths, catalogue(), defaults);
        file.map(|file| Self { file }).map_err(scenario_error)
    }
    fn set(&mut self, key: &str, value: &str) -> PyResult<()> {
        self.file.set(key, value).map_err(scenario_error)
    }
    fn copy(&self) -> Self {
        self.clone()
    }
    /// The seeds that it asks for; `None` is the run that settings of The ONE describe.
    fn seeds(&self) -> PyResult<Vec<Option<u64>>> {
        let seeds = self.file.seeds().map_err(scenario_error)?;
        Ok(seeds.into_iter().map(number).collect())
    }
    /// Place, key and reason of each setting that nothing reads.
    fn ignored(&self) -> PyResult<Vec<(String, String, &'static str)>> {
        let ignored = self.known().points().map_err(scenario_error)?.ignored.into_iter();
        Ok(ignored.map(|ignored| (ignored.place.to_string(), ignored.key, ignored.reason)).collect())
    }
    /// All that the user must know of the scenario, a line each.
    fn warnings(&self) -> PyResult<Vec<String>> {
        Ok(self.known().points().map_err(scenario_error)?.every_warning())
    }
    /// How each recorded trace of contacts was read, a line each.
    fn notes(&self) -> PyResult<Vec<String>> {
        Ok(self.known().points().map_err(scenario_error)?.notes())
    }
    /// What was read, and what was set since.
    fn text(&self) -> String {
        let read =
            self.file.sources().iter().map(|source| String::from_utf8_lossy(&source.bytes).into_owned());
        let set = self.file.overrides().iter().map(|(key, value)| format!("# --set {key}={value}\n"));
        read.chain(set).collect()
    }
    /// A point of The ONE's settings in TOML, with file names relative to `folder`.
    fn to_toml(&self, point: usize, folder: &str) -> PyResult<String> {
        let points = self.known().points().map_err(scenario_error)?;
        let count = points.list.len();
        let Some(chosen) = points.list.get(point) else {
            let told = format!("point {point}: the scenario has points 0 to {}", count.saturating_sub(1));
            return Err(ScenarioError::new_err(told));
        };
        self.file.to_toml(&points, chosen, Path::new(folder)).map_err(scenario_error)
    }
    fn is_the_one(&self) -> bool {
        self.file.is_the_one()
    }
    /// The points that make sense, and of the others their values and what is wrong.
    fn points(&self, py: Python<'_>) -> PyResult<(Vec<Point>, Vec<LeftOut>)> {
        let points = py.detach(|| self.known().points()).map_err(scenario_error)?;
        let list = points.list.into_iter().map(|point| Point(Arc::new(point))).collect();
        let skipped = points.skipped.into_iter().map(|one| (one.values, one.reason.to_string()));
        Ok((list, skipped.collect()))
    }
}

/// The JSON Schema of scenarios in TOML, with the algorithms that are known by now.
#[pyfunction]
pub fn schema() -> String {
    lightlag_scenario::schema(&catalogue()).to_string()
}

type Values = Vec<(String, String)>;
/// The values of a point that makes no sense, and why.
type LeftOut = (Values, String);

impl ScenarioFile {
    /// With the algorithms that are known by now: a class may be registered after a scenario was read.
    pub fn known(&self) -> lightlag_scenario::ScenarioFile {
        self.file.clone().with_catalogue(catalogue())
    }
}

/// A seed from Python; `None` is the run that settings of The ONE describe.
pub fn seed(number: Option<u64>) -> Seed {
    number.map_or(Seed::Own, Seed::Number)
}

fn number(seed: Seed) -> Option<u64> {
    match seed {
        Seed::Own => None,
        Seed::Number(number) => Some(number),
    }
}

/// One experiment of a sweep.
#[pyclass(frozen, module = "lightlag._lightlag")]
pub struct Point(pub Arc<lightlag_scenario::Point>);

#[pymethods]
impl Point {
    #[getter]
    fn name(&self) -> &str {
        &self.0.scenario.head().name
    }
    #[getter]
    fn values(&self) -> Values {
        self.0.values.clone()
    }
    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.scenario.head().duration.as_secs_f64()
    }
    /// The names of the nodes, by number; of packets in the order of the links.
    #[getter]
    fn nodes(&self) -> Vec<String> {
        match &self.0.scenario {
            Scenario::Bundles(network) => network.node_names().map(str::to_owned).collect(),
            Scenario::Names(network) => network.nodes.iter().map(|node| node.name.clone()).collect(),
            Scenario::Packets(network) => {
                let mut known = BTreeSet::new();
                let ends = network.links.iter().flat_map(|link| [&link.from, &link.to]);
                ends.filter(|name| known.insert(*name)).cloned().collect()
            }
        }
    }
    /// Runs it; other threads of Python run meanwhile.
    fn run(
        &self,
        py: Python<'_>,
        number: Option<u64>,
        wanted: Wanted,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Outcome> {
        crate::run::run(py, &self.0, seed(number), wanted, progress)
    }
    /// Runs it and explains the run: text and JSON.
    fn explain(&self, py: Python<'_>, number: Option<u64>, asked: AskedOf) -> PyResult<Explained> {
        crate::run::explain(py, &self.0, seed(number), asked)
    }
}

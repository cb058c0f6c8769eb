//! What no mechanism and router can exceed.

use crate::error::{results_error, scenario_error};
use crate::interrupt::{counting, interruptible};
use crate::scenario::{ScenarioFile, seed};
use lightlag_lab::bound;
use lightlag_lab::run::Progress;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The bounds of a scenario under seeds as a Parquet file. `watch` is called now and then with how many are computed, and how
/// many there are.
///
/// # Errors
/// What is wrong with the scenario.
#[pyfunction]
#[pyo3(signature = (scenario, text, seeds, watch))]
pub fn bounds<'py>(
    py: Python<'py>,
    scenario: &ScenarioFile,
    text: String,
    seeds: Vec<Option<u64>>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let file = scenario.known();
    let seeds: Vec<_> = seeds.into_iter().map(seed).collect();
    let progress = Progress::default();
    let watched = progress.clone();
    let work = move || bound::table(&file, &text, &seeds, Some(&watched));
    let table = interruptible(py, &progress, counting(&progress, watch), work)?.map_err(scenario_error)?;
    Ok(PyBytes::new(py, &table.results.parquet().map_err(results_error)?))
}

//! The page with runs in it.

use crate::algorithms::catalogue;
use crate::error::scenario_error;
use crate::hooks::catching;
use crate::interrupt::attached;
use crate::scenario::ScenarioFile;
use lightlag_lab::explain::is_trace;
use lightlag_lab::view::{self, Chosen};
use lightlag_page::{frame, with_sources};
use pyo3::prelude::*;
use std::path::PathBuf;

/// What the page shows.
#[pyclass(frozen, module = "lightlag._lightlag")]
pub struct Source(lightlag_page::Source);

type Sources = Vec<Source>;

fn all(sources: lightlag_scenario::Result<Vec<lightlag_page::Source>>) -> PyResult<Sources> {
    Ok(sources.map_err(scenario_error)?.into_iter().map(Source).collect())
}

/// Runs of a scenario; with algorithms in Python, their traces.
///
/// # Errors
/// What is wrong with the scenario, or the exception of a hook.
#[pyfunction]
#[pyo3(signature = (scenario, seed, point))]
pub fn view_scenario(
    py: Python<'_>,
    scenario: &ScenarioFile,
    seed: Option<u64>,
    point: Option<usize>,
) -> PyResult<Sources> {
    let file = scenario.known();
    let chosen = Chosen { seed, point };
    let work = || attached(|| catching(|| view::of_scenario(&file, chosen, None)));
    all(py.detach(work)?)
}

/// Runs of a folder of results, a trace, or a scenario.
///
/// # Errors
/// What is wrong with it.
#[pyfunction]
#[pyo3(signature = (path, seed, point))]
pub fn view_path(
    py: Python<'_>,
    path: PathBuf,
    seed: Option<u64>,
    point: Option<usize>,
) -> PyResult<Sources> {
    let chosen = Chosen { seed, point };
    let read = || {
        if view::is_results(&path) {
            return view::of_folder(&path, chosen);
        }
        if is_trace(&path) {
            return view::of_trace(&path).map(|source| vec![source]);
        }
        let file = lightlag_scenario::ScenarioFile::read_with(&[path.as_path()], catalogue(), true)?;
        view::of_scenario(&file, chosen, None)
    };
    all(py.detach(|| attached(|| catching(read)))?)
}

/// One HTML file with these in it.
#[pyfunction]
pub fn view_page(sources: Vec<PyRef<'_, Source>>) -> String {
    with_sources(&sources.iter().map(|source| source.0.clone()).collect::<Vec<_>>())
}

/// The page in a frame, of this height in CSS.
#[pyfunction]
pub fn view_frame(page: &str, height: &str) -> String {
    frame(page, height)
}

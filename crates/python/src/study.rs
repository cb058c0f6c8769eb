//! Studies of papers.

use crate::error::{ScenarioError, results_error};
use crate::interrupt::{counting, interruptible};
use lightlag_lab::report::{Figure, Table};
use lightlag_lab::run::Progress;
use lightlag_studies::{Error, Order, STUDIES, Studied, find};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};

/// Every study: name, paper, what it shows, how long it takes.
#[pyfunction]
pub fn studies() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    STUDIES.iter().map(|study| (study.name, study.paper, study.summary, study.takes)).collect()
}

/// A finished study.
#[derive(IntoPyObject)]
pub struct Finished<'py> {
    text: String,
    html: String,
    /// A JSON list.
    claims: String,
    /// Name, heading, caption, specification in JSON.
    figures: Vec<(String, String, String, String)>,
    /// Heading, heads of columns, rows.
    tables: Vec<(String, Vec<String>, Vec<Vec<String>>)>,
    /// A Parquet file.
    runs: Bound<'py, PyBytes>,
    warnings: Vec<String>,
    violations: u64,
}

/// Runs a study, or what an interrupted one left to do in the folder. `watch` is called now and then with how many of its runs
/// are done, and how many there are.
///
/// # Errors
/// There is no such study, the folder cannot be used, or a run failed.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (name, quick, controller, seed, out, threads, watch))]
pub fn study<'py>(
    py: Python<'py>,
    name: &str,
    quick: bool,
    controller: Option<String>,
    seed: Option<u64>,
    out: PathBuf,
    threads: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<Finished<'py>> {
    let study = find(name).map_err(ScenarioError::new_err)?;
    if let Some((option, why)) = study.refused(controller.as_deref(), seed) {
        return Err(ScenarioError::new_err(format!("{option}: {why}")));
    }
    let progress = Progress::default();
    let watched = progress.clone();
    let work = move || {
        make(&out)?;
        let controller = controller.as_deref();
        let order = Order { quick, real: false, controller, seed, out: &out, threads, watch: Some(&watched) };
        let done = study.run(&order)?;
        done.write(&out).map(|()| done)
    };
    let done = interruptible(py, &progress, counting(&progress, watch), work)?;
    finished(py, done.map_err(|error| ScenarioError::new_err(error.to_string()))?)
}

fn make(out: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(out).map_err(|why| Error::Disk(out.display().to_string(), why))
}

fn finished(py: Python<'_>, done: Studied) -> PyResult<Finished<'_>> {
    let runs = PyBytes::new(py, &done.results.parquet().map_err(results_error)?);
    let (text, html, violations) = (done.terminal(), done.report.html(), done.violations);
    let figure = |made: Figure| (made.id, made.title, made.caption, made.specification.to_string());
    let table = |made: Table| (made.title, made.head, made.rows);
    Ok(Finished {
        text,
        html,
        claims: serde_json::json!(done.report.claims).to_string(),
        figures: done.report.figures.into_iter().map(figure).collect(),
        tables: done.report.tables.into_iter().map(table).collect(),
        runs,
        warnings: done.report.warnings,
        violations,
    })
}

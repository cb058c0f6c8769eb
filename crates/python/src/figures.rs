//! Figures as Vega-Lite specifications, in JSON, from the one place that makes them.

use crate::error::results_error;
use lightlag_lab::figure::{self, Mark, Place, Plot, Title};
use lightlag_lab::report;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::estimate;
use lightlag_protocols::units::parse;
use lightlag_studies::comparative;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// What a figure shows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Shown {
    title: String,
    x: String,
    y: String,
    series: String,
    baseline: Option<String>,
    columns: usize,
    shared_y: bool,
    marks: Vec<ShownMark>,
}

/// Where, which series, which panel, the values of all runs.
pub type ShownMark = (Where, String, Option<String>, Vec<f64>);

/// A number or a name.
#[derive(FromPyObject)]
pub enum Where {
    At(f64),
    Named(String),
}

/// Curves with error bars over a numeric axis.
#[pyfunction]
pub fn lines(shown: Shown) -> String {
    figure::lines(&plot(shown)).to_string()
}

/// Groups of bars with error bars.
#[pyfunction]
pub fn bars(shown: Shown) -> String {
    figure::bars(&plot(shown)).to_string()
}

/// Quantities of one kind as numbers in the unit of the first, and that unit; `None`: they are not of one kind.
#[pyfunction]
pub fn in_one_unit(texts: Vec<String>) -> Option<(Vec<f64>, String)> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    parse::in_one_unit(&texts).map(|(numbers, unit)| (numbers, unit.to_owned()))
}

fn plot(shown: Shown) -> Plot {
    Plot {
        title: shown.title,
        x: Title::plain(&shown.x),
        y: Title::plain(&shown.y),
        series: Title::plain(&shown.series),
        baseline_series: shown.baseline,
        columns: shown.columns,
        shared_y: shown.shared_y,
        marks: shown.marks.into_iter().filter_map(mark).collect(),
    }
}

/// Nothing where no run has a value.
fn mark((x, series, panel, values): ShownMark) -> Option<Mark> {
    let x = match x {
        Where::At(number) => Place::At(number),
        Where::Named(name) => Place::Named(name),
    };
    Some(Mark { x, series, panel, value: estimate(&values)?, baseline: None })
}

/// The figures of the study of DTN congestion control from a sweep's folder: id, title, caption,
/// specification.
///
/// # Errors
/// No table of results is there.
#[pyfunction]
pub fn study_figures(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(String, String, String, String)>> {
    py.detach(|| {
        let results = Results::read(&folder).map_err(results_error)?;
        let figures = comparative::figures(&results).into_iter();
        let told = |made: report::Figure| (made.id, made.title, made.caption, made.specification.to_string());
        Ok(figures.map(told).collect())
    })
}

/// A chart of Vega-Lite as an HTML file that works without a network.
///
/// # Errors
/// The specification is not JSON.
#[pyfunction]
pub fn chart_html(title: &str, specification: &str) -> PyResult<String> {
    let read = serde_json::from_str(specification);
    let specification = read.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(report::chart(title, &specification))
}

/// The report of a sweep's folder, an HTML file that works without a network.
///
/// # Errors
/// No table of results is there.
#[pyfunction]
pub fn report_html(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    py.detach(|| Ok(report::of_sweep(&Results::read(&folder).map_err(results_error)?).html()))
}

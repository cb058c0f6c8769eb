//! Errors of the lab as exceptions.

use lightlag_lab::{compare, results, sweep};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    lightlag,
    ScenarioError,
    PyValueError,
    "What is wrong with an input, where, and what would be right: always one line."
);

/// What is wrong with a scenario.
pub fn scenario_error(error: lightlag_scenario::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// What is wrong with a table of results.
pub fn results_error(error: results::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// Why two sweeps cannot be compared.
pub fn compare_error(error: compare::Error) -> PyErr {
    ScenarioError::new_err(format!("compare: {error}"))
}

/// Why a sweep stopped.
pub fn sweep_error(error: sweep::Error) -> PyErr {
    match error {
        sweep::Error::Threads(_) => PyRuntimeError::new_err(error.to_string()),
        _ => ScenarioError::new_err(error.to_string()),
    }
}

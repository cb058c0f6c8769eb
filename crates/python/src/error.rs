//! Errors of the lab as exceptions.

use lightlag_lab::{results, scenario, sweep};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    lightlag,
    ScenarioError,
    PyValueError,
    "What is wrong with a scenario, where, and what would be right: always one line."
);

/// What is wrong with a scenario.
pub fn scenario_error(error: scenario::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// What is wrong with a table of results.
pub fn results_error(error: results::Error) -> PyErr {
    match error {
        results::Error::File { .. } => PyOSError::new_err(error.to_string()),
        results::Error::Foreign { .. } => PyValueError::new_err(error.to_string()),
    }
}

/// Why a sweep stopped.
pub fn sweep_error(error: sweep::Error) -> PyErr {
    use sweep::Error;
    match error {
        Error::Results(error) => results_error(error),
        Error::Run { .. } => ScenarioError::new_err(error.to_string()),
        Error::IsFile(_) | Error::Occupied(_) | Error::Disk { .. } | Error::Busy(_) => {
            PyOSError::new_err(error.to_string())
        }
        Error::OtherSweep { .. } | Error::Damaged { .. } => PyValueError::new_err(error.to_string()),
        Error::Threads(_) => PyRuntimeError::new_err(error.to_string()),
    }
}

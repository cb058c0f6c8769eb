//! Carries a Python exception through a world, whose hooks cannot fail.
//!
//! A hook that raises unwinds the world, which is not used again. The unwinding starts without a panic,
//! so nothing is printed, and ends at [`catching`], which hands the exception to the caller of the run.

use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

struct Raised(PyErr);

/// Ends the run with an exception; `where_` says in which hook it was raised.
pub fn raise(error: PyErr, where_: impl FnOnce() -> String) -> ! {
    Python::attach(|py| {
        // Python 3.10 has no notes: there the traceback alone names the hook.
        let _ = error.value(py).call_method1("add_note", (where_(),));
    });
    resume_unwind(Box::new(Raised(error)))
}

/// Runs a world.
///
/// # Errors
/// The exception that one of its hooks raised.
pub fn catching<R>(world: impl FnOnce() -> R) -> PyResult<R> {
    // The world is gone after an exception: nothing half-done is seen.
    catch_unwind(AssertUnwindSafe(world)).map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(bug) => resume_unwind(bug),
    })
}

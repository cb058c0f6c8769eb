//! Work that Ctrl-C ends at once.

use lightlag_lab::run::Progress;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Time between two looks of Python at its signals and at how far a run has come.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long work that was stopped may take to end before it is left to itself.
const GRACE: Duration = Duration::from_millis(100);

/// Works on another thread, so that this one hears of Ctrl-C. Then a run stops at its next record; what has none for a
/// while, such as contacts that are being computed, continues unseen until it has.
///
/// # Errors
/// What a handler of signals raised, or `watch`, which is called now and then, and once when the work is done.
pub fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    progress: &Progress,
    mut watch: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let (done, result) = mpsc::channel();
    // The receiver may be gone.
    let work = move || attached(work);
    let worker = std::thread::spawn(move || drop(done.send(work())));
    py.detach(move || {
        loop {
            match result.recv_timeout(LOOK_EVERY) {
                Ok(result) => return Python::attach(&mut watch).map(|()| result),
                Err(RecvTimeoutError::Timeout) => {
                    let looked = Python::attach(|py| py.check_signals().and_then(|()| watch(py)));
                    if let Err(raised) = looked {
                        progress.stop();
                        let _ = result.recv_timeout(GRACE);
                        return Err(raised);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Ok(()) => unreachable!("the worker sends before it ends"),
                    Err(bug) => std::panic::resume_unwind(bug),
                },
            }
        }
    })
}

/// Works on a thread that Python knows meanwhile: it would set up what it keeps of a thread, with system calls, for each hook that
/// is called.
pub fn attached<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    Python::attach(|py| py.detach(work))
}

/// A watcher of a sweep: calls `watch` with how many of its runs are done, and how many there are.
pub fn counting(
    progress: &Progress,
    watch: Option<Py<PyAny>>,
) -> impl FnMut(Python<'_>) -> PyResult<()> + Send + use<> {
    let progress = progress.clone();
    move |py| match (&watch, progress.runs()) {
        (Some(watch), (done, all)) if all > 0 => watch.call1(py, (done, all)).map(drop),
        _ => Ok(()),
    }
}

//! What a node knows when a hook is called, shown to Python without copying the buffer.
//!
//! Python may keep any object for ever; [`Local`] is borrowed for one call. So Python gets a ticket with
//! the number of the call, and the borrow waits in a variable of the thread that is set during the call
//! only: a ticket that comes late finds nothing, or a call of another number, and raises.

use super::facts::{Kind, Link, Replica, seconds, show};
use lightlag_protocols::dtn::{BundleId, Local};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use scoped_tls_hkt::scoped_thread_local;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy)]
struct Shown<'a> {
    local: &'a Local<'a>,
    kind: Kind,
    call: u64,
}

scoped_thread_local!(static SHOWN: for<'a> Shown<'a>);

/// Over all threads, so that a ticket fits one call of one thread.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Shows `local` to Python while `hook` runs.
pub fn showing<R>(
    local: &Local,
    kind: Kind,
    hook: impl FnOnce(Python<'_>, Bound<'_, LocalView>) -> PyResult<R>,
) -> PyResult<R> {
    let ticket = Ticket(CALLS.fetch_add(1, Ordering::Relaxed));
    SHOWN.set(Shown { local, kind, call: ticket.0 }, || {
        Python::attach(|py| {
            let view = LocalView {
                ticket,
                now_s: seconds(local.now),
                now_ns: local.now.as_nanos(),
                node: local.node.0,
            };
            hook(py, Bound::new(py, view)?)
        })
    })
}

#[derive(Clone, Copy)]
struct Ticket(u64);

impl Ticket {
    fn see<R>(self, look: impl FnOnce(&Local, Kind) -> R) -> PyResult<R> {
        let look = |shown: Shown<'_>| (shown.call == self.0).then(|| look(shown.local, shown.kind));
        let seen = if SHOWN.is_set() { SHOWN.with(look) } else { None };
        seen.ok_or_else(|| PyRuntimeError::new_err("a hook's view of its node ends with the hook's call"))
    }
}

/// What a node knows when a hook is called: the time and itself.
#[pyclass(frozen, name = "Local", module = "lightlag")]
pub struct LocalView {
    ticket: Ticket,
    #[pyo3(get)]
    now_s: f64,
    #[pyo3(get)]
    now_ns: i64,
    #[pyo3(get)]
    node: u32,
}

#[pymethods]
impl LocalView {
    #[getter]
    fn store(&self) -> StoreView {
        StoreView(self.ticket)
    }
    #[getter]
    fn links(&self) -> PyResult<Vec<Link>> {
        self.ticket.see(|local, _| local.links.iter().map(Link::from).collect())
    }
    #[getter]
    fn application_free(&self) -> PyResult<Option<u64>> {
        self.ticket.see(|local, _| Some(local.application_free.get()).filter(|free| *free < u64::MAX))
    }
    #[getter]
    fn census(&self) -> PyResult<Option<CensusView>> {
        self.ticket.see(|local, _| local.census.map(|_| CensusView(self.ticket)))
    }
}

/// A node's buffer.
#[pyclass(frozen, name = "Store", module = "lightlag")]
pub struct StoreView(Ticket);

#[pymethods]
impl StoreView {
    #[getter]
    fn capacity(&self) -> PyResult<u64> {
        self.0.see(|local, _| local.store.capacity().get())
    }
    #[getter]
    fn used(&self) -> PyResult<u64> {
        self.0.see(|local, _| local.store.used().get())
    }
    #[getter]
    fn free(&self) -> PyResult<u64> {
        self.0.see(|local, _| local.store.free().get())
    }
    #[getter]
    fn replicas<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, Replica>>> {
        self.0.see(|local, kind| local.store.replicas().iter().map(|one| show(py, kind, one)).collect())?
    }
    fn get<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Bound<'py, Replica>>> {
        self.0.see(|local, kind| local.store.get(BundleId(id)).map(|one| show(py, kind, one)).transpose())?
    }
    fn oldest_idle<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Replica>>> {
        self.0.see(|local, kind| local.store.oldest_idle().map(|one| show(py, kind, one)).transpose())?
    }
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.replicas(py)?)?.try_iter()
    }
    fn __len__(&self) -> PyResult<usize> {
        self.0.see(|local, _| local.store.replicas().len())
    }
    fn __contains__(&self, id: u32) -> PyResult<bool> {
        self.0.see(|local, _| local.store.contains(BundleId(id)))
    }
}

/// Global counts of copies: an oracle that only a simulated world can give.
#[pyclass(frozen, name = "Census", module = "lightlag")]
pub struct CensusView(Ticket);

impl CensusView {
    fn see<R: Default>(&self, look: impl FnOnce(&lightlag_protocols::dtn::Census) -> R) -> PyResult<R> {
        // A view exists only where there is a census.
        self.0.see(|local, _| local.census.map_or_else(R::default, look))
    }
}

#[pymethods]
impl CensusView {
    fn made(&self, id: u32) -> PyResult<u32> {
        self.see(|census| census.made(BundleId(id)))
    }
    fn alive(&self, id: u32) -> PyResult<u32> {
        self.see(|census| census.alive(BundleId(id)))
    }
    fn seen(&self, id: u32) -> PyResult<u32> {
        self.see(|census| census.seen(BundleId(id)))
    }
    #[getter]
    fn mean_made(&self) -> PyResult<f64> {
        self.see(|census| census.mean_made())
    }
    #[getter]
    fn mean_alive(&self) -> PyResult<f64> {
        self.see(|census| census.mean_alive())
    }
}

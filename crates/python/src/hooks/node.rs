//! A router or a mechanism of Python at its node.

use super::class::{Class, Instance, observe};
use super::facts::{self, Kind};
use super::local::{LocalView, showing};
use lightlag_protocols::dtn::{BuildContext, Local, Observation, Parameters, Replica, Table};
use pyo3::IntoPyObjectExt;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An algorithm whose hooks see their node.
pub struct AtNode {
    instance: Instance,
    kind: Kind,
}

impl std::ops::Deref for AtNode {
    type Target = Instance;
    fn deref(&self) -> &Instance {
        &self.instance
    }
}

impl AtNode {
    /// Makes one.
    pub fn new(class: Arc<Class>, kind: Kind, parameters: &Parameters, context: &BuildContext) -> Self {
        let place = format!("at node {}", context.node.0);
        let instance = Instance::new(class, parameters, place, |py| {
            let router = context.router;
            Ok([
                ("node", context.node.0.into_bound_py_any(py)?),
                ("nodes", context.nodes.into_bound_py_any(py)?),
                ("seed", context.seed.into_bound_py_any(py)?),
                ("plan", facts::contacts(py, &context.plan)?.into_any()),
                ("router_counts_copies", router.counts_copies.into_bound_py_any(py)?),
                ("router_has_single_copy_phase", router.single_copy_phase.into_bound_py_any(py)?),
            ])
        });
        Self { instance, kind }
    }
    /// Calls a hook that sees the node.
    pub fn call_at<R>(
        &self,
        at: &Local,
        hook: &Py<PyString>,
        call: impl FnOnce(Call<'_, '_>) -> PyResult<R>,
    ) -> R {
        let done = showing(at, self.kind, |py, view| {
            call(Call { object: self.bind(py), hook: hook.bind(py), view, kind: self.kind })
        });
        done.unwrap_or_else(|error| {
            self.raise(error, hook, &format!(", {} s into the run", at.now.as_secs_f64()))
        })
    }
    /// Calls a hook that answers nothing, if the class defines it.
    pub fn report(
        &self,
        at: &Local,
        hook: &Option<Py<PyString>>,
        call: impl for<'c, 'py> FnOnce(Call<'c, 'py>) -> PyResult<Bound<'py, PyAny>>,
    ) {
        if let Some(hook) = hook {
            self.call_at(at, hook, |made| call(made).map(drop));
        }
    }
    /// The hook `state`: numbers under whole numbers.
    pub fn state(&self, at: &Local) -> Option<Table> {
        let hook = self.class.hooks.state.as_ref()?;
        self.call_at(at, hook, |call| {
            let told: Option<BTreeMap<u64, f64>> = call.with((call.at(),))?.extract()?;
            Ok(told.map(|rows| rows.into_iter().collect()))
        })
    }
    /// The hook `observe`: named numbers.
    pub fn observe(&self, at: &Local, seen: &mut Observation) {
        let Some(hook) = &self.class.hooks.observe else { return };
        let shown: BTreeMap<String, f64> = self.call_at(at, hook, |call| call.with((call.at(),))?.extract());
        observe(shown, seen);
    }
}

/// A call that is being made.
pub struct Call<'c, 'py> {
    object: &'c Bound<'py, PyAny>,
    hook: &'c Bound<'py, PyString>,
    view: Bound<'py, LocalView>,
    kind: Kind,
}

impl<'py> Call<'_, 'py> {
    /// To make arguments with.
    pub fn py(&self) -> Python<'py> {
        self.object.py()
    }
    /// What the node knows: the first argument.
    pub fn at(&self) -> Bound<'py, LocalView> {
        self.view.clone()
    }
    /// A copy as this algorithm sees it.
    pub fn copy(&self, replica: &Replica) -> PyResult<Bound<'py, facts::Replica>> {
        facts::show(self.py(), self.kind, replica)
    }
    /// Makes it.
    pub fn with(&self, arguments: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.object.call_method1(self.hook, arguments)
    }
    /// Makes it, of a copy on which Python may write its mark.
    pub fn with_copy<A: PyCallArgs<'py>>(
        &self,
        replica: &mut Replica,
        arguments: impl FnOnce(Bound<'py, LocalView>, Bound<'py, facts::Replica>) -> A,
    ) -> PyResult<Bound<'py, PyAny>> {
        let copy = self.copy(replica)?;
        let answer = self.with(arguments(self.at(), copy.clone()))?;
        *self.kind.mark_mut(replica) = copy.borrow().mark;
        Ok(answer)
    }
}

/// The numbers that a peer reported, as Python sees them.
pub fn table<'py>(py: Python<'py>, told: Option<&Table>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let dict = |told: &Table| {
        let dict = PyDict::new(py);
        told.iter().try_for_each(|(key, number)| dict.set_item(key, number))?;
        Ok(dict)
    };
    told.map(dict).transpose()
}

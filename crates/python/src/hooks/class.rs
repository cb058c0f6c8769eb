//! A class of Python that is an algorithm, and its instances at nodes.

use super::facts::{self, Kind};
use super::local::{LocalView, showing};
use super::names::leaked;
use super::raised::raise;
use lightlag_protocols::dtn::{
    BuildContext, Domain, Local, Observation, Parameter, Parameters, Replica, Table, Value,
};
use pyo3::IntoPyObjectExt;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyString};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

macro_rules! hooks {
    ($($hook:ident)*) => {
        /// The names of the methods that a class defines; a hook that it leaves out costs nothing.
        pub struct Hooks { $(pub $hook: Option<Py<PyString>>,)* }

        impl Hooks {
            /// What classes may define: the methods of the Rust traits.
            pub const NAMES: &[&str] = &[$(stringify!($hook)),*];

            fn of(py: Python<'_>, defined: &BTreeSet<String>) -> Self {
                let find = |hook: &str| {
                    defined.contains(hook).then(|| PyString::intern(py, hook).unbind())
                };
                Self { $($hook: find(stringify!($hook)),)* }
            }
        }
    };
}

hooks! {
    accept admit admit_created delivers evictable_bytes make_room mark_for_peer may_replicate observe obsolete
    on_contact_down on_contact_up on_created on_delivered on_dropped on_moved on_offering on_peer_state
    on_receipt on_received on_reclaim_refused on_refused on_returned on_sent reclaim refused_ids score state
    take_acknowledged victim
}

/// A registered class.
pub struct Class {
    name: String,
    kind: Kind,
    class: Py<PyAny>,
    parameters: Vec<Parameter>,
    pub hooks: Hooks,
    flags: BTreeSet<String>,
}

impl Class {
    /// `defined` are the hooks that it overrides, `flags` the switches that it sets.
    pub fn new(
        class: &Bound<'_, PyAny>,
        (name, kind): (String, Kind),
        parameters: Vec<Parameter>,
        defined: &BTreeSet<String>,
        flags: BTreeSet<String>,
    ) -> Self {
        let hooks = Hooks::of(class.py(), defined);
        Self { name, kind, class: class.clone().unbind(), parameters, hooks, flags }
    }
    /// Whether the class sets the switch of that name.
    pub fn flag(&self, name: &str) -> bool {
        self.flags.contains(name)
    }
    fn whole(&self, name: &str) -> bool {
        let declared = self.parameters.iter().find(|parameter| parameter.name == name);
        declared.is_some_and(|parameter| matches!(parameter.domain, Domain::Integer(..)))
    }
    fn values<'py>(&self, py: Python<'py>, parameters: &Parameters) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (name, value) in parameters.iter() {
            match value {
                Value::Number(number) if self.whole(name) => values.set_item(name, *number as i64)?,
                Value::Number(number) => values.set_item(name, number)?,
                Value::Flag(flag) => values.set_item(name, flag)?,
                Value::Word(word) => values.set_item(name, word.as_ref())?,
                other => values.set_item(name, other.to_string())?,
            }
        }
        Ok(values)
    }
}

/// An algorithm at a node.
pub struct Instance {
    pub class: Arc<Class>,
    object: Py<PyAny>,
}

impl Instance {
    /// Makes one; a class that cannot be instantiated ends the run.
    pub fn new(class: Arc<Class>, parameters: &Parameters, context: &BuildContext) -> Self {
        let built = Python::attach(|py| {
            let values = class.values(py, parameters)?;
            let router = context.router;
            let facts = [
                ("node", context.node.0.into_bound_py_any(py)?),
                ("nodes", context.nodes.into_bound_py_any(py)?),
                ("seed", context.seed.into_bound_py_any(py)?),
                ("router_counts_copies", router.counts_copies.into_bound_py_any(py)?),
                ("router_has_single_copy_phase", router.single_copy_phase.into_bound_py_any(py)?),
            ];
            let facts = facts.into_py_dict(py)?;
            let object = class.class.bind(py).call_method1(pyo3::intern!(py, "_at_node"), (facts, values))?;
            Ok(object.unbind())
        });
        match built {
            Ok(object) => Self { class, object },
            Err(error) => {
                raise(error, || format!("while `{}` was made for node {}", class.name, context.node.0))
            }
        }
    }
    /// Calls a hook that sees the node.
    pub fn call<R>(
        &self,
        at: &Local,
        hook: &Py<PyString>,
        call: impl FnOnce(Call<'_, '_>) -> PyResult<R>,
    ) -> R {
        let done = showing(at, self.class.kind, |py, view| {
            call(Call { object: self.object.bind(py), hook: hook.bind(py), view, kind: self.class.kind })
        });
        done.unwrap_or_else(|error| {
            let (name, node, now) = (&self.class.name, at.node.0, at.now.as_secs_f64());
            raise(error, || format!("in `{hook}` of `{name}` at node {node}, {now} s into the run"))
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
            self.call(at, hook, |made| call(made).map(drop));
        }
    }
    /// Calls a hook that does not see the node.
    pub fn call_blindly<R>(
        &self,
        hook: &Py<PyString>,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyString>) -> PyResult<R>,
    ) -> R {
        Python::attach(|py| call(self.object.bind(py), hook.bind(py)))
            .unwrap_or_else(|error| raise(error, || format!("in `{hook}` of `{}`", self.class.name)))
    }
    /// The hook `state`: numbers under whole numbers.
    pub fn state(&self, at: &Local) -> Option<Table> {
        let hook = self.class.hooks.state.as_ref()?;
        self.call(at, hook, |call| {
            let told: Option<BTreeMap<u64, f64>> = call.with((call.at(),))?.extract()?;
            Ok(told.map(|rows| rows.into_iter().collect()))
        })
    }
    /// The hook `observe`: named numbers.
    pub fn observe(&self, at: &Local, seen: &mut Observation) {
        let Some(hook) = &self.class.hooks.observe else { return };
        let shown: BTreeMap<String, f64> = self.call(at, hook, |call| call.with((call.at(),))?.extract());
        seen.extend(shown.into_iter().map(|(name, value)| (leaked(&name), value)));
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

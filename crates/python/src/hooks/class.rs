//! A class of Python that is an algorithm, and its instances at nodes.

use super::names::leaked;
use super::raised::raise;
use lightlag_protocols::parameter::{Domain, Parameter, Parameters, Value};
use lightlag_protocols::record::Observation;
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
    accept admit admit_created advice deadline delivers make_room mark_for_peer may_replicate
    observe obsolete on_ack on_contact_down on_contact_up on_created on_deadline on_delivered on_dropped
    on_handover on_loss on_moved on_offering on_peer_state on_plan on_plan_revised on_receipt on_received on_receiver_limited
    on_reclaim_refused on_refused on_returned on_sent on_spurious_loss rate reclaim refused_ids score state
    take_acknowledged victim window
}

/// A registered class.
pub struct Class {
    name: String,
    class: Py<PyAny>,
    parameters: Vec<Parameter>,
    pub hooks: Hooks,
    flags: BTreeSet<String>,
}

impl Class {
    /// `defined` are the hooks that it overrides, `flags` the switches that it sets.
    pub fn new(
        class: &Bound<'_, PyAny>,
        name: String,
        parameters: Vec<Parameter>,
        defined: &BTreeSet<String>,
        flags: BTreeSet<String>,
    ) -> Self {
        let hooks = Hooks::of(class.py(), defined);
        Self { name, class: class.clone().unbind(), parameters, hooks, flags }
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

/// An algorithm at its place.
pub struct Instance {
    pub class: Arc<Class>,
    object: Py<PyAny>,
    /// Where it works, for errors.
    place: String,
}

impl Instance {
    /// Makes one that knows the `facts` of its place; a class that cannot be instantiated ends the run.
    pub fn new<const N: usize>(
        class: Arc<Class>,
        parameters: &Parameters,
        place: String,
        facts: impl for<'py> FnOnce(Python<'py>) -> PyResult<[(&'static str, Bound<'py, PyAny>); N]>,
    ) -> Self {
        let built = Python::attach(|py| {
            let values = class.values(py, parameters)?;
            let facts = facts(py)?.into_py_dict(py)?;
            let object = class.class.bind(py).call_method1(pyo3::intern!(py, "_made"), (facts, values))?;
            Ok(object.unbind())
        });
        match built {
            Ok(object) => Self { class, object, place },
            Err(error) => raise(error, || format!("while `{}` was made {place}", class.name)),
        }
    }
    /// The object of Python.
    pub fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.object.bind(py)
    }
    /// Calls a hook.
    pub fn call<R>(
        &self,
        hook: &Py<PyString>,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyString>) -> PyResult<R>,
    ) -> R {
        Python::attach(|py| call(self.object.bind(py), hook.bind(py)))
            .unwrap_or_else(|error| self.raise(error, hook, ""))
    }
    /// Ends the run with what a hook raised; `when` begins with a comma.
    pub fn raise(&self, error: PyErr, hook: &Py<PyString>, when: &str) -> ! {
        raise(error, || format!("in `{hook}` of `{}` {}{when}", self.class.name, self.place))
    }
}

/// Adds what the hook `observe` answered: named numbers.
pub fn observe(shown: BTreeMap<String, f64>, seen: &mut Observation) {
    seen.extend(shown.into_iter().map(|(name, value)| (leaked(&name), value)));
}

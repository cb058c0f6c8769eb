//! The algorithms that scenarios can name: those of the lab, and those that Python has registered.

use crate::hooks::{
    self, AtNode, Class, Hooks, Kind, WrittenController, WrittenMechanism, WrittenRouter, leaked,
};
use lightlag_protocols::controllers::Controller;
use lightlag_protocols::dtn::{Built, Mechanism, Router};
use lightlag_protocols::parameter::{Domain, Parameter, Value};
use lightlag_scenario::models::{LOSSES, MOBILITY, Model, Models, QUEUES};
use lightlag_scenario::{Build, Catalogue, Entry};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

static CATALOGUE: Mutex<Option<Arc<Catalogue>>> = Mutex::new(None);

/// All algorithms that are known now.
pub fn catalogue() -> Arc<Catalogue> {
    let mut known = CATALOGUE.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().clone()
}

fn change(change: impl FnOnce(&mut Catalogue)) {
    let mut known = CATALOGUE.lock().unwrap_or_else(PoisonError::into_inner);
    change(Arc::make_mut(known.get_or_insert_default()));
}

/// What a class says of itself.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Declared<'py> {
    kind: String,
    name: String,
    paper: String,
    only_with: Vec<String>,
    parameters: Vec<DeclaredParameter<'py>>,
    /// The hooks that it defines.
    hooks: BTreeSet<String>,
    /// The switches that it sets.
    flags: BTreeSet<String>,
    /// How TCP repairs losses under a controller.
    recovery: String,
}

/// A parameter as a class declares it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct DeclaredParameter<'py> {
    name: String,
    unit: String,
    default: Bound<'py, PyAny>,
    low: f64,
    high: f64,
    /// The words that it may be, if it is a word.
    choices: Vec<String>,
    /// Whether a number must be whole.
    whole: bool,
    meaning: String,
}

/// Registers a class, in place of an algorithm of the same name.
///
/// # Errors
/// A declaration that makes no sense.
#[pyfunction]
pub fn register(class: &Bound<'_, PyAny>, declared: Declared<'_>) -> PyResult<()> {
    let parameters = declared.parameters.iter().map(parameter).collect::<PyResult<Vec<_>>>()?;
    let Declared { kind, name, hooks, flags, recovery, .. } = &declared;
    let made = Arc::new(Class::new(class, name.clone(), parameters.clone(), hooks, flags.clone()));
    match kind.as_str() {
        "router" => {
            let build: Build<dyn Router> = Arc::new(move |given, context| {
                let properties = hooks::router_properties(&made);
                let instance = AtNode::new(made.clone(), Kind::Router, given, &context);
                Built { algorithm: Box::new(WrittenRouter(instance)), properties }
            });
            change(|known| known.routers.register(entry(declared, parameters, (), build)));
        }
        "mechanism" => {
            let build: Build<dyn Mechanism> = Arc::new(move |given, context| {
                let properties = hooks::needs(&made);
                let instance = AtNode::new(made.clone(), Kind::Mechanism, given, &context);
                Built { algorithm: Box::new(WrittenMechanism::new(instance)), properties }
            });
            change(|known| known.mechanisms.register(entry(declared, parameters, (), build)));
        }
        _ => {
            let needs = hooks::controller_needs(&made, recovery)?;
            let build: Build<dyn Controller> =
                Arc::new(move |given, flow| Box::new(WrittenController::new(made.clone(), given, &flow)));
            change(|known| known.controllers.register(entry(declared, parameters, needs, build)));
        }
    }
    Ok(())
}

fn entry<A: ?Sized + lightlag_scenario::Kind>(
    declared: Declared<'_>,
    parameters: Vec<Parameter>,
    needs: A::Needs,
    build: Build<A>,
) -> Entry<A> {
    let Declared { name, paper, only_with, .. } = declared;
    Entry { name, paper, parameters: Cow::Owned(parameters), only_with, needs, build }
}

fn parameter(declared: &DeclaredParameter<'_>) -> PyResult<Parameter> {
    let (default, domain) = if !declared.choices.is_empty() {
        let words: Vec<&'static str> = declared.choices.iter().map(|word| leaked(word)).collect();
        let word: String = declared.default.extract()?;
        // A class is registered once in a program's life.
        (Value::Word(Cow::Owned(word)), Domain::OneOf(words.leak()))
    } else if let Ok(flag) = declared.default.extract::<bool>() {
        (Value::Flag(flag), Domain::Flag)
    } else {
        let number: f64 = declared.default.extract()?;
        let domain = if declared.whole { Domain::Integer } else { Domain::Number };
        (Value::Number(number), domain(declared.low, declared.high))
    };
    let (name, unit, meaning) = (leaked(&declared.name), leaked(&declared.unit), leaked(&declared.meaning));
    if !domain.contains(&default) {
        let told = format!("the default of parameter `{name}` is {default}; it must be {domain}");
        return Err(PyValueError::new_err(told));
    }
    Ok(Parameter { name, unit, default: Some(default), needed: false, domain, meaning })
}

/// The names of the hooks that classes may define.
#[pyfunction]
pub fn hook_names() -> Vec<&'static str> {
    Hooks::NAMES.to_vec()
}

/// An algorithm as `(kind, name, paper, only_with, parameters)`, a parameter as `(name, unit, default,
/// domain, meaning)`.
type Row = (&'static str, String, String, Vec<String>, Vec<Shown>);
/// A parameter.
type Shown = (String, String, Py<PyAny>, String, String);

/// All algorithms: routers, mechanisms, controllers; queue disciplines, loss models, mobility models.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<Vec<Row>> {
    let known = catalogue();
    let routers = known.routers.iter().map(|entry| row(py, "router", entry));
    let mechanisms = known.mechanisms.iter().map(|entry| row(py, "mechanism", entry));
    let controllers = known.controllers.iter().map(|entry| row(py, "controller", entry));
    let models = [&QUEUES, &LOSSES, &MOBILITY].into_iter().flat_map(|models| rows(py, models));
    routers.chain(mechanisms).chain(controllers).chain(models).collect()
}

fn rows(py: Python<'_>, models: &'static Models) -> impl Iterator<Item = PyResult<Row>> {
    (models.rows)().into_iter().map(move |Model { name, paper, parameters, .. }| {
        let parameters = parameters.iter().map(|parameter| shown(py, parameter)).collect::<PyResult<_>>()?;
        Ok((models.kind, name.to_owned(), paper.to_owned(), Vec::new(), parameters))
    })
}

fn row<A: ?Sized + lightlag_scenario::Kind>(
    py: Python<'_>,
    kind: &'static str,
    entry: &Entry<A>,
) -> PyResult<Row> {
    let parameters =
        entry.parameters.iter().map(|parameter| shown(py, parameter)).collect::<PyResult<_>>()?;
    Ok((kind, entry.name.clone(), entry.paper.clone(), entry.only_with.clone(), parameters))
}

fn shown(py: Python<'_>, parameter: &Parameter) -> PyResult<Shown> {
    let Parameter { name, unit, default, domain, meaning, .. } = parameter;
    let default = match default {
        Some(Value::Number(number)) => number.into_py_any(py)?,
        Some(Value::Flag(flag)) => flag.into_py_any(py)?,
        Some(Value::Word(word)) => word.as_ref().into_py_any(py)?,
        Some(other) => other.to_string().into_py_any(py)?,
        None => py.None(),
    };
    Ok(((*name).to_owned(), (*unit).to_owned(), default, domain.to_string(), (*meaning).to_owned()))
}

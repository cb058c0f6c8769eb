//! A controller that is named on the command line.

use super::option;
use crate::output::Failure;
use lightlag_protocols::controllers::{self, Controller, Flow};
use lightlag_protocols::parameter::{Parameter, Parameters, Value};
use lightlag_scenario::quantity;
use std::collections::BTreeMap;

/// Builds it for a flow.
pub type Build = Box<dyn FnOnce(Flow) -> Box<dyn Controller> + Send>;

/// What builds the controller of this name for a transport; `instead` is one that fits.
pub fn controller(
    transport: &str,
    instead: &str,
    name: &str,
    sets: &[(String, String)],
) -> Result<Build, Failure> {
    let fits = |only_with: &[&str]| only_with.is_empty() || only_with.contains(&transport);
    let Some(entry) = controllers::find(name) else {
        let fits =
            controllers::TABLE.iter().map(|entry| &entry.algorithm).filter(|entry| fits(entry.only_with));
        let known: Vec<&str> = fits.map(|entry| entry.name).collect();
        let line = format!("--controller: there is no `{name}`; name one of {}", known.join(", "));
        return Err(Failure::Input(line));
    };
    if !fits(entry.algorithm.only_with) {
        let with = entry.algorithm.only_with.join(", ");
        return Err(Failure::Input(format!("--controller: {name} works with {with} only; take {instead}")));
    }
    let mut given = BTreeMap::new();
    for (name, text) in sets {
        given.insert(name.clone(), value(entry.algorithm.parameters, name, text)?);
    }
    let resolved = Parameters::resolve(name, entry.algorithm.parameters, &given);
    let parameters = resolved.map_err(|why| Failure::Input(format!("--set: {why}")))?;
    Ok(Box::new(move |flow| entry.build(&parameters, flow)))
}

/// A value as its parameter takes it: with its unit, a plain number, `true`, or a word.
fn value(declared: &[Parameter], name: &str, text: &str) -> Result<Value, Failure> {
    let unit =
        declared.iter().find(|parameter| parameter.name == name).map_or("", |parameter| parameter.unit);
    if let Some(number) = quantity::plain_number(text) {
        return Ok(Value::Number(number));
    }
    if let Ok(flag) = text.parse() {
        return Ok(Value::Flag(flag));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        let number = option(&format!("--set {name}"), text, |text| quantity::in_unit(text, unit))?;
        return Ok(Value::Number(number));
    }
    Ok(Value::Word(text.to_owned().into()))
}

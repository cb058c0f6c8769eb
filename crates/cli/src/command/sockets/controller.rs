//! A controller that is named on the command line.

use crate::output::Failure;
use lightlag_protocols::controllers::{self, Factory};
use lightlag_protocols::parameter::{Parameter, Value};
use lightlag_scenario::quantity;
use std::collections::BTreeMap;

/// What builds the controller of this name for a transport; `instead` is one that fits.
pub fn controller(
    transport: &str,
    instead: &str,
    name: &str,
    sets: &[(String, String)],
) -> Result<Factory, Failure> {
    let Some(entry) = controllers::find(name) else {
        let fits = controllers::TABLE.iter().filter(|entry| entry.fits(transport));
        let known: Vec<&str> = fits.map(|entry| entry.algorithm.name).collect();
        let line = format!("--controller: unknown controller `{name}`; name one of {}", known.join(", "));
        return Err(Failure::Input(line));
    };
    if !entry.fits(transport) {
        let with = entry.algorithm.only_with.join(", ");
        return Err(Failure::Input(format!("--controller: {name} works with {with} only; take {instead}")));
    }
    let mut given = BTreeMap::new();
    for (name, text) in sets {
        given.insert(name.clone(), value(entry.algorithm.parameters, name, text)?);
    }
    Factory::resolve(name, &given).map_err(|why| Failure::Input(format!("--set: {why}")))
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
        let number = quantity::in_unit(text, unit)
            .map_err(|wrong| Failure::Input(format!("--set {name}: {}; {}", wrong.what, wrong.right)))?;
        return Ok(Value::Number(number));
    }
    Ok(Value::Word(text.to_owned().into()))
}

//! `router = "epidemic"`, or with parameters `router = { name = "spray_and_wait", copies = 10 }`.

use super::section::{Section, quantity, wrong_type};
use crate::catalogue::{Algorithms, Kind, resolve};
use crate::error::{Error, Result, quoted};
use crate::model::Algorithm;
use crate::quantity::in_unit;
use crate::tree::{Node, Value};
use lightlag_protocols::dtn;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reads an algorithm, one of those that are `known`.
pub fn algorithm<A: ?Sized + Kind>(node: &Node, path: &str, known: &Algorithms<A>) -> Result<Algorithm<A>> {
    let (name, place, section) = match &node.value {
        Value::Text(name) => (name.as_str(), &node.place, None),
        Value::Table(_) => {
            let section = Section::open(node, path)?;
            let name = section.need_text("name", "\"...\"")?;
            (name, &node.place, Some(section))
        }
        _ => return Err(wrong_type(node, path, "it must be a name, or a table with a `name`")),
    };
    let entry = known.find(name).map_err(|right| {
        Error::new(place, format!("`{path}` is {}, which is not known", quoted(name)), right)
    })?;
    let mut given = BTreeMap::new();
    let mut last = place.clone();
    for (key, value) in section.iter().flat_map(Section::entries).filter(|(key, _)| key.name != "name") {
        let path = format!("{path}.{}", key.name);
        let unit = entry.parameters.iter().find(|p| p.name == key.name).map_or("", |p| p.unit);
        given.insert(key.name.clone(), parameter(value, &path, unit)?);
        last = value.place.clone();
        // One at a time, so that an error has the place of its own parameter.
        resolve(&entry, &given).map_err(|wrong| crate::Error::at(&last, wrong))?;
    }
    let parameters = resolve(&entry, &given).map_err(|wrong| crate::Error::at(&last, wrong))?;
    Ok(Algorithm { entry, parameters })
}

/// The parameters that stand in a table beside the keys `others`.
pub fn parameters(
    section: &Section,
    name: &str,
    declared: &[dtn::Parameter],
    others: &[&str],
) -> Result<dtn::Parameters> {
    let known: Vec<&str> = others.iter().copied().chain(declared.iter().map(|p| p.name)).collect();
    section.allow(&known)?;
    let mut given = BTreeMap::new();
    for p in declared {
        match section.get(p.name) {
            Some(node) => {
                let path = section.key(p.name);
                let value = parameter(node, &path, p.unit)?;
                if !p.domain.contains(&value) {
                    let right = format!("it must be {}", p.domain);
                    return Err(Error::new(&node.place, format!("`{path}` is {value}"), right));
                }
                given.insert(p.name.to_owned(), value);
            }
            None if p.is_needed() => return Err(section.missing(p.name, "0.01")),
            None => {}
        }
    }
    dtn::Parameters::resolve(name, declared, &given)
        .map_err(|wrong| Error::new(&section.place, wrong.to_string(), "see `lightlag list`"))
}

fn parameter(node: &Node, path: &str, unit: &str) -> Result<dtn::Value> {
    Ok(match &node.value {
        Value::Flag(flag) => dtn::Value::Flag(*flag),
        Value::Whole(n) if unit.is_empty() => dtn::Value::Number(*n as f64),
        Value::Real(n) if unit.is_empty() => dtn::Value::Number(*n),
        Value::Text(word) if unit.is_empty() => dtn::Value::Word(Cow::Owned(word.clone())),
        Value::Text(_) | Value::Whole(_) | Value::Real(_) => {
            dtn::Value::Number(quantity(node, path, |text| in_unit(text, unit))?)
        }
        Value::List(_) | Value::Table(_) => return Err(wrong_type(node, path, "it must be a single value")),
    })
}

//! `router = "epidemic"`, or with parameters `router = { name = "spray_and_wait", copies = 10 }`.

use super::section::{Section, quantity, wrong_type};
use crate::catalogue::{Entry, Kind, resolve};
use crate::error::{Error, Result, quoted};
use crate::model::Algorithm;
use crate::quantity::in_unit;
use crate::tree::{Node, Value};
use lightlag_protocols::dtn;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads an algorithm; `find` looks its name up.
pub fn algorithm<A: ?Sized + Kind>(
    node: &Node,
    path: &str,
    find: impl Fn(&str) -> std::result::Result<Arc<Entry<A>>, String>,
) -> Result<Algorithm<A>> {
    let (name, place, section) = match &node.value {
        Value::Text(name) => (name.as_str(), &node.place, None),
        Value::Table(_) => {
            let section = Section::open(node, path)?;
            let name = section.need_text("name", "\"...\"")?;
            (name, &node.place, Some(section))
        }
        _ => return Err(wrong_type(node, path, "it must be a name, or a table with a `name`")),
    };
    let entry = find(name).map_err(|right| {
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

//! `router = "epidemic"`, or with parameters `router = { name = "spray_and_wait", copies = 10 }`.

use super::section::{Section, quantity, wrong_type, wrong_value};
use crate::catalogue::{Algorithms, Kind, resolve};
use crate::error::{Error, Result, quoted};
use crate::keys::names;
use crate::model::Algorithm;
use crate::models::{Model, Models};
use crate::quantity::{area, in_unit, position, range_in_unit};
use crate::tree::{Node, Value};
use lightlag_protocols::dtn::{self, Domain, Parameter, Parameters};
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
            .of_key(path, None)
    })?;
    let mut given = BTreeMap::new();
    let mut last = (place.clone(), path.to_owned());
    for (key, value) in section.iter().flat_map(Section::entries).filter(|(key, _)| key.name != "name") {
        let path = format!("{path}.{}", key.name);
        let declared = entry.parameters.iter().find(|p| p.name == key.name);
        given.insert(key.name.clone(), parameter(value, &path, declared)?);
        last = (value.place.clone(), path);
        // One at a time, so that an error has the place of its own parameter.
        resolve(&entry, &given).map_err(|wrong| Error::at(&last.0, wrong).of_key(&last.1, None))?;
    }
    let parameters =
        resolve(&entry, &given).map_err(|wrong| Error::at(&last.0, wrong).of_key(&last.1, None))?;
    Ok(Algorithm { entry, parameters })
}

/// The model that a table names, by its place among [`Models::rows`], and its parameters.
pub fn model(section: &Section, models: &Models) -> Result<(usize, Parameters)> {
    let rows = (models.rows)();
    let words: Vec<(&str, usize)> = rows.iter().map(|row| row.name).zip(0..).collect();
    let chosen = section.word(models.key, &words)?;
    let chosen = chosen.ok_or_else(|| section.missing(models.key, &format!("\"{}\"", models.example)))?;
    let Model { name, parameters, keys, .. } = rows[chosen];
    let mut known = names(keys);
    known.extend([models.key].into_iter().chain(parameters.iter().map(|p| p.name)));
    section.allow(&known)?;
    let mut given = BTreeMap::new();
    for p in parameters {
        match section.get(p.name) {
            Some(node) => {
                given.insert(p.name.to_owned(), of_model(node, &section.key(p.name), p)?);
            }
            None if p.needed => return Err(section.missing(p.name, example(p))),
            None => {}
        }
    }
    let parameters = Parameters::resolve(name, parameters, &given)
        .map_err(|wrong| Error::new(&section.place, wrong.to_string(), "see `lightlag list`"))?;
    Ok((chosen, parameters))
}

/// The value of a model's parameter.
pub fn of_model(node: &Node, path: &str, p: &Parameter) -> Result<dtn::Value> {
    let value = parameter(node, path, Some(p))?;
    if !p.domain.contains(&value) {
        let right = format!("it must be {}", p.domain);
        return Err(wrong_value(node, path, format!("`{path}` is {value}"), &right));
    }
    Ok(value)
}

fn example(p: &Parameter) -> &'static str {
    match (p.domain, p.unit) {
        (Domain::Range(..), "m/s") => "\"0.5..1.5 m/s\"",
        (Domain::Range(..), "m") => "\"0..50 m\"",
        (Domain::Range(..), _) => "\"0..120 s\"",
        (Domain::Area, _) => "\"1 km x 1 km\"",
        (Domain::Position, _) => "\"100 m, 200 m\"",
        _ => "0.01",
    }
}

fn parameter(node: &Node, path: &str, declared: Option<&Parameter>) -> Result<dtn::Value> {
    let unit = declared.map_or("", |p| p.unit);
    match declared.map(|p| p.domain) {
        Some(Domain::Range(..)) => {
            return quantity(node, path, |text| range_in_unit(text, unit)).map(dtn::Value::Range);
        }
        Some(Domain::Area) => return quantity(node, path, area).map(dtn::Value::Area),
        Some(Domain::Position) => return quantity(node, path, position).map(dtn::Value::Position),
        _ => {}
    }
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

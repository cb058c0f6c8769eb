//! The JSON Schema of scenarios in TOML, made from the [keys](crate::keys) that their readers know.

use crate::keys::{self, Key, Kind};
use crate::models::{LOSSES, MOBILITY, Models, QUEUES};
use crate::{Algorithms, Catalogue};
use lightlag_protocols::dtn::{Domain, Parameter, Value as Default};
use serde_json::{Map, Value, json};

/// The schema (draft 2020-12), for editors and for other programs that write scenarios.
///
/// Every value may also be a list, which is an axis of a sweep, or a reference `"$name"` to one of `[parameters]`.
pub fn schema(catalogue: &Catalogue) -> Value {
    let world = |table: &[&str], then: &[Key]| {
        let has = table.iter().map(|table| json!({ "required": [table] }));
        (json!({ "anyOf": has.collect::<Vec<_>>() }), object(then))
    };
    let (names, of_names) = world(&["producers", "consumers"], keys::NAMES);
    let (packets, of_packets) = world(&["links", "flows"], keys::PACKETS);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Lightlag scenario",
        "$defs": {
            "router": algorithm(&catalogue.routers),
            "mechanism": algorithm(&catalogue.mechanisms),
            "controller": algorithm(&catalogue.controllers),
            "mobility_model": models(&MOBILITY),
            "loss_model": models(&LOSSES),
            "queue": models(&QUEUES),
            "reference": { "type": "string", "pattern": "^\\$" },
        },
        "if": names,
        "then": of_names,
        "else": { "if": packets, "then": of_packets, "else": object(keys::BUNDLES) },
    })
}

/// A table with these keys and no other.
fn object(keys: &[Key]) -> Value {
    json!({ "type": "object", "properties": of_keys(keys), "additionalProperties": false })
}

fn of_keys(keys: &[Key]) -> Map<String, Value> {
    keys.iter().map(|key| (key.name.to_owned(), described(axis(key.kind), key.about))).collect()
}

fn described(mut schema: Map<String, Value>, about: &str) -> Value {
    schema.insert("description".to_owned(), about.into());
    Value::Object(schema)
}

/// One value, a reference, or a list of both.
fn axis(kind: Kind) -> Map<String, Value> {
    swept(value(kind), !matches!(kind, Kind::List(_) | Kind::Named(_)))
}

fn swept(one: Value, lists: bool) -> Map<String, Value> {
    let reference = json!({ "$ref": "#/$defs/reference" });
    let mut forms = vec![one.clone(), reference.clone()];
    if lists {
        forms.push(json!({ "type": "array", "items": { "anyOf": [one, reference] } }));
    }
    Map::from_iter([("anyOf".to_owned(), Value::Array(forms))])
}

fn value(kind: Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Real(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
        Kind::Quantity(quantity) => json!({ "type": "string", "examples": [quantity.example] }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Algorithm(kind) => json!({ "$ref": format!("#/$defs/{kind}") }),
        Kind::Model(models) => json!({ "$ref": format!("#/$defs/{}", models.kind.replace(' ', "_")) }),
        Kind::Table(keys) => object(keys),
        Kind::Named(keys) => json!({ "type": "object", "additionalProperties": object(keys) }),
        Kind::Open => json!({ "type": "object" }),
        Kind::List(items) => json!({ "type": "array", "items": swept(value(*items), false) }),
        Kind::Any(kinds) => json!({ "anyOf": kinds.iter().copied().map(value).collect::<Vec<_>>() }),
    }
}

/// A name, or a table with a name and the parameters of that algorithm.
fn algorithm<A: ?Sized + crate::catalogue::Kind>(known: &Algorithms<A>) -> Value {
    let names: Vec<&String> = known.iter().map(|entry| &entry.name).collect();
    let tables = known.iter().map(|entry| named("name", &entry.name, &entry.parameters, &[]));
    let forms: Vec<Value> = [json!({ "enum": names })].into_iter().chain(tables).collect();
    json!({ "anyOf": forms })
}

/// A table that names a model, with its parameters and its other keys.
fn models(models: &Models) -> Value {
    let tables = (models.rows)().into_iter().map(|row| named(models.key, row.name, row.parameters, row.keys));
    json!({ "anyOf": tables.collect::<Vec<_>>() })
}

/// A table in which `key` holds this name, with the parameters and other keys that belong to it.
fn named(key: &str, name: &str, parameters: &[Parameter], keys: &[Key]) -> Value {
    let mut properties = of_keys(keys);
    properties.insert(key.to_owned(), Value::Object(swept(json!({ "const": name }), true)));
    properties.extend(parameters.iter().map(|p| (p.name.to_owned(), declared(p))));
    let needed = parameters.iter().filter(|p| p.needed).map(|p| p.name);
    let required: Vec<&str> = [key].into_iter().chain(needed).collect();
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

/// A parameter with its default as a scenario writes it, its unit and its range: what a form needs.
fn declared(parameter: &Parameter) -> Value {
    let mut schema = swept(of_parameter(parameter), true);
    let with_unit = |text: String| format!("{text} {}", parameter.unit).trim_end().to_owned();
    let default = parameter.default.as_ref().map(|default| match default {
        Default::Number(number) if matches!(parameter.domain, Domain::Integer(..)) => json!(*number as i64),
        Default::Number(number) if parameter.unit.is_empty() => json!(number),
        Default::Flag(flag) => json!(flag),
        Default::Word(word) => json!(word),
        other => json!(with_unit(other.to_string())),
    });
    schema.extend(default.map(|default| ("default".to_owned(), default)));
    schema.insert("x-unit".to_owned(), parameter.unit.into());
    if let Domain::Number(low, high) | Domain::Integer(low, high) = parameter.domain {
        schema.insert("x-range".to_owned(), json!([low, high]));
    }
    described(schema, parameter.meaning)
}

fn of_parameter(parameter: &Parameter) -> Value {
    match parameter.domain {
        Domain::Flag => json!({ "type": "boolean" }),
        Domain::OneOf(words) => json!({ "enum": words }),
        Domain::Number(..) | Domain::Integer(..) if !parameter.unit.is_empty() => {
            json!({ "type": "string", "description": format!("in {}", parameter.unit) })
        }
        Domain::Number(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
        Domain::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Domain::Range(..) => {
            json!({ "type": "string", "description": format!("a value or a range, in {}", parameter.unit) })
        }
        Domain::Area => json!({ "type": "string", "examples": ["1 km x 1 km"] }),
        Domain::Position => json!({ "type": "string", "examples": ["100 m, 200 m"] }),
    }
}

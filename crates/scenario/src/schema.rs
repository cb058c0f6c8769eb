//! The JSON Schema of scenarios in TOML, made from the [keys](crate::keys) that their readers know.

use crate::keys::{self, Key, Kind};
use crate::{Algorithms, Catalogue};
use lightlag_protocols::dtn::{Domain, Parameter};
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
            "reference": { "type": "string", "pattern": "^\\$" },
        },
        "if": names,
        "then": of_names,
        "else": { "if": packets, "then": of_packets, "else": object(keys::BUNDLES) },
    })
}

/// A table with these keys and no other.
fn object(keys: &[Key]) -> Value {
    let property = |key: &Key| {
        let mut schema = axis(key.kind);
        schema.insert("description".to_owned(), key.about.into());
        (key.name.to_owned(), Value::Object(schema))
    };
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
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
        Kind::Quantity(example) => json!({ "type": "string", "examples": [example] }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Router => json!({ "$ref": "#/$defs/router" }),
        Kind::Mechanism => json!({ "$ref": "#/$defs/mechanism" }),
        Kind::Controller => json!({ "$ref": "#/$defs/controller" }),
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
    let tables = known.iter().map(|entry| {
        let named = ("name".to_owned(), Value::Object(swept(json!({ "const": entry.name }), true)));
        let parameters = entry.parameters.iter().map(|parameter| {
            let mut schema = swept(of_parameter(parameter), true);
            schema.insert("description".to_owned(), parameter.meaning.into());
            (parameter.name.to_owned(), Value::Object(schema))
        });
        let properties: Map<String, Value> = [named].into_iter().chain(parameters).collect();
        json!({
            "type": "object", "properties": properties, "required": ["name"], "additionalProperties": false,
        })
    });
    let forms: Vec<Value> = [json!({ "enum": names })].into_iter().chain(tables).collect();
    json!({ "anyOf": forms })
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
    }
}

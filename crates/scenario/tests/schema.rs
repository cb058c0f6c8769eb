//! The JSON Schema of scenarios agrees with their readers.

// The helpers of a test fail as tests do.
#![allow(clippy::unwrap_used)]

use lightlag_scenario::{Catalogue, ScenarioFile, schema};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Whether a value fits a schema, as far as ours use the language; an unknown word of it fails the test.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(word, rule)| match word.as_str() {
        "$schema" | "title" | "$defs" | "description" | "examples" | "default" | "x-unit" | "x-range"
        | "then" | "else" => true,
        "if" => {
            let branch = if fits(value, rule, root) { "then" } else { "else" };
            fits(value, &schema[branch], root)
        }
        "$ref" => fits(value, root.pointer(rule.as_str().unwrap().strip_prefix('#').unwrap()).unwrap(), root),
        "anyOf" => rule.as_array().unwrap().iter().any(|one| fits(value, one, root)),
        "enum" => rule.as_array().unwrap().contains(value),
        "const" => rule == value,
        "type" => match rule.as_str().unwrap() {
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("unknown type {other}"),
        },
        "pattern" => {
            assert_eq!(rule, "^\\$");
            value.as_str().is_some_and(|text| text.starts_with('$'))
        }
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "items" => value.as_array().is_none_or(|list| list.iter().all(|item| fits(item, rule, root))),
        "required" => value.as_object().is_none_or(|table| {
            rule.as_array().unwrap().iter().all(|key| table.contains_key(key.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|table| {
            table.iter().all(|(key, inner)| rule.get(key).is_none_or(|rule| fits(inner, rule, root)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|table| {
            let other = |key: &String| schema.get("properties").is_none_or(|known| known.get(key).is_none());
            table.iter().filter(|(key, _)| other(key)).all(|(_, inner)| match rule {
                Value::Bool(allowed) => *allowed,
                rule => fits(inner, rule, root),
            })
        }),
        other => panic!("the test does not know `{other}`"),
    })
}

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
}

/// Every scenario of the repository, with its text.
fn all() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    scenarios(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios"), &mut found);
    assert!(found.len() > 20, "{found:?}");
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn check(text: &str, schema: &Value) -> bool {
    fits(&toml::from_str::<Value>(text).unwrap(), schema, schema)
}

#[test]
fn every_scenario_fits_the_schema() {
    let schema = schema(&Catalogue::default());
    for (path, text) in all() {
        assert!(check(&text, &schema), "{} does not fit the schema", path.display());
    }
}

/// What the reader says of a text.
fn refusal(path: &Path, text: &str) -> Option<String> {
    let folder = path.parent().unwrap().to_owned();
    let file = ScenarioFile::from_toml("s.toml", text, folder, Catalogue::default().into());
    file.and_then(|file| file.points()).err().map(|error| error.to_string())
}

/// Keys of tables that name a model.
const MODELS: [&str; 3] = ["mobility = {", "loss = {", "queue = {"];

/// The text with an unknown key at the top of each of its tables, one at a time.
fn with_unknown_keys(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let insert = |at: usize| {
        let mut lines = lines.clone();
        lines.insert(at, "misspelt = \"1 s\"");
        lines.join("\n")
    };
    let headers = (0..lines.len()).filter(|&at| lines[at].starts_with('['));
    // Names of parameters are free, and tables of tables have names of the user's own.
    let tables = headers.filter(|&at| {
        let name = lines[at].trim_matches(['[', ']']).split(']').next().unwrap();
        name != "parameters" && (name.contains('.') || name == "world")
    });
    let inline = lines.iter().filter(|line| MODELS.iter().any(|key| line.starts_with(key)));
    let inline = inline.map(|line| text.replace(line, &line.replacen('{', "{ misspelt = \"1 s\",", 1)));
    [0].into_iter().chain(tables.map(|at| at + 1)).map(insert).chain(inline).collect()
}

#[test]
fn unknown_keys_are_refused_by_the_reader_and_by_the_schema() {
    let schema = schema(&Catalogue::default());
    let mut tried = 0;
    for (path, text) in all() {
        if refusal(&path, &text).is_some() {
            // It names a map that is not in the repository: the reader stops there.
            continue;
        }
        for wrong in with_unknown_keys(&text) {
            let Ok(_) = toml::from_str::<Value>(&wrong) else { continue };
            let error = refusal(&path, &wrong).unwrap_or_default();
            assert!(error.contains("unknown key"), "{}: `{error}`\n{wrong}", path.display());
            assert!(!check(&wrong, &schema), "{}: the schema accepts\n{wrong}", path.display());
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried} cases");
}

#[test]
fn a_model_has_its_own_parameters_in_the_schema() {
    let schema = schema(&Catalogue::default());
    let sound = "duration = \"1 h\"\n[nodes.a]\nmobility = { model = \"random_walk\", area = \"1 km x 1 km\", speed = \"1..2 m/s\", leg = \"5 m\" }\n\
                 [nodes.b]\nmobility = { model = \"shortest_path_map\", map = [\"a.wkt\", \"b.wkt\"], speed = \"1 m/s\", roads = \"walk\" }\n";
    let links = "duration = \"1 h\"\n[links.l]\nloss = { model = \"steps\", steps = [{ at = \"1 s\", share = 0.5 }] }\n\
                 queue = { discipline = \"codel\", limit = \"9 packets\", target = \"5 ms\", mark = true }\n\
                 [links.l.back]\nloss = { model = \"uniform\", share = [0.1, 0.2] }\n";
    assert!(check(sound, &schema) && check(links, &schema));
    for (text, from, to) in [
        (sound, "random_walk", "random_waypoint"),
        (sound, "random_walk", "random_stroll"),
        (sound, "leg", "step"),
        (sound, "area = \"1 km x 1 km\", ", ""),
        (sound, "\"5 m\"", "5"),
        (sound, "\"walk\"", "\"swim\""),
        (sound, "map = ", "city = "),
        (links, "0.5", "1.5"),
        (links, "share = 0.5", "part = 0.5"),
        (links, "steps = ", "stairs = "),
        (links, "target", "aim"),
        (links, "mark = true", "mark = 1"),
        (links, "limit = \"9 packets\"", "limit = 9"),
        (links, "share = [0.1, 0.2]", "share = [0.1, 2]"),
        (links, "share = [0.1, 0.2]", "steps = []"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text);
        assert!(!check(&wrong, &schema), "{from} -> {to}");
    }
}

#[test]
fn values_of_a_wrong_type_do_not_fit_the_schema() {
    let schema = schema(&Catalogue::default());
    let sound = "duration = \"1 h\"\nrouter = { name = \"spray_and_wait\", copies = [4, \"$n\"] }\nbuffer = \"1 MB\"\n\
                 [nodes.a]\ncount = 2\n[world]\ncontacts_fail = 0.5\nradio = \"node\"\n";
    assert!(check(sound, &schema));
    for (from, to) in [
        ("\"1 h\"", "3600"),
        ("spray_and_wait", "spray_and_hope"),
        ("copies", "copy"),
        ("count = 2", "count = 0"),
        ("count = 2", "count = 2.5"),
        ("0.5", "1.5"),
        ("\"node\"", "\"nod\""),
        ("\"node\"", "true"),
    ] {
        let wrong = sound.replacen(from, to, 1);
        assert_ne!(wrong, sound);
        assert!(!check(&wrong, &schema), "{from} -> {to}");
    }
}

#[test]
fn a_parameter_of_the_schema_has_unit_range_and_a_default_that_fits() {
    let schema = schema(&Catalogue::default());
    let tables = schema["$defs"]["mechanism"]["anyOf"].as_array().unwrap();
    let of = |name: &str| {
        let found = tables
            .iter()
            .map(|table| &table["properties"])
            .find(|keys| keys["name"].to_string().contains(name));
        found.unwrap().clone()
    };
    let credit = of("\"credit\"");
    assert_eq!(credit["unit"]["default"], "60 s");
    assert_eq!(
        (&credit["unit"]["x-unit"], &credit["unit"]["x-range"]),
        (&"s".into(), &vec![0.001, 1e9].into())
    );
    assert_eq!((&credit["initial"]["default"], &credit["initial"]["x-unit"]), (&100.0.into(), &"".into()));
    assert_eq!(
        (&credit["receiver"]["default"], &credit["proactive"]["default"]),
        (&"min".into(), &false.into())
    );
    for kind in ["router", "mechanism", "controller", "mobility_model", "loss_model", "queue"] {
        for table in schema["$defs"][kind]["anyOf"].as_array().unwrap() {
            for (name, key) in table["properties"].as_object().into_iter().flatten() {
                let fits = key.get("default").is_none_or(|default| fits(default, key, &schema));
                assert!(fits, "{kind} {name}: {key}");
            }
        }
    }
}

//! One point of a sweep as settings of its scenario: what `--set` sets.

use super::axes::Choice;
use super::tree::{Node, PARAMETERS, Value};
use std::sync::Arc;

/// Keys, and the values that they have in a choice, as `--set` takes them.
pub fn settings(choice: &Choice) -> Vec<(String, String)> {
    let mut chosen: Vec<(String, String)> = Vec::new();
    let mut last = String::new();
    for (path, _) in &choice.values {
        // The value of an axis holds those of the axes within it.
        if !last.is_empty() && path.starts_with(&last) {
            continue;
        }
        let root = &choice.tree;
        let found = at(root, path, String::new());
        let found = found.or_else(|| at(child(root, PARAMETERS)?, path, format!("{PARAMETERS}.")));
        if let Some((key, node)) = found {
            last = format!("{path}.");
            chosen.push((key, argument(node)));
        }
    }
    chosen
}

fn child<'a>(node: &'a Node, name: &str) -> Option<&'a Arc<Node>> {
    let Value::Table(entries) = &node.value else { return None };
    entries.iter().find(|entry| entry.0.name == name).map(|entry| &entry.1)
}

/// The value at a path whose keys are joined by dots, and the path with quotes where a key has dots itself.
fn at<'a>(node: &'a Node, path: &str, before: String) -> Option<(String, &'a Node)> {
    let Value::Table(entries) = &node.value else { return None };
    entries.iter().find_map(|(key, value)| {
        let name = &key.name;
        let rest = path.strip_prefix(name.as_str())?;
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        let quote = if name.contains('"') { '\'' } else { '"' };
        let shown = if is_plain { name.clone() } else { format!("{quote}{name}{quote}") };
        if rest.is_empty() {
            return Some((before.clone() + &shown, &**value));
        }
        at(value, rest.strip_prefix('.')?, format!("{before}{shown}."))
    })
}

/// A value as people type it behind `--set`: a word without quotes.
fn argument(node: &Node) -> String {
    let is_word = |text: &str| {
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // What TOML reads as something else keeps its quotes.
        plain
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && !["true", "false", "inf", "nan"].contains(&text)
    };
    match &node.value {
        Value::Text(text) if is_word(text) => text.clone(),
        _ => toml(node).to_string(),
    }
}

fn toml(node: &Node) -> toml::Value {
    match &node.value {
        Value::Text(text) => text.as_str().into(),
        Value::Whole(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(list) => toml::Value::Array(list.iter().map(|node| toml(node)).collect()),
        Value::Table(entries) => {
            toml::Value::Table(entries.iter().map(|(key, node)| (key.name.clone(), toml(node))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, ScenarioFile};
    use proptest::prelude::*;

    fn file(text: &str) -> ScenarioFile {
        let catalogue = Catalogue::default().into();
        ScenarioFile::from_toml("s.toml", text, ".".into(), catalogue).expect("it is TOML")
    }

    fn text(routers: &str, copies: &str, buffers: &str) -> String {
        format!(
            r#"
            duration = "1 h"
            router = [{routers}, {{ name = "spray_and_wait", copies = [{copies}] }}]
            mechanism = "$law"
            [parameters]
            law = ["none", "credit"]
            [nodes."walker.s"]
            count = 3
            buffer = [{buffers}]
            mobility = {{ model = "random_waypoint", area = "100 m x 100 m", speed = "1..2 m/s", pause = "0 s" }}
            radio = {{ range = "100 m", rate = "1 Mbit/s" }}
            [traffic.mail]
            interval = "60 s"
            size = "1 kB"
            lifetime = "1 h"
            "#
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn settings_of_a_point_make_its_scenario_the_only_one(copies in 2..90_u32, more in 100..200_u32, kilobytes in 10..99_u32) {
            let buffers = format!("'{kilobytes} kB', '1 MB'");
            let whole = file(&text("'epidemic', 'prophet'", &format!("{copies}, {more}"), &buffers));
            let points = whole.points().expect("it is right");
            prop_assert_eq!(points.list.len(), 16);
            for point in &points.list {
                let mut one = whole.clone();
                for (key, value) in whole.settings(point).expect("it is a point") {
                    one.set(&key, &value).unwrap_or_else(|error| panic!("{key}={value}: {error}"));
                }
                let only = one.points().expect("it is right").list;
                prop_assert_eq!(only.len(), 1);
                prop_assert_eq!(format!("{:?}", without_places(&only[0].scenario)), format!("{:?}", without_places(&point.scenario)));
            }
        }
    }

    /// Places of values differ: what is set has another one than what is written.
    fn without_places(scenario: &crate::Scenario) -> String {
        let shown = format!("{scenario:?}");
        let parts = shown.split("place: ").map(|part| part.split_once("), ").map_or(part, |rest| rest.1));
        parts.collect()
    }

    #[test]
    fn a_scenario_without_lists_needs_no_settings() {
        let one = file(&text("'epidemic'", "5", "'1 MB'"));
        let points = one.points().expect("it is right");
        let all: Vec<_> = points.list.iter().map(|point| one.settings(point).expect("a point")).collect();
        assert_eq!(
            all[1],
            [
                ("router".into(), "epidemic".into()),
                ("parameters.law".into(), "credit".into()),
                (r#"nodes."walker.s".buffer"#.into(), "\"1 MB\"".into())
            ]
        );
        assert!(all.last().is_some_and(|last| last[0].1.contains("copies = 5")), "{all:?}");
        let mut single = one.clone();
        single.set("router", "epidemic").expect("it is a key");
        single.set("law", "none").expect("it is a key");
        single.set("nodes.\"walker.s\".buffer", "1 MB").expect("it is a key");
        let points = single.points().expect("it is right");
        assert_eq!(single.settings(&points.list[0]).expect("a point"), []);
    }
}

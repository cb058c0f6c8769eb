//! What no mechanism can exceed, as the command reports it.

use crate::lightlag::{Place, WALKERS, repository};
use serde_json::Value;

fn json(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&place.good(words)).expect("it is JSON")
}

#[test]
fn points_that_differ_in_their_algorithms_only_are_one() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    let words = [
        "bound",
        "s.toml",
        "--json",
        "--set",
        "mechanism=[\"none\", \"credit\"]",
        "--set",
        "router=[\"epidemic\", \"direct\"]",
        "--set",
        "buffer=[\"200 kB\", \"1 MB\"]",
    ];
    let output = json(&place, &words);
    let points = output["points"].as_array().expect("points");
    let values: Vec<&Value> = points.iter().map(|point| &point["values"]).collect();
    assert_eq!(values, [&serde_json::json!({"buffer": "200 kB"}), &serde_json::json!({"buffer": "1 MB"})]);
    let [small, large] = [0, 1].map(|at| points[at]["metrics"]["bound"]["mean"].as_f64().expect("a bound"));
    assert!(small <= large && large <= points[1]["metrics"]["reachable"]["mean"].as_f64().expect("a share"));
    let seeds: Vec<&Value> =
        points[0]["runs"].as_array().into_iter().flatten().map(|run| &run["seed"]).collect();
    assert_eq!(seeds, [1, 2]);
}

#[test]
fn a_run_stays_within_the_bound_that_the_command_tells() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    let output = json(&place, &["bound", "s.toml", "--json", "--seeds", "2"]);
    let known = |name: &str| output["points"][0]["runs"][0][name].as_f64().expect("a number");
    for mechanism in ["none", "copy_value", "storage_routing"] {
        let set = format!("mechanism={mechanism}");
        let run = json(&place, &["run", "s.toml", "--json", "--seed", "2", "--set", &set]);
        let made = |name: &str| run[name].as_f64().expect("a number");
        assert_eq!(made("created"), known("created"));
        assert!(made("delivery_prob") <= known("bound") && known("bound") <= known("reachable"));
        assert!(made("censored_delay_avg") >= known("delay_bound"));
    }
}

#[test]
fn a_table_is_told_to_people() {
    let place = Place::new();
    place.write("s.toml", WALKERS);
    let output = place.good(&["bound", "s.toml"]);
    assert!(output.contains("reachable") && output.contains("delay_bound"), "{output}");
    assert_eq!(output.lines().count(), 2, "{output}");
}

#[test]
fn other_worlds_have_no_such_bound() {
    let place = Place::new();
    for (file, world) in [("arc_link.toml", "packets"), ("dcp_single.toml", "names")] {
        let path = repository("scenarios/papers").join(file);
        let line = place.refused(&["bound", path.to_str().expect("a plain path")]);
        assert!(line.contains(&format!("no bound is defined for a scenario of {world}")), "{line}");
    }
}

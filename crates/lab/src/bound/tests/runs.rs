//! Every router with every mechanism, and none of their runs beyond its bound.

use super::super::{Bound, bound};
use crate::run::{ContactsCache, Options, run};
use lightlag_scenario::{Catalogue, Point, ScenarioFile, Seed};

/// A list of all routers and one of all mechanisms, for a scenario that is swept over them.
fn all(planned: bool) -> String {
    let catalogue = Catalogue::default();
    let list = |names: Vec<&str>| format!("[\"{}\"]", names.join("\", \""));
    let routers = catalogue.routers.iter().filter(|entry| planned || entry.only_with.is_empty());
    let routers = list(routers.map(|entry| entry.name.as_str()).collect());
    let mechanisms = list(catalogue.mechanisms.iter().map(|entry| entry.name.as_str()).collect());
    format!("router = {routers}\nmechanism = {mechanisms}\n")
}

fn points(text: &str) -> Vec<Point> {
    let text = all(text.contains("[contacts.")) + text;
    let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into());
    file.and_then(|file| file.points()).unwrap_or_else(|error| panic!("{error}")).list
}

/// Runs all points under these seeds; returns the best delivery ratio and the bound of the last seed.
#[track_caller]
fn no_run_exceeds_its_bound(text: &str, seeds: std::ops::Range<u64>) -> (f64, Bound) {
    let cache = ContactsCache::default();
    let points = points(text);
    assert!(points.len() > 20, "{} points", points.len());
    let mut last = None;
    for seed in seeds.map(Seed::Number) {
        let known = bound(&points[0].scenario, seed, &cache).unwrap_or_else(|error| panic!("{error}"));
        let mut best: f64 = 0.0;
        for Point { values, scenario } in &points {
            // No network lets transfers take no time.
            if values.iter().any(|(_, value)| value == "epidemic_oracle") {
                continue;
            }
            let outcome =
                run(scenario, seed, &cache, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
            let figure = |name| outcome.figures.get(name).unwrap_or(f64::NAN);
            let (ratio, delay) = (figure("delivery_prob"), figure("censored_delay_avg"));
            let most = known.bound.unwrap_or(f64::NAN);
            assert!(figure("created") == known.created as f64, "{values:?}: {known:?}");
            assert!(ratio <= most + 1e-9 && most <= known.reachable + 1e-9, "{values:?}: {ratio}, {known:?}");
            assert!(delay >= known.delay_bound - 1e-6, "{values:?}: {delay}, {known:?}");
            best = best.max(ratio);
        }
        last = Some((best, known));
    }
    last.unwrap_or_else(|| panic!("no seeds"))
}

/// Five nodes by a plan: two relays between a base and two rovers, as between planets.
fn planned(world: &str, delay: &str, lifetime: &str) -> String {
    format!(
        r#"
duration = "30 min"
buffer = "400 kB"
[world]
{world}
[nodes.base]
[nodes.relay]
count = 2
[nodes.rover]
count = 2
[contacts.plan]
kind = "table"
rate = "200 kbit/s"
delay = "{delay}"
rows = [
  {{ a = "base", b = "relay0", start = "60 s", end = "200 s" }},
  {{ a = "relay0", b = "rover0", start = "150 s", end = "330 s" }},
  {{ a = "base", b = "relay1", start = "300 s", end = "420 s" }},
  {{ a = "relay0", b = "relay1", start = "350 s", end = "400 s" }},
  {{ a = "relay1", b = "rover1", start = "500 s", end = "650 s" }},
  {{ a = "relay0", b = "rover1", start = "600 s", end = "700 s" }},
  {{ a = "base", b = "relay0", start = "700 s", end = "820 s" }},
  {{ a = "relay0", b = "rover0", start = "900 s", end = "1100 s" }},
  {{ a = "rover0", b = "rover1", start = "1000 s", end = "1150 s" }},
  {{ a = "base", b = "relay1", start = "1200 s", end = "1300 s" }},
  {{ a = "relay1", b = "rover0", start = "1250 s", end = "1500 s" }},
]
[traffic.messages]
interval = "4..20 s"
size = "20..100 kB"
from = "base"
to = "rover"
lifetime = "{lifetime}"
"#
    )
}

fn walkers(world: &str, lifetime: &str) -> String {
    format!(
        r#"
duration = "20 min"
buffer = "300 kB"
mobility = {{ model = "random_waypoint", area = "250 m x 250 m", speed = "0.5..1.5 m/s", pause = "0..60 s" }}
radio = {{ range = "40 m", rate = "250 kbit/s" }}
[world]
{world}
[nodes.n]
count = 10
[traffic.messages]
interval = "3..9 s"
size = "20..100 kB"
from = "all"
to = "all"
lifetime = "{lifetime}"
"#
    )
}

#[test]
fn no_run_by_a_plan_exceeds_its_bound() {
    let (best, known) = no_run_exceeds_its_bound(&planned("", "0 s", "1 h"), 1..9);
    let bound = known.bound.unwrap_or(f64::NAN);
    assert!(bound < known.reachable && best > bound / 2.0, "the bound says something: {best}, {known:?}");
}

#[test]
fn no_run_over_light_seconds_exceeds_its_bound() {
    for radio in ["node", "link", "direction"] {
        no_run_exceeds_its_bound(&planned(&format!("radio = \"{radio}\""), "37 s", "10 min"), 1..7);
    }
}

#[test]
fn no_run_that_stops_and_waits_exceeds_its_bound() {
    no_run_exceeds_its_bound(&planned("propagation = \"stop_and_wait\"", "5 s", "20 min"), 1..7);
}

#[test]
fn no_run_of_walkers_exceeds_its_bound() {
    for (world, lifetime) in [("", "1 h"), ("", "2 min"), ("radio = \"link\"", "90 s")] {
        no_run_exceeds_its_bound(&walkers(world, lifetime), 1..7);
    }
}

#[test]
fn no_run_under_the_rules_of_the_one_exceeds_its_bound() {
    let world = "tick = \"100 ms\"\npurge_every = \"60 s\"\n";
    let policy = "overfill = true\n";
    let text = walkers(world, "2 min").replace("[nodes.n]\n", &format!("[nodes.n]\n{policy}"));
    no_run_exceeds_its_bound(&text, 1..7);
}

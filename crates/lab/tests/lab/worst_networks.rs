//! The worst networks that a search found for controllers that are defaults (`scenarios/hard/worst`): what they drop and
//! carry there is not good, and gets no worse.

use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{ScenarioFile, Seed};
use std::path::Path;

/// A scenario, the goodput of the flow in question in kbit/s, and what queues dropped in both directions (reports too)
/// for each packet sent, as measured when it was found.
const FOUND: &[(&str, f64, f64)] = &[
    ("contact_rate_01", 0.437, 0.942),
    ("contact_rate_02", 0.764, 0.972),
    ("contact_rate_03", 0.022, 0.292),
    ("contact_rate_04", 638.599, 0.765),
    ("contact_rate_05", 110.880, 0.925),
    ("contact_rate_datagrams_01", 0.060, 0.905),
    ("contact_rate_datagrams_02", 0.090, 0.944),
    ("contact_rate_datagrams_03", 0.043, 0.941),
    ("contact_rate_datagrams_04", 0.018, 1.033),
    ("contact_rate_datagrams_05", 0.025, 1.013),
    ("short_queue_01", 105_979.818, 0.473),
    ("short_queue_02", 0.259, 0.451),
    ("short_queue_03", 121.258, 0.785),
    ("short_queue_04", 0.095, 0.068),
    ("short_queue_05", 9.990, 0.256),
];
/// Small changes move runs as bad as these within these bounds: a factor of the goodput, and packets dropped for each sent.
const GOODPUT_LEAST: f64 = 0.7;
const DROPPED_MORE: f64 = 0.08;

#[test]
fn the_worst_networks_that_were_found_become_no_worse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/hard/worst");
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, FOUND.len(), "each file of {} has a row", folder.display());
    let mut worse = Vec::new();
    for (name, goodput_before, dropped_before) in FOUND {
        let file = ScenarioFile::read(&[&folder.join(format!("{name}.toml"))]).unwrap();
        let scenario = file.points().unwrap().list.remove(0).scenario;
        let outcome = run(&scenario, Seed::Own, &ContactsCache::default(), &Options::default()).unwrap();
        assert_eq!(outcome.violations, [""; 0], "{name}");
        let number = |name: &str| outcome.figures.get(name).unwrap_or(f64::NAN);
        let goodput = outcome.figures.of_part("ours", "goodput_bit_per_s").unwrap() / 1e3;
        let dropped = number("packets_dropped") / number("packets_sent");
        println!("    (\"{name}\", {goodput:.3}, {dropped:.3}),");
        let holds = goodput >= GOODPUT_LEAST * goodput_before && dropped <= dropped_before + DROPPED_MORE;
        if !holds {
            worse.push(format!("{name}: {goodput} kbit/s, {dropped} dropped"));
        }
    }
    assert_eq!(worse, [""; 0]);
}

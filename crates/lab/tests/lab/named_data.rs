//! Scenarios of named data that a consumer once failed in.

use lightlag_lab::metrics::Number;
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{ScenarioFile, Seed};
use std::path::Path;

/// Goodput of a judged run, in Mbit/s, with these keys set.
fn goodput(name: &str, sets: &[(&str, &str)]) -> f64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/names").join(name);
    let mut file = ScenarioFile::read(&[&path]).unwrap();
    sets.iter().for_each(|(key, value)| file.set(key, value).unwrap());
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let outcome = run(&scenario, Seed::Own, &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations, [""; 0]);
    let found = outcome.figures.numbers.iter().find(|(name, _)| *name == "goodput_bit_per_s").unwrap();
    let Number::Real(goodput) = found.1 else { panic!("a goodput is a real number") };
    goodput / 1e6
}

#[test]
fn short_queue_follows_a_round_trip_that_grows() {
    let grows = goodput("changing_delay.toml", &[]);
    assert!(grows > 9.5, "{grows} Mbit/s of 9.68 after a minute in which it grew by a third");
    let jumps = goodput("changing_delay.toml", &[("later", "300 ms"), ("from", "5.001 s")]);
    assert!(jumps > 9.0, "{jumps} Mbit/s of 9.68 a minute after it became ten times as long");
}

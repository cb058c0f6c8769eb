//! ION's admission control at a relay of the moon (`scenarios/lunar_relay.toml`).

use lightlag_lab::run::{ContactsCache, Options, Outcome, run};
use lightlag_scenario::{ScenarioFile, Seed};
use proptest::prelude::*;
use std::path::Path;

/// A judged run with what the forecast expects of contacts, and further keys.
fn ran(reception: &str, sets: &[(&str, &str)], seed: u64) -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lunar_relay.toml");
    let mut file = ScenarioFile::read(&[&path]).unwrap();
    let mechanism = format!("{{ name = \"ion_forecast\", reception = \"{reception}\" }}");
    for (key, value) in [("mechanism", mechanism.as_str())].iter().chain(sets) {
        file.set(key, value).unwrap();
    }
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let outcome = run(&scenario, Seed::Number(seed), &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations, [""; 0], "{reception}, {sets:?}");
    outcome
}

fn figure(outcome: &Outcome, name: &str) -> f64 {
    outcome.figures.get(name).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..Default::default() })]
    #[test]
    fn what_is_stored_is_never_dropped_for_room(
        buffer_mb in 4_u32..64, rate_kbit in 64_u32..512, longest_s in 30_u32..200, seed in 1_u64..1000,
    ) {
        let buffer = format!("\"{buffer_mb} MB\"");
        let (rate, interval) = (format!("\"{rate_kbit} kbit/s\""), format!("\"20..{longest_s} s\""));
        let sets = [
            ("nodes.relay.buffer", buffer.as_str()),
            ("contacts.up.rate", &rate),
            ("traffic.pictures.interval", &interval),
        ];
        for reception in ["measured", "planned", "none"] {
            let outcome = ran(reception, &sets, seed);
            prop_assert_eq!(figure(&outcome, "dropped_overflow"), 0.0);
            prop_assert!(figure(&outcome, "delivered") > 0.0);
        }
    }

    /// The relay alone sends, and not until the last pass; each pass brings more than the buffer holds, if the landers send all
    /// that they can.
    #[test]
    fn a_plan_with_more_than_the_buffer_admits_nothing_unless_its_contacts_are_measured(
        buffer_mb in 4_u32..48, longest_s in 30_u32..200, seed in 1_u64..1000,
    ) {
        let (buffer, interval) = (format!("\"{buffer_mb} MB\""), format!("\"20..{longest_s} s\""));
        let sets = [
            ("nodes.relay.buffer", buffer.as_str()),
            ("traffic.pictures.interval", &interval),
            ("traffic.pictures.from", r#""relay""#),
            ("traffic.pictures.end", r#""16 h""#),
            ("traffic.pictures.lifetime", r#""3 h""#),
        ];
        let of = |reception| ran(reception, &sets, seed);
        let [measured, planned, none] = ["measured", "planned", "none"].map(of);
        prop_assert_eq!(figure(&planned, "delivered"), 0.0);
        prop_assert!(figure(&measured, "delivered") > 0.0);
        prop_assert_eq!(measured.figures, none.figures, "the landers have sent nothing");
    }
}

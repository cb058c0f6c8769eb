//! Queues that mark packets instead of dropping them (`scenarios/dccp_ecn.toml`).

use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::{ScenarioFile, Seed};
use proptest::prelude::*;
use std::path::Path;

/// Packets dropped and marked, responses, and Mbit/s of a judged run with these keys set.
fn ran(sets: &[(&str, &str)]) -> [f64; 4] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/dccp_ecn.toml");
    let mut file = ScenarioFile::read(&[&path]).unwrap();
    sets.iter().for_each(|(key, value)| file.set(key, value).unwrap());
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let outcome = run(&scenario, Seed::Own, &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations, [""; 0], "{sets:?}");
    let of = |name| outcome.figures.get(name).unwrap();
    [of("packets_dropped"), of("packets_marked"), of("loss_episodes"), of("goodput_bit_per_s") / 1e6]
}

#[test]
fn only_a_flow_with_ecn_over_a_queue_that_marks_has_marks() {
    for (ecn, mark) in [("true", "false"), ("false", "true"), ("false", "false")] {
        let [dropped, marked, ..] = ran(&[("ecn", ecn), ("mark", mark)]);
        assert!(dropped > 10.0 && marked == 0.0, "ecn = {ecn}, mark = {mark}: {dropped}, {marked}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..Default::default() })]
    #[test]
    fn with_ecn_the_queue_drops_nothing_where_it_drops_some_without(
        rate_mbit in 2_u32..30,
        rtt_ms in 10_u32..200,
        which in 0..3_usize,
    ) {
        let (rate, rtt) = (format!("{rate_mbit} Mbit/s"), format!("{rtt_ms} ms"));
        let controller = ["ccid2", "new_reno", "cubic"][which];
        let of = |ecn: &str| ran(&[("ecn", ecn), ("rate", &rate), ("rtt", &rtt), ("controller", controller)]);
        let ([dropped, marked, responses, goodput], [dropped_without, _, _, goodput_without]) = (of("true"), of("false"));
        let run = format!("{controller} at {rate}, {rtt}: {dropped} dropped, {marked} marked, {dropped_without} without");
        prop_assert!(dropped == 0.0 && marked > 0.0 && dropped_without > 0.0, "{}", run);
        prop_assert!(responses > 0.0 && responses <= marked, "{run}; {responses} responses");
        prop_assert!(goodput > 0.9 * goodput_without, "{run}; {goodput} and {goodput_without} Mbit/s");
    }
}

//! What the study claims of its curves, on a few of them.

use super::curves::Curve;
use super::plan::{LONG, ORACLE, POLICY, SHORT, sets};
use crate::shared::points::{only, scenario};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::Seed;

fn packets(curve: &Curve, variant: &str) -> f64 {
    let (steps, losses) = (curve.steps(), curve.losses());
    let link = [("links.path.delay.steps", steps.as_str()), ("links.path.loss", losses.as_str())];
    let scenario = only(&scenario(SHORT, link.into_iter().chain(sets(variant))).unwrap()).unwrap();
    let outcome = run(&scenario, Seed::Number(1), &ContactsCache::default(), &Options::default()).unwrap();
    assert_eq!(outcome.violations_total, 0, "{:?}", outcome.violations);
    let bytes = outcome.metrics().into_iter().find(|metric| *metric.0 == *"delivered_bytes").unwrap();
    bytes.1 / 1024.0
}

#[test]
fn the_policy_is_near_the_oracle_and_both_near_the_limit() {
    for number in [13, 16, 31] {
        let curve = Curve::drawn(number);
        let [oracle, policy] = [ORACLE, POLICY].map(|variant| packets(&curve, variant));
        assert!(policy >= 0.95 * oracle, "curve {number}: {policy} of {oracle}");
        assert!(policy >= 0.9 * curve.limit() && policy <= curve.limit(), "curve {number}: {policy}");
    }
}

#[test]
fn no_more_is_sent_than_arrives_but_for_a_fifth_however_long_a_window_limits_the_flow() {
    // With seed 2 a queue of TCP once passed for the path, and the rate doubled without end.
    let scenario = only(&scenario(LONG, sets(POLICY)).unwrap()).unwrap();
    for seed in 1..4 {
        let (contacts, options) = (ContactsCache::default(), Options::default());
        let metrics = run(&scenario, Seed::Number(seed), &contacts, &options).unwrap().metrics();
        let value = |name: &str| metrics.iter().find(|metric| *metric.0 == *name).unwrap().1;
        let (sent, delivered) = (value("packets_sent"), value("delivered_bytes") / 1024.0);
        assert!(sent < 1.2 * delivered, "seed {seed}: {sent} sent, {delivered} delivered");
    }
}

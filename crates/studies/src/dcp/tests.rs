use super::*;
use lightlag_scenario::Seed;

#[test]
fn every_fact_of_the_reference_stands_beside_a_reading() {
    for fact in reference::FACTS {
        assert!(variants::READINGS.contains(&fact.variant), "{}", fact.variant);
    }
}

#[test]
fn windows_queues_and_goodputs_are_those_of_the_paper() {
    let curves = curves::alone(variants::DCP).expect("the scenario is compiled in");
    let last = curves.each_ref().map(|curve| curve.points.last().map_or(f64::NAN, |point| point.1));
    assert!((last[0] - 133.0).abs() < 3.0, "Interests in the window: {}", last[0]);
    assert!((58.0..=60.0).contains(&last[1]), "packets in the queue: {}", last[1]);
    assert!((last[2] - 9.68).abs() < 0.1, "Mbit/s: {}", last[2]);
    let results = crate::shared::tests::made_up(&STUDY, true);
    let steady =
        WORDS.verdict("D1", (claims::CLAIMS[0].test)(&claims::Data { results: &results, curves: &curves }));
    assert_eq!(steady.holds.word(), "yes", "{}", steady.we_measure);
}

#[test]
fn a_row_of_the_table_has_what_both_consumers_got() {
    let mut list = plan::plan(true).expect("the plan is compiled in").list;
    let point = list.pop().expect("it has points");
    let options = lightlag_lab::run::Options { judge: false, ..Default::default() };
    let seed = Seed::Number(1);
    let outcome =
        lightlag_lab::run::run(&point.scenario, seed, &Default::default(), &options).expect("it runs");
    let metrics = (STUDY.metrics)(&outcome);
    for consumer in ["one", "two"] {
        for (name, _) in OF_CONSUMERS {
            assert!(metrics.iter().any(|metric| *metric.0 == *format!("{name}_of_{consumer}")), "{name}");
        }
    }
    assert!(metrics.iter().any(|metric| *metric.0 == *AGGREGATED.0), "the router's count");
}

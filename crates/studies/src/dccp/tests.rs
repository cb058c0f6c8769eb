use super::*;
use crate::shared::tests::made_up;

#[test]
fn throughput_and_answers_are_told_of_the_silent_link_too() {
    let results = made_up(&STUDY, false);
    let claims = WORDS.verdicts(claims::CLAIMS, |test| test(&results));
    let described = |claim: &&lightlag_lab::report::Verdict| {
        claim.readings.iter().any(|reading| reading.0 == "silent for 5 s once")
    };
    let ids: Vec<&str> = claims.iter().filter(described).map(|claim| claim.id).collect();
    assert_eq!(ids, ["D1", "D4"]);
}

#[test]
fn lost_packets_are_counted_only_where_they_are_named() {
    for table in tables::all(&made_up(&STUDY, false)) {
        let Some(lost) = table.head.iter().position(|head| head == "packets lost") else { continue };
        for row in &table.rows {
            let unknown = row[0].starts_with("tcp") || row[0] == "dccp, ccid3";
            assert_eq!(row[lost] == "-", unknown, "{row:?}");
        }
    }
}

/// Metrics of one connection of a variant on the poster's link.
fn connection(variant: variants::Variant) -> impl Fn(&str) -> f64 {
    connection_of(variant, plan::SPREAD, 1)
}

/// Of a figure's link without random losses.
fn connection_of(variant: variants::Variant, figure: &str, seed: u64) -> impl Fn(&str) -> f64 + use<> {
    let points = plan::plan(true).expect("the plan is compiled in").list;
    let is_it = |point: &&crate::shared::points::Point| {
        let has = |name: &str, value: &str| point.values.iter().any(|one| one.0 == name && one.1 == value);
        let lossless = figure != plan::SPREAD || has(plan::LOSS, "0");
        has("figure", figure) && has("variant", variant.name) && lossless
    };
    let point = points.iter().find(is_it).expect("it is in the plan");
    let analysis = Some(lightlag_capture::analysis::Options::default());
    let options = lightlag_lab::run::Options { judge: false, analysis, ..Default::default() };
    let seed = lightlag_scenario::Seed::Number(seed);
    let outcome =
        lightlag_lab::run::run(&point.scenario, seed, &Default::default(), &options).expect("it runs");
    let metrics = seen::metrics(&outcome);
    move |name| metrics.iter().find(|metric| *metric.0 == *name).map_or(f64::NAN, |metric| metric.1)
}

#[test]
fn a_connection_of_ccid2_has_none_of_the_faults() {
    let (dccp, tcp) = (connection(variants::CCID2), connection(variants::PAIRS[1].0));
    let beyond = dccp("goodput_of_one") / tcp("goodput_of_one") - 1.0;
    assert!(beyond.abs() < 0.03, "{beyond}");
    assert!(dccp("answered_once") >= 3.0);
    assert_eq!((dccp("answered_more"), dccp("answered_not"), dccp("pauses_by_timer")), (0.0, 0.0, 0.0));
}

#[test]
fn small_windows_are_seen_to_be_halved_once_too() {
    for variant in variants::PAIRS[..2].iter().map(|pair| pair.1) {
        for seed in 1..=3 {
            let seen = connection_of(variant, plan::NARROW, seed);
            assert!(seen("answered_once") > 50.0, "{} seed {seed}", variant.name);
            let otherwise = (seen("answered_more"), seen("answered_not"));
            assert_eq!(otherwise, (0.0, 0.0), "{} seed {seed}", variant.name);
        }
    }
}

#[test]
fn each_switch_brings_its_fault_back() {
    let ours = connection(variants::CCID2)("goodput_of_one");
    assert!(connection(variants::STUCK)("goodput_of_one") < ours / 2.0);
    let inconsistent = connection(variants::INCONSISTENT);
    assert!(inconsistent("answered_more") + inconsistent("answered_not") > 0.0);
    assert!(connection(variants::SMALL)("pauses_by_timer") > 100.0);
}

#[test]
fn thirty_connections_of_each_kind_are_asked_of_real_sockets() {
    let asked = |wanted: Vec<sockets::Connection>| {
        assert_eq!(wanted.len(), 30 * sockets::ON_SOCKETS.len());
        assert!(wanted.iter().all(|one| one.span.as_secs_f64() == 300.0));
        Err("no sockets here".to_owned())
    };
    assert_eq!(sockets::run(&asked), Err("no sockets here".to_owned()));
}

use super::*;
use lightlag_lab::results::{Build, Results, Row};
use lightlag_lab::sweep::Job;
use std::collections::BTreeSet;

const COUNTS: [&str; 11] = [
    "packets_dropped",
    "packets_lost",
    "alone",
    "lost",
    "losses",
    "answered_once",
    "answered_more",
    "answered_not",
    "pauses",
    "pauses_by_timer",
    "violations",
];

/// All runs of the whole study, with made-up metrics.
fn made_up_results() -> Results {
    let row = |job: Job| {
        let number = ((job.point * 37 + job.seed as usize * 11) % 100) as f64;
        let reals = [("goodput_of_one", 1e6 + number), ("longest_pause_s", 0.6), ("rtt_most_s", 1.2)];
        let counts = COUNTS.map(|name| (name, number));
        let metrics = reals.into_iter().chain(counts).map(|(name, value)| (name.to_owned(), value)).collect();
        Row { point: job.point, seed: job.seed, values: job.values, metrics }
    };
    let points = plan::plan(false).expect("the plan is compiled in");
    let named = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let on_sockets = |variant: &variants::Variant| Job {
        point: points.list.len(),
        seed: 1,
        values: [("figure", plan::SOCKETS), ("variant", variant.name)].map(named).to_vec(),
    };
    let sockets = sockets::ON_SOCKETS.iter().flat_map(|variant| {
        let job = on_sockets(variant);
        [job.clone(), Job { seed: 2, ..job }]
    });
    Results {
        build: Build { version: "0.1.0".into(), commit: "made up".into() },
        scenario: String::new(),
        rows: points.jobs().into_iter().chain(sockets).map(row).collect(),
    }
}

#[test]
fn every_scenario_of_the_study_can_be_built() {
    for quick in [true, false] {
        assert!(plan::plan(quick).is_ok_and(|points| !points.list.is_empty()));
    }
}

#[test]
fn the_whole_study_runs_nothing_twice_for_one_figure() {
    let results = made_up_results();
    let runs: BTreeSet<_> = results.rows.iter().map(|row| (&row.values, row.seed)).collect();
    assert_eq!(runs.len(), results.rows.len());
}

#[test]
fn every_claim_and_table_has_its_runs() {
    let results = made_up_results();
    let claims = claims::evaluate(&results);
    let untested: Vec<&str> =
        claims.iter().filter(|claim| !claim.holds.reason().is_empty()).map(|claim| claim.id).collect();
    assert!(untested.is_empty(), "{untested:?}");
    let ids: BTreeSet<&str> = claims.iter().map(|claim| claim.id).collect();
    assert_eq!(ids.len(), claims.len());
    for table in tables::all(&results) {
        assert!(table.rows.iter().all(|row| row.len() == table.head.len()), "{}", table.title);
        assert!(!table.rows.iter().flatten().any(|cell| cell.contains("NaN")), "{}", table.title);
    }
}

#[test]
fn throughput_and_answers_are_told_of_the_silent_link_too() {
    let claims = claims::evaluate(&made_up_results());
    let told = |claim: &&lightlag_lab::report::Verdict| {
        claim.readings.iter().any(|reading| reading.0 == "silent for 5 s once")
    };
    let ids: Vec<&str> = claims.iter().filter(told).map(|claim| claim.id).collect();
    assert_eq!(ids, ["D1", "D4"]);
}

#[test]
fn lost_packets_are_counted_only_where_they_are_named() {
    for table in tables::all(&made_up_results()) {
        let Some(lost) = table.head.iter().position(|head| head == "packets lost") else { continue };
        for row in &table.rows {
            let unknown = row[0].starts_with("tcp") || row[0] == "dccp, ccid3";
            assert_eq!(row[lost] == "-", unknown, "{row:?}");
        }
    }
}

#[test]
fn every_figure_has_something_to_show() {
    let (curves, connections) = curves::all().expect("the scenario is compiled in");
    for figure in figures::all(&made_up_results(), &curves) {
        let values = figure.specification["data"]["values"].as_array().map_or(0, Vec::len);
        assert!(values > 1, "{} is empty", figure.id);
    }
    assert_eq!(connections.len(), 2);
}

/// Metrics of one connection of a variant on the poster's link.
fn connection(variant: variants::Variant) -> impl Fn(&str) -> f64 {
    connection_of(variant, plan::SPREAD, 1)
}

/// Of a figure's link without random losses.
fn connection_of(variant: variants::Variant, figure: &str, seed: u64) -> impl Fn(&str) -> f64 + use<> {
    let points = plan::plan(true).expect("the plan is compiled in").list;
    let is_it = |point: &&crate::points::Point| {
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
    move |name| metrics.iter().find(|metric| metric.0 == name).map_or(f64::NAN, |metric| metric.1)
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
        Err("there are none".to_owned())
    };
    assert_eq!(sockets::run(&asked), Err("there are none".to_owned()));
}

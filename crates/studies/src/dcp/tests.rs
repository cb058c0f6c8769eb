use super::*;
use lightlag_lab::results::{Build, Results, Row};
use lightlag_lab::sweep::Job;
use std::collections::BTreeSet;

/// All runs of the whole study, with made-up metrics.
fn made_up_results() -> Results {
    let row = |job: Job| {
        let number = ((job.point * 37 + job.seed as usize * 11) % 100) as f64;
        let of = |consumer: &str| {
            let values = view::OF_CONSUMERS.map(|(name, _)| (format!("{name}_of_{consumer}"), 1.0 + number));
            values.to_vec()
        };
        let jain = [("jain".to_owned(), number / 100.0), ("violations".to_owned(), 0.0)];
        let metrics = of("one").into_iter().chain(of("two")).chain(jain).collect();
        Row { point: job.point, seed: job.seed, values: job.values, metrics }
    };
    let points = plan::plan(false).expect("the plan is compiled in");
    Results {
        build: Build { version: "0.1.0".into(), commit: "made up".into() },
        scenario: String::new(),
        rows: points.jobs().into_iter().map(row).collect(),
    }
}

fn made_up_curves() -> Vec<curves::Curve> {
    let of = |figure, series: &str| curves::Curve {
        figure,
        panel: String::new(),
        series: series.to_owned(),
        points: (0..300).map(|step| (f64::from(step) * 0.2, f64::from(step % 60))).collect(),
    };
    let figures = ["figure_3a", "figure_3b", "figure_3c", "figure_4", "figure_5"];
    figures.iter().flat_map(|figure| plan::OVER_TIME.map(|variant| of(figure, variant))).collect()
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
fn every_claim_figure_and_table_has_its_runs() {
    let (results, curves) = (made_up_results(), made_up_curves());
    let claims = claims::evaluate(&results, &curves);
    let untested: Vec<&str> =
        claims.iter().filter(|claim| !claim.holds.reason().is_empty()).map(|claim| claim.id).collect();
    assert!(untested.is_empty(), "{untested:?}");
    let ids: BTreeSet<&str> = claims.iter().map(|claim| claim.id).collect();
    assert_eq!(ids.len(), claims.len());
    for figure in figures::all(&results, &curves) {
        let values = figure.specification["data"]["values"].as_array().map_or(0, Vec::len);
        assert!(values > 1, "{} is empty", figure.id);
    }
    for table in tables::all(&results) {
        assert!(table.rows.iter().all(|row| row.len() == table.head.len()), "{}", table.title);
        assert!(!table.rows.iter().flatten().any(|cell| cell.contains("NaN")), "{}", table.title);
    }
}

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
    let steady = claims::evaluate(&made_up_results(), &curves).remove(0);
    assert_eq!(steady.holds.word(), "yes", "{}", steady.we_measure);
}

#[test]
fn a_row_of_the_table_has_what_both_consumers_got() {
    let point = plan::plan(true).expect("the plan is compiled in").list.pop().expect("it has points");
    let options = lightlag_lab::run::Options { judge: false, ..Default::default() };
    let seed = lightlag_scenario::Seed::Number(1);
    let outcome =
        lightlag_lab::run::run(&point.scenario, seed, &Default::default(), &options).expect("it runs");
    let metrics = metrics(&outcome);
    for consumer in ["one", "two"] {
        for (name, _) in view::OF_CONSUMERS {
            assert!(metrics.iter().any(|metric| metric.0 == format!("{name}_of_{consumer}")), "{name}");
        }
    }
}

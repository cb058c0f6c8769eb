use super::cells::{Grade, Measure, Standing, standings};
use super::charts;
use super::claims::{self, Tally};
use super::grid::{PAPER, STRESS};
use super::plan::{CELL, GRID, ROLE, ROUTER, TREATMENT, plan};
use super::treatments::{MECHANISM, Role, treatments};
use crate::comparative::cell::Cell;
use crate::comparative::cell::{CONTACTS, TRAFFIC, WORLD};
use crate::comparative::plan::FIGURE_FILES;
use crate::comparative::tests::cells_of;
use crate::shared::points::Point;
use crate::shared::tests::results;
use lightlag_lab::report::Holds;
use lightlag_lab::results::{Results, Row};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn value<'a>(point: &'a Point, column: &str) -> &'a str {
    point.values.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value)
}

#[test]
fn every_cell_has_ours_the_others_and_the_reference() {
    for quick in [true, false] {
        let points = plan(quick, &scenarios()).unwrap();
        let run = points.list.iter().filter(|point| !point.bounded);
        let cells: BTreeSet<_> = run.map(|point| CELL.map(|column| value(point, column))).collect();
        for role in [Role::Ours, Role::Reference, Role::Unlimited] {
            let of_role = points.list.iter().filter(|point| value(point, ROLE) == role.word());
            assert_eq!(of_role.count(), cells.len(), "{role:?}");
        }
    }
}

#[test]
fn afner_is_run_with_epidemic_routing_only_and_parts_in_the_papers_grid_only() {
    let points = plan(false, &scenarios()).unwrap();
    for point in &points.list {
        assert!(!value(point, TREATMENT).starts_with("afner") || value(point, ROUTER) == "epidemic");
        assert!(value(point, ROLE) != Role::Part.word() || value(point, GRID) == PAPER);
    }
}

#[test]
fn cells_that_are_told_apart_are_different_scenarios() {
    let points = plan(false, &scenarios()).unwrap();
    let ours = points.list.iter().filter(|point| value(point, ROLE) == Role::Ours.word());
    let mut known = BTreeSet::new();
    for point in ours {
        let scenario = format!("{:?}", point.scenario);
        assert!(known.insert(scenario), "{:?} is run twice", point.values);
    }
}

#[test]
fn the_papers_grid_has_all_cells_between_planets_that_its_figures_have() {
    let is = |cell: &Cell, column: &str, wanted: &str| {
        cell.iter().any(|(name, value)| name == column && value == wanted)
    };
    let files = FIGURE_FILES.iter().flat_map(|file| cells_of(file));
    let theirs: BTreeSet<_> = files
        .filter(|cell| {
            is(cell, WORLD, "ipn") && is(cell, CONTACTS, "S") && is(cell, TRAFFIC, "base_to_rovers")
        })
        .filter(|cell| is(cell, "mechanism", "none"))
        .collect();
    let points = plan(false, &scenarios()).unwrap();
    let ours = points.list.iter().filter(|point| {
        value(point, GRID) == PAPER
            && value(point, super::plan::WORLD) == "between planets"
            && value(point, TREATMENT) == "none"
    });
    assert_eq!(ours.count(), theirs.len());
}

#[test]
fn ours_has_its_parts_and_every_other_is_there_plain_and_with_receipts() {
    let all = treatments(PAPER);
    let names: BTreeSet<&str> = all.iter().map(|treatment| treatment.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    let others: Vec<_> = all.iter().filter(|treatment| treatment.role == Role::Other).collect();
    assert_eq!(others.iter().filter(|treatment| treatment.receipts).count() * 2, others.len());
    assert!(others.iter().all(|treatment| treatment.mechanism != MECHANISM));
    assert!(all.iter().any(|treatment| treatment.role == Role::Part && treatment.mechanism == MECHANISM));
}

/// Delivery ratio, delay, bytes sent for each of a hundred delivered.
type Numbers = [f64; 3];

/// A treatment of a cell with these numbers for seeds 1, 2, 3 and so on.
fn rows(point: usize, cell: [&str; 5], treatment: &str, role: Role, seeds: &[Numbers]) -> Vec<Row> {
    let columns = CELL.into_iter().zip(cell).chain([(TREATMENT, treatment), (ROLE, role.word())]);
    let values: Vec<(String, String)> =
        columns.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let row = |(seed, [ratio, delay, bytes]): (u64, Numbers)| {
        let metrics = [
            ("delivery_prob", ratio),
            ("censored_delay_avg", delay),
            ("sent_bytes", bytes - 7.0),
            ("control_bytes", 7.0),
            ("delivered_bytes", 100.0),
        ];
        let metrics = metrics.map(|(name, number)| (name.into(), number)).to_vec();
        Row { point, seed, values: values.clone(), metrics }
    };
    (1..).zip(seeds.iter().copied()).map(row).collect()
}

fn cell_of(grid: &'static str, change: &'static str) -> [&'static str; 5] {
    [grid, "on Earth", "streets", "epidemic", change]
}

const LIGHT: &str = "1..500 s";
const HEAVY: &str = "1..100 s";

/// Two cells: ours is ahead of credit, which is ahead of none, under the heavy load; under the light one all are alike, but that ours
/// is slower.
fn made_up(grid: &'static str) -> Results {
    let light = [0.999, 40.0, 800.0];
    let mut all = Vec::new();
    let cells = [
        (HEAVY, [[0.5, 500.0, 300.0], [0.6, 400.0, 310.0]], [[0.4, 600.0, 300.0], [0.45, 550.0, 300.0]]),
        (LIGHT, [[0.999, 41.0, 800.0], [0.999, 42.0, 800.0]], [light, light]),
    ];
    for (change, ours, credit) in cells {
        let none = credit.map(|[ratio, delay, bytes]| [ratio - 0.1, delay + 10.0, bytes]);
        let treatments = [
            (MECHANISM, Role::Ours, ours),
            ("none", Role::Other, none),
            ("credit", Role::Other, credit),
            ("gbsd", Role::Reference, ours),
        ];
        for (name, role, numbers) in treatments {
            let point = all.len() / 2;
            all.extend(rows(point, cell_of(grid, change), name, role, &numbers));
        }
    }
    results(all)
}

fn grades(standing: &Standing<'_>) -> [Option<Grade>; 3] {
    Measure::ALL.map(|measure| standing.by(measure).map(|found| found.grade))
}

#[test]
fn ours_is_compared_with_the_other_that_delivers_most() {
    let results = made_up(PAPER);
    let all = standings(&results);
    assert_eq!(all.iter().map(|one| one.other).collect::<Vec<_>>(), ["credit", "credit"]);
}

#[test]
fn of_others_that_deliver_alike_the_fastest_is_the_best() {
    let cell = cell_of(PAPER, HEAVY);
    let mut all = rows(0, cell, MECHANISM, Role::Ours, &[[0.5, 500.0, 100.0]]);
    all.extend(rows(1, cell, "none", Role::Other, &[[0.4, 600.0, 100.0]]));
    all.extend(rows(2, cell, "rrcc", Role::Other, &[[0.4, 550.0, 100.0]]));
    all.extend(rows(3, cell, "gbsd", Role::Reference, &[[0.9, 100.0, 100.0]]));
    assert_eq!(standings(&results(all))[0].other, "rrcc");
}

#[test]
fn the_intervals_of_the_differences_say_what_is_better_and_worse() {
    let results = made_up(PAPER);
    let all = standings(&results);
    // 300 bytes of the other, 300 and 310 of ours: the interval holds zero.
    assert_eq!(grades(&all[0]), [Some(Grade::Better), Some(Grade::Better), Some(Grade::AsGood)]);
    assert_eq!(grades(&all[1]), [Some(Grade::AsGood), Some(Grade::Worse), Some(Grade::AsGood)]);
    let found = all[0].by(Measure::Ratio).unwrap();
    assert!((found.mean - 0.125).abs() < 1e-9);
    let (low, high) = found.interval.unwrap();
    assert!((low - 0.1).abs() < 1e-9 && (high - 0.15).abs() < 1e-9);
}

#[test]
fn differences_that_matter_to_nobody_are_as_good() {
    let cell = cell_of(PAPER, HEAVY);
    let of = |ours: Numbers| {
        let mut all = rows(0, cell, MECHANISM, Role::Ours, &[ours, ours]);
        all.extend(rows(1, cell, "none", Role::Other, &[[0.5, 1000.0, 100.0], [0.5, 1000.0, 100.0]]));
        grades(&standings(&results(all))[0])
    };
    assert_eq!(of([0.4985, 1001.5, 100.1]), [Some(Grade::AsGood); 3]);
    assert_eq!(of([0.4975, 1002.5, 100.3]), [Some(Grade::Worse); 3]);
    assert_eq!(of([0.5025, 997.5, 99.7]), [Some(Grade::Better); 3]);
}

#[test]
fn one_seed_alone_says_nothing() {
    let cell = cell_of(PAPER, HEAVY);
    let mut all = rows(0, cell, MECHANISM, Role::Ours, &[[0.1, 1000.0, 100.0]]);
    all.extend(rows(1, cell, "none", Role::Other, &[[0.9, 10.0, 100.0]]));
    assert_eq!(grades(&standings(&results(all))[0]), [Some(Grade::AsGood); 3]);
}

#[test]
fn where_nothing_is_delivered_bytes_per_byte_are_not_compared() {
    let cell = cell_of(PAPER, HEAVY);
    let mut all = rows(0, cell, MECHANISM, Role::Ours, &[[0.0, 1000.0, 100.0]]);
    all[0].metrics.retain(|(name, _)| **name != *"delivered_bytes");
    all[0].metrics.push(("delivered_bytes".into(), 0.0));
    all.extend(rows(1, cell, "none", Role::Other, &[[0.9, 10.0, 100.0]]));
    assert!(standings(&results(all))[0].by(Measure::Bytes).is_none());
}

#[test]
fn claims_count_cells_and_name_those_where_ours_is_worse() {
    let results = made_up(PAPER);
    let all = standings(&results);
    let verdicts = claims::evaluate(&all);
    let of = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).unwrap();
    assert_eq!(of("U1a").holds, Holds::Yes);
    // Slower by 1 s and 2 s, under one of two loads: with two seeds chance explains it.
    assert_eq!(of("U1b").holds, Holds::Partly);
    assert!(
        of("U1b").we_measure.contains("streets, epidemic, 1..500 s (+1.5 to credit)"),
        "{}",
        of("U1b").we_measure
    );
    assert_eq!(of("U2").holds, Holds::Yes);
    assert!(matches!(of("U3").holds, Holds::Untestable(_)));
    assert_eq!(of("U4").holds, Holds::Yes);
    let tally = Tally::of(&all, Measure::Ratio);
    assert_eq!((tally.cells, tally.better, tally.as_good, tally.worse), (2, 1, 1, 0));
}

#[test]
fn under_stress_nine_of_ten_cells_must_hold() {
    let results = made_up(STRESS);
    let found = &claims::evaluate(&standings(&results))[4];
    assert_eq!((found.id, &found.holds), ("U3", &Holds::No));
    assert!(found.we_measure.starts_with("both in 1 of 2 cells"), "{}", found.we_measure);
}

#[test]
fn where_nobody_delivers_anything_there_is_nothing_to_win() {
    let cell = cell_of(PAPER, HEAVY);
    let nothing = [[0.0, 1000.0, 100.0]; 2];
    let mut all = rows(0, cell, MECHANISM, Role::Ours, &nothing);
    all.extend(rows(1, cell, "none", Role::Other, &nothing));
    let found = &claims::evaluate(&standings(&results(all)))[3];
    assert!(found.id == "U2" && matches!(found.holds, Holds::Untestable(_)), "{found:?}");
}

#[test]
fn a_heat_map_has_a_tile_for_each_cell() {
    let results = made_up(PAPER);
    let all = standings(&results);
    let tiles = charts::tiles(&all, PAPER);
    let told: Vec<_> = tiles.iter().map(|tile| (tile.row.as_str(), tile.column.as_str())).collect();
    assert_eq!(told, [("streets, epidemic", HEAVY), ("streets, epidemic", LIGHT)]);
    assert!((tiles[0].value - 0.125).abs() < 1e-9);
    assert!(tiles[0].note.starts_with("credit: "));
    assert!(charts::tiles(&all, STRESS).is_empty());
}

#[test]
fn where_the_best_other_is_at_the_bound_or_nothing_is_ever_dropped_there_is_nothing_to_win() {
    let seeds = |ratio: f64| [[ratio, 100.0, 300.0]; 3];
    let verdict = |bound: f64, unlimited: f64| {
        let cell = cell_of(PAPER, HEAVY);
        let mut all = rows(0, cell, "copy_value", Role::Ours, &seeds(0.5));
        all.extend(rows(1, cell, "none", Role::Other, &seeds(0.5)));
        all.extend(rows(2, cell, "unlimited", Role::Unlimited, &seeds(unlimited)));
        let mut of_all = rows(3, [PAPER, "on Earth", "streets", "", HEAVY], "", Role::Bound, &seeds(0.0));
        of_all.iter_mut().for_each(|row| row.metrics = vec![("bound".into(), bound)]);
        all.extend(of_all);
        let results = results(all);
        let told = claims::evaluate(&standings(&results));
        told.into_iter().find(|verdict| verdict.id == "U2").map(|verdict| verdict.holds)
    };
    assert_eq!(verdict(0.9, 0.9), Some(Holds::No));
    assert!(matches!(verdict(0.501, 0.9), Some(Holds::Untestable(_))));
    assert!(matches!(verdict(0.9, 0.5), Some(Holds::Untestable(_))));
}

use super::claims::{Tally, worst};
use super::plan::{TRACES, Trace, plan};
use super::{FILES, charts, claims, tables};
use crate::shared::points::unpack;
use crate::shared::tests::results;
use crate::universal::cells::{Measure, ROLE, columns, standings};
use crate::universal::treatments::{MECHANISM, Role};
use lightlag_lab::report::Holds;
use lightlag_lab::results::Row;
use std::path::{Path, PathBuf};

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces")
}

#[test]
fn the_trace_that_was_drawn_stands_in_and_all_mechanisms_meet_on_it() {
    let points = plan(false, &[], &scenarios()).unwrap();
    let of = |role: Role| {
        let has = |values: &[(String, String)]| {
            values.iter().any(|(name, value)| name == ROLE && value == role.word())
        };
        points.list.iter().filter(|point| has(&point.values)).count()
    };
    // Three routers, three buffers; afner is for one router alone. Bounds are the same for all routers.
    assert_eq!([Role::Ours, Role::Reference, Role::Unlimited].map(of), [9; 3]);
    assert_eq!((of(Role::Other), of(Role::Bound), of(Role::Part)), (4 * 9 + 3, 3, 0));
}

#[test]
fn no_scenario_of_a_trace_makes_a_plan_of_it() {
    for file in FILES.files().filter(|file| file.path().extension().is_some_and(|end| end == "toml")) {
        let text = file.contents_utf8().unwrap();
        assert!(!text.contains("plan"), "{}", file.path().display());
    }
}

#[test]
fn every_trace_has_its_scenario_which_names_its_data() {
    let folder = tempfile::tempdir().unwrap();
    unpack(&FILES, folder.path()).unwrap();
    for Trace { file, data, .. } in &TRACES {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(&format!("\"../../out/traces/{data}\"")), "{file}");
    }
}

/// A cell with these bytes per byte of ours and of another, and as many nodes that read a plan.
fn made_up(ours: f64, other: f64, planned: f64) -> Vec<Row> {
    let row = |(name, role, bytes): (&str, Role, f64), seed| {
        let metrics = [
            ("delivery_prob", 0.5),
            ("censored_delay_avg", 1.0),
            ("sent_bytes", bytes),
            ("control_bytes", 0.0),
            ("delivered_bytes", 1.0),
            ("plan_nodes", planned),
        ];
        Row {
            point: usize::from(role == Role::Other),
            seed,
            values: columns(["here", "epidemic", "5 MB"], name, role),
            metrics: metrics.map(|(name, value)| (name.into(), value)).to_vec(),
        }
    };
    let both = [(MECHANISM, Role::Ours, ours), ("none", Role::Other, other)];
    both.into_iter().flat_map(|one| [1, 2].map(|seed| row(one, seed))).collect()
}

#[test]
fn claims_fail_where_bytes_are_above_twice_the_others_or_a_plan_is_read() {
    let verdicts = |ours, other, planned| -> Vec<Holds> {
        let results = results(made_up(ours, other, planned));
        claims::evaluate(&standings(&results), &results).into_iter().map(|verdict| verdict.holds).collect()
    };
    assert_eq!(verdicts(19.0, 10.0, 0.0), [Holds::Yes, Holds::Yes, Holds::Yes]);
    assert_eq!(verdicts(21.0, 10.0, 3.0), [Holds::Yes, Holds::No, Holds::No]);
}

/// Two cells: ours is ahead of credit with the small buffer; with the large one both are alike, but ours is slower.
fn two_cells() -> Vec<Row> {
    let row = |point, seed, buffer, (name, role, [ratio, delay]): (&str, Role, [f64; 2])| {
        let metrics = [("delivery_prob", ratio), ("censored_delay_avg", delay)];
        Row {
            point,
            seed,
            values: columns(["here", "epidemic", buffer], name, role),
            metrics: metrics.map(|(name, value)| (name.into(), value)).to_vec(),
        }
    };
    let ours = |numbers| (MECHANISM, Role::Ours, numbers);
    let credit = |numbers| ("credit", Role::Other, numbers);
    vec![
        row(0, 1, "5 MB", ours([0.5, 500.0])),
        row(0, 2, "5 MB", ours([0.6, 400.0])),
        row(1, 1, "5 MB", credit([0.4, 600.0])),
        row(1, 2, "5 MB", credit([0.45, 550.0])),
        row(2, 1, "50 MB", ours([0.999, 41.0])),
        row(2, 2, "50 MB", ours([0.999, 42.0])),
        row(3, 1, "50 MB", credit([0.999, 40.0])),
        row(3, 2, "50 MB", credit([0.999, 40.0])),
    ]
}

#[test]
fn cells_are_counted_and_those_where_ours_is_worse_are_named() {
    let results = results(two_cells());
    let all = standings(&results);
    let tally = Tally::of(&all, Measure::Ratio);
    assert_eq!((tally.cells, tally.better, tally.as_good, tally.worse), (2, 1, 1, 0));
    let slower = worst(&all.iter().collect::<Vec<_>>(), Measure::Delay);
    assert_eq!(slower.iter().map(|one| one.cell.described()).collect::<Vec<_>>(), ["here, epidemic, 50 MB"]);
    let tables = tables::all(&all);
    assert!(
        tables[1].rows[0][..2] == [Measure::Delay.name(), "here, epidemic, 50 MB"],
        "{:?}",
        tables[1].rows
    );
}

#[test]
fn the_heat_map_has_a_tile_for_each_cell() {
    let results = results(two_cells());
    let tiles = charts::tiles(&standings(&results));
    let described: Vec<_> = tiles.iter().map(|tile| (tile.row.as_str(), tile.column.as_str())).collect();
    assert_eq!(described, [("here, epidemic", "5 MB"), ("here, epidemic", "50 MB")]);
    assert!((tiles[0].value - 0.125).abs() < 1e-9);
    assert!(tiles[0].note.starts_with("credit: "));
}

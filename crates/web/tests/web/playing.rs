//! A run step by step is the run at once, whatever the steps.

use lightlag_protocols::time::Duration;
use lightlag_web::{Batch, Cells, Purpose, Reading};
use proptest::prelude::*;
use serde_json::Value;

const BUNDLES: &str = r#"
    duration = "20 min"
    seeds = [3]
    router = "epidemic"
    mechanism = "rrcc"
    buffer = "300 kB"
    [world]
    sample_every = "1 min"
    [nodes.walker]
    count = 8
    mobility = { model = "random_waypoint", area = "300 m x 300 m", speed = "0.5..1.5 m/s", pause = "0 s" }
    radio = { range = "60 m", rate = "1 Mbit/s" }
    [traffic.mail]
    interval = "5..10 s"
    size = "50 kB"
    lifetime = "10 min"
"#;

const PACKETS: &str = r#"
    duration = "2 min"
    seeds = [3]
    [links.path]
    from = "near"
    to = "far"
    rate = "1 Mbit/s"
    round_trip = "200 ms"
    queue = "20 packets"
    [flows.file]
    from = "near"
    to = "far"
    size = "1 MB"
    controller = "cubic"
"#;

const NAMES: &str = include_str!("../../../../scenarios/papers/dcp_single.toml");

fn reading(text: &str) -> Reading {
    let mut reading = Reading::new("scenario.toml", text);
    if text == NAMES {
        reading.set.push(("parameters.duration".into(), "5 s".into()));
    }
    reading
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// All batches of a run in steps of these lengths, again and again, and its digest and figures.
fn play(text: &str, steps: &[f64]) -> (Vec<Batch>, String, Value) {
    let mut run = reading(text).play(None, 0, Purpose::Records).expect("it is right");
    let mut batches = Vec::new();
    for step in steps.iter().cycle() {
        let more = run.advance(Duration::from_secs_f64(*step));
        batches.push(run.records());
        if !more {
            break;
        }
    }
    assert!(!run.advance(Duration::from_secs_f64(1.0)), "nothing comes after the end");
    assert_eq!(run.records().rows, 0);
    (batches, run.digest().expect("all is recorded"), json(&run.figures().json()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn steps_of_any_length_give_the_run(steps in prop::collection::vec(0.001..500.0_f64, 1..6)) {
        let long = steps.iter().map(|step| step + 0.5).collect::<Vec<_>>();
        for text in [BUNDLES, PACKETS, NAMES] {
            let whole = json(&reading(text).run(None, 0, true).expect("it is right"));
            let (batches, digest, figures) = play(text, &long);
            prop_assert_eq!(&whole["digest"], &Value::from(digest));
            prop_assert_eq!(&whole["figures"], &figures);
            let times: Vec<f64> = batches.iter().flat_map(|batch| match batch.columns.first().map(|one| &one.cells) {
                Some(Cells::Real(times)) => times.clone(),
                _ => Vec::new(),
            }).collect();
            prop_assert_eq!(times.len(), batches.iter().map(|batch| batch.rows).sum::<usize>());
            prop_assert!(times.is_sorted());
        }
    }
}

#[test]
fn a_step_has_what_happened_in_it_and_positions_where_the_scenario_asks_for_them() {
    let text = BUNDLES.replace("sample_every =", "positions_every = \"10 s\"\n    sample_every =");
    let mut run = Reading::new("scenario.toml", &text).play(None, 0, Purpose::Records).expect("it is right");
    assert!(run.advance(Duration::from_secs_f64(100.0)));
    let first = run.records();
    let column = |batch: &Batch, name: &str| {
        batch.columns.iter().find(|one| one.name == name).map(|one| one.cells.clone())
    };
    let Some(Cells::Real(times)) = column(&first, "time_ns") else { panic!("{first:?}") };
    assert!(times.iter().all(|time| *time <= 100e9));
    let Some(Cells::Real(x_m)) = column(&first, "x_m") else { panic!("{:?}", first.columns) };
    assert!(x_m.iter().filter(|x_m| x_m.is_finite()).count() >= 8 * 9, "each node every 10 s");
    assert!(x_m.iter().all(|x_m| x_m.is_nan() || (0.0..=300.0).contains(x_m)));
    assert!(run.advance(Duration::from_secs_f64(100.0)));
    let Some(Cells::Real(times)) = column(&run.records(), "time_ns") else { panic!("there are records") };
    assert!(times.iter().all(|time| *time > 100e9 && *time <= 200e9));
    assert!(run.names().contains("walker"), "{}", run.names());
}

#[test]
fn a_run_for_a_drawing_has_positions_that_lie_on_the_streets_of_its_map() {
    let walk = "mobility = { model = \"shortest_path_map\", map = \"roads.wkt\", speed = \"1..2 m/s\", pause = \"0 s\" }";
    let text: Vec<&str> =
        BUNDLES.lines().map(|line| if line.contains("mobility") { walk } else { line }).collect();
    let roads = b"LINESTRING (7 9, 107 9, 107 59)\nLINESTRING (107 9, 207 9)".to_vec();
    let files = lightlag_scenario::GivenFiles::new([("roads.wkt".to_owned(), roads)]);
    let reading = Reading { files, ..Reading::new("scenario.toml", &text.join("\n")) };
    let streets = reading.streets(0).expect("it has a map");
    assert_eq!((streets.count, streets.is_osm), (6, false), "three lines of two points");
    let at = |time_s: f64, is_shown: bool| {
        let made = reading.play(None, 0, if is_shown { Purpose::Drawing } else { Purpose::Records });
        let mut run = made.expect("it is right");
        run.advance(Duration::from_secs_f64(time_s));
        let mut columns = run.records().columns.into_iter();
        let mut column = |name: &str| match columns.find(|one| one.name == name).map(|one| one.cells) {
            Some(Cells::Real(cells)) => cells.into_iter().filter(|cell| cell.is_finite()).collect(),
            _ => Vec::new(),
        };
        (column("x_m"), column("y_m"))
    };
    let (x_m, y_m) = at(60.0, true);
    assert_eq!((x_m.len(), y_m.len()), (8 * 61, 8 * 61), "each node every second");
    let is_near = |one: f64, other: f64| (one - other).abs() < 1e-6;
    assert!(x_m.iter().zip(&y_m).all(|(x, y)| is_near(*y, 0.0) || is_near(*x, 100.0)), "{x_m:?} {y_m:?}");
    assert!(at(60.0, false).0.is_empty(), "the scenario alone asks for no positions");
    assert_eq!(Reading::new("s", PACKETS).streets(0).expect("it is right").count, 0);
}

#[test]
fn errors_of_a_scenario_have_a_line_and_a_column() {
    let text = BUNDLES.replace("buffer = ", "bufer = ");
    let faults = json(&reading(&text).run(None, 0, true).expect_err("there is no such key").json());
    let fault = &faults[0];
    assert_eq!(
        (&fault["line"], &fault["column"], &fault["end_column"]),
        (&6.into(), &5.into(), &10.into()),
        "{fault}"
    );
    let line = text.lines().nth(5).expect("it is there");
    assert_eq!(&line[4..9], "bufer");
    assert!(fault["right"].as_str().is_some_and(|right| right.contains("buffer")), "{fault}");
    let none = Reading::new("scenario.toml", BUNDLES).run(None, 7, true).expect_err("it has one experiment");
    assert_eq!(none.text(), "there is no experiment 7; choose one of 0 to 0");
}

use super::*;
use lightlag_lab::results::{Build, Row};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn papers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers")
}

fn read(file: &str) -> toml::Table {
    let text = std::fs::read_to_string(papers().join(file)).unwrap();
    text.parse().unwrap_or_else(|reason| panic!("{file}: {reason}"))
}

/// The axes of a file, as a sweep spreads them: every list but that of the seeds.
fn points(table: &toml::Table, prefix: &str) -> Vec<Vec<(String, String)>> {
    let mut points = vec![Vec::new()];
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let choices: Vec<Vec<(String, String)>> = match value {
            toml::Value::Array(list) if key != "seeds" => {
                list.iter().map(|item| vec![(path.clone(), spoken(item))]).collect()
            }
            toml::Value::Table(inner) => self::points(inner, &path),
            _ => continue,
        };
        points = points
            .iter()
            .flat_map(|point| choices.iter().map(|choice| [point.clone(), choice.clone()].concat()))
            .collect();
    }
    points
}

fn spoken(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Table(table) => {
            table.get("name").or_else(|| table.get("model")).map(spoken).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

pub(crate) fn cells_of(file: &str, more: &[(&str, &str)]) -> Vec<Cell> {
    let table = read(file);
    let with = |mut axes: Vec<(String, String)>| {
        axes.extend(more.iter().map(|(path, text)| (path.to_string(), text.to_string())));
        cell_of(&table, &axes)
    };
    points(&table, "").into_iter().map(with).filter(cell::wanted).collect()
}

/// All cells of the whole study, each once, with five seeds and made-up metrics.
fn made_up_results() -> Results {
    let mut cells: Cells<()> = Cells::default();
    for set in plan(false).sets {
        for cell in cells_of(set.file, &set.set) {
            cells.add(cell, &[1, 2, 3, 4, 5], ());
        }
    }
    let row = |job: lightlag_lab::sweep::Job| {
        let number = ((job.point * 37 + job.seed as usize * 11) % 100) as f64;
        let metrics = [
            ("delivery_prob", number / 100.0),
            ("latency_avg", 100.0 * number),
            ("censored_delay_avg", 150.0 * number),
            ("overhead_ratio", number),
            ("dropped_overflow", number),
        ];
        Row {
            point: job.point,
            seed: job.seed,
            values: job.values,
            metrics: metrics.map(|(name, number)| (name.to_string(), number)).to_vec(),
        }
    };
    Results {
        build: Build { version: "0.1.0".into(), commit: "made up".into() },
        scenario: String::new(),
        rows: cells.jobs().into_iter().map(row).collect(),
    }
}

#[test]
fn the_files_hold_the_cells_that_the_paper_has() {
    let count = |file| cells_of(file, &[]).iter().collect::<BTreeSet<_>>().len();
    // Four mechanisms with three routers and AFNER with one; two propagations and two families between planets.
    assert_eq!(count(FIGURE_FILES[0]), 5 * 5 * 4);
    assert_eq!(count(FIGURE_FILES[1]), 5 * 13 * 4);
    assert_eq!(count(FIGURE_FILES[2]), 8 * 13 * 4);
    assert_eq!(count(FIGURE_FILES[3]), 5 * 13 * 4);
    assert_eq!(count(FIGURE_FILES[4]), 5 * 5);
    assert_eq!(count(FIGURE_FILES[5]), 3 * 13);
    assert_eq!(count(SWITCHES_FILE), 4 * 3 * 13);
}

#[test]
fn figures_9_10_and_11_have_the_same_runs() {
    assert_eq!(cells_of(FIGURE_FILES[5], &[]), cells_of(FIGURE_FILES[6], &[]));
    assert_eq!(cells_of(FIGURE_FILES[5], &[]), cells_of(FIGURE_FILES[7], &[]));
}

#[test]
fn the_whole_study_runs_no_cell_twice() {
    let results = made_up_results();
    let runs: BTreeSet<_> = results.rows.iter().map(|row| (&row.values, row.seed)).collect();
    assert_eq!(runs.len(), results.rows.len());
}

#[test]
fn every_figure_claim_and_table_has_its_runs() {
    let made = evaluate(&made_up_results());
    let figures: Vec<&str> = made.figures.iter().map(|figure| figure.id.as_str()).collect();
    for number in [3, 5, 6, 7, 8, 9, 10, 11] {
        assert!(figures.contains(&format!("figure_{number}").as_str()), "{number}: {figures:?}");
    }
    let untested: Vec<&str> =
        made.claims.iter().filter(|claim| !claim.holds.reason().is_empty()).map(|claim| claim.id).collect();
    assert!(untested.is_empty(), "{untested:?}");
    assert_eq!(made.tables.len(), 8);
    let interplanetary = made.claims.iter().find(|claim| claim.id == "C1").unwrap();
    assert_eq!(interplanetary.readings.len(), 7);
    let terrestrial = made.claims.iter().find(|claim| claim.id == "C24").unwrap();
    assert_eq!(terrestrial.readings.len(), 3);
}

/// Writes the report for a look at it: `LIGHTLAG_REPORT=report.html cargo test`.
#[test]
fn the_report_of_the_study_is_one_file() {
    let results = made_up_results();
    let texts = plan(true).files().into_iter().map(|file| ScenarioText {
        name: file.to_string(),
        text: std::fs::read_to_string(papers().join(file)).unwrap(),
    });
    let html = evaluate(&results).report(&results, &plan(true), texts.collect()).html();
    assert!(html.contains("C35") && html.contains("dtn_congestion_figure_9.toml"));
    if let Ok(path) = std::env::var("LIGHTLAG_REPORT") {
        std::fs::write(path, html).unwrap();
    }
}

#[test]
fn contact_tables_equal_the_reference() {
    let Some(reference) = crate::skip::reference("contacts") else { return };
    for family in ["S", "P"] {
        for name in
            (1..=5).flat_map(|n| [format!("{family}_Contact{n}.csv"), format!("{family}_Dur{n}000.csv")])
        {
            let ours = std::fs::read_to_string(papers().join("contacts").join(&name)).unwrap();
            assert_eq!(ours, std::fs::read_to_string(reference.join(&name)).unwrap(), "{name}");
        }
    }
}

#[test]
fn no_column_of_the_study_is_called_like_a_measure() {
    let measures: BTreeSet<&str> =
        lightlag_lab::metrics::Summary::default().numbers().into_iter().map(|(name, _)| name).collect();
    for set in plan(false).sets {
        for cell in cells_of(set.file, &set.set) {
            let taken = cell.iter().find(|(column, _)| measures.contains(column.as_str()));
            assert_eq!(taken, None, "a table would have two columns of one name");
        }
    }
}

//! Every study: its plan, and its statements on made-up results.

use super::runs::{FIGURE, VARIANT};
use super::{Evidence, Order, Said, Study};
use crate::STUDIES;
use lightlag_lab::metrics::BUNDLES;
use lightlag_lab::report::{Figure, Report};
use lightlag_lab::results::{Build, Results, Row};
use lightlag_lab::sweep::Job;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Metrics of a study's runs.
fn metrics(study: &Study) -> &'static [&'static str] {
    match study.name {
        "adaptive" => &["delivered_bytes", "packets_repaired", "packets_missing"],
        "scorecard" => &[
            "share",
            "sent",
            "dropped",
            "repaired",
            "queue_p50",
            "queue_p95",
            "settle_rounds",
            "jain",
            "beside_bytes",
            "back_share",
        ],
        "arc" => &["goodput_bit_per_s", "goodput_of_ours", "goodput_of_beside", "jain", "overlap"],
        "dccp" => &[
            "goodput_of_one",
            "sent_of_one",
            "repaired_of_one",
            "delivered_beside",
            "longest_pause_s",
            "rtt_most_s",
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
        ],
        "dcp" => &[
            "goodput_of_one",
            "goodput_of_two",
            "window_of_one",
            "timeouts_of_one",
            "drops_of_one",
            "drops_of_two",
            "queueing_p50_of_one",
            "queueing_p99_of_one",
            "interests_of_one",
            "interests_of_two",
            "interests_dropped_of_one",
            "interests_repaired_of_one",
            "interest_queueing_p50_of_one",
            "interest_queueing_p99_of_one",
            "aggregated",
            "jain",
        ],
        _ => &[
            "delivery_prob",
            "latency_avg",
            "censored_delay_avg",
            "overhead_ratio",
            "dropped_overflow",
            "sent_bytes",
            "control_bytes",
            "delivered_bytes",
            "delivered",
            "plan_nodes",
        ],
    }
}

/// Figures and variants of what is measured in real time.
fn real(study: &Study) -> Vec<(&'static str, &'static str)> {
    let scenarios = ["scenario_1", "scenario_2"];
    match study.name {
        "adaptive" => {
            let variants = ["a kernel, 2008", "a kernel", "ours, lightlagd"];
            scenarios.into_iter().flat_map(|figure| variants.map(|variant| (figure, variant))).collect()
        }
        "dccp" => ["dccp, sack", "dccp, ccid2", "dccp, ccid3"].map(|variant| ("sockets", variant)).to_vec(),
        _ => Vec::new(),
    }
}

/// A table of these rows.
pub(crate) fn results(rows: Vec<Row>) -> Results {
    Results {
        build: Build { version: "1".into(), commit: "c".into() },
        scenario: String::new(),
        rows,
        missing: 0,
    }
}

/// All runs of a study, with made-up metrics.
pub(crate) fn made_up(study: &Study, quick: bool) -> Results {
    let mut jobs = jobs(study, quick);
    for (figure, variant) in real(study) {
        let values = vec![(FIGURE.to_owned(), figure.to_owned()), (VARIANT.to_owned(), variant.to_owned())];
        jobs.extend([1, 2].map(|seed| Job { point: usize::MAX, seed, values: values.clone() }));
    }
    let row = |job: Job| {
        let row = job.point.wrapping_mul(37).wrapping_add(job.seed as usize * 11);
        let number = |metric: usize| (1 + row.wrapping_add(metric * 29) % 97) as f64 / 100.0;
        let metrics = metrics(study).iter().enumerate();
        let metrics = metrics.map(|(index, name)| ((*name).into(), number(index))).collect();
        Row { point: job.point, seed: job.seed, values: job.values, metrics }
    };
    results(jobs.into_iter().map(row).collect())
}

fn jobs(study: &Study, quick: bool) -> Vec<Job> {
    let folder = tempfile::tempdir().unwrap();
    let order = Order {
        quick,
        real: false,
        controller: None,
        seed: None,
        out: folder.path(),
        threads: 1,
        watch: None,
    };
    (study.plan)(&order).unwrap().jobs()
}

#[test]
fn every_study_runs_nothing_twice_and_names_no_column_like_a_measure() {
    let measures: BTreeSet<&str> = BUNDLES.iter().map(|metric| metric.name).collect();
    for study in &STUDIES {
        for quick in [true, false] {
            let jobs = jobs(study, quick);
            let runs: BTreeSet<_> = jobs.iter().map(|job| (&job.values, job.seed)).collect();
            assert!(!jobs.is_empty() && runs.len() == jobs.len(), "{}", study.name);
            let taken = |job: &&Job| job.values.iter().any(|(column, _)| measures.contains(column.as_str()));
            assert_eq!(jobs.iter().find(taken), None, "a table would have two columns of one name");
        }
    }
}

/// What every study says of made-up results: computed once for all tests.
static SAID: LazyLock<Vec<(&'static str, Said)>> = LazyLock::new(|| {
    let of = |study: &Study| {
        // All cells of `universal` take minutes, and a quick look has every kind of them.
        let quick = ["scorecard", "universal"].contains(&study.name);
        let results = made_up(study, quick);
        let evidence = Evidence { quick, results: &results, over_time: Vec::new(), out: None };
        (study.name, (study.evaluate)(&evidence).unwrap())
    };
    STUDIES.iter().map(of).collect()
});

#[test]
fn every_claim_figure_and_table_of_every_study_has_its_runs() {
    for (study, (name, said)) in STUDIES.iter().zip(&*SAID) {
        let untested: Vec<_> = said.claims.iter().filter(|claim| !claim.holds.reason().is_empty()).collect();
        assert!(untested.is_empty(), "{name}: {untested:?}");
        let tested: BTreeSet<&str> = said.claims.iter().map(|claim| claim.id).collect();
        assert_eq!(tested, study.words.claims().collect(), "{name}: each claim of study.toml is tested");
        assert!(!said.figures.is_empty() && !said.tables.is_empty());
        for table in &said.tables {
            let whole = table.rows.iter().all(|row| row.len() == table.head.len());
            assert!(whole && !table.rows.is_empty(), "{name}: {}", table.title);
            let undefined = table.rows.iter().flatten().find(|cell| cell.contains("NaN"));
            assert_eq!(undefined, None, "{name}: {}", table.title);
        }
        let introduction = study.words.introduction(&said.facts);
        assert!(!introduction.iter().any(|text| text.contains('{')), "{name}: a fact is missing");
    }
}

#[test]
fn every_report_begins_with_its_answer_its_measures_and_a_map() {
    for (name, said) in &*SAID {
        let front = &said.front;
        assert!((2..=3).contains(&front.answer.len()), "{name}: {:?}", front.answer);
        assert!(front.measures.len() >= 2 && front.map.is_some(), "{name}");
        for sentence in &front.answer {
            assert!(
                sentence.ends_with('.') && sentence.chars().any(|one| one.is_ascii_digit()),
                "{name}: {sentence}"
            );
            assert!(sentence.len() < 420, "{name}: {sentence}");
        }
    }
}

#[test]
fn every_claim_of_every_study_links_to_what_shows_it() {
    for (name, said) in &*SAID {
        let report = Report {
            claims: said.claims.clone(),
            opening: said.opening.clone(),
            figures: said.figures.clone(),
            tables: said.tables.clone(),
            ..Report::default()
        };
        let html = report.html();
        let links = html.matches("<a class=\"faint\" href=\"#").count();
        assert_eq!(links, said.claims.len(), "{name}: {:?}", unlinked(&html, &said.claims));
    }
}

/// Claims without a link.
fn unlinked<'a>(html: &str, claims: &'a [lightlag_lab::report::Verdict]) -> Vec<&'a str> {
    let of = |id: &&str| {
        let start = html.find(&format!("<li id=\"{id}\"")).unwrap_or(0);
        !html[start..].split("</div>").next().unwrap_or_default().contains("<a class=\"faint\"")
    };
    claims.iter().map(|claim| claim.id).filter(of).collect()
}

#[test]
fn no_text_of_a_report_has_marks_that_a_page_does_not_show() {
    for (study, (name, said)) in STUDIES.iter().zip(&*SAID) {
        let introduction = study.words.introduction(&said.facts);
        let figures = said.figures.iter().flat_map(|figure| [&figure.title, &figure.caption]);
        let tables = said.tables.iter().flat_map(|table| {
            [&table.title, &table.caption].into_iter().chain(&table.head).chain(table.rows.iter().flatten())
        });
        let claims = said.claims.iter().map(|claim| &claim.we_measure);
        let introduction = introduction.iter().chain(&said.front.answer);
        for text in introduction.chain(&said.warnings).chain(figures).chain(tables).chain(claims) {
            let raw = ["`", "**", "](", "</", "&lt;"].into_iter().find(|mark| text.contains(mark));
            assert_eq!(raw, None, "{name}: {text}");
        }
    }
}

/// Draws figures as a report does and returns what is wrong with them; `None` without the library that draws.
fn drawn(figures: &Value) -> Option<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = top.join(".venv/bin/python3");
    if !python.exists() {
        crate::skip::skip("there is no .venv with vl-convert");
        return None;
    }
    let mut command = Command::new(python);
    command
        .arg(top.join("tests/drawn.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(figures.to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(!said.is_empty() || done.status.success());
    Some(said)
}

#[test]
fn every_figure_of_every_study_is_drawn_with_its_marks_inside_its_axes() {
    let of = |(name, said): &(&str, Said)| {
        let one = |figure: &Figure| json!([format!("{name}, {}", figure.id), figure.specification]);
        said.figures.iter().map(one).collect::<Vec<_>>()
    };
    let figures: Vec<Value> = SAID.iter().flat_map(of).collect();
    assert!(figures.len() > 40, "{}", figures.len());
    let all: Vec<Value> =
        figures.into_iter().chain(FAULTS.map(|(line, change)| json!([line, faulty(&change)]))).collect();
    let Some(said) = drawn(&json!(all)) else { return };
    for (line, _) in FAULTS {
        assert!(said.lines().any(|found| found.starts_with(line) && found.ends_with(line)), "{line}: {said}");
    }
    let is_meant = |found: &&str| FAULTS.iter().any(|(line, _)| found.starts_with(line));
    let wrong: Vec<&str> = said.lines().filter(|found| !is_meant(found)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A change of a figure: where, and to what.
type Change = (&'static str, &'static str);

/// What is said of figures that are not right, each named after it, and what makes them so.
const FAULTS: [(&str, Change); 8] = [
    ("marks: y of `x: 2; packets (1/s): 0; of: b` has no place", ("/encoding/y/scale", r#"{"type": "log"}"#)),
    ("`1,000` touches `1,010`", ("/encoding/x/axis", r#"{"values": [1000, 1010], "labelOverlap": false}"#)),
    ("2 curves without a legend", ("/encoding/color/legend", "null")),
    ("two entries of the legend look alike", ("/encoding/color/scale", r##"{"range": ["#000000"]}"##)),
    (
        "the legend names #123456, which is not drawn",
        (
            "/encoding/color/scale",
            r##"{"domain": ["a", "b", "c"], "range": ["#ff0000", "#00ff00", "#123456"]}"##,
        ),
    ),
    ("an axis with `0` has no title", ("/encoding/y/title", "null")),
    (
        "the title `packets sent (packets)` repeats its unit",
        ("/encoding/y/title", r#""packets sent (packets)""#),
    ),
    ("zero is written as +0.0", ("/encoding/text", r#"{"field": "y", "format": "+.1f"}"#)),
];

/// A figure that is right, changed.
fn faulty((place, change): &Change) -> Value {
    let values = json!([
        {"x": 1, "y": 1, "of": "a"}, {"x": 2, "y": 0, "of": "b"}, {"x": 1100, "y": 1, "of": "a"}, {"x": 1000, "y": 10, "of": "b"}
    ]);
    let axis = |field: &str, title: &str| json!({"field": field, "type": "quantitative", "title": title});
    let colour = json!({"field": "of", "type": "nominal"});
    let mut made = json!({
        "data": {"values": values},
        "width": 520,
        "mark": if place.ends_with("text") { "text" } else { "point" },
        "encoding": {"x": axis("x", "x"), "y": axis("y", "packets (1/s)"), "color": colour},
    });
    let (parent, key) = place.rsplit_once('/').unwrap();
    made.pointer_mut(parent).unwrap()[key] = serde_json::from_str(change).unwrap();
    made
}

#[test]
fn a_study_names_the_command_that_runs_it_again() {
    let study = crate::find("adaptive").ok().unwrap();
    let out = std::path::Path::new("out");
    let command = |quick, real| {
        study.command(&Order { quick, real, controller: None, seed: None, out, threads: 0, watch: None })
    };
    assert_eq!(command(false, false), "lightlag study adaptive");
    assert_eq!(command(true, true), "lightlag study adaptive --quick --real");
    assert!(crate::find("arcs").err().unwrap().contains("known: adaptive, arc,"));
}

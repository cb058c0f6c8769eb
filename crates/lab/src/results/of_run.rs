//! The figures of a single run, as `run --out` and `run --json` write them, as a table of one row.

use super::{Build, Error, Metrics, RESULTS_FILE, Results, Row, SUMMARY_FILE};
use crate::sweep::MANIFEST_FILE;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The run of a file, or of a folder that is not one of a sweep; `None` where there is no such file.
pub fn read(path: &Path) -> Option<Result<Results, Error>> {
    let file = file_of(path)?;
    let text = std::fs::read_to_string(&file);
    let text = text.map_err(|reason| Error::File { action: "read", path: file.clone(), reason });
    Some(text.and_then(|text| {
        of_text(&text).map_err(|reason| Error::Foreign { path: file, reason: reason.to_owned() })
    }))
}

fn file_of(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let is_sweep = [RESULTS_FILE, MANIFEST_FILE].iter().any(|name| path.join(name).exists());
    Some(path.join(SUMMARY_FILE)).filter(|file| !is_sweep && file.is_file())
}

fn of_text(text: &str) -> Result<Results, &'static str> {
    let whole: Map<String, Value> =
        serde_json::from_str(text).map_err(|_| "it is not a JSON object as `run --json` writes it")?;
    let run = whole.get("run").and_then(Value::as_object);
    let run = run.ok_or("it does not say which `run` it is of; run it again with this version")?;
    let text = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let metrics: Metrics =
        whole.iter().filter_map(|(name, value)| Some((name.as_str().into(), number(value)?))).collect();
    if metrics.is_empty() {
        return Err("it has no figures");
    }
    let seed = run.get("seed").and_then(Value::as_u64).unwrap_or_default();
    Ok(Results {
        build: Build { version: text("version"), commit: text("commit") },
        scenario: format!("name = \"{}\"\n", text("scenario")),
        rows: vec![Row { point: 0, seed, values: Vec::new(), metrics }],
        missing: 0,
    })
}

/// What is undefined is `null`.
fn number(value: &Value) -> Option<f64> {
    if value.is_null() { Some(f64::NAN) } else { value.as_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_table_of_one_row() {
        let text = r#"{"created": 4, "latency_avg": null, "nodes": {}, "run": {"scenario": "s", "seed": 7, "version": "1", "commit": "c"}}"#;
        let read = of_text(text).unwrap();
        assert_eq!(
            (read.seeds(), read.metric_columns()),
            (vec![7], vec!["created".to_owned(), "latency_avg".to_owned()])
        );
        assert!(read.rows[0].metric("latency_avg").unwrap().is_nan());
    }

    #[test]
    fn what_is_no_run_says_so() {
        for (text, what) in [
            ("[1]", "not a JSON object"),
            ("{\"created\": 4}", "does not say which `run`"),
            ("{\"run\": {\"seed\": 1}}", "no figures"),
        ] {
            assert!(of_text(text).unwrap_err().contains(what), "{text}");
        }
    }
}

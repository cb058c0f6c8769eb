//! Results as JSON for people's scripts: mean and interval of each metric at each point.

use super::{Error, Point, Results, SUMMARY_FILE, replace_file};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Writes `summary.json` into a folder, whole or not at all; `nothing` says why points delivered nothing.
///
/// # Errors
/// The folder cannot be written.
pub fn write_summary(results: &Results, nothing: &[(usize, String)], folder: &Path) -> Result<(), Error> {
    let mut whole = summary(results);
    for (point, shown) in results.points().iter().zip(whole["points"].as_array_mut().into_iter().flatten()) {
        if let Some((_, why)) = nothing.iter().find(|(number, _)| *number == point.rows[0].point) {
            shown["why"] = Value::from(why.as_str());
        }
    }
    let mut text = format!("{whole:#}");
    text.push('\n');
    replace_file(&folder.join(SUMMARY_FILE), text.as_bytes())
}

/// What `summary.json` holds.
pub fn summary(results: &Results) -> Value {
    let metrics = results.metric_columns();
    let points: Vec<Value> = results.points().iter().map(|point| summary_of(point, &metrics)).collect();
    json!({
        "version": results.build.version,
        "commit": results.build.commit,
        "scenario": results.scenario,
        "seeds": results.seeds(),
        "points": points,
    })
}

fn summary_of(point: &Point<'_>, metrics: &[String]) -> Value {
    let values: Map<String, Value> =
        point.values.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))).collect();
    let metrics: Map<String, Value> = metrics
        .iter()
        .map(|name| {
            let told = point
                .estimate(name)
                .map(|made| json!({"mean": made.mean, "low": made.low(), "high": made.high(), "n": made.n}));
            (name.clone(), told.unwrap_or_else(|| json!({"mean": null, "low": null, "high": null, "n": 0})))
        })
        .collect();
    json!({"values": values, "metrics": metrics})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Build, Row};

    #[test]
    fn one_run_has_a_mean_but_no_interval() {
        let row = Row {
            point: 0,
            seed: 7,
            values: vec![("router".into(), "epidemic".into())],
            metrics: vec![("created".into(), 10.0), ("latency_avg".into(), f64::NAN)],
        };
        let build = Build { version: "1".into(), commit: "c".into() };
        let made = summary(&Results { build, scenario: String::new(), rows: vec![row], missing: 0 });
        let metrics = &made["points"][0]["metrics"];
        assert_eq!(metrics["created"], json!({"mean": 10.0, "low": null, "high": null, "n": 1}));
        assert_eq!(metrics["latency_avg"]["n"], 0);
        assert_eq!(made["points"][0]["values"]["router"], "epidemic");
    }
}

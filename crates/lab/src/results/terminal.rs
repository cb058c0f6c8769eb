//! Results as a table for terminals.

use super::Results;
use crate::metrics::{number, with_interval};
use crate::statistics::Estimate;
use crate::text_table::{align_right, plain_table};

/// What tables of a sweep of bundles show.
pub const SHOWN: [&str; 6] = [
    "delivery_prob",
    "latency_avg",
    "overhead_ratio",
    "hopcount_avg",
    "buffertime_avg",
    "censored_delay_avg",
];
/// What a table of these runs of bundles shows: [`SHOWN`], and what waited at applications where anything did.
pub fn shown(results: &Results) -> Vec<&'static str> {
    let waited = |row: &super::Row| row.metric("waiting_bytes_max").is_some_and(|most| most > 0.0);
    let waiting = results.rows.iter().any(waited).then_some("waiting_bytes_avg");
    SHOWN.into_iter().chain(waiting).collect()
}

/// Those of a sweep of packets or of named data.
pub const SHOWN_OF_PACKETS: [&str; 6] =
    ["goodput_bit_per_s", "delivered_bytes", "duration_s", "packets_repaired", "timeouts", "jain"];

/// One line a point: its values, then mean ± half width of each metric.
pub fn terminal_table(results: &Results, metrics: &[&str]) -> String {
    let columns = results.value_columns();
    let head = columns.iter().map(String::as_str).chain(["runs"]).chain(metrics.iter().copied());
    let mut table = plain_table(head);
    for point in results.points() {
        let values = columns.iter().map(|column| point.rows[0].value(column).unwrap_or("").to_string());
        let runs = point.rows.len().to_string();
        let told = metrics.iter().map(|metric| interval_text(point.estimate(metric)));
        table.add_row(values.chain([runs]).chain(told));
    }
    align_right(&mut table, columns.len());
    table.to_string()
}

/// "mean ± half width", or "mean (low to high)" where the ends are not equally far, with the digits that the interval warrants; a
/// dash where nothing was measured.
pub fn interval_text(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "–".into(),
        Some(made) => match (made.interval(), made.half_width) {
            (Some((low, _)), Some(half)) if low == made.mean - half => {
                let (mean, [half]) = with_interval(made.mean, half, [half]);
                format!("{mean} ± {half}")
            }
            (Some((low, high)), _) => {
                let (mean, [low, high]) = with_interval(made.mean, (high - low) / 2.0, [low, high]);
                format!("{mean} ({low} to {high})")
            }
            (None, _) => number(made.mean),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Build, Row};

    #[test]
    fn what_waits_at_applications_is_a_column_where_anything_does() {
        let results = |most: &[f64]| Results {
            build: Build { version: "1".into(), commit: "c".into() },
            scenario: String::new(),
            rows: (0..)
                .zip(most)
                .map(|(seed, most)| Row {
                    point: 0,
                    seed,
                    values: Vec::new(),
                    metrics: vec![("waiting_bytes_max".into(), *most)],
                })
                .collect(),
            missing: 0,
        };
        assert_eq!(shown(&results(&[0.0, 0.0])), SHOWN);
        assert_eq!(shown(&results(&[0.0, 5.0]))[6..], ["waiting_bytes_avg"]);
    }

    #[test]
    fn a_line_a_point() {
        let row = |seed, delivered| Row {
            point: 0,
            seed,
            values: vec![("router".into(), "epidemic".into())],
            metrics: vec![("delivery_prob".into(), delivered)],
        };
        let build = Build { version: "1".into(), commit: "c".into() };
        let results =
            Results { build, scenario: String::new(), rows: vec![row(1, 0.5), row(2, 0.5)], missing: 0 };
        let made = terminal_table(&results, &["delivery_prob"]);
        assert!(made.contains("epidemic") && made.contains("0.5 ± 0"), "{made}");
        assert_eq!(made.lines().count(), 2);
    }
}

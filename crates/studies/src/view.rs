//! Metrics of a study's runs, picked by figure, variant and place on the axis.

use lightlag_lab::figure::{Mark, Place};
use lightlag_lab::report::{Finding, Holds};
use lightlag_lab::results::{Results, Row};
use lightlag_lab::statistics::Estimate;

/// Column of the table of runs: in which figures a run is, with a blank between two.
pub const FIGURE: &str = "figure";
/// Column of the table of runs: which protocol, under which reading.
pub const VARIANT: &str = "variant";

/// A number in a column.
fn number(row: &Row, column: &str) -> f64 {
    row.value(column).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

fn is_in(row: &Row, figure: &str) -> bool {
    row.value(FIGURE).is_some_and(|figures| figures.split(' ').any(|one| one == figure))
}

/// A metric of all seeds where a variant of a figure stands at these places.
pub fn metrics(
    results: &Results,
    figure: &str,
    variant: &str,
    places: &[(&str, f64)],
    metric: &str,
) -> Vec<f64> {
    let here = |row: &&Row| {
        is_in(row, figure)
            && row.value(VARIANT) == Some(variant)
            && places.iter().all(|&(column, value)| number(row, column) == value)
    };
    results.rows.iter().filter(here).filter_map(|row| row.metric(metric)).collect()
}

/// The places of a column in a figure, ascending.
pub fn levels(results: &Results, figure: &str, column: &str) -> Vec<f64> {
    let rows = results.rows.iter().filter(|row| is_in(row, figure));
    let mut all: Vec<f64> = rows.map(|row| number(row, column)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// What came of a claim with several parts.
pub fn found(all: &[bool], we_measure: String) -> Finding {
    let holds = match all.iter().filter(|holds| **holds).count() {
        _ if all.is_empty() => return Finding::untestable("these points were not run"),
        0 => Holds::No,
        n if n == all.len() => Holds::Yes,
        _ => Holds::Partly,
    };
    Finding { holds, we_measure }
}

/// A value in a figure over a number.
pub fn mark(x: f64, series: &str, panel: Option<&str>, value: Estimate) -> Mark {
    let (series, panel) = (series.to_owned(), panel.map(str::to_owned));
    Mark { x: Place::At(x), series, panel, value, baseline: None }
}

/// A mean and its interval, in a table.
pub fn told(value: Estimate) -> String {
    let half =
        value.half_width.map_or(String::new(), |half| format!(" ± {}", lightlag_lab::results::number(half)));
    lightlag_lab::results::number(value.mean) + &half
}

//! Time series of one run as figures.

use super::Report;
use crate::series::TimeSeries;

/// The report of a run of packets or of named data that was sampled; `None`: there is nothing to draw.
pub fn of_series(series: &TimeSeries, scenario: &str, seed: u64) -> Option<Report> {
    let figures = series.figures();
    (!figures.is_empty()).then(|| Report {
        title: format!("{scenario}, seed {seed}"),
        seeds: vec![seed],
        runs: 1,
        figures,
        ..Report::default()
    })
}

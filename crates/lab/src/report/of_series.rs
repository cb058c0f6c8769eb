//! Time series of one run as figures.

use super::Report;
use crate::metrics::TimeSeries;
use crate::results::Build;

/// The report of a run of packets that was sampled.
pub fn of_series(series: &TimeSeries, scenario: &str, seed: u64) -> Option<Report> {
    let TimeSeries::Packets(series) = series else { return None };
    let figures = series.figures();
    (!figures.is_empty()).then(|| Report {
        title: format!("{scenario}, seed {seed}"),
        introduction: Vec::new(),
        warnings: Vec::new(),
        build: Build::this(),
        seeds: vec![seed],
        runs: 1,
        again: Vec::new(),
        claims: Vec::new(),
        figures,
        tables: Vec::new(),
        scenarios: Vec::new(),
    })
}

//! Single runs over time.

use super::points::only;
use lightlag_capture::analysis;
use lightlag_lab::run::{ContactsCache, Options, Outcome, run};
use lightlag_scenario::{Error, ScenarioFile, Seed};

/// The seed of every curve.
const SEED: u64 = 1;

/// A connection over time.
pub struct Series {
    /// Which scenario.
    pub figure: &'static str,
    /// Which variant.
    pub variant: &'static str,
    /// Seconds, and packets delivered in each second.
    pub throughput: Vec<(f64, f64)>,
    /// Seconds, the transport from then on, and why.
    pub changes: Vec<(f64, &'static str, String)>,
}

/// One run of a scenario, sampled, and analysed if there are options for that.
///
/// # Errors
/// What is wrong with the scenario.
pub fn sampled(file: &ScenarioFile, analysis: Option<analysis::Options>) -> Result<Outcome, Error> {
    let options = Options { judge: false, series: true, analysis, ..Options::default() };
    run(&only(file)?, Seed::Number(SEED), &ContactsCache::default(), &options)
}

/// One sampled number of a flow or a link; of two with one name the first.
pub fn values(outcome: &Outcome, of: &str, name: &str) -> Vec<(f64, f64)> {
    let Some(series) = &outcome.series else { return Vec::new() };
    let rows = series.rows().iter().filter(|row| row.name == name && series.name_of(row.of) == of);
    let mut points: Vec<(f64, f64)> = rows.map(|row| (row.at.as_secs_f64(), row.value)).collect();
    points.dedup_by_key(|point| point.0);
    points
}

/// Means over spans of some seconds, each at the end of its span.
pub fn means(points: &[(f64, f64)], span_s: f64, scale: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let span = |point: &(f64, f64)| (point.0 / span_s - 1e-9).floor();
    let of = |chunk: &[(f64, f64)]| {
        let sum = chunk.iter().map(|point| point.1).sum::<f64>();
        ((span(&chunk[0]) + 1.0) * span_s, scale(sum / chunk.len() as f64))
    };
    points.chunk_by(|one, next| span(one) == span(next)).map(of).collect()
}

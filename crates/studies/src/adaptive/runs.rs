//! One run of each scenario and variant over time, and when it changed what carries it.

use super::plan::{SCENARIOS, VARIANTS, sets};
use lightlag_lab::metrics::TimeSeries;
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_protocols::session::Kind;
use lightlag_scenario::Seed;

/// Seed of every curve.
const SEED: u64 = 1;
/// Throughput is averaged over so many seconds.
pub const EVERY_S: usize = 5;

/// One run.
pub struct Seen {
    /// Which scenario.
    pub figure: &'static str,
    /// Which variant.
    pub variant: &'static str,
    /// Packets delivered in each second, averaged.
    pub throughput: Vec<(f64, f64)>,
    /// Seconds, what carried the connection from then on, and why.
    pub changes: Vec<(f64, &'static str, String)>,
}

/// All of them.
///
/// # Errors
/// None with the scenarios that are compiled in.
pub fn all() -> Result<Vec<Seen>, lightlag_scenario::Error> {
    let mut all = Vec::new();
    for (figure, text) in SCENARIOS {
        for variant in VARIANTS {
            let mut file = text.file()?;
            sets(variant).into_iter().try_for_each(|(key, value)| file.set(key, value))?;
            let scenario = file.points()?.list.remove(0).scenario;
            let options = Options { judge: false, series: true, ..Options::default() };
            let outcome = run(&scenario, Seed::Number(SEED), &ContactsCache::default(), &options)?;
            let changes = outcome.changes.iter().map(|change| {
                let to = if change.to == Kind::Stream { "TCP" } else { "datagrams" };
                let why = change.why.map_or("the delay passed 250 ms".to_owned(), |why| why.to_string());
                (change.at.as_secs_f64(), to, why)
            });
            all.push(Seen {
                figure,
                variant,
                throughput: throughput(outcome.series.as_ref()),
                changes: changes.collect(),
            });
        }
    }
    Ok(all)
}

fn throughput(series: Option<&TimeSeries>) -> Vec<(f64, f64)> {
    let Some(TimeSeries::Packets(series)) = series else { return Vec::new() };
    let delivered = series.rows().iter().filter(|row| row.name == "delivered");
    let each: Vec<(f64, f64)> =
        delivered.map(|row| (row.at.as_secs_f64(), row.value / 1024.0)).step_by(EVERY_S).collect();
    each.windows(2).map(|two| (two[1].0, (two[1].1 - two[0].1) / (two[1].0 - two[0].0))).collect()
}

//! What single runs show over time.

use super::plan::{
    CACHING, OVER_TIME, OVER_TIME_CACHED, OVER_TIME_SHARED, QUEUE_OF_CACHING, SINGLE, STARTS, TWO_FLOWS,
};
use super::variants::sets;
use crate::points::Text;
use lightlag_lab::metrics::TimeSeries;
use lightlag_lab::packets::PacketSeries;
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_scenario::Seed;

/// How often is looked: a queue that is empty for two seconds is seen so within five percent.
const EVERY: &str = "0.05 s";
/// Of so many points one is drawn.
const DRAWN: usize = 4;
/// The direction of the bottleneck that Data take.
const DATA_WAY: &str = "bottleneck.back";
/// The seed; without jitter there is nothing random.
const SEED: u64 = 1;
/// The mean of goodput is taken over so many seconds.
const GOODPUT_EVERY_S: f64 = 1.0;

/// Numbers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// In which figure.
    pub figure: &'static str,
    /// In which of its small multiples; empty where there are none.
    pub panel: String,
    /// Of whom.
    pub series: String,
    /// Seconds and values.
    pub points: Vec<(f64, f64)>,
}

/// Every curve of the study.
///
/// # Errors
/// None with the scenarios that are compiled in.
pub fn all() -> Result<Vec<Curve>, lightlag_scenario::Error> {
    let mut curves = Vec::new();
    for variant in OVER_TIME {
        curves.extend(alone(variant)?);
    }
    for variant in OVER_TIME_CACHED {
        let queue = ("queue", QUEUE_OF_CACHING.to_owned());
        let points = values(&sampled(CACHING, variant, &[queue])?, "two", "window");
        curves.push(Curve { figure: "figure_4", panel: String::new(), series: variant.to_owned(), points });
    }
    for start in STARTS {
        for variant in OVER_TIME_SHARED {
            let series = sampled(TWO_FLOWS, variant, &[("start", format!("{start} s"))])?;
            for (name, consumer) in [("one", "consumer 1"), ("two", "consumer 2")] {
                let panel = format!("{variant}, second starts at {start} s");
                let points = values(&series, name, "window");
                curves.push(Curve { figure: "figure_5", panel, series: consumer.to_owned(), points });
            }
        }
    }
    Ok(curves)
}

/// Window, queue and goodput of one consumer: figure 3.
///
/// # Errors
/// None with the scenario that is compiled in.
pub fn alone(variant: &str) -> Result<[Curve; 3], lightlag_scenario::Error> {
    let series = sampled(SINGLE, variant, &[])?;
    let curve = |figure, points| Curve { figure, panel: String::new(), series: variant.to_owned(), points };
    Ok([
        curve("figure_3a", values(&series, "one", "window")),
        curve("figure_3b", values(&series, DATA_WAY, "queue")),
        curve("figure_3c", means(&values(&series, "one", "goodput"), 1e-6)),
    ])
}

fn sampled(
    text: Text,
    variant: &str,
    given: &[(&'static str, String)],
) -> Result<PacketSeries, lightlag_scenario::Error> {
    let mut file = text.file()?;
    for (key, value) in sets(variant, 0).iter().chain(given) {
        file.set(key, value)?;
    }
    file.set("sample_every", EVERY)?;
    let scenario = file.points()?.list.remove(0).scenario;
    let options = Options { judge: false, series: true, ..Options::default() };
    let outcome = run(&scenario, Seed::Number(SEED), &ContactsCache::default(), &options)?;
    Ok(match outcome.series {
        Some(TimeSeries::Packets(series)) => series,
        _ => PacketSeries::default(),
    })
}

/// One number of a consumer or a link; of two that are called alike the first.
fn values(series: &PacketSeries, of: &str, name: &str) -> Vec<(f64, f64)> {
    let rows = series.rows().iter().filter(|row| row.name == name && series.name_of(row.of) == of);
    let mut points: Vec<(f64, f64)> = rows.map(|row| (row.at.as_secs_f64(), row.value)).collect();
    points.dedup_by_key(|point| point.0);
    points
}

/// Means over [`GOODPUT_EVERY_S`], at its end.
fn means(points: &[(f64, f64)], scale: f64) -> Vec<(f64, f64)> {
    let second = |point: &(f64, f64)| (point.0 / GOODPUT_EVERY_S - 1e-9).floor();
    let of = |chunk: &[(f64, f64)]| {
        let mean = chunk.iter().map(|point| point.1).sum::<f64>() / chunk.len() as f64;
        ((second(&chunk[0]) + 1.0) * GOODPUT_EVERY_S, mean * scale)
    };
    points.chunk_by(|one, next| second(one) == second(next)).map(of).collect()
}

impl Curve {
    /// The points that a figure needs.
    pub fn drawn(&self) -> impl Iterator<Item = &(f64, f64)> + Clone {
        // Means of a second are few.
        let each = if self.points.len() > 100 { DRAWN } else { 1 };
        self.points.iter().step_by(each)
    }
}

/// The points of a curve from some time on; none where it was not drawn.
pub fn find<'a>(curves: &'a [Curve], figure: &str, series: &str, from_s: f64) -> &'a [(f64, f64)] {
    let curve = curves.iter().find(|curve| curve.figure == figure && curve.series == series);
    curve.map_or(&[], |curve| &curve.points[curve.points.partition_point(|point| point.0 < from_s)..])
}

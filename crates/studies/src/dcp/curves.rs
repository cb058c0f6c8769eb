//! Single runs over time: the paper's figures 3 to 5.

use super::plan::{
    CACHING, OVER_TIME, OVER_TIME_CACHED, OVER_TIME_SHARED, QUEUE_OF_CACHING, SINGLE, STARTS, TWO_FLOWS,
};
use super::variants::sets;
use crate::shared::charts::Curve;
use crate::shared::over_time::{means, sampled, values};
use crate::shared::points::scenario;
use lightlag_lab::run::Outcome;
use lightlag_scenario::Error;

/// Sampling interval: a queue that is empty for two seconds is seen within five percent.
const EVERY: &str = "0.05 s";
/// The direction of the bottleneck that carries Data.
const DATA_DIRECTION: &str = "bottleneck.back";

/// Every curve of the study.
pub fn all() -> Result<Vec<Curve>, Error> {
    let mut curves = Vec::new();
    for variant in OVER_TIME {
        curves.extend(alone(variant)?);
    }
    for variant in OVER_TIME_CACHED {
        let run = run(CACHING, variant, &[("queue", QUEUE_OF_CACHING.to_owned())])?;
        curves.push(Curve::new("figure_4", variant, values(&run, "two", "window")));
    }
    for start in STARTS {
        for variant in OVER_TIME_SHARED {
            let run = run(TWO_FLOWS, variant, &[("start", format!("{start} s"))])?;
            for (name, consumer) in [("one", "consumer 1"), ("two", "consumer 2")] {
                let panel = format!("{variant}, second starts at {start} s");
                let curve = Curve::new("figure_5", consumer, values(&run, name, "window"));
                curves.push(Curve { panel, ..curve });
            }
        }
    }
    Ok(curves)
}

/// Window, queue and goodput of one consumer: figure 3.
pub fn alone(variant: &str) -> Result<[Curve; 3], Error> {
    let run = run(SINGLE, variant, &[])?;
    let goodput = means(&values(&run, "one", "goodput"), 1.0, |bits| bits * 1e-6);
    Ok([
        Curve::new("figure_3a", variant, values(&run, "one", "window")),
        Curve::new("figure_3b", variant, values(&run, DATA_DIRECTION, "queue")),
        Curve::new("figure_3c", variant, goodput),
    ])
}

fn run(name: &str, variant: &str, given: &[(&'static str, String)]) -> Result<Outcome, Error> {
    let sets = sets(variant, 0).into_iter().chain(given.iter().cloned());
    sampled(&scenario(name, sets.chain([("sample_every", EVERY.to_owned())]))?, None)
}

/// The points of a curve from some time on; none where it was not drawn.
pub fn find<'a>(curves: &'a [Curve], figure: &str, series: &str, from_s: f64) -> &'a [(f64, f64)] {
    let curve = curves.iter().find(|curve| curve.figure == figure && curve.series == series);
    curve.map_or(&[], |curve| &curve.points[curve.points.partition_point(|point| point.0 < from_s)..])
}

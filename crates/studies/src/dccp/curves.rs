//! Curves over time: throughput over the minutes, windows, and the packets of a connection.

use super::plan::{OVER_TIME, SATELLITE, narrow_link, silent_link};
use super::variants::{CCID2, LINUX, PAUSES, SMALL, STUCK, Variant};
use crate::shared::charts::{Curve, figure};
use crate::shared::over_time::{means, sampled, values};
use crate::shared::points::scenario;
use lightlag_capture::analysis::{Cell, Graph, Options as Analysis};
use lightlag_lab::captured::{Scene, charts};
use lightlag_lab::report::Figure;
use lightlag_lab::run::Outcome;
use lightlag_scenario::Error;

/// Throughput is averaged over this many seconds.
const THROUGHPUT_EVERY_S: f64 = 10.0;
/// Points of a curve.
const POINTS_MAX: usize = 500;
/// Packets of the pauses are drawn up to here: later ones look the same.
const PAUSES_SHOWN_S: f64 = 60.0;

/// All curves.
pub fn all() -> Result<(Vec<Curve>, Vec<Figure>), Error> {
    let mut curves = Vec::new();
    for variant in OVER_TIME {
        let goodput = values(&seen(variant, Vec::new())?, "one", "goodput");
        let points = means(&goodput, THROUGHPUT_EVERY_S, |bits| bits / 1e6);
        curves.push(Curve::new("over_minutes", variant.name, points));
    }
    let ours = seen(CCID2, Vec::new())?;
    let stuck = seen(STUCK, Vec::new())?;
    for (outcome, series) in [(&ours, AFTER), (&stuck, BEFORE)] {
        let window = values(outcome, "one", "window").into_iter().map(|(at, bytes)| (at, bytes / 1456.0));
        curves.push(Curve::new("fault_stuck_window", series, window.collect()));
    }
    curves.extend(before_and_after("fault_small_sequence_window", &ours, &seen(SMALL, Vec::new())?));
    let linux = seen(LINUX, narrow_link())?;
    let silent = silent_link();
    let mut of_pauses =
        before_and_after("fault_pauses", &seen(CCID2, silent.clone())?, &seen(PAUSES, silent)?);
    of_pauses.iter_mut().for_each(|curve| curve.points.retain(|point| point.0 <= PAUSES_SHOWN_S));
    curves.extend(of_pauses);
    let sequences =
        [connection(&ours, "time_sequence", CCID2), connection(&linux, "time_sequence_linux", LINUX)];
    Ok((curves, sequences.into_iter().flatten().collect()))
}

/// Names of the two curves of a fault.
pub const BEFORE: &str = "with the fault of Linux";
pub const AFTER: &str = "without it";

/// Packets sent, with a fault and without.
fn before_and_after(figure: &'static str, ours: &Outcome, faulty: &Outcome) -> Vec<Curve> {
    let curve = |(outcome, series): (&Outcome, &str)| Curve::new(figure, series, sent(outcome));
    [(faulty, BEFORE), (ours, AFTER)].map(curve).to_vec()
}

/// One run of a variant, sampled and analysed.
fn seen(variant: Variant, given: Vec<(&'static str, String)>) -> Result<Outcome, Error> {
    let file = scenario(SATELLITE, given.into_iter().chain(variant.sets()))?;
    sampled(&file, Some(Analysis { graphs: true, ..Analysis::default() }))
}

/// The number of each packet sent, counted from the first.
fn sent(outcome: &Outcome) -> Vec<(f64, f64)> {
    let Some((graph, began_ns)) = graph(outcome) else { return Vec::new() };
    let cells = graph.sent.cells();
    let origin = cells.first().map_or(0, |cell| cell.low);
    let each = cells.len().div_ceil(POINTS_MAX).max(1);
    let time = |ns: i64| (ns - began_ns) as f64 / 1e9;
    let point = |cell: &Cell| (time(cell.at_ns), cell.high.saturating_sub(origin) as f64);
    cells.iter().step_by(each).map(point).collect()
}

/// What is drawn of the connection, and when its capture began.
fn graph(outcome: &Outcome) -> Option<(&Graph, i64)> {
    let analysed = outcome.analysed.as_ref()?;
    let graphs = analysed.flows.first()?.graphs.as_ref()?;
    Some((&graphs[0], analysed.began_ns))
}

/// The charts that `lightlag capture` draws.
fn connection(outcome: &Outcome, id: &str, variant: Variant) -> Option<Figure> {
    let (graph, began_ns) = graph(outcome)?;
    let title = format!("A connection over time: {}", variant.name);
    let scene = Scene { began_ns, numbers_packets: true };
    let caption = "Time and sequence as tcptrace draws them, throughput, round trips, and what is in flight, from \
                   the packets at the sender. The wheel zooms. The one with all faults is on the link of 128 kbit/s.";
    Some(figure((id, &title, caption), charts(&title, graph, scene)))
}

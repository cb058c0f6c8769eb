//! Curves over time: throughput over the minutes, windows, and the packets of a connection.

use super::plan::{OVER_TIME, SATELLITE, narrow_link, silent_link};
use super::variants::{CCID2, LINUX, PAUSES, SMALL, STUCK, Variant};
use lightlag_capture::analysis::{Cell, Graph, Options as Analysis};
use lightlag_lab::captured::{Scene, charts};
use lightlag_lab::metrics::TimeSeries;
use lightlag_lab::packets::{PacketSeries, Row};
use lightlag_lab::report::Figure;
use lightlag_lab::run::{ContactsCache, Options, Outcome, run};
use lightlag_scenario::Seed;

/// Seed of every curve.
const SEED: u64 = 1;
/// Throughput is averaged over so many seconds.
const THROUGHPUT_EVERY_S: f64 = 10.0;
/// Points of a curve.
const POINTS_MAX: usize = 500;
/// Packets of the pauses are drawn up to here: later ones look the same.
const PAUSES_SHOWN_S: f64 = 60.0;

/// A curve of a figure.
#[derive(Clone, Debug)]
pub struct Curve {
    /// In which figure it is.
    pub figure: &'static str,
    /// Its name there.
    pub series: String,
    /// Seconds, and what is drawn.
    pub points: Vec<(f64, f64)>,
}

/// All curves.
///
/// # Errors
/// None with the scenario that is compiled in.
pub fn all() -> Result<(Vec<Curve>, Vec<Figure>), lightlag_scenario::Error> {
    let mut curves = Vec::new();
    for variant in OVER_TIME {
        let points = throughput(&seen(variant, &[])?);
        curves.push(Curve { figure: "over_minutes", series: variant.name.to_owned(), points });
    }
    let ours = seen(CCID2, &[])?;
    let stuck = seen(STUCK, &[])?;
    for (outcome, series) in [(&ours, AFTER), (&stuck, BEFORE)] {
        let points = values(outcome, "window").into_iter().map(|(at, bytes)| (at, bytes / 1456.0)).collect();
        curves.push(Curve { figure: "fault_stuck_window", series: series.to_owned(), points });
    }
    curves.extend(before_and_after("fault_small_sequence_window", &ours, &seen(SMALL, &[])?));
    let linux = seen(LINUX, &narrow_link())?;
    let silent = silent_link();
    let mut of_pauses = before_and_after("fault_pauses", &seen(CCID2, &silent)?, &seen(PAUSES, &silent)?);
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
    let curve = |(outcome, series): (&Outcome, &str)| Curve {
        figure,
        series: series.to_owned(),
        points: sent(outcome),
    };
    [(faulty, BEFORE), (ours, AFTER)].map(curve).to_vec()
}

/// One run of a variant, sampled and analysed.
fn seen(variant: Variant, given: &[(&'static str, String)]) -> Result<Outcome, lightlag_scenario::Error> {
    let mut file = SATELLITE.file()?;
    for (key, value) in given.iter().chain(&variant.sets()) {
        file.set(key, value)?;
    }
    let scenario = file.points()?.list.remove(0).scenario;
    let analysis = Some(Analysis { graphs: true, ..Analysis::default() });
    let options = Options { judge: false, series: true, analysis, ..Options::default() };
    run(&scenario, Seed::Number(SEED), &ContactsCache::default(), &options)
}

/// One number of the connection, where it is sampled.
fn values(outcome: &Outcome, name: &str) -> Vec<(f64, f64)> {
    let Some(TimeSeries::Packets(series)) = &outcome.series else { return Vec::new() };
    let mine = |row: &&Row| row.name == name && is_one(series, row);
    let rows = series.rows().iter().filter(mine);
    rows.map(|row| (row.at.as_secs_f64(), row.value)).collect()
}

fn is_one(series: &PacketSeries, row: &Row) -> bool {
    series.name_of(row.of) == "one"
}

/// Goodput in Mbit/s: means over [`THROUGHPUT_EVERY_S`], at its end.
fn throughput(outcome: &Outcome) -> Vec<(f64, f64)> {
    let each = values(outcome, "goodput");
    let span = |point: &(f64, f64)| (point.0 / THROUGHPUT_EVERY_S - 1e-9).floor();
    let mean = |chunk: &[(f64, f64)]| {
        let sum: f64 = chunk.iter().map(|point| point.1).sum();
        ((span(&chunk[0]) + 1.0) * THROUGHPUT_EVERY_S, sum / chunk.len() as f64 / 1e6)
    };
    each.chunk_by(|one, next| span(one) == span(next)).map(mean).collect()
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
    let caption = "Time and sequence as tcptrace draws them, throughput, round trips, and what is under way, from \
                   the packets at the sender. The wheel zooms. The one with all faults is on the link of 128 kbit/s.";
    Some(Figure {
        id: id.to_owned(),
        specification: charts(&title, graph, scene),
        title,
        caption: caption.to_owned(),
    })
}

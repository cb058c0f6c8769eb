//! The poster's figures, and one for each fault before and after.

use super::curves::{AFTER, BEFORE, Curve};
use super::plan::{OVER_TIME, RATE, RATES, over_rates, spread};
use super::variants::{CCID2, INCONSISTENT, Variant};
use super::view::Here;
use crate::view::{levels, mark};
use lightlag_lab::figure::{self, Mark, Place, Plot, Title};
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Estimate, estimate};

/// Every figure for which there are runs.
pub fn all(results: &Results, curves: &[Curve]) -> Vec<Figure> {
    let mut all = vec![over_links(results), connections(results)];
    all.extend(OVER_TIMES.iter().map(|of| over_time(of, curves)));
    all.push(answers(results));
    all
}

/// Identifier, heading, what to see, quantity and unit.
const OVER_TIMES: [[&str; 5]; 4] = [
    [
        "over_minutes",
        "Throughput over the minutes",
        "On the poster's link: means of ten seconds.",
        "goodput",
        "Mbit/s",
    ],
    [
        "fault_stuck_window",
        "The window, stuck or not",
        "On the poster's link. Linux asked whether exactly two packets were acknowledged since the window grew, of a \
         count that may have been beyond.",
        "window",
        "packets",
    ],
    [
        "fault_pauses",
        "Packets sent, with pauses and without",
        "On the poster's link, silent from 10 to 15 s. The receiver of Linux acknowledges every second packet: of a \
         window of one, none until the timer expires.",
        "packets sent",
        "packets",
    ],
    [
        "fault_small_sequence_window",
        "Packets sent, within a Sequence Window that stays small and one that grows",
        "On the poster's link. More than 100 packets under way lead to Syncs instead of acknowledgements.",
        "packets sent",
        "packets",
    ],
];

fn over_time([id, title, caption, quantity, unit]: &[&str; 5], curves: &[Curve]) -> Figure {
    let here = curves.iter().filter(|curve| curve.figure == *id);
    let points =
        here.flat_map(|curve| curve.points.iter().map(|&(at, value)| (at, curve.series.as_str(), value)));
    figure(id, title, caption, figure::over_time(quantity, unit, points))
}

fn figure(id: &str, title: &str, caption: &str, specification: serde_json::Value) -> Figure {
    Figure { id: id.to_owned(), title: title.to_owned(), caption: caption.to_owned(), specification }
}

fn plot(x: Title, y: Title, marks: Vec<Mark>) -> Plot {
    Plot {
        title: String::new(),
        x,
        y,
        series: Title::plain("transport and controller"),
        baseline_series: None,
        columns: 2,
        shared_y: true,
        marks,
    }
}

fn over_links(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for variant in over_rates() {
        for rate in levels(results, RATES, RATE) {
            let value = estimate(&Here::rate(results, rate).goodputs(variant));
            marks.extend(value.map(|value| mark(rate, variant.name, None, value)));
        }
    }
    let (x, y) = (Title::with_unit("rate of the link", "Mbit/s"), Title::with_unit("goodput", "Mbit/s"));
    let caption =
        "Round trip of 100 ms, a queue of a bandwidth-delay product or 20 packets, over five minutes.";
    let drawn = figure::log_lines(&plot(x, y, marks), &[]);
    figure("over_links", "Throughput over links of many rates", caption, drawn)
}

fn connections(results: &Results) -> Figure {
    let here = Here::satellite(results, 0.0);
    let shown: Vec<Variant> = OVER_TIME.into_iter().chain([super::variants::SMALL, INCONSISTENT]).collect();
    let mut marks = Vec::new();
    for variant in shown.into_iter().filter(|one| spread().contains(one) || one.is_faulty()) {
        for (number, &value) in (1..).zip(&here.goodputs(variant)) {
            let value = Estimate { mean: value, n: 1, half_width: None };
            marks.push(mark(f64::from(number), variant.name, None, value));
        }
    }
    let (x, y) = (Title::plain("connection"), Title::with_unit("goodput", "Mbit/s"));
    let caption = "Connections of five minutes on the poster's link; each has the same traffic beside it, whatever \
                   the transport.";
    figure("connections", "Connections on the same link", caption, figure::lines(&plot(x, y, marks)))
}

fn answers(results: &Results) -> Figure {
    let here = Here::satellite(results, 0.0);
    let mut marks = Vec::new();
    for (variant, series) in [(INCONSISTENT, BEFORE), (CCID2, AFTER)] {
        let kinds =
            [("one halving", "answered_once"), ("more", "answered_more"), ("none, or less", "answered_not")];
        let counts = kinds.map(|(name, metric)| (name, here.sum(variant, metric)));
        let all: f64 = counts.iter().map(|count| count.1).sum();
        for (name, count) in counts.into_iter().filter(|_| all > 0.0) {
            let value = Estimate { mean: 100.0 * count / all, n: 1, half_width: None };
            marks.push(Mark { x: Place::Named(name.to_owned()), ..mark(0.0, series, None, value) });
        }
    }
    let (x, y) = (Title::plain("answer to a window with losses"), Title::with_unit("share of them", "%"));
    let caption = "On the poster's link, of all connections: the window in the second round trip after, beside what it \
                   was when the loss was found.";
    let mut plot = plot(x, y, marks);
    plot.series = Title::plain("ccid2");
    figure("fault_inconsistent_loss", "Answers to dropped packets", caption, figure::bars(&plot))
}

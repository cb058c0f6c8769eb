//! The poster's figures, and one for each fault before and after.

use super::curves::{AFTER, BEFORE};
use super::here::Here;
use super::plan::{OVER_TIME, RATE, RATES, over_rates, spread};
use super::variants::{CCID2, INCONSISTENT, LTP, SMALL, Variant};
use crate::shared::charts::{Curve, alone, figure, mark, named, over_time, plot};
use crate::shared::runs::Runs;
use lightlag_lab::figure;
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::estimate;

/// Legend of most figures.
const LEGEND: &str = "transport and controller";

/// Every figure for which there are runs.
pub fn all(results: &Results, curves: &[Curve]) -> Vec<Figure> {
    let mut all = vec![over_links(results), connections(results)];
    all.extend(OVER_TIMES.iter().map(|of| over_time(of, curves, |_| 1)));
    all.extend([answers(results), collapse(results)]);
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
        "On the poster's link. More than 100 packets in flight lead to Syncs instead of acknowledgements.",
        "packets sent",
        "packets",
    ],
];

fn over_links(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for variant in over_rates() {
        for rate in Runs::of(results, RATES).numbers(RATE) {
            let value = estimate(&Here::rate(results, rate).goodputs(variant));
            marks.extend(value.map(|value| mark(rate, variant.name, None, value)));
        }
    }
    let plot = plot(LEGEND, ("rate of the link", "Mbit/s"), ("goodput", "Mbit/s"), marks);
    let caption =
        "Round trip of 100 ms, a queue of a bandwidth-delay product or 20 packets, over five minutes.";
    figure(("over_links", "Throughput over links of many rates", caption), figure::log_lines(&plot, &[]))
}

fn connections(results: &Results) -> Figure {
    let here = Here::satellite(results, 0.0);
    let shown = OVER_TIME.into_iter().chain([SMALL, INCONSISTENT]);
    let mut marks = Vec::new();
    for variant in shown.filter(|one: &Variant| spread().contains(one) || one.is_faulty()) {
        let each = (1..).zip(here.goodputs(variant));
        marks.extend(each.map(|(number, value)| mark(f64::from(number), variant.name, None, alone(value))));
    }
    let plot = plot(LEGEND, ("connection", ""), ("goodput", "Mbit/s"), marks);
    let caption = "Connections of five minutes on the poster's link; each has the same cross traffic, whatever the \
                   transport.";
    figure(("connections", "Connections on the same link", caption), figure::lines(&plot))
}

fn answers(results: &Results) -> Figure {
    let here = Here::satellite(results, 0.0);
    let mut marks = Vec::new();
    for (variant, series) in [(INCONSISTENT, BEFORE), (CCID2, AFTER)] {
        let kinds =
            [("one halving", "answered_once"), ("more", "answered_more"), ("none, or less", "answered_not")];
        let counts = kinds.map(|(name, metric)| (name, here.sum(variant, metric)));
        let all: f64 = counts.iter().map(|count| count.1).sum();
        let counts = counts.into_iter().filter(|_| all > 0.0);
        marks.extend(counts.map(|(name, count)| named(name, series, None, alone(100.0 * count / all))));
    }
    let plot = plot("ccid2", ("answer to a window with losses", ""), ("share of them", "%"), marks);
    let caption = "On the poster's link, of all connections: the window in the second round trip after, beside what it \
                   was when the loss was detected.";
    figure(("fault_inconsistent_loss", "Answers to dropped packets", caption), figure::bars(&plot))
}

fn collapse(results: &Results) -> Figure {
    let here = Here::collapse(results);
    let bar = |variant: Variant| {
        let value = estimate(&here.goodputs(variant))?;
        Some(named(variant.name, "delivered", None, value))
    };
    let marks = LTP.into_iter().filter_map(bar).collect();
    let plot = plot("of LTP", ("LTP over", ""), ("goodput", "Mbit/s"), marks);
    let caption = "On the poster's link of 1.5 Mbit/s, over five minutes. All four: DCCP with the four faults of Linux.";
    figure(("collapse", "LTP over UDP and over DCCP", caption), figure::bars(&plot))
}

//! The paper's figures over time, and what it does not draw.

use super::plan::{
    BESIDE, CACHED, CLOCK, CROSSED, DISTANCE, EDGE, JITTER, OVER_JITTER, SAME_CONTENT, SHARED, SLOW,
    SOME_JITTER_MS, START, START_SOON, TARGET, limit, with_interests,
};
use super::variants::{AIMD, ALL, DCP};
use super::{GOODPUT, JAIN, Number, QUEUEING, estimate_share, shares};
use crate::shared::charts::{Curve, figure, mark, named, over_time, plot};
use crate::shared::runs::Runs;
use lightlag_lab::figure::{self, Mark};
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::Estimate;

/// Of curves with many points every fourth is drawn.
const DRAWN: usize = 4;

/// Every figure for which there are runs.
pub fn all(results: &Results, curves: &[Curve]) -> Vec<Figure> {
    // Means of a second are few.
    let each = |curve: &Curve| if curve.points.len() > 100 { DRAWN } else { 1 };
    let mut all: Vec<Figure> = OVER_TIME.iter().map(|of| over_time(of, curves, each)).collect();
    all.extend(targets(results));
    all.extend(CHARTS.iter().map(|chart| chart.drawn(results)));
    all.extend([share_of_late(results), edges(results), beside(results)]);
    all.extend([interests(results), same_content(results)]);
    all
}

/// Those of the paper: identifier, heading, what to see, quantity and unit.
const OVER_TIME: [[&str; 5]; 5] = [
    [
        "figure_3a",
        "Figure 3a: the window over time",
        "One consumer, one producer, no jitter.",
        "window",
        "Interests",
    ],
    [
        "figure_3b",
        "Figure 3b: the queue of the bottleneck over time",
        "The queue holds 60 packets; the one that is leaving counts.",
        "queue",
        "packets",
    ],
    ["figure_3c", "Figure 3c: goodput over time", "Means of a second.", "goodput", "Mbit/s"],
    [
        "figure_4",
        "Figure 4: the window of consumer 2 under caching",
        "It starts at 5 s; the first 100 Data come from the store near it, the others from a producer at five times \
         the distance. The queue holds 120 packets.",
        "window",
        "Interests",
    ],
    [
        "figure_5",
        "Figure 5: the windows of two consumers",
        "Two consumers, two producers, a queue of 120 packets, no jitter. The paper starts the second where the first \
         one's window has passed 73 (6 s); the latecomer's advantage shows later (20 s).",
        "window",
        "Interests",
    ],
];

const INTERVALS: &str = "Means and 95 % intervals over seeds.";

/// A number of several variants over a column.
struct Chart {
    /// Identifier, heading, caption.
    words: [&'static str; 3],
    /// The figure of its runs, and their column.
    rows: (&'static str, &'static str),
    x: (&'static str, &'static str),
    number: Number,
    y: (&'static str, &'static str),
    variants: &'static [&'static str],
}

const OF_JITTER: (&str, &str) = ("jitter of each link", "ms");
const OF_DISTANCE: (&str, &str) = ("one-way delay from the store to the producer", "ms");
const MBIT_PER_S: (&str, &str) = ("goodput", "Mbit/s");

const CHARTS: [Chart; 6] = [
    Chart {
        words: [
            "jitter_goodput",
            "Goodput of one consumer over jitter",
            "Every link adds a random delay of up to this to each packet, so that packets overtake each other.",
        ],
        rows: ("jitter", JITTER),
        x: OF_JITTER,
        number: GOODPUT[0],
        y: MBIT_PER_S,
        variants: &OVER_JITTER,
    },
    Chart {
        words: [
            "jitter_queueing",
            "Queueing delay of one consumer over jitter",
            "Median over the Data of a run.",
        ],
        rows: ("jitter", JITTER),
        x: OF_JITTER,
        number: QUEUEING,
        y: ("queueing delay", "ms"),
        variants: &OVER_JITTER,
    },
    cached(
        [
            "caching_distance",
            "Goodput long after the switch from the store to the producer",
            "Consumer 2 from 55 s to 95 s after its start; the store is 10 ms away.",
        ],
        ("caching", DISTANCE),
        OF_DISTANCE,
    ),
    cached(
        [
            "caching_switch",
            "Goodput soon after the switch from the store to the producer",
            "Consumer 2 from two seconds after the store is exhausted, for 53 s; the store is 10 ms away.",
        ],
        ("switch", DISTANCE),
        OF_DISTANCE,
    ),
    cached(
        [
            "caching_clock",
            "Goodput long after the switch, by the producer's clock",
            "The producer is 40 ms from the store; its clock is ahead of the store's by this much, or behind.",
        ],
        ("clock", CLOCK),
        ("producer's clock ahead of the store's", "s"),
    ),
    Chart {
        words: [
            "late_jain",
            "Fairness between two of a kind, by the start of the second",
            "Jain index of the last 20 s of 60 s; 0.5 if one has everything.",
        ],
        rows: ("start", START),
        x: ("start of the second flow", "s"),
        number: JAIN,
        y: ("Jain index", ""),
        variants: &SHARED,
    },
];

/// The goodput of consumer 2 under caching.
const fn cached(
    words: [&'static str; 3],
    rows: (&'static str, &'static str),
    x: (&'static str, &'static str),
) -> Chart {
    Chart { words, rows, x, number: GOODPUT[1], y: MBIT_PER_S, variants: &CACHED }
}

impl Chart {
    fn drawn(&self, results: &Results) -> Figure {
        let [id, title, caption] = self.words;
        let marks = over(results, self.rows, self.variants, |variant, places| {
            self.number.of(results, self.rows.0, variant, places)
        });
        let drawn = figure::lines(&plot("controller", self.x, self.y, marks));
        figure((id, title, &format!("{caption} {INTERVALS}")), drawn)
    }
}

/// Values of variants over a column; a panel for each jitter, where that is not the column.
fn over(
    results: &Results,
    (figure, column): (&str, &str),
    variants: &[&str],
    value: impl Fn(&str, &[(&str, f64)]) -> Option<Estimate>,
) -> Vec<Mark> {
    let (mut marks, runs) = (Vec::new(), Runs::of(results, figure));
    for jitter in runs.numbers(JITTER) {
        let panel = (column != JITTER).then(|| panel(jitter));
        for variant in variants {
            for at in runs.numbers(column).into_iter().filter(|at| panel.is_some() || *at == jitter) {
                let value = value(variant, &[(column, at), (JITTER, jitter)]);
                marks.extend(value.map(|value| mark(at, variant, panel.as_deref(), value)));
            }
        }
    }
    marks
}

fn panel(jitter: f64) -> String {
    if jitter == 0.0 { "no jitter".to_owned() } else { format!("jitter {jitter} ms on each link") }
}

/// DCP's goodput and queue over its target.
fn targets(results: &Results) -> [Figure; 2] {
    let runs = Runs::of(results, "target");
    let of = |(id, title): (&str, &str), number: Number, y: (&str, &str)| {
        let mut marks = Vec::new();
        for jitter in runs.numbers(JITTER) {
            for target in runs.numbers(TARGET) {
                let value = number.of(results, "target", DCP, &[(TARGET, target), (JITTER, jitter)]);
                marks.extend(value.map(|value| mark(target, &format!("jitter {jitter} ms"), None, value)));
            }
        }
        let plot = plot("of each link", ("TARGET", "ms"), y, marks);
        let caption = format!("{INTERVALS} A mean of zero has no place on the logarithmic axis.");
        figure((id, title, &caption), figure::log_lines(&plot, &[]))
    };
    [
        of(("target_goodput", "Goodput of DCP over its target"), GOODPUT[0], MBIT_PER_S),
        of(("target_queueing", "Queueing delay of DCP over its target"), QUEUEING, ("queueing delay", "ms")),
    ]
}

fn share_of_late(results: &Results) -> Figure {
    let marks = over(results, ("start", START), &SHARED, |variant, places| {
        estimate_share(&shares(results, "start", variant, places, 1))
    });
    let plot = plot("controller", ("start of the second flow", "s"), ("share of the latecomer", ""), marks);
    let caption = format!("Of what both get in the last 20 s of 60 s. {INTERVALS}");
    figure(("late_share", "The latecomer's advantage, by its start", &caption), figure::lines(&plot))
}

fn edges(results: &Results) -> Figure {
    let (mut marks, runs) = (Vec::new(), Runs::of(results, "edge"));
    for jitter in runs.numbers(JITTER) {
        for edge in runs.numbers(EDGE) {
            for variant in SHARED {
                let jain = JAIN.of(results, "edge", variant, &[(EDGE, edge), (JITTER, jitter)]);
                let place = format!("{edge} Mbit/s");
                marks.extend(jain.map(|value| named(&place, variant, Some(&panel(jitter)), value)));
            }
        }
    }
    let plot = plot("controller", ("rate of all links but the bottleneck", ""), ("Jain index", ""), marks);
    let caption = format!("Jain index of the last 20 s of 60 s; the second flow starts at 20 s. {INTERVALS}");
    let title = "Fairness between two of a kind, by the rate of the edges";
    figure(("edge_jain", title, &caption), figure::bars(&plot))
}

fn beside(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for variant in BESIDE {
        for (figure, order, of) in [("beside", "first", 0), ("beside_late", "late", 1)] {
            let share = estimate_share(&shares(results, figure, variant, &[], of));
            marks.extend(share.map(|value| named(variant, &format!("starts {order}"), None, value)));
        }
    }
    let plot = plot(&format!("beside {AIMD}"), ("controller", ""), ("share", ""), marks);
    let caption = format!("Of what both get from 20 s to 120 s; they start 10 s apart. {INTERVALS}");
    figure(("beside_aimd", "Share beside one flow of AIMD", &caption), figure::bars(&plot))
}

fn interests(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for (figure, panel) in [(CROSSED, "Data of AIMD cross them"), (SLOW, "their direction is slow")] {
        for variant in with_interests() {
            let each = GOODPUT[0].each(results, figure, variant, &[(JITTER, SOME_JITTER_MS)]);
            let shares: Vec<f64> = each.iter().map(|value| 100.0 * value / limit(figure)).collect();
            marks.extend(estimate_share(&shares).map(|value| named(variant, panel, None, value)));
        }
    }
    let plot = plot("Interests queue, as", ("controller", ""), ("share of the limit", ""), marks);
    let caption = format!("Goodput from 20 s to 120 s beside the highest possible. {INTERVALS}");
    figure(
        ("interests_goodput", "Goodput where Interests queue and Data do not", &caption),
        figure::bars(&plot),
    )
}

fn same_content(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for variant in ALL {
        for (of, goodput) in ["first", "second"].into_iter().zip(GOODPUT) {
            let places = [(START, START_SOON), (JITTER, SOME_JITTER_MS)];
            let value = goodput.of(results, SAME_CONTENT, variant, &places);
            marks.extend(value.map(|value| named(variant, of, None, value)));
        }
    }
    let plot = plot("consumer", ("controller", ""), MBIT_PER_S, marks);
    let caption = format!(
        "The second starts {START_SOON} s after the first; no store. More than half of the link each means that the router \
         aggregates. {INTERVALS}"
    );
    figure(("same_content", "Two consumers of the same content", &caption), figure::bars(&plot))
}

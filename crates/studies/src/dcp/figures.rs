//! The paper's figures over time, and what it does not draw.

use super::curves::Curve;
use super::plan::{BESIDE, CACHED, CLOCK, DISTANCE, EDGE, JITTER, OVER_JITTER, SHARED, START, TARGET};
use super::variants::{AIMD, DCP};
use super::view::Number::{self, Goodput, Jain, Queueing};
use crate::view::{levels, mark};
use lightlag_lab::figure::{self, Mark, Place, Plot, Title};
use lightlag_lab::report::Figure;
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{Estimate, estimate};

/// Every figure for which there are runs.
pub fn all(results: &Results, curves: &[Curve]) -> Vec<Figure> {
    let mut all = over_time(curves);
    all.extend(targets(results));
    all.extend(CHARTS.iter().map(|chart| chart.drawn(results)));
    all.extend([share_of_late(results), edges(results), beside(results)]);
    all
}

/// Those of the paper: identifier, heading, what to see, quantity and unit.
const OVER_TIME: [[&str; 5]; 4] = [
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
];

fn over_time(curves: &[Curve]) -> Vec<Figure> {
    let mut made: Vec<Figure> = OVER_TIME
        .iter()
        .map(|[id, title, caption, quantity, unit]| {
            let here = curves.iter().filter(|curve| curve.figure == *id);
            let points = here.flat_map(|curve| {
                curve.drawn().map(|&(time_s, value)| (time_s, curve.series.as_str(), value))
            });
            figure(id, title, caption, figure::over_time(quantity, unit, points))
        })
        .collect();
    let here = curves.iter().filter(|curve| curve.figure == "figure_5");
    let points = here.flat_map(|curve| {
        curve.drawn().map(|&(time_s, value)| (curve.panel.as_str(), time_s, curve.series.as_str(), value))
    });
    let caption = "Two consumers, two producers, a queue of 120 packets, no jitter. The paper starts the second where \
                   the first one's window has passed 73 (6 s); the latecomer's advantage shows later (20 s).";
    let drawn = figure::over_time_in_panels(("window", "Interests"), 3, points);
    made.push(figure("figure_5", "Figure 5: the windows of two consumers", caption, drawn));
    made
}

fn figure(id: &str, title: &str, caption: &str, specification: serde_json::Value) -> Figure {
    Figure { id: id.to_owned(), title: title.to_owned(), caption: caption.to_owned(), specification }
}

const INTERVALS: &str = "Means and 95 % intervals over seeds.";

/// A number of several variants over a column.
struct Chart {
    id: &'static str,
    rows: &'static str,
    title: &'static str,
    caption: &'static str,
    x: (&'static str, &'static str, &'static str),
    y: (Number, &'static str, &'static str),
    variants: &'static [&'static str],
}

const CHARTS: [Chart; 6] = [
    Chart {
        id: "jitter_goodput",
        rows: "jitter",
        title: "Goodput of one consumer over jitter",
        caption: "Every link adds a random delay of up to so much to each packet, so that some overtake others.",
        x: (JITTER, "jitter of each link", "ms"),
        y: (Goodput("one"), "goodput", "Mbit/s"),
        variants: &OVER_JITTER,
    },
    Chart {
        id: "jitter_queueing",
        rows: "jitter",
        title: "Queueing delay of one consumer over jitter",
        caption: "Median over the Data of a run.",
        x: (JITTER, "jitter of each link", "ms"),
        y: (Queueing("one"), "queueing delay", "ms"),
        variants: &OVER_JITTER,
    },
    Chart {
        id: "caching_distance",
        rows: "caching",
        title: "Goodput long after the switch from the store to the producer",
        caption: "Consumer 2 from 55 s to 95 s after its start; the store is 10 ms away.",
        x: (DISTANCE, "one-way delay from the store to the producer", "ms"),
        y: (Goodput("two"), "goodput", "Mbit/s"),
        variants: &CACHED,
    },
    Chart {
        id: "caching_switch",
        rows: "switch",
        title: "Goodput soon after the switch from the store to the producer",
        caption: "Consumer 2 from two seconds after the store is exhausted, for 53 s; the store is 10 ms away.",
        x: (DISTANCE, "one-way delay from the store to the producer", "ms"),
        y: (Goodput("two"), "goodput", "Mbit/s"),
        variants: &CACHED,
    },
    Chart {
        id: "caching_clock",
        rows: "clock",
        title: "Goodput long after the switch, by the producer's clock",
        caption: "The producer is 40 ms from the store; its clock is ahead of the store's by so much, or behind.",
        x: (CLOCK, "producer's clock ahead of the store's", "s"),
        y: (Goodput("two"), "goodput", "Mbit/s"),
        variants: &CACHED,
    },
    Chart {
        id: "late_jain",
        rows: "start",
        title: "Fairness between two of a kind, by the start of the second",
        caption: "Jain index of the last 20 s of 60 s; 0.5 if one has everything.",
        x: (START, "start of the second flow", "s"),
        y: (Jain, "Jain index", ""),
        variants: &SHARED,
    },
];

impl Chart {
    fn drawn(&self, results: &Results) -> Figure {
        let (column, x, x_unit) = self.x;
        let (number, y, y_unit) = self.y;
        let marks = over(results, self.rows, column, self.variants, |variant, places| {
            number.of(results, self.rows, variant, places)
        });
        let drawn = figure::lines(&plot(Title::with_unit(x, x_unit), quantity(y, y_unit), marks));
        figure(self.id, self.title, &format!("{} {INTERVALS}", self.caption), drawn)
    }
}

/// Values of variants over a column; a panel for each jitter, where that is not the column.
fn over(
    results: &Results,
    rows: &str,
    column: &str,
    variants: &[&str],
    value: impl Fn(&str, &[(&str, f64)]) -> Option<Estimate>,
) -> Vec<Mark> {
    let mut marks = Vec::new();
    for jitter in levels(results, rows, JITTER) {
        let panel = (column != JITTER).then(|| panel(jitter));
        for variant in variants {
            for at in levels(results, rows, column).into_iter().filter(|at| panel.is_some() || *at == jitter)
            {
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

fn quantity(text: &str, unit: &str) -> Title {
    if unit.is_empty() { Title::plain(text) } else { Title::with_unit(text, unit) }
}

fn plot(x: Title, y: Title, marks: Vec<Mark>) -> Plot {
    Plot {
        title: String::new(),
        x,
        y,
        series: Title::plain("controller"),
        baseline_series: None,
        columns: 2,
        shared_y: true,
        marks,
    }
}

/// DCP's goodput and queue over its target.
fn targets(results: &Results) -> [Figure; 2] {
    let of = |number: Number, id, title, y: Title| {
        let mut marks = Vec::new();
        for jitter in levels(results, "target", JITTER) {
            for target in levels(results, "target", TARGET) {
                let value = number.of(results, "target", DCP, &[(TARGET, target), (JITTER, jitter)]);
                marks.extend(value.map(|value| mark(target, &format!("jitter {jitter} ms"), None, value)));
            }
        }
        let mut plot = plot(Title::with_unit("TARGET", "ms"), y, marks);
        plot.series = Title::plain("of each link");
        figure(id, title, INTERVALS, figure::lines(&plot))
    };
    [
        of(
            Goodput("one"),
            "target_goodput",
            "Goodput of DCP over its target",
            Title::with_unit("goodput", "Mbit/s"),
        ),
        of(
            Queueing("one"),
            "target_queueing",
            "Queueing delay of DCP over its target",
            Title::with_unit("queueing delay", "ms"),
        ),
    ]
}

/// Shares of the second of two flows, in percent of what both get, by seed.
pub fn shares(results: &Results, rows: &str, variant: &str, places: &[(&str, f64)], of: &str) -> Vec<f64> {
    let both = ["one", "two"]
        .map(|flow| crate::view::metrics(results, rows, variant, places, &format!("goodput_of_{flow}")));
    let share = |(one, two): (&f64, &f64)| 100.0 * if of == "one" { one } else { two } / (one + two);
    both[0].iter().zip(&both[1]).map(share).collect()
}

fn share_of_late(results: &Results) -> Figure {
    let marks = over(results, "start", START, &SHARED, |variant, places| {
        estimate(&shares(results, "start", variant, places, "two"))
    });
    let (x, y) =
        (Title::with_unit("start of the second flow", "s"), Title::with_unit("share of the latecomer", "%"));
    let caption = format!("Of what both get in the last 20 s of 60 s. {INTERVALS}");
    figure(
        "late_share",
        "The latecomer's advantage, by its start",
        &caption,
        figure::lines(&plot(x, y, marks)),
    )
}

fn named(x: &str, series: &str, value: Estimate) -> Mark {
    Mark { x: Place::Named(x.to_owned()), ..mark(0.0, series, None, value) }
}

fn edges(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for jitter in levels(results, "edge", JITTER) {
        for edge in levels(results, "edge", EDGE) {
            for variant in SHARED {
                let jain = Jain.of(results, "edge", variant, &[(EDGE, edge), (JITTER, jitter)]);
                let place = Place::Named(format!("{edge} Mbit/s"));
                let mark = |value| Mark { x: place, ..mark(0.0, variant, Some(&panel(jitter)), value) };
                marks.extend(jain.map(mark));
            }
        }
    }
    let caption = format!("Jain index of the last 20 s of 60 s; the second flow starts at 20 s. {INTERVALS}");
    let drawn = figure::bars(&plot(
        Title::plain("rate of all links but the bottleneck"),
        Title::plain("Jain index"),
        marks,
    ));
    figure("edge_jain", "Fairness between two of a kind, by the rate of the edges", &caption, drawn)
}

fn beside(results: &Results) -> Figure {
    let mut marks = Vec::new();
    for variant in BESIDE {
        for (rows, order, of) in [("beside", "first", "one"), ("beside_late", "late", "two")] {
            let share = estimate(&shares(results, rows, variant, &[], of));
            marks.extend(share.map(|value| named(variant, &format!("starts {order}"), value)));
        }
    }
    let mut plot = plot(Title::plain("controller"), Title::with_unit("share", "%"), marks);
    plot.series = Title::plain(&format!("beside {AIMD}"));
    let caption = format!("Of what both get from 20 s to 120 s; they start 10 s apart. {INTERVALS}");
    figure("beside_aimd", "Share beside one flow of AIMD", &caption, figure::bars(&plot))
}

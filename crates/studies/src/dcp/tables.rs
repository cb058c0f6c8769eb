//! The numbers behind the figures, and the readings beside what others measured.

use super::figures::shares;
use super::plan::{BESIDE, CACHED, CLOCK, DISTANCE, EDGE, JITTER, SHARED, START};
use super::reference::{CEILING, FACTS, Fact};
use super::variants::{ALL, READINGS};
use super::view::Number::{self, Drops, Goodput, Jain, Queueing, QueueingWorst, Timeouts, Window};
use crate::view::{levels, told};
use lightlag_lab::report::Table;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::estimate;

/// All tables.
pub fn all(results: &Results) -> Vec<Table> {
    vec![
        single(results),
        readings(results),
        by(results, &CACHING),
        by(results, &SWITCH),
        by(results, &CLOCKS),
        late(results, "start", START, "Two of a kind, by the start of the second in seconds"),
        late(results, "edge", EDGE, "Two of a kind, by the rate of the edges in Mbit/s"),
        beside(results),
    ]
}

const NONE: &str = "-";

fn table<const N: usize>(title: &str, caption: &str, head: [&str; N], rows: Vec<Vec<String>>) -> Table {
    Table {
        title: title.to_owned(),
        caption: caption.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    }
}

/// One cell: what a figure's runs of a variant say of a number.
fn cell(results: &Results, figure: &str, variant: &str, of: Number) -> String {
    of.of(results, figure, variant, &[]).map_or(NONE.to_owned(), told)
}

fn single(results: &Results) -> Table {
    let numbers =
        [Goodput("one"), Window("one"), Timeouts("one"), Drops("one"), Queueing("one"), QueueingWorst("one")];
    let row = |variant: &str| {
        let cells = numbers.map(|of| cell(results, "single", variant, of));
        [variant.to_owned()].into_iter().chain(cells).collect()
    };
    table(
        "One consumer, 60 s",
        &format!(
            "Section VI-A without jitter. No more than {CEILING:.3} Mbit/s are to be had. The window is the median \
             of the run; queueing delay is that of the run's Data."
        ),
        [
            "controller",
            "goodput, Mbit/s",
            "window, Interests",
            "timeouts",
            "drops",
            "queueing p50, ms",
            "queueing p99, ms",
        ],
        ALL.into_iter().map(row).collect(),
    )
}

fn readings(results: &Results) -> Table {
    let mut rows = Vec::new();
    for variant in READINGS {
        let ours = [Goodput("one"), Timeouts("one"), Queueing("one")]
            .map(|of| cell(results, "readings", variant, of));
        rows.push([variant.to_owned(), "Lightlag".to_owned()].into_iter().chain(ours).collect());
        rows.extend(FACTS.iter().filter(|fact| fact.variant == variant).map(reference));
    }
    table(
        "Readings of the paper",
        "What the paper leaves open, read in several ways, over 60 s of section VI-A. Beside our figures stand those \
         of the paper, of ndnSIM 2.8 (whose frames are 15 B longer) and of a packet-level sketch that shares no code \
         with Lightlag.",
        ["reading", "measured by", "goodput, Mbit/s", "timeouts", "queueing p50, ms"],
        rows,
    )
}

fn reference(fact: &Fact) -> Vec<String> {
    vec![
        fact.variant.to_owned(),
        fact.source.name().to_owned(),
        number(fact.goodput),
        fact.timeouts.map_or(NONE.to_owned(), |count| count.to_string()),
        fact.queueing_ms.map_or(NONE.to_owned(), number),
    ]
}

/// Goodputs of consumer two by a column.
struct Grid {
    figure: &'static str,
    column: &'static str,
    title: &'static str,
    caption: &'static str,
}

const CACHING: Grid = Grid {
    figure: "caching",
    column: DISTANCE,
    title: "Long after the switch from store to producer, by the producer's distance in milliseconds",
    caption: "Goodput of consumer 2 in Mbit/s, from 55 s to 95 s after its start.",
};
const SWITCH: Grid = Grid {
    figure: "switch",
    column: DISTANCE,
    title: "Soon after the switch from store to producer, by the producer's distance in milliseconds",
    caption: "Goodput of consumer 2 in Mbit/s, from two seconds after it has had what the store has.",
};
const CLOCKS: Grid = Grid {
    figure: "clock",
    column: CLOCK,
    title: "Long after the switch, by the seconds that the producer's clock is ahead of the store's",
    caption: "Goodput of consumer 2 in Mbit/s, from 55 s to 95 s after its start; the producer is 40 ms from the store.",
};

fn by(results: &Results, grid: &Grid) -> Table {
    let cell = |variant: &str, places: &[(&str, f64)]| {
        Goodput("two").of(results, grid.figure, variant, places).map_or(NONE.to_owned(), told)
    };
    over(results, (grid.figure, grid.column), (grid.title, grid.caption), &CACHED, cell)
}

/// A row for each variant and jitter, a column for each place.
fn over(
    results: &Results,
    (figure, column): (&str, &str),
    (title, caption): (&str, &str),
    variants: &[&str],
    cell: impl Fn(&str, &[(&str, f64)]) -> String,
) -> Table {
    let places = levels(results, figure, column);
    let mut rows = Vec::new();
    for jitter in levels(results, figure, JITTER) {
        for variant in variants {
            let cells = places.iter().map(|&at| cell(variant, &[(column, at), (JITTER, jitter)]));
            rows.push([(*variant).to_owned(), jitter.to_string()].into_iter().chain(cells).collect());
        }
    }
    let head = ["controller", "jitter, ms"].map(str::to_owned).into_iter();
    Table {
        title: title.to_owned(),
        caption: caption.to_owned(),
        head: head.chain(places.iter().map(f64::to_string)).collect(),
        rows,
    }
}

fn late(results: &Results, figure: &str, column: &str, title: &str) -> Table {
    let cell = |variant: &str, places: &[(&str, f64)]| {
        let mean = |of: Number| of.mean(results, figure, variant, places).unwrap_or(f64::NAN);
        let [one, two] = ["one", "two"].map(|flow| mean(Goodput(flow)));
        let drops = ["one", "two"].map(|flow| number(mean(Drops(flow))));
        format!("{one:.2}/{two:.2}, {:.3}, {}/{}", mean(Jain), drops[0], drops[1])
    };
    let caption = "Mbit/s of the first and the second flow in the last 20 s, their Jain index, and drops of each in \
                   60 s; means over seeds.";
    over(results, (figure, column), (title, caption), &SHARED, cell)
}

fn beside(results: &Results) -> Table {
    let row = |variant: &str| {
        let share = |figure, of| {
            let each = shares(results, figure, variant, &[], of);
            estimate(&each).map_or(NONE.to_owned(), told)
        };
        let queueing = cell(results, "beside", variant, Queueing("one"));
        vec![variant.to_owned(), share("beside", "one"), share("beside_late", "two"), queueing]
    };
    table(
        "Beside one flow of AIMD",
        "Share in percent of what both get from 20 s to 120 s, where the flow starts 10 s before AIMD or 10 s after \
         it.",
        ["controller", "starts first, %", "starts late, %", "queueing p50 where first, ms"],
        BESIDE.into_iter().map(row).collect(),
    )
}

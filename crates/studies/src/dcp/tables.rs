//! The numbers behind the figures, and the readings beside what others measured.

use super::plan::{
    BESIDE, CACHED, CLOCK, CROSSED, DISTANCE, EDGE, JITTER, OTHER_CONTENT, SAME_CONTENT, SHARED, SLOW,
    SOME_JITTER_MS, START, START_SOON, limit, with_interests,
};
use super::reference::{CEILING, FACTS, Fact};
use super::variants::{ALL, DCP_SLOW_START, READINGS};
use super::{
    AGGREGATED, DROPS, GOODPUT, INTEREST_QUEUEING, INTEREST_QUEUEING_WORST, INTERESTS_DROPPED,
    INTERESTS_REPAIRED, JAIN, Number, QUEUEING, QUEUEING_WORST, SENT, TIMEOUTS, WINDOW, shares,
};
use crate::shared::charts::{NONE, cell, heads, row, table};
use crate::shared::runs::Runs;
use lightlag_lab::report::Table;
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::estimate;

/// Goodputs of consumer two by a column: figure, column, heading, caption.
const GRIDS: [[&str; 4]; 3] = [
    [
        "caching",
        DISTANCE,
        "Long after the switch from store to producer, by the producer's distance in milliseconds",
        "Goodput of consumer 2 in Mbit/s, from 55 s to 95 s after its start.",
    ],
    [
        "switch",
        DISTANCE,
        "Soon after the switch from store to producer, by the producer's distance in milliseconds",
        "Goodput of consumer 2 in Mbit/s, from two seconds after it has received what the store has.",
    ],
    [
        "clock",
        CLOCK,
        "Long after the switch, by the seconds that the producer's clock is ahead of the store's",
        "Goodput of consumer 2 in Mbit/s, from 55 s to 95 s after its start; the producer is 40 ms from the store.",
    ],
];
/// Two flows of one controller by a column: figure, column, heading.
const LATE: [[&str; 3]; 2] = [
    ["start", START, "Two of a kind, by the start of the second in seconds"],
    ["edge", EDGE, "Two of a kind, by the rate of the edges in Mbit/s"],
];

/// All tables.
pub fn all(results: &Results) -> Vec<Table> {
    let grids = GRIDS.iter().map(|[figure, column, title, caption]| {
        over(results, (figure, column), (title, caption), &CACHED, |variant, places| {
            cell(GOODPUT[1].of(results, figure, variant, places))
        })
    });
    let late = LATE.iter().map(|[figure, column, title]| {
        let caption = "Mbit/s of the first and the second flow in the last 20 s, their Jain index, and drops of each \
                       in 60 s; means over seeds.";
        over(results, (figure, column), (title, caption), &SHARED, |variant, places| {
            let mean = |of: Number| of.mean(results, figure, variant, places).unwrap_or(f64::NAN);
            let ([one, two], drops) = (GOODPUT.map(mean), DROPS.map(|drops| number(mean(drops))));
            format!("{one:.2}/{two:.2}, {:.3}, {}/{}", mean(JAIN), drops[0], drops[1])
        })
    });
    [single(results), readings(results)]
        .into_iter()
        .chain(grids)
        .chain(late)
        .chain([
            beside(results),
            interests(results, CROSSED),
            interests(results, SLOW),
            same_content(results),
        ])
        .collect()
}

fn single(results: &Results) -> Table {
    let numbers = [GOODPUT[0], WINDOW, TIMEOUTS, DROPS[0], QUEUEING, QUEUEING_WORST];
    let of = |variant| row([variant], numbers.map(|of| cell(of.of(results, "single", variant, &[]))));
    let caption = format!(
        "Section VI-A without jitter. At most {CEILING:.3} Mbit/s are possible. The window is the median of the run; \
         queueing delay is that of the run's Data."
    );
    let head = [
        "controller",
        "goodput, Mbit/s",
        "window, Interests",
        "timeouts",
        "drops",
        "queueing p50, ms",
        "queueing p99, ms",
    ];
    table(("One consumer, 60 s", &caption), head, ALL.map(of).to_vec())
}

fn readings(results: &Results) -> Table {
    let mut rows = Vec::new();
    for variant in READINGS {
        let ours = [GOODPUT[0], TIMEOUTS, QUEUEING].map(|of| cell(of.of(results, "readings", variant, &[])));
        rows.push(row([variant, "Lightlag"], ours));
        rows.extend(FACTS.iter().filter(|fact| fact.variant == variant).map(reference));
    }
    let caption = "Each reading of what the paper leaves open, over 60 s of section VI-A. Beside our figures stand \
                   those of the paper, of ndnSIM 2.8 (whose frames are 15 B longer) and of a packet-level sketch that \
                   shares no code with Lightlag.";
    let head = ["reading", "measured by", "goodput, Mbit/s", "timeouts", "queueing p50, ms"];
    table(("Readings of the paper", caption), head, rows)
}

fn reference(fact: &Fact) -> Vec<String> {
    let timeouts = fact.timeouts.map_or(NONE.to_owned(), |count| count.to_string());
    let queueing = fact.queueing_ms.map_or(NONE.to_owned(), number);
    row([fact.variant, fact.source.name()], [number(fact.goodput), timeouts, queueing])
}

/// A row for each variant and jitter, a column for each place.
fn over(
    results: &Results,
    (figure, column): (&str, &str),
    words: (&str, &str),
    variants: &[&str],
    cell: impl Fn(&str, &[(&str, f64)]) -> String,
) -> Table {
    let runs = Runs::of(results, figure);
    let places = runs.numbers(column);
    let mut rows = Vec::new();
    for jitter in runs.numbers(JITTER) {
        for variant in variants {
            let cells = places.iter().map(|&at| cell(variant, &[(column, at), (JITTER, jitter)]));
            rows.push(row([(*variant).to_owned(), jitter.to_string()], cells));
        }
    }
    table(words, heads(["controller", "jitter, ms"], &places), rows)
}

fn beside(results: &Results) -> Table {
    let of = |variant: &str| {
        let share = |figure, of| cell(estimate(&shares(results, figure, variant, &[], of)));
        let queueing = cell(QUEUEING.of(results, "beside", variant, &[]));
        row([variant], [share("beside", 0), share("beside_late", 1), queueing])
    };
    let caption = "Share in percent of what both get from 20 s to 120 s, where the flow starts 10 s before AIMD or 10 s \
                   after it.";
    let head = ["controller", "starts first, %", "starts late, %", "queueing p50 where first, ms"];
    table(("Beside one flow of AIMD", caption), head, BESIDE.map(of).to_vec())
}

/// What everybody gets where Interests queue, and what that costs.
fn interests(results: &Results, figure: &str) -> Table {
    let numbers = [
        GOODPUT[0],
        SENT[0],
        INTERESTS_DROPPED,
        INTERESTS_REPAIRED,
        INTEREST_QUEUEING,
        INTEREST_QUEUEING_WORST,
        QUEUEING,
        GOODPUT[1],
    ];
    let places = [(JITTER, SOME_JITTER_MS)];
    let of = |variant| row([variant], numbers.map(|of| cell(of.of(results, figure, variant, &places))));
    let (title, what) = if figure == SLOW {
        (
            "A slow direction of Interests",
            "The direction of Interests carries 0.1 Mbit/s, and no other flow runs.",
        )
    } else {
        (
            "Data that cross Interests",
            "The Data of one flow of AIMD, which starts 10 s later, cross the Interests.",
        )
    };
    let caption = format!(
        "{what} At most {:.2} Mbit/s are possible. Goodput from 20 s to 120 s, counts of the whole run; means over seeds \
         with {SOME_JITTER_MS} ms of jitter on each link.",
        limit(figure)
    );
    let head = [
        "controller",
        "goodput, Mbit/s",
        "Interests sent",
        "Interests dropped",
        "sent again",
        "Interests queued p50, ms",
        "p99, ms",
        "Data queued p50, ms",
        "the other's goodput, Mbit/s",
    ];
    table((title, &caption), head, with_interests().map(of).collect())
}

/// Two consumers of the same content by the start of the second, and of another content.
fn same_content(results: &Results) -> Table {
    let starts = Runs::of(results, SAME_CONTENT).numbers(START);
    let mut rows = Vec::new();
    for jitter in Runs::of(results, SAME_CONTENT).numbers(JITTER) {
        for variant in ALL.into_iter().chain([DCP_SLOW_START]) {
            let shown = |figure, start| {
                let places = [(START, start), (JITTER, jitter)];
                let mean = |of: Number| of.mean(results, figure, variant, &places).unwrap_or(f64::NAN);
                let ([one, two], [first, second]) = (GOODPUT.map(mean), SENT.map(mean));
                let share = 100.0 * mean(AGGREGATED) / (first + second);
                format!("{one:.2}/{two:.2}, {:.3}, {share:.0} %", mean(JAIN))
            };
            let cells = starts.iter().map(|&start| shown(SAME_CONTENT, start));
            let cells = cells.chain([shown(OTHER_CONTENT, START_SOON)]);
            rows.push(row([variant.to_owned(), jitter.to_string()], cells));
        }
    }
    let caption = format!(
        "Mbit/s of the first and the second, their Jain index, and how many of the Interests of both were aggregated (at \
         most half). Columns are seconds from the start of the first, whose first Data come at 0.061 s, to that of the second. The last \
         one is of two contents, at {START_SOON} s."
    );
    let mut head = heads(["controller", "jitter, ms"], &starts);
    head.push("another content".to_owned());
    table(("Two consumers of the same content, no store", &caption), head, rows)
}

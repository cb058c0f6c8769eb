//! What the paper says, beside what we measure.

use super::curves::find;
use super::plan::{
    CLOCK, CROSSED, DISTANCE, EDGE, FIRST_DATA_S, JITTER, OTHER_CONTENT, SAME_CONTENT, SLOW, SOME_JITTER_MS,
    START, START_SOON, TARGET, limit,
};
use super::reference::CEILING;
use super::variants::{AIMD, DCP, DCP_MARKS, DCP_ROUND_TRIPS, DCP_SLOW_START, LEDBAT, NEWCOMER, TCP_LIKE};
use super::{AGGREGATED, DROPS, GOODPUT, JAIN, Number, QUEUEING, TIMEOUTS, shares};
use crate::shared::charts::{Curve, NONE};
use crate::shared::parts::{NOT_RUN, compare, found};
use crate::shared::runs::{Runs, least, most};
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::{Compared, Finding, Met};
use lightlag_lab::results::{Results, number};
use lightlag_lab::statistics::mean;

/// A goodput that is printed with two digits is met within this share.
const PRINTED: f64 = 0.02;
/// A window is steady, and where the paper has it, within this share.
const STEADY: f64 = 0.05;
/// From when on a window is looked at for being steady, in seconds.
const STEADY_FROM_S: f64 = 30.0;
/// The window that the paper prints, in Interests.
const WINDOW: f64 = 133.0;
/// "A few seconds" are at least this many.
const FEW_SECONDS: f64 = 2.0;
/// A link is used from this share of its ceiling on.
const USED: f64 = 0.9;
/// A flow has an advantage, or is at a disadvantage, beyond this share of what both get.
const ADVANTAGE: f64 = 60.0;
/// Two flows are treated alike from this Jain index on.
const FAIR: f64 = 0.95;
/// A smaller target that costs less than this share of goodput costs nothing.
const COSTS: f64 = 0.01;

const MBIT: &str = "Mbit/s";

/// What claims are tested on.
pub struct Data<'a> {
    pub results: &'a Results,
    pub curves: &'a [Curve],
}

impl Data<'_> {
    /// The numbers of a column in a figure.
    fn levels(&self, figure: &str, column: &str) -> Vec<f64> {
        Runs::of(self.results, figure).numbers(column)
    }
}

type Test = fn(&Data<'_>) -> Finding;

pub const CLAIMS: &[Claim<Test>] = &[
    claim("D1", steady_window as Test),
    claim("D2", (|data| no_timeouts(data, "readings", DCP, &[])) as Test).or(&[
        ("300 s instead of 60 s", |data| no_timeouts(data, "long", DCP, &[])),
        ("jitter of 1 ms", |data| no_timeouts(data, "jitter", DCP, &[(JITTER, 1.0)])),
        ("MAD rule as printed", |data| no_timeouts(data, "readings", "dcp, MAD as printed", &[])),
        ("slow start on", |data| no_timeouts(data, "readings", DCP_SLOW_START, &[])),
    ]),
    claim("D3", (|data| goodput_is(data, DCP, 9.3)) as Test).or(&[
        ("MAD rule as printed", |data| goodput_is(data, "dcp, MAD as printed", 9.3)),
        ("flight size after removal", |data| goodput_is(data, "dcp, flight after removal", 9.3)),
        ("slow start on", |data| goodput_is(data, DCP_SLOW_START, 9.3)),
    ]),
    claim("D4", (|data| goodput_is(data, TCP_LIKE, 8.7)) as Test).or(&[
        ("one cut per round trip", |data| goodput_is(data, "aimd, no slow start", 8.7)),
        ("one cut per round trip, slow start", |data| goodput_is(data, AIMD, 8.7)),
    ]),
    claim("D5", (|data| more_than(data, TCP_LIKE)) as Test).or(&[
        ("one cut per round trip", |data| more_than(data, "aimd, no slow start")),
        ("one cut per round trip, slow start", |data| more_than(data, AIMD)),
    ]),
    claim("D6", empty_for_seconds),
    claim("D7", halts),
    claim("D8", trade_off as Test).or(&[("5 ms beside 50 ms", target_costs)]),
    claim("D9", (|data| suffers(data, 0.0)) as Test).or(&[("jitter", |data| suffers(data, SOME_JITTER_MS))]),
    claim("D10", (|data| recovers(data, DCP, BY_DISTANCE, 0.0)) as Test).or(&[
        ("site marks", |data| recovers(data, DCP_MARKS, BY_DISTANCE, 0.0)),
        ("jitter", |data| recovers(data, DCP, BY_DISTANCE, SOME_JITTER_MS)),
        ("site marks, jitter", |data| recovers(data, DCP_MARKS, BY_DISTANCE, SOME_JITTER_MS)),
    ]),
    claim("D11", (|data| recovers(data, DCP, BY_CLOCK, 0.0)) as Test).or(&[
        ("site marks", |data| recovers(data, DCP_MARKS, BY_CLOCK, 0.0)),
        ("jitter", |data| recovers(data, DCP, BY_CLOCK, SOME_JITTER_MS)),
        ("site marks, jitter", |data| recovers(data, DCP_MARKS, BY_CLOCK, SOME_JITTER_MS)),
    ]),
    claim("D12", (|data| latecomer(data, 0.0)) as Test)
        .or(&[("jitter", |data| latecomer(data, SOME_JITTER_MS))]),
    claim("D13", (|data| fair(data, DCP_SLOW_START)) as Test)
        .or(&[("only the newcomer in slow start", |data| fair(data, NEWCOMER))]),
    claim("D14", (|data| losses_of_first(data, 0.0)) as Test)
        .or(&[("jitter", |data| losses_of_first(data, SOME_JITTER_MS))]),
    claim("D20", (|data| keeps_path(data, DCP, &[CROSSED, SLOW])) as Test).or(&[
        ("other Data cross", |data| keeps_path(data, DCP, &[CROSSED])),
        ("slow direction", |data| keeps_path(data, DCP, &[SLOW])),
        ("round trips instead of stamps", |data| keeps_path(data, DCP_ROUND_TRIPS, &[CROSSED, SLOW])),
        ("more than by round trips", more_than_by_round_trips),
    ]),
    claim("D21", (|data| aggregated(data, DCP, 0.0)) as Test).or(&[
        ("jitter", |data| aggregated(data, DCP, SOME_JITTER_MS)),
        ("slow start on", |data| aggregated(data, DCP_SLOW_START, 0.0)),
        ("as much as with another content", no_less_than_apart),
    ]),
];

fn steady_window(data: &Data<'_>) -> Finding {
    let late = find(data.curves, "figure_3a", DCP, STEADY_FROM_S);
    let values: Vec<f64> = late.iter().map(|point| point.1).collect();
    let Some((least, most)) = least(&values).zip(most(&values)) else {
        return Finding::untestable("the window was not sampled");
    };
    let middle = (least + most) / 2.0;
    let (steady, there) = (most - least <= STEADY * middle, (middle - WINDOW).abs() <= STEADY * WINDOW);
    let around = (Some(WINDOW * (1.0 - STEADY)), Some(WINDOW * (1.0 + STEADY)));
    let window = Compared::within("window", middle, around, "Interests").with_interval(Some((least, most)));
    found(&[steady, there], format!("between {least:.1} and {most:.1} from {STEADY_FROM_S} s on"))
        .comparing(vec![window])
}

/// Goodput of the path of section VI-A, in Mbit/s.
fn goodput(data: &Data<'_>, variant: &str) -> Option<f64> {
    ["single", "readings"].iter().find_map(|figure| GOODPUT[0].mean(data.results, figure, variant, &[]))
}

fn no_timeouts(data: &Data<'_>, figure: &str, variant: &str, places: &[(&str, f64)]) -> Finding {
    let each = TIMEOUTS.each(data.results, figure, variant, places);
    let Some(most) = most(&each) else { return Finding::untestable(NOT_RUN) };
    compare(vec![Compared::at_most(variant, most, 0.0, "timeouts")], format!("{most} timeouts in 60 s"))
}

fn goodput_is(data: &Data<'_>, variant: &str, printed: f64) -> Finding {
    let Some(ours) = goodput(data, variant) else { return Finding::untestable(NOT_RUN) };
    let around = (Some(printed * (1.0 - PRINTED)), Some(printed * (1.0 + PRINTED)));
    compare(
        vec![Compared::within(variant, ours, around, MBIT)],
        format!("{ours:.2} Mbit/s of at most {CEILING:.2}"),
    )
}

fn more_than(data: &Data<'_>, other: &str) -> Finding {
    let (Some(ours), Some(others)) = (goodput(data, DCP), goodput(data, other)) else {
        return Finding::untestable(NOT_RUN);
    };
    let least = others * (1.0 + COSTS);
    let dot = Compared::at_least("dcp", ours, least, MBIT).found(Met::from_so(ours > least));
    compare(vec![dot], format!("{ours:.2} and {others:.2} Mbit/s"))
}

/// Nothing waits but for the packet that is leaving.
const NEARLY_EMPTY: f64 = 1.0;
/// Of a queue of 60 packets 95 %.
const NEARLY_FULL: f64 = 57.0;

fn is_empty(queue: &(f64, f64)) -> bool {
    queue.1 <= NEARLY_EMPTY
}

/// The longest time that next to nothing waited in a queue, in seconds, where it is sampled.
fn longest_empty(queue: &[(f64, f64)]) -> f64 {
    let spans = queue.chunk_by(|one, next| is_empty(one) == is_empty(next));
    let empty = spans.filter(|span| is_empty(&span[0])).map(|span| span[span.len() - 1].0 - span[0].0);
    empty.fold(0.0, f64::max)
}

fn empty_for_seconds(data: &Data<'_>) -> Finding {
    let queue = find(data.curves, "figure_3b", TCP_LIKE, 0.0);
    // The time before the first full queue is the start.
    let full = queue.iter().position(|point| point.1 >= NEARLY_FULL);
    let Some(full) = full else { return Finding::untestable("the queue was never full") };
    let longest = longest_empty(&queue[full..]);
    compare(
        vec![Compared::at_least("longest empty", longest, FEW_SECONDS, "s")],
        format!("{longest:.1} s at most"),
    )
}

fn halts(data: &Data<'_>) -> Finding {
    let drops = |variant| DROPS[0].mean(data.results, "single", variant, &[]);
    let (Some(dcp), Some(tcp)) = (drops(DCP), drops(TCP_LIKE)) else {
        return Finding::untestable(NOT_RUN);
    };
    // The target is a full queue: a window that grows further loses packets.
    let described =
        format!("drops at the queue that the target fills: {dcp} of DCP, {tcp} of the TCP-like protocol");
    let dots =
        [(DCP, dcp), (TCP_LIKE, tcp)].map(|(name, drops)| Compared::at_most(name, drops, 0.0, "drops"));
    compare(dots.into(), described)
}

/// What a target gives at a jitter.
struct AtTarget {
    target: f64,
    goodput: f64,
    queueing: f64,
    drops: f64,
}

/// At each jitter: what each target gives, the smallest first.
fn at_targets(data: &Data<'_>) -> Vec<(f64, Vec<AtTarget>)> {
    let one = |jitter: f64, target: f64| {
        let places = [(TARGET, target), (JITTER, jitter)];
        let mean = |number: Number| number.mean(data.results, "target", DCP, &places);
        Some(AtTarget {
            target,
            goodput: mean(GOODPUT[0])?,
            queueing: mean(QUEUEING)?,
            drops: mean(DROPS[0])?,
        })
    };
    let targets = data.levels("target", TARGET);
    let of = |jitter| (jitter, targets.iter().filter_map(|&target| one(jitter, target)).collect());
    data.levels("target", JITTER).into_iter().map(of).collect()
}

/// A smaller one costs use of the link at the lower end of the range, a larger one drops packets at the upper end.
fn trade_off(data: &Data<'_>) -> Finding {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for (jitter, each) in at_targets(data) {
        let best = most(&each.iter().map(|at| at.goodput).collect::<Vec<_>>());
        let (Some(best), Some(small), Some(large)) = (best, each.first(), each.last()) else { continue };
        all.extend([small.goodput < best * (1.0 - COSTS), large.drops > 0.0]);
        let of = |at: &AtTarget| {
            format!(
                "{} ms {:.2} ({:.1} ms, {} drops)",
                at.target,
                at.goodput,
                at.queueing,
                number(at.drops.round())
            )
        };
        shown.push(format!("jitter {jitter} ms: {}", each.iter().map(of).collect::<Vec<_>>().join(", ")));
    }
    found(&all, format!("Mbit/s by TARGET (median queueing, drops in 60 s): {}", shown.join("; ")))
}

/// Whether 5 ms cost use of the link beside the paper's 50 ms.
fn target_costs(data: &Data<'_>) -> Finding {
    let mut all = Vec::new();
    for (_, each) in at_targets(data) {
        let at = |target: f64| each.iter().find(|at| at.target == target);
        if let (Some(small), Some(large)) = (at(5.0), at(50.0)) {
            all.push(small.goodput < large.goodput * (1.0 - COSTS));
        }
    }
    found(&all, String::new())
}

/// Goodputs of consumer two long after the switch, by a column.
fn after_switch(data: &Data<'_>, variant: &str, by: By, jitter: f64) -> Vec<(f64, f64)> {
    let at = |at: f64| {
        let places = [(by.column, at), (JITTER, jitter)];
        Some((at, GOODPUT[1].mean(data.results, by.figure, variant, &places)?))
    };
    data.levels(by.figure, by.column).into_iter().filter_map(at).collect()
}

/// What the sites of section VI-B differ in.
#[derive(Clone, Copy)]
struct By {
    figure: &'static str,
    column: &'static str,
    unit: &'static str,
}

const BY_DISTANCE: By = By { figure: "caching", column: DISTANCE, unit: "ms" };
const BY_CLOCK: By = By { figure: "clock", column: CLOCK, unit: "s" };

fn described(each: &[(f64, f64)], unit: &str) -> String {
    let shown = each.iter().map(|(at, value)| format!("{value:.2} at {at} {unit}"));
    format!("Mbit/s from 55 s after the start: {}", shown.collect::<Vec<_>>().join(", "))
}

/// Goodput of a link in use, in Mbit/s.
fn used() -> f64 {
    USED * 10.0 * 1024.0 / 1058.0
}

fn suffers(data: &Data<'_>, jitter: f64) -> Finding {
    let each = after_switch(data, LEDBAT, BY_DISTANCE, jitter);
    let one = |(at, value): &(f64, f64)| {
        let so = Met::from_so(*value < used());
        Compared::at_most(format!("{at} {}", BY_DISTANCE.unit), *value, used(), MBIT).found(so)
    };
    compare(each.iter().map(one).collect(), described(&each, BY_DISTANCE.unit))
}

fn recovers(data: &Data<'_>, variant: &str, by: By, jitter: f64) -> Finding {
    let each = after_switch(data, variant, by, jitter);
    let one =
        |(at, value): &(f64, f64)| Compared::at_least(format!("{at} {}", by.unit), *value, used(), MBIT);
    compare(each.iter().map(one).collect(), described(&each, by.unit))
}

fn latecomer(data: &Data<'_>, jitter: f64) -> Finding {
    let share = |start: f64| {
        let places = [(START, start), (JITTER, jitter)];
        Some((start, mean(&shares(data.results, "start", LEDBAT, &places, 1))?))
    };
    let shares: Vec<(f64, f64)> = data.levels("start", START).into_iter().filter_map(share).collect();
    let one = |(start, share): &(f64, f64)| {
        Compared::at_least(format!("started at {start} s"), *share, ADVANTAGE, "%")
    };
    let all = shares.iter().map(one).collect();
    let shown: Vec<String> =
        shares.iter().map(|(start, share)| format!("{share:.0} % started at {start} s")).collect();
    compare(all, format!("share of the second: {}", shown.join(", ")))
}

fn fair(data: &Data<'_>, variant: &str) -> Finding {
    let mut all = Vec::new();
    let mut shown = Vec::new();
    let mut test = |figure, places: &[(&str, f64)], what: String| {
        let each = JAIN.each(data.results, figure, variant, places);
        if let Some(least) = least(&each) {
            all.push(Compared::at_least(what.clone(), least, FAIR, ""));
            let below = each.iter().filter(|jain| **jain < FAIR).count();
            let lost = DROPS.map(|drops| {
                let mean = drops.mean(data.results, figure, variant, places);
                mean.map_or(NONE.to_owned(), |drops| number(drops.round()))
            });
            shown.push(format!(
                "{least:.2} {what} ({below} of {} below {FAIR}; drops of the first {}, of the second {})",
                each.len(),
                lost[0],
                lost[1]
            ));
        }
    };
    for at in data.levels("start", START) {
        test("start", &[(START, at)], format!("started at {at} s"));
    }
    for at in data.levels("edge", EDGE) {
        test("edge", &[(EDGE, at)], format!("edges of {at} Mbit/s"));
    }
    test("random_start", &[], "random starts without jitter".to_owned());
    compare(all, format!("least Jain index: {}", shown.join(", ")))
}

/// Drops are few if they are less than what a queue holds.
const FEW_DROPS: f64 = 120.0;

fn losses_of_first(data: &Data<'_>, jitter: f64) -> Finding {
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for edge in data.levels("edge", EDGE) {
        // The first flow has no slow start of its own here: what it loses the newcomer makes it lose.
        let drops =
            |drops: Number| drops.mean(data.results, "edge", NEWCOMER, &[(EDGE, edge), (JITTER, jitter)]);
        if let (Some(one), Some(two)) = (drops(DROPS[0]), drops(DROPS[1])) {
            let so = Met::from_so(one > 0.0 && one <= FEW_DROPS);
            all.push(
                Compared::within(
                    format!("edges of {edge} Mbit/s"),
                    one,
                    (Some(1.0), Some(FEW_DROPS)),
                    "drops",
                )
                .found(so),
            );
            shown.push(format!("{} and {} with edges of {edge} Mbit/s", number(one), number(two)));
        }
    }
    compare(all, format!("drops of the first and the second: {}", shown.join("; ")))
}

/// Mean goodput of a variant where Interests queue, at a jitter.
fn with_interests(data: &Data<'_>, figure: &str, variant: &str, jitter: f64) -> Option<f64> {
    GOODPUT[0].mean(data.results, figure, variant, &[(JITTER, jitter)])
}

fn keeps_path(data: &Data<'_>, variant: &str, figures: &[&str]) -> Finding {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for &figure in figures {
        for jitter in data.levels(figure, JITTER) {
            let Some(ours) = with_interests(data, figure, variant, jitter) else { continue };
            let share = 100.0 * ours / limit(figure);
            all.push(Compared::at_least(format!("{figure}, jitter {jitter} ms"), share, 100.0 * USED, "%"));
            shown.push(format!("{ours:.2} of {:.2} ({figure}, jitter {jitter} ms)", limit(figure)));
        }
    }
    compare(all, format!("Mbit/s: {}", shown.join(", ")))
}

fn more_than_by_round_trips(data: &Data<'_>) -> Finding {
    let mut all = Vec::new();
    for figure in [CROSSED, SLOW] {
        for jitter in data.levels(figure, JITTER) {
            let [stamps, round_trips] =
                [DCP, DCP_ROUND_TRIPS].map(|variant| with_interests(data, figure, variant, jitter));
            all.extend(stamps.zip(round_trips).map(|(stamps, other)| stamps > other * (1.0 + COSTS)));
        }
    }
    found(&all, String::new())
}

/// Least index of two consumers of the same content, by starts before the first Data; later ones are shown beside them.
fn aggregated(data: &Data<'_>, variant: &str, jitter: f64) -> Finding {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for start in data.levels(SAME_CONTENT, START) {
        let places = [(START, start), (JITTER, jitter)];
        let Some(least) = least(&JAIN.each(data.results, SAME_CONTENT, variant, &places)) else { continue };
        let mean =
            |number: Number| number.mean(data.results, SAME_CONTENT, variant, &places).unwrap_or(f64::NAN);
        if start < FIRST_DATA_S {
            all.push(Compared::at_least(format!("second starts at {start} s"), least, FAIR, ""));
        }
        let [one, two] = GOODPUT.map(mean);
        let count = number(mean(AGGREGATED).round());
        shown.push(format!("{least:.2} at {start} s ({one:.2} and {two:.2} Mbit/s, {count} aggregated)"));
    }
    compare(all, format!("least Jain index by the start of the second: {}", shown.join(", ")))
}

fn no_less_than_apart(data: &Data<'_>) -> Finding {
    let mut all = Vec::new();
    for jitter in data.levels(SAME_CONTENT, JITTER) {
        let places = [(START, START_SOON), (JITTER, jitter)];
        let least_of = |figure| {
            let [one, two] = GOODPUT.map(|goodput| goodput.mean(data.results, figure, DCP, &places));
            Some(one?.min(two?))
        };
        all.extend(least_of(SAME_CONTENT).zip(least_of(OTHER_CONTENT)).map(|(same, other)| same >= other));
    }
    found(&all, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_empty_from_its_first_empty_sample_to_its_last() {
        let queue = [(0.0, 9.0), (1.0, 0.0), (2.0, 1.0), (3.0, 0.0), (4.0, 5.0), (5.0, 0.0), (6.0, 7.0)];
        assert_eq!(longest_empty(&queue), 2.0);
        assert_eq!(longest_empty(&[]), 0.0);
    }
}

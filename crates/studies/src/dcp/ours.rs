//! What we say of short_queue, tested as hard as what the paper says.

use super::figures::shares;
use super::plan::{CLOCK, DISTANCE, EDGE, FAR_MS, JITTER};
use super::variants::OURS;
use super::view::Number::{Drops, Goodput, Jain, Queueing};
use crate::view::{found, levels};
use lightlag_lab::report::{Finding, Verdict};
use lightlag_lab::results::Results;

/// Least goodput over 60 s from nothing, in Mbit/s; 9.67 are to be had.
const GOODPUT: f64 = 9.6;
/// Most of the median queueing delay, in milliseconds.
const QUEUEING_MS: f64 = 5.0;
/// Least Jain index.
const FAIR: f64 = 0.98;
/// Least goodput from two seconds after a switch, in Mbit/s; 9.68 are to be had.
const AFTER_SWITCH: f64 = 9.5;
/// Least share beside AIMD, in percent.
const BESIDE: f64 = 30.0;

/// Our claims, tested.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    vec![
        Verdict::new(
            "D15",
            "jitter",
            "(ours) short_queue alone: at least 9.6 Mbit/s of 9.67, median queueing at most 5 ms, no drop, at any \
             jitter",
            alone(results),
        ),
        Verdict::new(
            "D16",
            "starts",
            "(ours) two of short_queue at random starts: Jain index of at least 0.98, no drop",
            fair(results),
        ),
        Verdict::new(
            "D17",
            "edges",
            "(ours) the same at any rate of the edges, that of the bottleneck included",
            fair_at_edges(results),
        ),
        Verdict::new(
            "D18",
            "caching",
            "(ours) short_queue has 9.5 Mbit/s from 2 s after a switch to a site five times as far, or 5 s off",
            switches(results),
        ),
        Verdict::new(
            "D19",
            "beside",
            "(ours) short_queue gets at least 30 % beside one flow of AIMD, whoever starts",
            beside(results),
        ),
    ]
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn alone(results: &Results) -> Finding {
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for jitter in levels(results, "jitter", JITTER) {
        let each = |number: super::view::Number| number.each(results, "jitter", OURS, &[(JITTER, jitter)]);
        let (goodput, queueing) = (least(&each(Goodput("one"))), most(&each(Queueing("one"))));
        let drops = most(&each(Drops("one")));
        all.extend([goodput >= GOODPUT, queueing <= QUEUEING_MS, drops == 0.0]);
        shown.push(format!("{jitter} ms: {goodput:.2} Mbit/s, {queueing:.1} ms, {drops:.0} drops"));
    }
    found(&all, format!("worst of all seeds by jitter, {}", shown.join("; ")))
}

fn fair(results: &Results) -> Finding {
    let jain = Jain.each(results, "random_start", OURS, &[]);
    let drops = ["one", "two"].map(|flow| most(&Drops(flow).each(results, "random_start", OURS, &[])));
    if jain.is_empty() {
        return Finding::untestable("these points were not run");
    }
    let below = jain.iter().filter(|jain| **jain < FAIR).count();
    let told = format!(
        "least index {:.3}, {below} of {} starts below {FAIR}; most drops {:.0} and {:.0}",
        least(&jain),
        jain.len(),
        drops[0],
        drops[1]
    );
    found(&[below == 0, drops == [0.0, 0.0]], told)
}

fn fair_at_edges(results: &Results) -> Finding {
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for edge in levels(results, "edge", EDGE) {
        let places = [(EDGE, edge)];
        let jain = least(&Jain.each(results, "edge", OURS, &places));
        let drops = ["one", "two"].map(|flow| most(&Drops(flow).each(results, "edge", OURS, &places)));
        all.extend([jain >= FAIR, drops == [0.0, 0.0]]);
        shown.push(format!("{edge} Mbit/s: {jain:.3}, {:.0} and {:.0} drops", drops[0], drops[1]));
    }
    found(&all, format!("worst of all seeds by rate, {}", shown.join("; ")))
}

fn switches(results: &Results) -> Finding {
    let far = [("switch", DISTANCE, FAR_MS, "five times as far")];
    let off =
        [("switch_clock", CLOCK, -5.0, "clock 5 s behind"), ("switch_clock", CLOCK, 5.0, "clock 5 s ahead")];
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for (figure, column, at, what) in far.into_iter().chain(off) {
        let each = Goodput("two").each(results, figure, OURS, &[(column, at)]);
        all.extend(each.iter().map(|value| *value >= AFTER_SWITCH));
        shown.push(format!("{:.2} Mbit/s ({what})", least(&each)));
    }
    found(&all, format!("worst of all seeds: {}", shown.join(", ")))
}

fn beside(results: &Results) -> Finding {
    let first = shares(results, "beside", OURS, &[], "one");
    let late = shares(results, "beside_late", OURS, &[], "two");
    let all: Vec<bool> = first.iter().chain(&late).map(|share| *share >= BESIDE).collect();
    found(
        &all,
        format!(
            "worst of all seeds: {:.0} % where it starts first, {:.0} % where late",
            least(&first),
            least(&late)
        ),
    )
}

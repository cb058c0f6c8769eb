//! Our claims on short_queue, tested as strictly as those of the paper.

use super::plan::{CLOCK, CROSSED, DISTANCE, EDGE, FAR_MS, JITTER, SLOW, limit};
use super::variants::OURS;
use super::{DROPS, GOODPUT, JAIN, Number, QUEUEING, shares};
use crate::shared::parts::{NOT_RUN, found};
use crate::shared::runs::Runs;
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::{Compared, Finding};
use lightlag_lab::results::Results;

/// Least goodput over 60 s from nothing, in Mbit/s, of at most 9.67.
const ALONE: f64 = 9.6;
/// Most of the median queueing delay, in milliseconds.
const QUEUEING_MS: f64 = 5.0;
/// Least Jain index.
const FAIR: f64 = 0.98;
/// Least goodput from two seconds after a switch, in Mbit/s, of at most 9.68.
const AFTER_SWITCH: f64 = 9.5;
/// Least share of the limit where Interests queue.
const WITH_INTERESTS: f64 = 0.8;
/// Least share beside AIMD, in percent.
const BESIDE: f64 = 30.0;

type Test = fn(&Results) -> Finding;

pub const CLAIMS: &[Claim<Test>] = &[
    claim("D15", alone),
    claim("D16", fair),
    claim("D17", fair_at_edges),
    claim("D18", switches),
    claim("D19", beside),
    claim("D22", with_interests),
];

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn alone(results: &Results) -> Finding {
    let (mut all, mut shown, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    for jitter in Runs::of(results, "jitter").numbers(JITTER) {
        let each = |number: Number| number.each(results, "jitter", OURS, &[(JITTER, jitter)]);
        let (goodput, queueing) = (least(&each(GOODPUT[0])), most(&each(QUEUEING)));
        let drops = most(&each(DROPS[0]));
        dots.push(Compared::at_least(format!("jitter {jitter} ms"), goodput, ALONE, "Mbit/s"));
        all.extend([goodput >= ALONE, queueing <= QUEUEING_MS, drops == 0.0]);
        shown.push(format!("{jitter} ms: {goodput:.2} Mbit/s, {queueing:.1} ms, {drops:.0} drops"));
    }
    found(&all, format!("worst of all seeds by jitter, {}", shown.join("; "))).comparing(dots)
}

fn fair(results: &Results) -> Finding {
    let jain = JAIN.each(results, "random_start", OURS, &[]);
    let [one, two] = DROPS.map(|drops| most(&drops.each(results, "random_start", OURS, &[])));
    if jain.is_empty() {
        return Finding::untestable(NOT_RUN);
    }
    let below = jain.iter().filter(|jain| **jain < FAIR).count();
    let (least, starts) = (least(&jain), jain.len());
    let described = format!(
        "least index {least:.3}, {below} of {starts} starts below {FAIR}; most drops {one:.0} and {two:.0}"
    );
    let dots = vec![Compared::at_least("least Jain index", least, FAIR, "")];
    found(&[below == 0, [one, two] == [0.0, 0.0]], described).comparing(dots)
}

fn fair_at_edges(results: &Results) -> Finding {
    let (mut all, mut shown, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    for edge in Runs::of(results, "edge").numbers(EDGE) {
        let places = [(EDGE, edge)];
        let jain = least(&JAIN.each(results, "edge", OURS, &places));
        let drops = DROPS.map(|drops| most(&drops.each(results, "edge", OURS, &places)));
        dots.push(Compared::at_least(format!("edges of {edge} Mbit/s"), jain, FAIR, ""));
        all.extend([jain >= FAIR, drops == [0.0, 0.0]]);
        shown.push(format!("{edge} Mbit/s: {jain:.3}, {:.0} and {:.0} drops", drops[0], drops[1]));
    }
    found(&all, format!("worst of all seeds by rate, {}", shown.join("; "))).comparing(dots)
}

fn switches(results: &Results) -> Finding {
    let (mut all, mut shown, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    for (figure, column, at, what) in [
        ("switch", DISTANCE, FAR_MS, "five times as far"),
        ("switch_clock", CLOCK, -5.0, "clock 5 s behind"),
        ("switch_clock", CLOCK, 5.0, "clock 5 s ahead"),
    ] {
        let each = GOODPUT[1].each(results, figure, OURS, &[(column, at)]);
        all.extend(each.iter().map(|value| *value >= AFTER_SWITCH));
        dots.push(Compared::at_least(what, least(&each), AFTER_SWITCH, "Mbit/s"));
        shown.push(format!("{:.2} Mbit/s ({what})", least(&each)));
    }
    found(&all, format!("worst of all seeds: {}", shown.join(", "))).comparing(dots)
}

fn beside(results: &Results) -> Finding {
    let first = shares(results, "beside", OURS, &[], 0);
    let late = shares(results, "beside_late", OURS, &[], 1);
    let all: Vec<bool> = first.iter().chain(&late).map(|share| *share >= BESIDE).collect();
    let (first, late) = (least(&first), least(&late));
    let dots = [("starts first", first), ("starts late", late)];
    let dots = dots.map(|(order, share)| Compared::at_least(order, share, BESIDE, "%")).into();
    found(&all, format!("worst of all seeds: {first:.0} % where it starts first, {late:.0} % where late"))
        .comparing(dots)
}

fn with_interests(results: &Results) -> Finding {
    let (mut all, mut shown, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    for figure in [CROSSED, SLOW] {
        let each = GOODPUT[0].each(results, figure, OURS, &[]);
        all.extend(each.iter().map(|value| *value >= WITH_INTERESTS * limit(figure)));
        let share = 100.0 * least(&each) / limit(figure);
        dots.push(Compared::at_least(figure, share, 100.0 * WITH_INTERESTS, "%"));
        shown.push(format!("{:.2} of {:.2} Mbit/s ({figure})", least(&each), limit(figure)));
    }
    found(&all, format!("worst of all seeds: {}", shown.join(", "))).comparing(dots)
}

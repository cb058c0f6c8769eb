//! The tests of the claims in `study.toml`.

use super::curves::{Curve, RUN_S};
use super::plan::{DAEMONS, KERNEL, KERNEL_2008, ORACLE, PLAIN, POLICY, SCENARIOS, TCP, TCP_2008, UDP};
use super::{limit, lost, mean, on_curves, packets};
use crate::shared::over_time::Series;
use crate::shared::parts::{NOT_RUN, compare, found};
use crate::shared::runs::least;
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::{Compared, Finding};
use lightlag_lab::results::Results;
use lightlag_lab::statistics::{self, ratio};

/// Packets that we want delivered in each scenario.
const WANTED: [f64; 2] = [83_000.0, 97_000.0];
/// Of what the oracle delivers.
const SHARE: f64 = 0.95;

/// Packets a second of TCP without delay, and with the longest, as the paper has them.
const FAST: f64 = 90.0;
const SLOW: [f64; 2] = [10.0, 30.0];
/// "Around" is within this share.
const AROUND: f64 = 0.1;
/// Results are "largely similar" within this share.
const SIMILAR: f64 = 0.05;
/// Above this delay the paper swaps: the network is delayed. In seconds.
const DELAYED_S: f64 = 0.25;

/// What claims are tested on.
pub struct Data<'a> {
    pub results: &'a Results,
    /// The first seed of each variant.
    pub over_time: &'a [&'a Series],
}

type Test = fn(&Data<'_>) -> Finding;

pub const CLAIMS: &[Claim<Test>] = &[
    claim("P1", |data| gains(data.results, 0, 0.8)),
    claim("P2", |data| gains(data.results, 1, 0.9)),
    claim("P3", |data| tcp(data.results, 0, 47_000.0)),
    claim("P4", |data| tcp(data.results, 1, 31_766.0)),
    claim("P5", (|data| falls(data, TCP_2008)) as Test).or(&[
        ("TCP as of today", |data| falls(data, TCP)),
        ("a kernel, 2008", |data| falls(data, KERNEL_2008)),
    ]),
    claim("P6", |data| udp_alone(data.results)),
    claim("P7", lost_while_delayed),
    claim("O1", |data| delivers(data.results, 0)),
    claim("O2", |data| delivers(data.results, 1)),
    claim("O3", |data| beside_oracle(data.results)),
    claim("O4", |data| every_curve(data.results)),
    claim("O5", |data| by_daemons(data.results)),
];

/// Of TCP in the first scenario: packets a second without delay, and on its plateaus.
fn falls(data: &Data<'_>, variant: &str) -> Finding {
    let (figure, curve) = (SCENARIOS[0].0, Curve::short());
    let most = curve.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let Some(seen) = data.over_time.iter().find(|seen| seen.figure == figure && seen.variant == variant)
    else {
        return Finding::untestable(NOT_RUN);
    };
    // Its first seconds are slow start.
    let at_delay = |delay: f64| {
        let here = seen.throughput.iter().filter(|point| point.0 > 20.0 && curve.delay(point.0) == delay);
        statistics::mean(&here.map(|point| point.1).collect::<Vec<_>>())
    };
    let (Some(fast), Some(slow)) = (at_delay(0.0), at_delay(most)) else {
        return Finding::untestable(NOT_RUN);
    };
    let finding = format!(
        "{fast:.0} without delay and {slow:.1} at {most} s; the link carries {}, as 85,000 packets in twenty minutes ask",
        curve.rate
    );
    let around = (Some(FAST * (1.0 - AROUND)), Some(FAST * (1.0 + AROUND)));
    let dots = vec![
        Compared::within("without delay", fast, around, "packets/s"),
        Compared::within(format!("delay of {most} s"), slow, (Some(SLOW[0]), Some(SLOW[1])), "packets/s"),
    ];
    compare(dots, finding)
}

/// In the first scenario UDP alone beside swapping to it.
fn udp_alone(results: &Results) -> Finding {
    let figure = SCENARIOS[0].0;
    let of = |variant| Some((mean(results, figure, variant)?.mean, lost(results, figure, variant)?.mean));
    let (Some((alone, lost_alone)), Some((swapped, lost_swapped))) = (of(UDP), of(PLAIN)) else {
        return Finding::untestable(NOT_RUN);
    };
    let finding = format!(
        "{alone:.0} packets and {lost_alone:.0} lost alone, {swapped:.0} and {lost_swapped:.0} lost where swapped"
    );
    let around = (Some(swapped * (1.0 - SIMILAR)), Some(swapped * (1.0 + SIMILAR)));
    compare(vec![Compared::within("UDP alone", alone, around, "packets")], finding)
}

/// In the second scenario: TCP repairs what it loses, so that only packets are lost that leave as datagrams.
fn lost_while_delayed(data: &Data<'_>) -> Finding {
    let (figure, curve) = (SCENARIOS[1].0, Curve::long());
    let seen = data.over_time.iter().find(|seen| seen.figure == figure && seen.variant == PLAIN);
    let (Some(seen), Some(lost)) = (seen, lost(data.results, figure, PLAIN)) else {
        return Finding::untestable(NOT_RUN);
    };
    let ends = seen.changes.iter().skip(1).map(|change| change.0).chain([RUN_S]);
    let spans = seen.changes.iter().zip(ends).filter(|(change, _)| change.1 == "datagrams");
    let spans: Vec<(f64, f64)> = spans.map(|(change, end)| (change.0, end)).collect();
    // A change is decided on ten times a second.
    let delayed = |(from, to): &(f64, f64)| curve.delay(*from).min(curve.delay(to - 0.1)) > 0.9 * DELAYED_S;
    let shown: Vec<String> = spans.iter().map(|(from, to)| format!("{from:.1} to {to:.1} s")).collect();
    let finding = format!(
        "{:.0} packets lost ({:.2} %); datagrams from {}, while the delay is above {:.0} ms",
        lost.mean,
        100.0
            * ratio(lost.mean, lost.mean + mean(data.results, figure, PLAIN).map_or(0.0, |value| value.mean)),
        shown.join(", "),
        1e3 * DELAYED_S
    );
    found(&[lost.mean > 0.0, !spans.is_empty() && spans.iter().all(delayed)], finding)
}

fn gains(results: &Results, which: usize, least: f64) -> Finding {
    let figure = SCENARIOS[which].0;
    let of = |variant| mean(results, figure, variant).map(|value| value.mean);
    let (Some(tcp), Some(plain), Some(ours)) = (of(TCP_2008), of(PLAIN), of(POLICY)) else {
        return Finding::untestable(NOT_RUN);
    };
    let more = |packets: f64| 100.0 * (packets / tcp - 1.0);
    // About: nine tenths of what the paper gains.
    let described = format!(
        "{:.0} % more (plain UDP), {:.0} % more (ours, none lost) than TCP as of 2008",
        more(plain),
        more(ours)
    );
    let bound = 90.0 * least;
    let dots = [("plain UDP", plain), ("ours, none lost", ours)]
        .map(|(name, packets)| Compared::at_least(name, more(packets), bound, "% more"));
    found(&[dots[0].is_met()], described).comparing(dots.into())
}

fn tcp(results: &Results, which: usize, paper: f64) -> Finding {
    let figure = SCENARIOS[which].0;
    let old = mean(results, figure, TCP_2008).map(|value| value.mean);
    let new = mean(results, figure, TCP).map(|value| value.mean);
    let (Some(old), Some(new)) = (old, new) else {
        return Finding::untestable(NOT_RUN);
    };
    let around = (Some(0.9 * paper), Some(1.1 * paper));
    compare(
        vec![Compared::within(TCP_2008, old, around, "packets")],
        format!("{old:.0}; TCP as of today {new:.0}"),
    )
}

fn delivers(results: &Results, which: usize) -> Finding {
    let figure = SCENARIOS[which].0;
    let each = packets(results, figure, POLICY);
    let one = |(seed, packets): (usize, &f64)| {
        Compared::at_least(format!("seed {seed}"), *packets, WANTED[which], "packets")
    };
    let all = (1..).zip(&each).map(one).collect();
    let described: Vec<String> = each.iter().map(|packets| format!("{packets:.0}")).collect();
    let limit = limit(figure);
    let share = each.iter().sum::<f64>() / each.len().max(1) as f64 / limit;
    compare(all, format!("{} of {limit:.0}, {:.1} % of the limit", described.join(", "), 100.0 * share))
}

fn by_daemons(results: &Results) -> Finding {
    let (mut all, mut described) = (Vec::new(), Vec::new());
    for ((figure, _), wanted) in SCENARIOS.iter().zip(WANTED) {
        let each = packets(results, figure, DAEMONS);
        let kernel = mean(results, figure, KERNEL);
        let Some(kernel) = kernel.filter(|_| !each.is_empty()) else {
            return Finding::untestable("it was not run: add --real");
        };
        all.extend(each.iter().map(|packets| *packets >= wanted));
        let each: Vec<String> = each.iter().map(|packets| format!("{packets:.0}")).collect();
        described.push(format!("{} (the kernel's TCP alone: {:.0})", each.join(", "), kernel.mean));
    }
    found(&all, described.join("; "))
}

fn beside_oracle(results: &Results) -> Finding {
    let share = |(figure, _): &(&str, _)| {
        Some(mean(results, figure, POLICY)?.mean / mean(results, figure, ORACLE)?.mean)
    };
    let shares: Vec<f64> = SCENARIOS.iter().filter_map(share).collect();
    let one = |(number, share): (usize, &f64)| {
        Compared::at_least(format!("scenario {number}"), 100.0 * share, 100.0 * SHARE, "%")
    };
    let all = (1..).zip(&shares).map(one).collect();
    let described: Vec<String> = shares.iter().map(|share| format!("{:.1} %", 100.0 * share)).collect();
    compare(all, described.join(" and "))
}

fn every_curve(results: &Results) -> Finding {
    let shares: Vec<f64> = on_curves(results).iter().map(|(_, oracle, policy, _)| policy / oracle).collect();
    let all: Vec<bool> = shares.iter().map(|share| *share >= SHARE).collect();
    let Some(worst) = least(&shares) else { return Finding::untestable(NOT_RUN) };
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let enough = all.iter().filter(|enough| **enough).count();
    let (worst, mean) = (100.0 * worst, 100.0 * mean);
    let dots = [("worst curve", worst), ("mean of all", mean)]
        .map(|(name, share)| Compared::at_least(name, share, 100.0 * SHARE, "%"));
    found(&all, format!("{enough} of {} curves; mean {mean:.1} %, worst {worst:.1} %", all.len()))
        .comparing(dots.into())
}

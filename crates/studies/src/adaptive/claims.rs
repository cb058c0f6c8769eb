//! The tests of the claims in `study.toml`.

use super::plan::{DAEMONS, KERNEL, ORACLE, PLAIN, POLICY, SCENARIOS, TCP, TCP_2008};
use super::{limit, mean, on_curves, packets};
use crate::shared::parts::{NOT_RUN, found};
use crate::shared::runs::least;
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::Finding;
use lightlag_lab::results::Results;

/// Packets that we want delivered in each scenario.
const WANTED: [f64; 2] = [83_000.0, 97_000.0];
/// Of what the oracle delivers.
const SHARE: f64 = 0.95;

type Test = fn(&Results) -> Finding;

pub const CLAIMS: &[Claim<Test>] = &[
    claim("P1", |results| gains(results, 0, 0.8)),
    claim("P2", |results| gains(results, 1, 0.9)),
    claim("P3", |results| tcp(results, 0, 47_000.0)),
    claim("P4", |results| tcp(results, 1, 31_766.0)),
    claim("O1", |results| delivers(results, 0)),
    claim("O2", |results| delivers(results, 1)),
    claim("O3", beside_oracle),
    claim("O4", every_curve),
    claim("O5", by_daemons),
];

fn gains(results: &Results, which: usize, least: f64) -> Finding {
    let figure = SCENARIOS[which].0;
    let of = |variant| mean(results, figure, variant).map(|value| value.mean);
    let (Some(tcp), Some(plain), Some(ours)) = (of(TCP_2008), of(PLAIN), of(POLICY)) else {
        return Finding::untestable(NOT_RUN);
    };
    let more = |packets: f64| 100.0 * (packets / tcp - 1.0);
    // About: nine tenths of what the paper gains.
    let told = format!(
        "{:.0} % more (plain UDP), {:.0} % more (ours, none lost) than TCP as of 2008",
        more(plain),
        more(ours)
    );
    found(&[plain / tcp - 1.0 >= 0.9 * least], told)
}

fn tcp(results: &Results, which: usize, paper: f64) -> Finding {
    let figure = SCENARIOS[which].0;
    let old = mean(results, figure, TCP_2008).map(|value| value.mean);
    let new = mean(results, figure, TCP).map(|value| value.mean);
    let (Some(old), Some(new)) = (old, new) else {
        return Finding::untestable(NOT_RUN);
    };
    found(&[(old / paper - 1.0).abs() <= 0.1], format!("{old:.0}; TCP as of today {new:.0}"))
}

fn delivers(results: &Results, which: usize) -> Finding {
    let figure = SCENARIOS[which].0;
    let each = packets(results, figure, POLICY);
    let all: Vec<bool> = each.iter().map(|packets| *packets >= WANTED[which]).collect();
    let told: Vec<String> = each.iter().map(|packets| format!("{packets:.0}")).collect();
    let limit = limit(figure);
    let share = each.iter().sum::<f64>() / each.len().max(1) as f64 / limit;
    found(&all, format!("{} of {limit:.0}, {:.1} % of the limit", told.join(", "), 100.0 * share))
}

fn by_daemons(results: &Results) -> Finding {
    let (mut all, mut told) = (Vec::new(), Vec::new());
    for ((figure, _), wanted) in SCENARIOS.iter().zip(WANTED) {
        let each = packets(results, figure, DAEMONS);
        let kernel = mean(results, figure, KERNEL);
        let Some(kernel) = kernel.filter(|_| !each.is_empty()) else {
            return Finding::untestable("it was not run: add --real");
        };
        all.extend(each.iter().map(|packets| *packets >= wanted));
        let each: Vec<String> = each.iter().map(|packets| format!("{packets:.0}")).collect();
        told.push(format!("{} (the kernel's TCP alone: {:.0})", each.join(", "), kernel.mean));
    }
    found(&all, told.join("; "))
}

fn beside_oracle(results: &Results) -> Finding {
    let share = |(figure, _): &(&str, _)| {
        Some(mean(results, figure, POLICY)?.mean / mean(results, figure, ORACLE)?.mean)
    };
    let shares: Vec<f64> = SCENARIOS.iter().filter_map(share).collect();
    let all: Vec<bool> = shares.iter().map(|share| *share >= SHARE).collect();
    let told: Vec<String> = shares.iter().map(|share| format!("{:.1} %", 100.0 * share)).collect();
    found(&all, told.join(" and "))
}

fn every_curve(results: &Results) -> Finding {
    let shares: Vec<f64> = on_curves(results).iter().map(|(_, oracle, policy, _)| policy / oracle).collect();
    let all: Vec<bool> = shares.iter().map(|share| *share >= SHARE).collect();
    let Some(worst) = least(&shares) else { return Finding::untestable(NOT_RUN) };
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let enough = all.iter().filter(|enough| **enough).count();
    let (worst, mean) = (100.0 * worst, 100.0 * mean);
    found(&all, format!("{enough} of {} curves; mean {mean:.1} %, worst {worst:.1} %", all.len()))
}

//! What the paper says, and what we want, beside what we measure.

use super::plan::{DAEMONS, KERNEL, ORACLE, PLAIN, POLICY, SCENARIOS, TCP, TCP_2008};
use super::view::{curves, limit, mean, packets};
use crate::view::found;
use lightlag_lab::report::{Finding, Verdict};
use lightlag_lab::results::Results;

/// Packets that we want delivered in each scenario.
const WANTED: [f64; 2] = [83_000.0, 97_000.0];
/// Of what the oracle delivers.
const SHARE: f64 = 0.95;

/// The claims, tested.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    vec![
        Verdict::new(
            "P1",
            "7a, 7b",
            "short delays: swapping delivers 80 % more than TCP alone (85,000 against 47,000 packets)",
            gains(results, 0, 0.8),
        ),
        Verdict::new(
            "P2",
            "7c, 7d",
            "long delays: swapping delivers 90 % more than TCP alone (60,000 against 31,766 packets)",
            gains(results, 1, 0.9),
        ),
        Verdict::new(
            "P3",
            "7a",
            "TCP as of 2008 delivers 47,000 packets, within 10 %",
            tcp(results, 0, 47_000.0),
        ),
        Verdict::new(
            "P4",
            "7c",
            "TCP as of 2008 delivers 31,766 packets, within 10 %",
            tcp(results, 1, 31_766.0),
        ),
        Verdict::new(
            "O1",
            "7b",
            "(ours) in order and without loss, by the policy, at least 83,000 packets with each seed",
            delivers(results, 0),
        ),
        Verdict::new(
            "O2",
            "7d",
            "(ours) in order and without loss, by the policy, at least 97,000 packets with each seed",
            delivers(results, 1),
        ),
        Verdict::new(
            "O3",
            "7b, 7d",
            "(ours) the policy delivers at least 95 % of what the oracle does in both scenarios",
            beside_oracle(results),
        ),
        Verdict::new(
            "O4",
            "curves",
            "(ours) the policy delivers at least 95 % of what the oracle does on every curve that was drawn",
            on_curves(results),
        ),
        Verdict::new(
            "O5",
            "7b, 7d",
            "(ours) between two kernels lightlagd delivers at least as many, in order and without loss",
            by_daemons(results),
        ),
    ]
}

fn gains(results: &Results, which: usize, least: f64) -> Finding {
    let figure = SCENARIOS[which].0;
    let of = |variant| mean(results, figure, variant).map(|value| value.mean);
    let (Some(tcp), Some(plain), Some(ours)) = (of(TCP_2008), of(PLAIN), of(POLICY)) else {
        return Finding::untestable("these points were not run");
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
        return Finding::untestable("these points were not run");
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

fn on_curves(results: &Results) -> Finding {
    let shares: Vec<f64> = curves(results).iter().map(|(_, oracle, policy, _)| policy / oracle).collect();
    let all: Vec<bool> = shares.iter().map(|share| *share >= SHARE).collect();
    let Some(worst) = shares.iter().copied().reduce(f64::min) else {
        return Finding::untestable("the curves were not run");
    };
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let enough = all.iter().filter(|enough| **enough).count();
    let (worst, mean) = (100.0 * worst, 100.0 * mean);
    found(&all, format!("{enough} of {} curves; mean {mean:.1} %, worst {worst:.1} %", all.len()))
}

//! What the paper says, beside what we measure.

use super::plan::{ARC, LOSS, PAPER_TCPS, RTT, SIZE};
use super::sharing;
use super::view::{goodput, limit};
use crate::view::{found, levels};
use lightlag_lab::report::{Finding, Verdict};
use lightlag_lab::results::{Results, number};

/// Of the limit: what counts as full use of the link.
const FULL: f64 = 0.95;
/// Of the limit: what counts as not yet rolled off.
const KNEE: f64 = 0.85;

/// The claims, tested.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    vec![
        Verdict::new(
            "A1",
            "3",
            "ARC uses the link fully up to a round trip of 10 s (p = 0.001)",
            full_up_to_10_s(results),
        ),
        Verdict::new("A2", "3", "at 10 s the TCPs get less than 10 % of the link", tcps_at_10_s(results)),
        Verdict::new("A3", "3", "Westwood+ rolls off past 2 s, the other TCPs past 0.8 s", knees(results)),
        Verdict::new(
            "A4",
            "3",
            "at 2000 s ARC gets about 10 kbit/s, the TCPs practically nothing",
            at_2000_s(results),
        ),
        Verdict::new(
            "A5",
            "4",
            "at 600 s ARC gets one to two orders of magnitude more than the TCPs, for p from 1e-4 to 1e-2",
            orders_at_600_s(results),
        ),
        Verdict::new(
            "A6",
            "5",
            "ARC's goodput grows with the file up to a few tens of MB at a round trip of 200 s, and falls with it",
            file_size(results),
        ),
        Verdict::new(
            "A7",
            "sharing",
            "(ours) 2, 4 and 16 flows of contact_rate, together or apart, have a Jain index of at least 0.95",
            sharing::equal(results),
        ),
        Verdict::new(
            "A8",
            "sharing",
            "(ours) beside CUBIC neither starves: a fifth of half the link, or of what CUBIC has alone if less",
            sharing::lives_beside(results),
        ),
    ]
}

fn at(results: &Results, figure: &str, variant: &str, column: &str, x: f64) -> Option<f64> {
    goodput(results, figure, variant, &[(column, x)]).map(|value| value.mean)
}

fn full_up_to_10_s(results: &Results) -> Finding {
    let rtts = levels(results, "figure_3", RTT).into_iter().filter(|rtt| *rtt <= 10.0);
    let shares: Vec<(f64, f64)> = rtts
        .filter_map(|rtt| Some((rtt, at(results, "figure_3", ARC, RTT, rtt)? / limit(rtt, 1e-3, 1e9))))
        .collect();
    let all: Vec<bool> = shares.iter().map(|share| share.1 >= FULL).collect();
    let told: Vec<String> =
        shares.iter().map(|(rtt, share)| format!("{rtt} s: {:.0} %", 100.0 * share)).collect();
    found(&all, format!("share of the limit at {}", told.join(", ")))
}

fn tcps_at_10_s(results: &Results) -> Finding {
    let each = PAPER_TCPS.map(|tcp| (tcp, at(results, "figure_3", tcp, RTT, 10.0)));
    let all: Vec<bool> = each.iter().filter_map(|(_, value)| value.map(|kbit| kbit < 100.0)).collect();
    found(&all, told(&each))
}

fn told(each: &[(&str, Option<f64>)]) -> String {
    let shown = each.iter().filter_map(|(name, value)| Some(format!("{name} {} kbit/s", number((*value)?))));
    shown.collect::<Vec<_>>().join(", ")
}

fn knees(results: &Results) -> Finding {
    let share = |tcp: &str, rtt: f64| Some(at(results, "figure_3", tcp, RTT, rtt)? / limit(rtt, 1e-3, 1e9));
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for tcp in PAPER_TCPS {
        let (before, after) = if tcp == "westwood_plus" { (2.0, 5.0) } else { (0.8, 2.0) };
        if let (Some(full), Some(less)) = (share(tcp, before), share(tcp, after)) {
            all.push(full >= KNEE && less < KNEE);
            let (full, less) = (100.0 * full, 100.0 * less);
            shown.push(format!("{tcp} {full:.0} % at {before} s and {less:.0} % at {after} s"));
        }
    }
    found(&all, format!("of the limit: {}", shown.join(", ")))
}

fn at_2000_s(results: &Results) -> Finding {
    let arc = at(results, "figure_3", ARC, RTT, 2000.0);
    let tcps = PAPER_TCPS.map(|tcp| (tcp, at(results, "figure_3", tcp, RTT, 2000.0)));
    let Some(kbit) = arc else { return Finding::untestable("2000 s was not run") };
    // "About": within a factor of three.
    let about = (10.0 / 3.0..=30.0).contains(&kbit);
    let nothing = tcps.iter().all(|(_, value)| value.is_none_or(|kbit| kbit < 1.0));
    found(&[about, nothing], format!("arc {} kbit/s; {}", number(kbit), told(&tcps)))
}

fn orders_at_600_s(results: &Results) -> Finding {
    let mut all = Vec::new();
    let mut shown = Vec::new();
    for loss in levels(results, "figure_4", LOSS) {
        let best =
            PAPER_TCPS.iter().filter_map(|tcp| at(results, "figure_4", tcp, LOSS, loss)).reduce(f64::max);
        if let (Some(arc), Some(best)) = (at(results, "figure_4", ARC, LOSS, loss), best) {
            all.push(arc >= 10.0 * best);
            shown.push(format!("{:.0} times the best at p = {loss}", arc / best));
        }
    }
    found(&all, shown.join(", "))
}

fn file_size(results: &Results) -> Finding {
    let of = |rtt: f64, size: f64| {
        goodput(results, "figure_5", ARC, &[(RTT, rtt), (SIZE, size)]).map(|value| value.mean)
    };
    let sizes = levels(results, "figure_5", SIZE);
    let curve: Vec<f64> = sizes.iter().filter_map(|&size| of(200.0, size)).collect();
    let Some(largest) = curve.iter().copied().reduce(f64::max) else {
        return Finding::untestable("200 s was not run");
    };
    let small: Vec<f64> =
        sizes.iter().filter(|size| **size <= 1e7).filter_map(|&size| of(200.0, size)).collect();
    let grows = small.windows(2).all(|two| two[1] > two[0]);
    // Few tens of MB: at 100 MB most of the largest is reached.
    let reached = of(200.0, 1e8).is_some_and(|kbit| kbit >= 0.8 * largest);
    let falls = [2.0, 20.0, 200.0].map(|rtt| of(rtt, 1e7)).windows(2).all(|two| two[0] > two[1]);
    let shown: Vec<String> = curve.iter().map(|kbit| number(*kbit)).collect();
    found(&[grows, reached, falls], format!("at 200 s, by size: {} kbit/s", shown.join(", ")))
}

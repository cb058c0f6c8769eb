//! The tests of the claims in `study.toml`.

use super::plan::{ARC, LOSS, OURS, PAPER_TCPS, RTT, SIZE};
use super::{contests, goodput, limit};
use crate::shared::parts::found;
use crate::shared::runs::{Runs, most};
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::Finding;
use lightlag_lab::results::{Results, number};

/// Of the limit: full use of the link.
const FULL: f64 = 0.95;
/// Of the limit: not yet rolled off.
const KNEE: f64 = 0.85;
/// Least Jain index of equal shares.
const EQUAL: f64 = 0.95;
/// Least share of what CUBIC has alone, or of half of the link where that is less.
const STARVES: f64 = 0.2;
/// Half of the link, in kbit/s.
const HALF: f64 = 500.0;

type Test = fn(&Results) -> Finding;

pub const CLAIMS: &[Claim<Test>] = &[
    claim("A1", full_up_to_10_s),
    claim("A2", tcps_at_10_s),
    claim("A3", knees),
    claim("A4", at_2000_s),
    claim("A5", orders_at_600_s),
    claim("A6", file_size),
    claim("A7", equal),
    claim("A8", lives_beside),
];

fn at(results: &Results, figure: &str, variant: &str, column: &str, x: f64) -> Option<f64> {
    goodput(results, figure, variant, &[(column, x)]).map(|value| value.mean)
}

/// Share of the limit at a round-trip time of figure 3.
fn share(results: &Results, variant: &str, rtt: f64) -> Option<f64> {
    Some(at(results, "figure_3", variant, RTT, rtt)? / limit(rtt, 1e-3, 1e9))
}

fn full_up_to_10_s(results: &Results) -> Finding {
    let rtts = Runs::of(results, "figure_3").numbers(RTT).into_iter().filter(|rtt| *rtt <= 10.0);
    let shares: Vec<(f64, f64)> = rtts.filter_map(|rtt| Some((rtt, share(results, ARC, rtt)?))).collect();
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
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for tcp in PAPER_TCPS {
        let (before, after) = if tcp == "westwood_plus" { (2.0, 5.0) } else { (0.8, 2.0) };
        if let (Some(full), Some(less)) = (share(results, tcp, before), share(results, tcp, after)) {
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
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for loss in Runs::of(results, "figure_4").numbers(LOSS) {
        let of = |variant: &str| at(results, "figure_4", variant, LOSS, loss);
        let best = PAPER_TCPS.iter().filter_map(|tcp| of(tcp)).reduce(f64::max);
        if let (Some(arc), Some(best)) = (of(ARC), best) {
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
    let sizes = Runs::of(results, "figure_5").numbers(SIZE);
    let curve: Vec<f64> = sizes.iter().filter_map(|&size| of(200.0, size)).collect();
    let Some(largest) = most(&curve) else { return Finding::untestable("200 s was not run") };
    let small: Vec<f64> =
        sizes.iter().filter(|size| **size <= 1e7).filter_map(|&size| of(200.0, size)).collect();
    let grows = small.windows(2).all(|two| two[1] > two[0]);
    // Few tens of MB: at 100 MB most of the largest is reached.
    let reached = of(200.0, 1e8).is_some_and(|kbit| kbit >= 0.8 * largest);
    let falls = [2.0, 20.0, 200.0].map(|rtt| of(rtt, 1e7)).windows(2).all(|two| two[0] > two[1]);
    let shown: Vec<String> = curve.iter().map(|kbit| number(*kbit)).collect();
    found(&[grows, reached, falls], format!("at 200 s, by size: {} kbit/s", shown.join(", ")))
}

fn equal(results: &Results) -> Finding {
    let runs = Runs::of(results, "sharing");
    let indices: Vec<f64> = OURS.iter().flat_map(|variant| runs.at(variant, &[]).each("jain")).collect();
    let least = indices.iter().copied().fold(f64::INFINITY, f64::min);
    let equal: Vec<bool> = indices.iter().map(|jain| *jain >= EQUAL).collect();
    let below = equal.iter().filter(|equal| !**equal).count();
    found(&equal, format!("least index {least:.3}; {below} of {} runs below {EQUAL}", indices.len()))
}

fn lives_beside(results: &Results) -> Finding {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for (_, rtt, loss, [ours, cubic, alone]) in contests(results) {
        all.push(ours >= STARVES * HALF && cubic >= STARVES * alone.min(HALF));
        let tenths = |kbit: f64| number((kbit * 10.0).round() / 10.0);
        let (ours, cubic, alone) = (number(ours.round()), tenths(cubic), tenths(alone));
        shown.push(format!("{rtt} s, p = {loss}: {ours} and {cubic} ({alone} alone)"));
    }
    found(&all, format!("kbit/s of contact_rate and CUBIC: {}", shown.join("; ")))
}

//! The tests of the claims in `study.toml`.

use super::plan::{ARC, ARC_READINGS, LOSS, OURS, PAPER_TCPS, RTT, SIZE};
use super::{OVERLAP, contests, friendliness, goodput, limit};
use crate::shared::parts::{compare, found};
use crate::shared::runs::{Runs, least, most};
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::{Compared, Finding, Met};
use lightlag_lab::results::{Results, number};

/// Of the limit: full use of the link.
const FULL: f64 = 0.95;
/// Of the limit: not yet rolled off.
const KNEE: f64 = 0.85;
/// Least Jain index of equal shares.
const EQUAL: f64 = 0.95;
/// Least share of what CUBIC has alone, or of half of the link where that is less.
const STARVES: f64 = 0.2;
/// A tenth of the link, in kbit/s.
const TENTH: f64 = 100.0;
/// Half of the link, in kbit/s.
const HALF: f64 = 500.0;
/// Flows share for at least this part of the shortest; otherwise there is nothing to be fair about.
const OVERLAPS: f64 = 0.5;
/// Share of the greatest goodput that a file reaches it with.
const REACHED: f64 = 0.8;
/// Files of a few tens of MB, and of hundreds.
const TENS_OF_MB: f64 = 1e8;
/// Least share, of what a NewReno gets beside another, that it gets beside a friendly flow.
const FRIENDLY_SHARE: f64 = 0.5;

type Test = fn(&Results) -> Finding;

/// A test of ARC for each other reading of it.
macro_rules! by_reading {
    ($test:ident) => {
        &[
            (ARC_READINGS[0], |results| $test(results, ARC_READINGS[0])),
            (ARC_READINGS[1], |results| $test(results, ARC_READINGS[1])),
            (ARC_READINGS[2], |results| $test(results, ARC_READINGS[2])),
            (ARC_READINGS[3], |results| $test(results, ARC_READINGS[3])),
        ]
    };
}

pub const CLAIMS: &[Claim<Test>] = &[
    claim("A1", (|results| full_up_to_10_s(results, ARC)) as Test).or(by_reading!(full_up_to_10_s)),
    claim("A2", tcps_at_10_s),
    claim("A3", knees),
    claim("A4", (|results| at_2000_s(results, ARC)) as Test).or(by_reading!(at_2000_s)),
    claim("A5", (|results| orders_at_600_s(results, ARC)) as Test).or(by_reading!(orders_at_600_s)),
    claim("A6", file_size),
    claim("A7", equal),
    claim("A8", lives_beside),
    claim("A9", sooner_than_tcp_planet),
    claim("A10", friendly),
];

fn at(results: &Results, figure: &str, variant: &str, column: &str, x: f64) -> Option<f64> {
    goodput(results, figure, variant, &[(column, x)]).map(|value| value.mean)
}

/// Share of the limit at a round-trip time of figure 3.
fn share(results: &Results, variant: &str, rtt: f64) -> Option<f64> {
    Some(at(results, "figure_3", variant, RTT, rtt)? / limit(rtt, 1e-3, 1e9))
}

fn full_up_to_10_s(results: &Results, arc: &str) -> Finding {
    let rtts = Runs::of(results, "figure_3").numbers(RTT).into_iter().filter(|rtt| *rtt <= 10.0);
    let shares: Vec<(f64, f64)> = rtts.filter_map(|rtt| Some((rtt, share(results, arc, rtt)?))).collect();
    let one =
        |(rtt, share): &(f64, f64)| Compared::at_least(format!("{rtt} s"), 100.0 * share, 100.0 * FULL, "%");
    let all = shares.iter().map(one).collect();
    let described: Vec<String> =
        shares.iter().map(|(rtt, share)| format!("{rtt} s: {:.0} %", 100.0 * share)).collect();
    compare(all, format!("share of the limit at {}", described.join(", ")))
}

fn tcps_at_10_s(results: &Results) -> Finding {
    let each = PAPER_TCPS.map(|tcp| (tcp, at(results, "figure_3", tcp, RTT, 10.0)));
    let one = |(tcp, kbit): &(&str, Option<f64>)| Some(Compared::at_most(*tcp, (*kbit)?, TENTH, "kbit/s"));
    compare(each.iter().filter_map(one).collect(), described(&each))
}

fn described(each: &[(&str, Option<f64>)]) -> String {
    let shown = each.iter().filter_map(|(name, value)| Some(format!("{name} {} kbit/s", number((*value)?))));
    shown.collect::<Vec<_>>().join(", ")
}

fn knees(results: &Results) -> Finding {
    let (mut all, mut shown, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    for tcp in PAPER_TCPS {
        let (before, after) = if tcp == "westwood_plus" { (2.0, 5.0) } else { (0.8, 2.0) };
        if let (Some(full), Some(less)) = (share(results, tcp, before), share(results, tcp, after)) {
            let (full, less, knee) = (100.0 * full, 100.0 * less, 100.0 * KNEE);
            dots.push(Compared::at_least(format!("{tcp}, {before} s"), full, knee, "%"));
            dots.push(Compared::at_most(format!("{tcp}, {after} s"), less, knee, "%"));
            all.push(full >= knee && less < knee);
            shown.push(format!("{tcp} {full:.0} % at {before} s and {less:.0} % at {after} s"));
        }
    }
    found(&all, format!("of the limit: {}", shown.join(", "))).comparing(dots)
}

fn at_2000_s(results: &Results, arc: &str) -> Finding {
    let arc = at(results, "figure_3", arc, RTT, 2000.0);
    let tcps = PAPER_TCPS.map(|tcp| (tcp, at(results, "figure_3", tcp, RTT, 2000.0)));
    let Some(kbit) = arc else { return Finding::untestable("2000 s was not run") };
    // "About": within a factor of three.
    let about = (10.0 / 3.0..=30.0).contains(&kbit);
    let nothing = tcps.iter().all(|(_, value)| value.is_none_or(|kbit| kbit < 1.0));
    let tcp =
        |(tcp, kbit): &(&'static str, Option<f64>)| Some(Compared::at_most(*tcp, (*kbit)?, 1.0, "kbit/s"));
    let arc = Compared::within(ARC, kbit, (Some(10.0 / 3.0), Some(30.0)), "kbit/s");
    let dots = std::iter::once(arc).chain(tcps.iter().filter_map(tcp)).collect();
    found(&[about, nothing], format!("arc {} kbit/s; {}", number(kbit), described(&tcps))).comparing(dots)
}

fn orders_at_600_s(results: &Results, arc: &str) -> Finding {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for loss in Runs::of(results, "figure_4").numbers(LOSS) {
        let of = |variant: &str| at(results, "figure_4", variant, LOSS, loss);
        let best = PAPER_TCPS.iter().filter_map(|tcp| of(tcp)).reduce(f64::max);
        if let (Some(arc), Some(best)) = (of(arc), best) {
            all.push(Compared::at_least(format!("p = {loss}"), arc / best, 10.0, "times"));
            shown.push(format!("{:.0} times the best at p = {loss}", arc / best));
        }
    }
    compare(all, shown.join(", "))
}

/// Sizes in bytes and goodputs in kbit/s of a curve of figure 5; none unless one file is larger than a few tens of MB,
/// as otherwise the largest is the one that is asked about.
fn sizes(results: &Results, variant: &str, rtt: f64) -> Option<Vec<(f64, f64)>> {
    let one =
        |size: f64| Some((size, goodput(results, "figure_5", variant, &[(RTT, rtt), (SIZE, size)])?.mean));
    let all: Vec<_> = Runs::of(results, "figure_5").numbers(SIZE).into_iter().filter_map(one).collect();
    all.iter().any(|(size, _)| *size > TENS_OF_MB).then_some(all)
}

/// Why figure 5 says nothing.
const NO_LARGE_FILE: &str = "no file of more than 100 MB was run";

fn file_size(results: &Results) -> Finding {
    let Some(curve) = sizes(results, ARC, 200.0) else { return Finding::untestable(NO_LARGE_FILE) };
    let small: Vec<f64> = curve.iter().filter(|(size, _)| *size <= 1e7).map(|(_, kbit)| *kbit).collect();
    let grows = small.windows(2).all(|two| two[1] > two[0]);
    let reached = reached_at(&curve).is_some_and(|size| size <= TENS_OF_MB);
    let of = |rtt: f64| Some(goodput(results, "figure_5", ARC, &[(RTT, rtt), (SIZE, 1e7)])?.mean);
    let falls = [2.0, 20.0, 200.0].map(of).windows(2).all(|two| two[0] > two[1]);
    let shown: Vec<String> = curve.iter().map(|(_, kbit)| number(*kbit)).collect();
    found(&[grows, reached, falls], format!("at 200 s, by size: {} kbit/s", shown.join(", ")))
}

/// The smallest file with which most of the greatest goodput of a curve is reached.
fn reached_at(curve: &[(f64, f64)]) -> Option<f64> {
    let most = most(&curve.iter().map(|(_, kbit)| *kbit).collect::<Vec<_>>())?;
    curve.iter().find(|(_, kbit)| *kbit >= REACHED * most).map(|(size, _)| *size)
}

fn sooner_than_tcp_planet(results: &Results) -> Finding {
    let of = |variant| sizes(results, variant, 200.0).and_then(|curve| reached_at(&curve));
    let (Some(arc), Some(planet)) = (of(ARC), of("tcp_planet")) else {
        return Finding::untestable(NO_LARGE_FILE);
    };
    let finding = format!(
        "{:.0} % of the greatest goodput at 200 s are reached with {} MB by ARC and with {} MB by TCP-Planet",
        100.0 * REACHED,
        number(arc / 1e6),
        number(planet / 1e6)
    );
    let dots = vec![
        Compared::at_most(ARC, arc / 1e6, TENS_OF_MB / 1e6, "MB"),
        Compared::at_least("tcp_planet", planet / 1e6, TENS_OF_MB / 1e6, "MB")
            .found(Met::from_so(planet > TENS_OF_MB)),
    ];
    compare(dots, finding)
}

fn equal(results: &Results) -> Finding {
    let runs = Runs::of(results, "sharing");
    let of = |variant: &&str| {
        let runs = runs.at(variant, &[]);
        runs.each("jain").into_iter().zip(runs.each(OVERLAP)).collect::<Vec<_>>()
    };
    let all: Vec<(f64, f64)> = OURS.iter().flat_map(of).collect();
    let shared: Vec<(f64, f64)> = all.iter().copied().filter(|(_, overlap)| *overlap >= OVERLAPS).collect();
    let overlaps: Vec<f64> = shared.iter().map(|(_, overlap)| *overlap).collect();
    let (Some(worst), Some(overlap)) =
        (least(&shared.iter().map(|(jain, _)| *jain).collect::<Vec<_>>()), least(&overlaps))
    else {
        return Finding::untestable("no flows overlapped");
    };
    let equal: Vec<bool> = shared.iter().map(|(jain, _)| *jain >= EQUAL).collect();
    let below = equal.iter().filter(|equal| !**equal).count();
    let finding = format!(
        "least index {worst:.3}; {below} of {} runs below {EQUAL}; all flows sent together for at least {:.0} % of the shortest; \
         {} runs without such an overlap are not counted",
        shared.len(),
        100.0 * overlap,
        all.len() - shared.len()
    );
    let dots = vec![Compared::at_least("least Jain index", worst, EQUAL, "")];
    found(&equal, finding).comparing(dots)
}

fn lives_beside(results: &Results) -> Finding {
    let (mut all, mut shown, mut dots, mut last) = (Vec::new(), Vec::new(), Vec::new(), "");
    for (variant, rtt, loss, [ours, cubic, alone]) in contests(results) {
        all.push(ours >= STARVES * HALF && cubic >= STARVES * alone.min(HALF));
        let place = format!("{}, {rtt} s, p = {loss}", variant.trim_start_matches("udpdtn, "));
        let share = |kbit: f64, of: f64| 100.0 * kbit / of;
        let least = 100.0 * STARVES;
        dots.push(Compared::at_least(format!("ours: {place}"), share(ours, HALF), least, "%"));
        dots.push(Compared::at_least(format!("CUBIC: {place}"), share(cubic, alone.min(HALF)), least, "%"));
        let tenths = |kbit: f64| number((kbit * 10.0).round() / 10.0);
        let (ours, cubic, alone) = (number(ours.round()), tenths(cubic), tenths(alone));
        // A variant is named where its runs begin.
        let of = if variant == last { String::new() } else { format!("{variant}: ") };
        last = variant;
        shown.push(format!("{of}{rtt} s, p = {loss}: {ours} and {cubic} ({alone} alone)"));
    }
    found(&all, format!("kbit/s of contact_rate and CUBIC: {}", shown.join("; "))).comparing(dots)
}

fn friendly(results: &Results) -> Finding {
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    for (rtt, loss, [arc, new_reno, fair]) in friendliness(results) {
        let share = 100.0 * new_reno / fair;
        all.push(Compared::at_least(format!("{rtt} s, p = {loss}"), share, 100.0 * FRIENDLY_SHARE, "%"));
        let [arc, new_reno, fair] = [arc, new_reno, fair].map(|kbit| number(kbit.round()));
        shown.push(format!("{rtt} s, p = {loss}: {arc}, {new_reno} ({fair})"));
    }
    compare(all, format!("kbit/s of ARC, NewReno (beside another NewReno): {}", shown.join("; ")))
}

//! The poster's four faults, each as a claim on DCCP without it, and each brought back.

use super::here::Here;
use super::plan::{RATE, RATES};
use super::variants::{
    CCID2, CCID3, INCONSISTENT, LINUX, LTP_CCID2, LTP_CCID3, LTP_PACED, LTP_UNPACED, PAIRS, PAUSES, SMALL,
    STUCK, TCP_SACK, Variant,
};
use crate::shared::parts::{NOT_RUN, compare, found};
use crate::shared::runs::Runs;
use crate::shared::words::{Claim, claim};
use lightlag_lab::report::{Compared, Finding, Met};
use lightlag_lab::results::Results;
use lightlag_lab::statistics::mean;

/// Goodput is TCP's within this many percent.
const ALIKE: f64 = 3.0;
/// Connections on one link differ by less than this percentage of their mean.
const SPREAD: f64 = 2.0;
/// A protocol whose goodput falls below this share of what it has at the link's rate collapses.
const COLLAPSES: f64 = 0.1;
/// Under control a protocol drops at most this share of what it drops without.
const DROPS_FEWER: f64 = 0.01;
/// Connections vary hugely from this coefficient of variation on, in percent.
const HUGE: f64 = 20.0;
/// The least margin of the timer beyond a round trip (RFC 6298, section 2, with the 200 ms of Linux), in seconds.
const TIMER_MARGIN_S: f64 = 0.2;
/// DCCP with a window, for which TCP has the same.
const WINDOWED: [Variant; 2] = [PAIRS[0].1, CCID2];

type Test = fn(&Results) -> Finding;

pub const CLAIMS: &[Claim<Test>] = &[
    claim("D1", throughput as Test).or(&[
        (LITTLE_LOSS, |results| as_tcp(Here::satellite(results, 1e-4))),
        (MUCH_LOSS, |results| as_tcp(Here::satellite(results, 1e-3))),
        (SMALL_WINDOWS, |results| as_tcp(Here::narrow(results))),
        (SILENCED, |results| as_tcp(Here::silence(results))),
    ]),
    claim("D2", (|results| spread(Here::satellite(results, 0.0))) as Test).or(&[
        (LITTLE_LOSS, |results| spread(Here::satellite(results, 1e-4))),
        (MUCH_LOSS, |results| spread(Here::satellite(results, 1e-3))),
        (SMALL_WINDOWS, |results| spread(Here::narrow(results))),
    ]),
    claim("D3", (|results| pauses(Here::satellite(results, 0.0))) as Test).or(&[
        (LITTLE_LOSS, |results| pauses(Here::satellite(results, 1e-4))),
        (MUCH_LOSS, |results| pauses(Here::satellite(results, 1e-3))),
        (SMALL_WINDOWS, |results| pauses(Here::narrow(results))),
    ]),
    claim("D4", (|results| answers(Here::satellite(results, 0.0))) as Test).or(&[
        (LITTLE_LOSS, |results| answers(Here::satellite(results, 1e-4))),
        (MUCH_LOSS, |results| answers(Here::satellite(results, 1e-3))),
        (SMALL_WINDOWS, |results| answers(Here::narrow(results))),
        (SILENCED, |results| answers(Here::silence(results))),
    ]),
    claim("D5", stuck),
    claim("D6", waiting),
    claim("D7", |results| inconsistent(Here::satellite(results, 0.0))),
    claim("D8", |results| small(Here::satellite(results, 0.0))),
    claim("D13", collapses),
    claim("D15", controlled),
    claim("D14", (|results| huge_variations(Here::satellite(results, 0.0))) as Test)
        .or(&[(SMALL_WINDOWS, |results| huge_variations(Here::narrow(results)))]),
    claim("D9", throughput_on_sockets),
    claim("D10", |results| spread(Here::sockets(results))),
    claim("D11", |results| pauses(Here::sockets(results))),
    claim("D12", |results| answers(Here::sockets(results))),
];

/// Names of the readings.
const LITTLE_LOSS: &str = "0.01 % lost at random";
const MUCH_LOSS: &str = "0.1 % lost at random";
const SMALL_WINDOWS: &str = "small windows";
const SILENCED: &str = "silent for 5 s once";

fn throughput(results: &Results) -> Finding {
    let links = Runs::of(results, RATES).numbers(RATE).into_iter();
    let links = links.map(|rate| (format!("{rate} Mbit/s"), Here::rate(results, rate)));
    let satellite = ("the satellite".to_owned(), Here::satellite(results, 0.0));
    let each: Vec<(String, f64)> = links
        .chain([satellite])
        .flat_map(|(link, here)| {
            PAIRS
                .iter()
                .filter_map(move |pair| Some((format!("{} on {link}", pair.1.name), here.beyond(*pair)?)))
        })
        .collect();
    let all: Vec<Compared> = each.iter().map(|(what, beyond)| near_tcp(what, *beyond)).collect();
    let outside = all.iter().filter(|alike| !alike.is_met()).count();
    let by_size = |one: &&(String, f64), other: &&(String, f64)| one.1.abs().total_cmp(&other.1.abs());
    let worst = each
        .iter()
        .max_by(by_size)
        .map_or(String::new(), |(what, beyond)| format!("; farthest from it {what}: {beyond:+.1} %"));
    let described = format!("{outside} of {} outside{worst}", all.len());
    compare(all, described)
}

fn as_tcp(here: Here<'_>) -> Finding {
    alike(&PAIRS.iter().filter_map(|pair| Some((pair.1.name, here.beyond(*pair)?))).collect::<Vec<_>>())
}

fn throughput_on_sockets(results: &Results) -> Finding {
    let (world, sockets) = (Here::satellite(results, 0.0), Here::sockets(results));
    let beyond = |(tcp, dccp): &(Variant, Variant)| {
        Some((dccp.name, 100.0 * (sockets.goodput(*dccp)? / world.goodput(*tcp)? - 1.0)))
    };
    alike(&PAIRS.iter().filter_map(beyond).collect::<Vec<_>>())
}

/// Goodputs of DCCP beyond those of TCP, in percent.
fn alike(each: &[(&str, f64)]) -> Finding {
    let described: Vec<String> = each.iter().map(|(_, beyond)| format!("{beyond:+.1} %")).collect();
    compare(each.iter().map(|(name, beyond)| near_tcp(name, *beyond)).collect(), described.join(", "))
}

fn near_tcp(what: &str, beyond: f64) -> Compared {
    Compared::within(what, beyond, (Some(-ALIKE), Some(ALIKE)), "%")
}

fn spread(here: Here<'_>) -> Finding {
    let described =
        |variant: Variant| Some((variant.name, here.variation(variant)?, here.goodputs(variant).len()));
    let each: Vec<_> = [WINDOWED[0], CCID2, CCID3].into_iter().filter_map(described).collect();
    let all = each
        .iter()
        .map(|(name, variation, _)| {
            Compared::at_most(*name, *variation, SPREAD, "%").found(Met::from_so(*variation < SPREAD))
        })
        .collect();
    let mut shown: Vec<String> = each
        .iter()
        .map(|(name, variation, count)| format!("{variation:.2} % over {count} of {name}"))
        .collect();
    shown.extend(here.variation(TCP_SACK).map(|variation| format!("{variation:.2} % of {}", TCP_SACK.name)));
    compare(all, shown.join(", "))
}

fn pauses(here: Here<'_>) -> Finding {
    let (mut all, mut shown, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    for variant in [WINDOWED[0], CCID2, CCID3] {
        let (Some(longest), Some(rtt)) =
            (here.most(variant, "longest_pause_s"), here.most(variant, "rtt_most_s"))
        else {
            continue;
        };
        all.push(longest <= rtt + TIMER_MARGIN_S);
        dots.push(Compared::at_most(variant.name, longest, rtt + TIMER_MARGIN_S, "s"));
        let mut described =
            format!("{}: longest {longest:.2} s at round trips up to {rtt:.2} s", variant.name);
        // The packets of a rate wait for their own time, not for acknowledgements.
        if variant != CCID3 {
            let by_timer = here.sum(variant, "pauses_by_timer");
            all.push(by_timer == 0.0);
            described += &format!(", {by_timer} ended by timers");
        }
        shown.push(described);
    }
    found(&all, shown.join("; ")).comparing(dots)
}

/// Losses that were answered once, more often, and not, of all connections.
fn answered(here: Here<'_>, variant: Variant) -> [f64; 3] {
    ["answered_once", "answered_more", "answered_not"].map(|metric| here.sum(variant, metric))
}

fn told_answers(here: Here<'_>, variant: Variant) -> String {
    let [once, more, not] = answered(here, variant);
    let judged = once + more + not;
    let [lost, dropped, randomly] =
        ["lost", "packets_dropped", "packets_lost"].map(|metric| here.sum(variant, metric));
    format!(
        "{}: {once} of {judged} windows with losses answered once, {more} more often, {not} not; {lost} packets found \
         lost of {} that the link dropped, those of the traffic beside included",
        variant.name,
        dropped + randomly
    )
}

fn answers(here: Here<'_>) -> Finding {
    let judged = |variant: &Variant| answered(here, *variant).iter().sum::<f64>() > 0.0;
    let those: Vec<Variant> = WINDOWED.into_iter().filter(judged).collect();
    let all: Vec<bool> = those.iter().map(|variant| answered(here, *variant)[1..] == [0.0, 0.0]).collect();
    found(&all, those.iter().map(|variant| told_answers(here, *variant)).collect::<Vec<_>>().join("; "))
}

fn stuck(results: &Results) -> Finding {
    let here = Here::silence(results);
    let (Some(stuck), Some(ours), Some(tcp)) =
        (here.goodput(STUCK), here.goodput(CCID2), here.goodput(TCP_SACK))
    else {
        return Finding::untestable(NOT_RUN);
    };
    let alone = |variant| 100.0 * mean(&here.each(variant, "alone")).unwrap_or(f64::NAN);
    let described = format!(
        "{stuck:.3} Mbit/s on the poster's link, which was silent for 5 s once; without the fault {ours:.2}, TCP {tcp:.2}; \
         {:.0} % of the packets left while no other was in flight, without the fault {:.1} %",
        alone(STUCK),
        alone(CCID2)
    );
    let dots = vec![Compared::at_most("stuck window", stuck, ours / 2.0, "Mbit/s")];
    found(&[stuck < ours / 2.0, alone(STUCK) > 50.0], described).comparing(dots)
}

fn waiting(results: &Results) -> Finding {
    let here = Here::silence(results);
    let [faulty, ours, tcp] = [PAUSES, CCID2, PAIRS[1].0].map(|variant| here.sum(variant, "pauses_by_timer"));
    let count = here.goodputs(PAUSES).len();
    if count == 0 {
        return Finding::untestable(NOT_RUN);
    }
    let variation = |variant| here.variation(variant).unwrap_or(f64::NAN);
    let described = format!(
        "{faulty} pauses until a timer in {count} connections on the poster's link, which was silent for 5 s once; \
         their goodputs vary by {:.1} %; without the fault {ours} and {:.1} %, over TCP {tcp}",
        variation(PAUSES),
        variation(CCID2)
    );
    let bound = 10.0 * ours.max(1.0);
    let dot =
        Compared::at_least("pauses until a timer", faulty, bound, "").found(Met::from_so(faulty > bound));
    compare(vec![dot], described)
}

fn inconsistent(here: Here<'_>) -> Finding {
    let [once, more, not] = answered(here, INCONSISTENT);
    if once + more + not == 0.0 {
        return Finding::untestable("nothing was lost");
    }
    found(&[more + not > 0.0], told_answers(here, INCONSISTENT))
}

fn small(here: Here<'_>) -> Finding {
    let [faulty, ours] = [SMALL, CCID2].map(|variant| here.sum(variant, "pauses_by_timer"));
    let count = here.goodputs(SMALL).len();
    if count == 0 {
        return Finding::untestable(NOT_RUN);
    }
    let variation = here.variation(SMALL).unwrap_or(f64::NAN);
    let described = format!(
        "{faulty} pauses ended by timers in {count} connections, {ours} without the fault; their goodputs vary by {variation:.2} %"
    );
    found(&[faulty > 0.0 && ours == 0.0], described)
}

/// LTP over UDP, at the rate of the link and far beyond it.
fn collapses(results: &Results) -> Finding {
    let here = Here::collapse(results);
    let (Some(paced), Some(unpaced)) = (here.goodput(LTP_PACED), here.goodput(LTP_UNPACED)) else {
        return Finding::untestable(NOT_RUN);
    };
    let beside = |variant| here.average(variant, "delivered_beside").unwrap_or(f64::NAN) / 1e3;
    let finding = format!(
        "{unpaced:.3} Mbit/s of LTP over UDP sent at 100 Mbit/s, {paced:.2} at the 1.5 Mbit/s of the link; the traffic beside \
         delivers {:.0} kB and {:.0} kB",
        beside(LTP_UNPACED),
        beside(LTP_PACED)
    );
    let bound = COLLAPSES * paced;
    let dot = Compared::at_most("sent at 100 Mbit/s", unpaced, bound, "Mbit/s")
        .found(Met::from_so(unpaced < bound));
    compare(vec![dot], finding)
}

/// LTP over DCCP beside LTP over UDP that nothing controls.
fn controlled(results: &Results) -> Finding {
    let here = Here::collapse(results);
    let described = |variant: Variant| {
        let of = |metric| here.average(variant, metric);
        Some((here.goodput(variant)?, [of("sent_of_one")?, of("repaired_of_one")?, of("packets_dropped")?]))
    };
    let (Some(unpaced), Some(two), Some(three)) =
        (described(LTP_UNPACED), described(LTP_CCID2), described(LTP_CCID3))
    else {
        return Finding::untestable(NOT_RUN);
    };
    let keeps = |one: &(f64, [f64; 3])| [one.0 >= unpaced.0, one.1[2] <= DROPS_FEWER * unpaced.1[2]];
    let shown = |variant: Variant, (goodput, [sent, repaired, dropped]): &(f64, [f64; 3])| {
        format!(
            "{}: {goodput:.3} Mbit/s, {sent:.0} segments sent, {repaired:.0} of them repairs, {dropped:.0} packets dropped",
            variant.name
        )
    };
    let finding = [shown(LTP_CCID2, &two), shown(LTP_CCID3, &three), shown(LTP_UNPACED, &unpaced)].join("; ");
    let dots = [("ccid2", &two), ("ccid3", &three)].map(|(name, one)| {
        let share = 100.0 * one.1[2] / unpaced.1[2];
        Compared::at_most(format!("drops of {name}, of those unpaced"), share, 100.0 * DROPS_FEWER, "%")
    });
    found(&[keeps(&two), keeps(&three)].concat(), finding).comparing(dots.into())
}

/// DCCP as Linux had it, with all faults at once.
fn huge_variations(here: Here<'_>) -> Finding {
    let (Some(goodput), Some(variation)) = (here.goodput(LINUX), here.variation(LINUX)) else {
        return Finding::untestable(NOT_RUN);
    };
    let finding = format!(
        "{goodput:.2} Mbit/s and a coefficient of variation of {variation:.1} % over {} connections with all four faults",
        here.goodputs(LINUX).len()
    );
    compare(vec![Compared::at_least("coefficient of variation", variation, HUGE, "%")], finding)
}

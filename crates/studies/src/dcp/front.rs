//! The first screen: DCP on the paper's path, and all controllers over jitter.

use super::plan::{JITTER, OVER_JITTER, SINGLE, SOME_JITTER_MS};
use super::reference::CEILING;
use super::variants::{ALL, DCP, DCP_SLOW_START, LEDBAT, OURS, TCP_LIKE, sets};
use super::{DROPS, GOODPUT, JAIN, QUEUEING, TIMEOUTS};
use crate::Error;
use crate::shared::front::{Shown, first_screen, side_by_side};
use crate::shared::points::scenario;
use crate::shared::runs::{Runs, least};
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::{Results, interval_text};
use lightlag_lab::statistics::Estimate;

/// Goodput within this share of the best is as good.
const AS_GOOD: f64 = 0.98;
/// Goodputs that the paper prints, in Mbit/s.
const PRINTED: [f64; 2] = [9.3, 8.7];

/// Goodput in Mbit/s, median queueing delay in milliseconds, drops and timeouts on the paper's path.
fn single(results: &Results, variant: &str) -> Option<[f64; 4]> {
    let mean = |of: super::Number| of.mean(results, "single", variant, &[]);
    Some([mean(GOODPUT[0])?, mean(QUEUEING)?, mean(DROPS[0])?, mean(TIMEOUTS)?])
}

/// The one with the least queueing delay of those that get about as much as the best.
fn shortest(results: &Results) -> Option<(&'static str, [f64; 4])> {
    let all: Vec<(&str, [f64; 4])> =
        ALL.iter().filter_map(|name| Some((*name, single(results, name)?))).collect();
    let most = all.iter().map(|one| one.1[0]).fold(0.0, f64::max);
    let good = all.into_iter().filter(|one| one.1[0] >= AS_GOOD * most);
    good.min_by(|one, other| one.1[1].total_cmp(&other.1[1]))
}

/// The least Jain index of two of a kind, whenever the second starts.
fn fairness(results: &Results, variant: &str) -> Option<f64> {
    least(&JAIN.each(results, "start", variant, &[]))
}

/// The most jitter that was run, and the goodput there.
fn at_most_jitter(results: &Results, variant: &str) -> Option<(f64, Estimate)> {
    let jitter = *Runs::of(results, "jitter").numbers(JITTER).last()?;
    Some((jitter, GOODPUT[0].of(results, "jitter", variant, &[(JITTER, jitter)])?))
}

/// The first screen.
pub fn front(results: &Results) -> Front {
    let (dcp, tcp, short) = (single(results, DCP), single(results, TCP_LIKE), shortest(results));
    let met = dcp.zip(tcp).map(|(dcp, tcp)| {
        format!(
            "DCP gets {:.2} Mbit/s of at most {CEILING:.2} on the paper's path, with {} drops and {} timeouts; the paper's TCP-like \
             protocol gets {:.2} with {} drops (the paper has {} and {}; runs without jitter are all alike).",
            dcp[0], dcp[2], dcp[3], tcp[0], tcp[2], PRINTED[0], PRINTED[1]
        )
    });
    let won = short.zip(dcp).map(|((name, best), dcp)| {
        format!(
            "Of {} controllers {name} keeps the shortest queue at full goodput: {:.2} Mbit/s with a median queueing delay of {:.1} ms, \
             where DCP has {:.1} ms.",
            ALL.len(),
            best[0],
            best[1],
            dcp[1]
        )
    });
    let limits = at_most_jitter(results, DCP).zip(at_most_jitter(results, OURS)).map(|((jitter, dcp), (_, ours))| {
        format!(
            "What limits DCP is jitter, which it takes for another site: {} Mbit/s where every link delays packets by up to {jitter} ms \
             ({OURS} {}).",
            interval_text(Some(dcp)),
            interval_text(Some(ours))
        )
    });
    let goodput = |title: &str, value: f64| {
        Measure::new(title, format!("{value:.2} Mbit/s"), format!("limit {CEILING:.2} Mbit/s"))
            .of_bound(value / CEILING)
    };
    let measures = [
        dcp.map(|dcp| goodput("goodput of DCP", dcp[0])),
        dcp.map(|dcp| {
            Measure::new("median queueing delay of DCP", format!("{:.1} ms", dcp[1]), "target 50 ms")
                .of_bound(dcp[1] / 50.0)
        }),
        short.map(|(name, best)| goodput(&format!("goodput of {name}"), best[0])),
        short.map(|(name, best)| {
            Measure::new(
                format!("median queueing delay of {name}"),
                format!("{:.1} ms", best[1]),
                "claimed at most 5 ms",
            )
        }),
        fairness(results, DCP_SLOW_START).map(|jain| {
            Measure::new("least Jain index of two DCP", format!("{jain:.2}"), "claimed at least 0.95")
                .of_bound(jain)
        }),
    ];
    first_screen([met, won, limits], measures, map(results))
}

fn map(results: &Results) -> Option<HeatMap> {
    let caption =
        format!("Mbit/s of one consumer, of at most {CEILING:.2}; every link delays packets by up to this.");
    let words = ("Goodput over jitter", caption.as_str());
    let mut map = HeatMap::new(words, ["controller", "jitter"], Colours::UpTo(CEILING));
    for variant in OVER_JITTER {
        for jitter in Runs::of(results, "jitter").numbers(JITTER) {
            let Some(value) = GOODPUT[0].of(results, "jitter", variant, &[(JITTER, jitter)]) else {
                continue;
            };
            let note = format!("{variant} at {jitter} ms: {} Mbit/s", interval_text(Some(value)));
            map.add(variant, &format!("{jitter} ms"), value.mean, &note);
        }
    }
    map.drawn()
}

/// Runs to look at: DCP beside what the paper calls TCP, and the latecomer's advantage.
pub fn views() -> Result<Vec<Shown>, Error> {
    let single = |variant| {
        let short = [("duration", "20 s".to_owned())];
        scenario(SINGLE, sets(variant, 60).into_iter().chain(short))
    };
    let words = [
        "view.html",
        "DCP beside the paper's TCP-like protocol",
        "Section VI-A, the first 20 s: one fills the queue to its target and stays there, the other overflows it and starts again.",
    ];
    let shared = |variant| {
        let short = [("duration", "30 s".to_owned()), ("measure_from", "20 s".to_owned())];
        let jitter = [("jitter", format!("{SOME_JITTER_MS} ms"))];
        scenario("dcp_two_flows.toml", sets(variant, 120).into_iter().chain(short).chain(jitter))
    };
    let loss = [
        "view_late.html",
        "The latecomer's advantage: two of LEDBAT, and two of short_queue",
        "The first 30 s, the second flow from 20 s on. It takes the queue of the first for the empty path, and pushes it out; with short_queue both share.",
    ];
    Ok(vec![
        side_by_side(words, [(DCP, single(DCP)?), (TCP_LIKE, single(TCP_LIKE)?)])?,
        side_by_side(loss, [("two of ledbat", shared(LEDBAT)?), ("two of short_queue", shared(OURS)?)])?,
    ])
}

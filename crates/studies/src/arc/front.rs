//! The first screen: goodput over round-trip times, and what ARC costs TCP.

use super::plan::{ARC, ARC_READINGS, PAPER_TCPS, RTT, variants};
use super::{friendliness, goodput, limit};
use crate::Error;
use crate::shared::front::{Shown, first_screen, percent, side_by_side};
use crate::shared::points::scenario;
use crate::shared::runs::Runs;
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::{Results, interval_text, number};
use lightlag_lab::statistics::Estimate;

/// Loss and file of figure 3.
const LOSS: f64 = 1e-3;
const FILE: f64 = 1e9;
/// The round-trip time that is spoken of: of a planet, where TCP has long broken down.
const FAR_S: f64 = 200.0;
/// The round-trip time at which a TCP beside ARC is spoken of.
const NEAR_S: f64 = 1.0;

fn at(results: &Results, variant: &'static str) -> Option<(&'static str, Estimate)> {
    Some((variant, goodput(results, "figure_3", variant, &[(RTT, FAR_S)])?))
}

fn best(results: &Results, of: impl IntoIterator<Item = &'static str>) -> Option<(&'static str, Estimate)> {
    let all = of.into_iter().filter_map(|variant| at(results, variant));
    all.max_by(|one, other| one.1.mean.total_cmp(&other.1.mean))
}

/// Of a NewReno beside ARC: its share of what it has beside another NewReno.
fn beside(results: &Results) -> Option<f64> {
    let all = friendliness(results);
    let near = all.iter().find(|(rtt, loss, _)| *rtt == NEAR_S && *loss == 0.0)?;
    Some(near.2[1] / near.2[2])
}

/// The first screen.
pub fn front(results: &Results) -> Front {
    let limit = limit(FAR_S, LOSS, FILE);
    let (arc, tcp, all) = (at(results, ARC), best(results, PAPER_TCPS), best(results, variants()));
    let kbit = |value: Estimate| format!("{} kbit/s", interval_text(Some(value)));
    let won = arc.zip(tcp).map(|((_, arc), (name, tcp))| {
        // Of ratios of two means with wide intervals only the end that is sure says something.
        let least = arc.low().zip(tcp.high()).map(|(low, high)| format!(" ({} at least)", number((low / high).floor())));
        format!(
            "At a round trip of {FAR_S} s ARC delivers {}, {} times as much{} as the best of the paper's TCPs ({name}: {}).",
            kbit(arc),
            number((arc.mean / tcp.mean).round()),
            least.unwrap_or_default(),
            kbit(tcp)
        )
    });
    let most = all.zip(arc).map(|((name, most), (_, arc))| {
        format!(
            "The most there has {name}: {}, {} of the limit; ARC has {} of it.",
            kbit(most),
            percent(most.mean / limit),
            percent(arc.mean / limit)
        )
    });
    let unfiltered = at(results, ARC_READINGS[2]);
    let limits = unfiltered.zip(beside(results)).map(|((_, unfiltered), beside)| {
        format!(
            "What limits ARC is its filter of the bandwidth, which begins at zero (from the first sample {}); and a NewReno beside it gets \
             {} of what it gets beside its like (round trip {NEAR_S} s).",
            kbit(unfiltered),
            percent(beside)
        )
    });
    let tile = |title: String, value: Estimate| {
        let beside = format!("of at most {} kbit/s", number(limit.round()));
        Measure::new(title, kbit(value), beside).of_bound(value.mean / limit)
    };
    let measures = [
        arc.map(|(_, value)| tile(format!("ARC at {FAR_S} s"), value)),
        tcp.map(|(name, value)| tile(format!("best TCP at {FAR_S} s: {name}"), value)),
        all.map(|(name, value)| tile(format!("best of all at {FAR_S} s: {name}"), value)),
        beside(results).map(|share| {
            Measure::new("NewReno beside ARC", percent(share), "of its goodput beside NewReno; claimed 50 %")
                .of_bound(share)
        }),
    ];
    first_screen([won, most, limits], measures, map(results))
}

fn map(results: &Results) -> Option<HeatMap> {
    let words = (
        "Share of the limit over the round-trip time",
        "p = 0.001, 1 GB: the rows of figure 3, means over seeds.",
    );
    let mut map = HeatMap::new(words, ["controller", "round trip"], Colours::UpTo(1.0));
    for variant in variants() {
        for rtt in Runs::of(results, "figure_3").numbers(RTT) {
            let Some(value) = goodput(results, "figure_3", variant, &[(RTT, rtt)]) else { continue };
            let note = format!("{variant} at {rtt} s: {} kbit/s", interval_text(Some(value)));
            map.add(variant, &format!("{rtt} s"), value.mean / limit(rtt, LOSS, FILE), &note);
        }
    }
    map.drawn()
}

/// Runs to look at: files, which are short, and ARC beside a NewReno.
pub fn views() -> Result<Vec<Shown>, Error> {
    let file = |controller: &str| {
        let sets =
            [("rtt", "20 s"), ("file_size", "3 MB"), ("time_limit", "100000 s"), ("controller", controller)];
        scenario("arc_link.toml", sets)
    };
    let words = [
        "view.html",
        "ARC beside TCP-Planet at a round trip of 20 s",
        "A file of 3 MB as in figure 5: ARC searches for the rate in a few round trips and then grows slowly.",
    ];
    let beside = |controller: &str| {
        let sets = [
            ("rtt", "1 s"),
            ("loss", "0"),
            ("transport", "tcp"),
            ("controller", controller),
            ("beside", "new_reno"),
            ("time_limit", "300 s"),
        ];
        scenario("arc_beside.toml", sets)
    };
    let loss = [
        "view_beside.html",
        "What a NewReno loses beside ARC, and beside its like",
        "Round trip of 1 s, no random loss, the first 300 s of the runs of claim A10.",
    ];
    Ok(vec![
        side_by_side(words, [(ARC, file(ARC)?), ("tcp_planet", file("tcp_planet")?)])?,
        side_by_side(
            loss,
            [("new_reno beside arc", beside(ARC)?), ("new_reno beside new_reno", beside("new_reno")?)],
        )?,
    ])
}

//! The first screen: what swapping delivers in both scenarios, and how far that is from the limit.

use super::plan::{ORACLE, PLAIN, POLICY, SCENARIOS, TCP_2008, VARIANTS, sets};
use super::{limit, lost, mean, on_curves};
use crate::Error;
use crate::shared::front::{Shown, first_screen, percent, side_by_side};
use crate::shared::points::scenario;
use crate::shared::runs::least;
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::{Results, interval_text};
use lightlag_lab::statistics;

/// What the scenarios are called.
const NAMES: [&str; 2] = ["short delays", "long delays"];

/// The first screen.
pub fn front(results: &Results) -> Front {
    let of = |which: usize, variant| mean(results, SCENARIOS[which].0, variant);
    let gain = |which: usize| {
        let (policy, tcp) = (of(which, POLICY)?, of(which, TCP_2008)?);
        let more = percent(policy.mean / tcp.mean - 1.0);
        Some(format!(
            "{} packets where the paper has {} ({more} more than TCP as of 2008)",
            interval_text(Some(policy)),
            NAMES[which]
        ))
    };
    let won = gain(0).zip(gain(1)).map(|(short, long)| {
        format!(
            "Connections that move by the policy deliver, in order and without loss, {short}, and {long}. UDP alone fills the link, but \
             what it loses stays lost."
        )
    });
    let shares: Vec<f64> = on_curves(results).iter().map(|(_, oracle, policy, _)| policy / oracle).collect();
    let oracle = statistics::mean(&shares).zip(least(&shares)).map(|(mean, worst)| {
        format!(
            "On {} delay curves that were drawn the policy delivers {} of what an oracle does on average, {} on the worst.",
            shares.len(),
            percent(mean),
            percent(worst)
        )
    });
    let worst = on_curves(results).iter().map(|(_, _, policy, limit)| policy / limit).reduce(f64::min);
    let lossy = lost(results, SCENARIOS[1].0, PLAIN);
    let limits = worst.zip(lossy).map(|(worst, lossy)| {
        format!(
            "What limits it is a sudden rise of the delay, during which only probes are sent: {} of the limit on the worst curve. \
             Swapping to plain UDP, as in the paper, loses {:.0} packets where delays are long.",
            percent(worst),
            lossy.mean
        )
    });
    let tile = |which: usize| {
        let (value, limit) = (of(which, POLICY)?, limit(SCENARIOS[which].0));
        let beside = format!("packets; limit {limit:.0}");
        let title = format!("policy, {}", NAMES[which]);
        Some(Measure::new(title, interval_text(Some(value)), beside).of_bound(value.mean / limit))
    };
    let share = |title: &str, share: Option<f64>| {
        share.map(|share| {
            let beside = if share >= 0.95 {
                "of the oracle; claimed 95 %"
            } else {
                "of the oracle; below the 95 % claimed"
            };
            Measure::new(title, percent(share), beside).of_bound(share.min(1.0))
        })
    };
    let measures = [
        tile(0),
        tile(1),
        share("drawn curves, mean", statistics::mean(&shares)),
        share("drawn curves, worst", least(&shares)),
    ];
    first_screen([won, oracle, limits], measures, map(results))
}

fn map(results: &Results) -> Option<HeatMap> {
    let words =
        ("Share of the limit", "Packets delivered of those that a sender could deliver that knows the link.");
    let mut map = HeatMap::new(words, ["transport", "scenario"], Colours::UpTo(1.0));
    for variant in VARIANTS {
        for (which, (figure, _)) in SCENARIOS.iter().enumerate() {
            let Some(value) = mean(results, figure, variant) else { continue };
            let note = format!("{variant}, {}: {} packets", NAMES[which], interval_text(Some(value)));
            map.add(variant, NAMES[which], value.mean / limit(figure), &note);
        }
    }
    map.drawn()
}

/// Runs to look at: the policy beside TCP, and beside the oracle where delays are long.
pub fn views() -> Result<Vec<Shown>, Error> {
    let of = |which: usize, variant| scenario(SCENARIOS[which].1, sets(variant));
    let words = [
        "view.html",
        "TCP as of 2008 beside a connection that moves",
        "Short delays: while the delay is 5 s, TCP crawls, and the policy sends datagrams.",
    ];
    let loss = [
        "view_long.html",
        "The policy beside the oracle, with delays of two minutes",
        "After the rise nothing arrives for two delays, and only probes are sent: what the policy loses to the oracle.",
    ];
    Ok(vec![
        side_by_side(words, [(TCP_2008, of(0, TCP_2008)?), (POLICY, of(0, POLICY)?)])?,
        side_by_side(loss, [(POLICY, of(1, POLICY)?), (ORACLE, of(1, ORACLE)?)])?,
    ])
}

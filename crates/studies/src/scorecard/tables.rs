//! Tables: each has every measure.

use super::controllers::{CONTESTANTS, Contestant};
use super::measures::{BACK, DROPPED, JAIN, QUEUE_P50, QUEUE_P95, REPAIRED, SENT, SETTLE, SHARE};
use super::names;
use super::space::{AXES, Company, Network, QueueKind, Traffic};
use super::standing::{Pace, Standing, quantile};
use super::text::{describe, short};
use crate::shared::charts::{NONE, row, table};
use lightlag_lab::report::Table;

/// Heads of the measures of one run.
pub const MEASURES: [&str; 11] = [
    "share of the limit",
    "sent",
    "dropped %",
    "repaired %",
    "queue p50",
    "queue p95",
    "settles",
    "Jain",
    "harm %",
    "return %",
    "limits",
];
const CAPTION: &str = "Share of the limit after the first search; packets sent (of names Interests); shares of them that queues dropped and that repair \
                       others; queueing delay and time to 80 % of the share after a change in rounds (a round is the longest RTT, \
                       at least ten packets); Jain's index of flows of its kind; what flows of TCP beside it lose compared to \
                       CUBIC in its place; bytes on the return path per byte sent.";

fn shown(value: Option<f64>, scale: f64) -> String {
    value.map_or(NONE.to_owned(), |value| short(scale * value))
}

/// All measures of one run, as cells.
fn measured(standing: &Standing<'_>) -> Vec<String> {
    let of = |name, scale| shown(standing.metric(name), scale);
    vec![
        of(SHARE, 1.0),
        of(SENT, 1.0),
        of(DROPPED, 100.0),
        of(REPAIRED, 100.0),
        of(QUEUE_P50, 1.0),
        of(QUEUE_P95, 1.0),
        of(SETTLE, 1.0),
        of(JAIN, 1.0),
        shown(standing.harm, 100.0),
        of(BACK, 100.0),
        if standing.keeps() { "kept" } else { "broken" }.to_owned(),
    ]
}

/// Names in the order of their first run.
pub fn controllers<'a>(standings: &[Standing<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for standing in standings {
        if !names.contains(&standing.controller) {
            names.push(standing.controller);
        }
    }
    names
}

/// All controllers side by side.
pub fn side_by_side(standings: &[Standing<'_>], count: usize) -> Table {
    let rows = controllers(standings).into_iter().map(|name| summary(name, standings)).collect();
    let head = ["controller", "transport", "networks", "limits kept %", "far off %"]
        .into_iter()
        .chain(MEASURES[..10].iter().copied());
    let words = (
        "All controllers side by side",
        &*format!(
            "{CAPTION} Medians over the networks; of the share and of Jain's index with the tenth percentile, of drops and of harm \
             the mean with the largest. Limits: a share of at least 0.7 where nothing changes and 0.5 where it changes slower than \
             ten rounds, less than 5 % dropped. Far off: a share below 0.3, or more than 20 % dropped. {}",
            left_out(standings, count).unwrap_or_default()
        ),
    );
    table(words, head, rows)
}

fn contestant(name: &str) -> Option<&'static Contestant> {
    CONTESTANTS.iter().find(|row| row.name == name)
}

/// How many of all networks the world of names cannot express, and why; `None` where no consumer of names ran.
pub fn left_out(standings: &[Standing<'_>], count: usize) -> Option<String> {
    let names = controllers(standings);
    let of_names = names.into_iter().find(|name| contestant(name).is_some_and(Contestant::is_of_names))?;
    let drawn = standings.iter().filter(|standing| standing.controller == of_names).count();
    let out = count.saturating_sub(drawn);
    Some(format!(
        "{out} networks cannot be drawn in the world of names, because in them {}, and it has no TCP: consumers of names are \
         judged in the other {drawn}.",
        names::BESIDE_TCP,
    ))
}

fn summary(name: &str, standings: &[Standing<'_>]) -> Vec<String> {
    let all: Vec<&Standing<'_>> = standings.iter().filter(|standing| standing.controller == name).collect();
    let share_of = |count: usize, of: usize| format!("{:.0}", 100.0 * count as f64 / of.max(1) as f64);
    let each = |name: &'static str| all.iter().filter_map(move |standing| standing.metric(name));
    let median = |name, scale| shown(quantile(each(name), 0.5), scale);
    let low = |name| format!("{} ({})", median(name, 1.0), shown(quantile(each(name), 0.1), 1.0));
    let worst = |values: Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let most = values.iter().copied().reduce(f64::max);
        most.map_or(NONE.to_owned(), |most| format!("{} ({})", short(100.0 * mean), short(100.0 * most)))
    };
    let cells = [
        all.len().to_string(),
        share_of(all.iter().filter(|standing| standing.keeps()).count(), all.len()),
        share_of(all.iter().filter(|standing| standing.is_bad()).count(), all.len()),
        low(SHARE),
        median(SENT, 1.0),
        worst(each(DROPPED).collect()),
        median(REPAIRED, 100.0),
        median(QUEUE_P50, 1.0),
        median(QUEUE_P95, 1.0),
        median(SETTLE, 1.0),
        low(JAIN),
        worst(all.iter().filter_map(|standing| standing.harm).collect()),
        median(BACK, 100.0),
    ];
    let transport = contestant(name).map_or(NONE, |row| row.transport);
    row([name, transport], cells)
}

/// The worst networks, each with its file.
pub fn worst(standings: &[&Standing<'_>], files: &[String]) -> Table {
    let one = |(standing, file): (&&Standing<'_>, &String)| {
        let names = [standing.controller, file.as_str()];
        row(names, measured(standing).into_iter().chain([describe(&standing.network)]))
    };
    let rows = standings.iter().zip(files).map(one).collect();
    let head = ["controller", "scenario"].into_iter().chain(MEASURES).chain(["network"]);
    table(
        (
            "The worst ten networks",
            &*format!("Least share after dropped packets and harm, of each controller by turns. {CAPTION}"),
        ),
        head,
        rows,
    )
}

/// A property of networks.
type Has = fn(&Network) -> bool;

/// What a network has, beside rate, RTT and queue.
pub const PROPERTIES: &[(&str, Has)] = &[
    ("constant", |network| Pace::of(network) == Pace::Constant),
    ("slow changes", |network| Pace::of(network) == Pace::Slow),
    ("fast changes", |network| Pace::of(network) == Pace::Fast),
    ("changing rate", |network| network.rate_change.is_some()),
    ("changing delay", |network| network.delay_change.is_some()),
    ("outages", |network| network.outages.is_some()),
    ("random loss above 0.1 %", |network| {
        network.loss.is_some_and(|loss| loss.burst.is_none() && loss.share > 1e-3)
    }),
    ("bursts of loss", |network| network.loss.is_some_and(|loss| loss.burst.is_some())),
    ("jitter", |network| network.jitter_s > 0.0),
    ("reordering", |network| network.reorder > 0.0),
    ("duplicates", |network| network.duplicate > 0.0),
    ("return rate below 1:30", |network| network.return_ratio > 30.0),
    ("queue below half a BDP", |network| {
        network.queue == QueueKind::DropTail && network.queue_packets < 0.5 * network.bdp_packets()
    }),
    ("queue above two BDP", |network| {
        network.queue == QueueKind::DropTail && network.queue_packets > 2.0 * network.bdp_packets()
    }),
    ("CoDel", |network| network.queue != QueueKind::DropTail),
    ("BDP below ten packets", |network| network.bdp_packets() < 10.0),
    ("BDP above 1000 packets", |network| network.bdp_packets() > 1000.0),
    ("RTT above 10 s", |network| network.rtt_s > 10.0),
    ("alone", |network| network.company == Company::Alone),
    ("beside its kind", |network| network.company == Company::Own),
    ("beside TCP", |network| matches!(network.company, Company::Tcp(_))),
    ("other RTTs", |network| network.others > 0 && network.others_rtt > 1.0),
    ("arrivals", |network| network.others > 0 && network.arrival != super::space::Arrival::Together),
    ("files", |network| network.traffic != Traffic::Endless),
    ("rate scaled down", |network| network.scaled > 1.0),
];

/// In which kind of network each keeps its limits.
pub fn where_kept(standings: &[Standing<'_>]) -> Table {
    let names = controllers(standings);
    let rows = PROPERTIES.iter().filter_map(|&(property, has)| {
        let count = standings.iter().filter(|one| one.controller == names[0] && has(&one.network)).count();
        let kept = |name: &&str| {
            kept(standings, name, has).map_or(NONE.to_owned(), |share| format!("{:.0}", 100.0 * share))
        };
        (count > 0).then(|| row([property, &count.to_string()], names.iter().map(kept)))
    });
    let caption = "Share of the networks with a property in which each keeps its limits, in per cent. A network may have several.";
    let head = ["network", "count"].into_iter().chain(names.iter().copied());
    table(("Where each keeps its limits", caption), head, rows.collect())
}

/// Share of the networks with a property in which a controller keeps its limits.
pub fn kept(standings: &[Standing<'_>], name: &str, has: Has) -> Option<f64> {
    let here = standings.iter().filter(|one| one.controller == name && has(&one.network));
    let (kept, all) = here.fold((0, 0), |(kept, all), one| (kept + usize::from(one.keeps()), all + 1));
    (all > 0).then(|| kept as f64 / all as f64)
}

/// The axes of the space.
pub fn space() -> Table {
    let rows = AXES.iter().map(|axis| row([axis.name, axis.range], []));
    let caption = "A Sobol sequence with Owen's scrambling spreads the networks over these axes.";
    table(("The space of networks", caption), ["axis", "values"], rows.collect())
}

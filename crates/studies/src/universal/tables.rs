//! The study's tables, and the sentences that open the report.

use super::cells::{Difference, Measure, Standing, text};
use super::claims::{best_single, contribution, is_behind, with_interval, worse};
use super::networks::{KINDS, named};
use super::plan::{self, DESCRIBED, DEVELOPMENT, FROZEN, JUDGEMENT};
use super::regret::{NEAR, Regret, ahead, described, everywhere, ours};
use super::treatments::{MECHANISM, PARTS, Role, in_networks};
use crate::shared::charts::{NONE, table};
use lightlag_lab::report::{ScenarioText, Table};
use lightlag_lab::results::number;
use lightlag_lab::statistics::mean;

/// Title of the table that is printed on a terminal.
pub const REGRETS: &str = "What is lost by not being the best mechanism of a network";

fn shown(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), number)
}

/// Every mechanism in all networks in which it can run.
pub fn regrets(all: &[Regret<'_, '_>]) -> Table {
    let caption = "Regret: the delivery ratio of the best real mechanism of a network minus that of this one, means over the seeds. \
                   Ours without a part and gbsd, which sees every copy in the network, are not among those; a regret \
                   below zero is better than all real ones. Bytes: those sent, with control messages, per byte delivered; \
                   median over the networks.";
    let head = [
        "mechanism",
        "networks",
        "delivery ratio",
        "mean regret",
        "95th percentile",
        "worst regret",
        "where",
        "bytes per byte",
        "within 0.01 of the best %",
    ];
    let row = |one: &Regret<'_, '_>| {
        let worst = one.worst();
        vec![
            one.name.to_owned(),
            one.cells.len().to_string(),
            number(one.ratio()),
            number(one.regret()),
            number(one.regret_p95()),
            shown(worst.map(|worst| worst.regret)),
            worst.map_or(NONE.to_owned(), |worst| described(worst.cell)),
            shown(one.bytes()),
            format!("{:.0}", 100.0 * one.near()),
        ]
    };
    table((REGRETS, caption), head, all.iter().map(row).collect())
}

/// Ours beside the best other of each network, kind by kind.
pub fn kinds(standings: &[Standing<'_>]) -> Table {
    let head = [
        "kind",
        "networks",
        "ours",
        "best other",
        "mean difference",
        "worst difference",
        "where",
        "worse by more than 0.01",
    ];
    let row = |kind: &str| {
        let here = || {
            let here = standings.iter().filter(move |one| one.cell.place() == kind);
            here.filter_map(|one| Some((one, one.by(Measure::Ratio)?)))
        };
        let mean_of =
            |of: fn(&Difference) -> f64| shown(mean(&here().map(|(_, found)| of(found)).collect::<Vec<_>>()));
        let (worst, found) = here().min_by(|one, other| one.1.mean.total_cmp(&other.1.mean))?;
        let behind = here().filter(|(_, found)| is_behind(found, NEAR)).count();
        Some(vec![
            kind.to_owned(),
            here().count().to_string(),
            mean_of(|found| found.ours),
            mean_of(|found| found.other),
            mean_of(|found| found.mean),
            with_interval(found),
            format!("{}, {}, to {}", worst.cell.case(), worst.cell.router(), worst.other),
            behind.to_string(),
        ])
    };
    let caption = "Delivery ratios of ours and of the best other of each network, which no single mechanism reaches. Intervals are by the \
                   bootstrap over the seeds; worse are networks whose interval leaves zero.";
    table(("Kinds of networks", caption), head, KINDS.iter().filter_map(|(kind, _)| row(kind)).collect())
}

/// The networks in which ours is worse than another, each with its file.
pub fn behind(standings: &[Standing<'_>]) -> Table {
    let worse = worse(standings, NEAR);
    let head = ["scenario", "kind", "router", "best other", "ours", "other", "difference", "network"];
    let row = |(rank, (one, found)): (usize, &(&Standing<'_>, Difference))| {
        let described = one.cell.ours().map_or("", |point| text(point, DESCRIBED));
        vec![
            file_name(rank, one),
            one.cell.place().to_owned(),
            one.cell.router().to_owned(),
            one.other.to_owned(),
            number(found.ours),
            number(found.other),
            with_interval(found),
            described.to_owned(),
        ]
    };
    let caption = "The worst first: more than 0.01 behind the best other, with an interval that leaves zero. lightlag run plays the \
                   scenarios, which are beside the report.";
    table(("Where ours is worse", caption), head, (1..).zip(&worse).map(row).collect())
}

fn file_name(rank: usize, standing: &Standing<'_>) -> String {
    format!("worst/{rank:02}_{}.toml", standing.cell.case())
}

/// The scenarios of the networks in which ours is worse, with ours.
pub fn files(standings: &[Standing<'_>]) -> Vec<ScenarioText> {
    let treatments = in_networks();
    let file = |(rank, (one, _)): (usize, &(&Standing<'_>, Difference))| {
        let network = named(one.cell.case())?;
        let find = |name: &str| treatments.iter().find(|treatment| treatment.name == name);
        let (ours, other) = (find(MECHANISM)?, find(one.other)?);
        let text = format!(
            "# {}.\n# The best other: --set mechanism={} --set receipts={}\n{}",
            network.described,
            other.mechanism,
            other.receipts,
            plan::text(&network, ours)
        );
        Some(ScenarioText { name: file_name(rank, one), text })
    };
    (1..).zip(&worse(standings, NEAR)).filter_map(file).collect()
}

/// What the report says first.
pub fn answer(standings: &[Standing<'_>], all: &[Regret<'_, '_>]) -> Vec<String> {
    vec![ahead_sentence(all), regret_sentence(all), worse_sentence(standings)]
}

/// The facts of the introduction.
pub fn facts(standings: &[Standing<'_>], all: &[Regret<'_, '_>], runs: usize) -> Vec<(&'static str, String)> {
    let seed = standings.first().and_then(|one| one.cell.case().strip_prefix('s')?.split_once('_'));
    vec![
        ("bytes", bytes_sentence(all)),
        ("parts", parts_sentence(standings)),
        ("mechanism", MECHANISM.to_owned()),
        ("networks", standings.len().to_string()),
        ("kinds", KINDS.len().to_string()),
        ("runs", runs.to_string()),
        ("seed", seed.map_or("none", |(seed, _)| seed).to_owned()),
        ("development", DEVELOPMENT.to_string()),
        ("judgement", JUDGEMENT.to_string()),
        ("frozen", FROZEN.to_owned()),
    ]
}

fn regret_sentence(all: &[Regret<'_, '_>]) -> String {
    let worst = |one: &Regret<'_, '_>| one.worst().map_or(0.0, |worst| worst.regret);
    let of = |one: &Regret<'_, '_>| {
        format!(
            "{} delivers up to {} less ({} on average)",
            one.name,
            number(worst(one)),
            number(one.regret())
        )
    };
    let next = everywhere(all).min_by(|one, other| worst(one).total_cmp(&worst(other)));
    let both: Vec<String> = ours(all).into_iter().chain(next).map(of).collect();
    format!("Beside the best mechanism of each network, {}.", both.join("; the next, "))
}

fn worse_sentence(standings: &[Standing<'_>]) -> String {
    let worse = worse(standings, NEAR);
    let worst = worse.first().map_or(String::new(), |(one, found)| {
        format!(", most in {} ({} to {})", described(&one.cell), number(found.mean), one.other)
    });
    format!(
        "It is worse than the best other by more than {NEAR} in {} of {} networks{worst}.",
        worse.len(),
        standings.len()
    )
}

fn ahead_sentence(all: &[Regret<'_, '_>]) -> String {
    let reference = all.iter().find(|one| one.is(Role::Reference));
    let described: Vec<String> = [ours(all), best_single(all), reference]
        .into_iter()
        .flatten()
        .map(|one| format!("{} by {}", number(one.ratio()), one.name))
        .collect();
    let gain =
        ours(all).zip(best_single(all)).and_then(|(ours, other)| Some((ahead(ours, other)?, other.name)));
    let gain = gain.map_or(String::new(), |(gain, other)| {
        format!("; {gain} more than by {other}, the best single other (95% interval over the networks)")
    });
    format!("Of the bundles these shares are delivered on average: {}{gain}.", described.join(", "))
}

fn bytes_sentence(all: &[Regret<'_, '_>]) -> String {
    let described: Vec<String> = ours(all)
        .into_iter()
        .chain(best_single(all))
        .map(|one| format!("{} by {}", shown(one.bytes()), one.name))
        .collect();
    format!("Bytes sent per byte delivered, in the median network: {}.", described.join(", "))
}

fn parts_sentence(standings: &[Standing<'_>]) -> String {
    let one = |part: &&str| {
        let (mean, (low, high)) = contribution(standings, part)?;
        Some(format!("{part} {} [{}, {}]", number(mean), number(low), number(high)))
    };
    let described: Vec<String> = PARTS.iter().filter_map(one).collect();
    format!("What its parts add to the delivery ratio: {}.", described.join(", "))
}

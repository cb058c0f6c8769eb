//! The claims about our mechanism, tested on the networks that judge it.

use super::WORDS;
use super::cells::{Cell, Difference, Measure, Standing};
use super::plan::DEVELOPMENT;
use super::regret::{NEAR, Regret, described, everywhere, ours};
use super::treatments::{NONE_WITH_RECEIPTS, PARTS, name_without};
use crate::shared::parts::{NOT_RUN, found};
use lightlag_lab::metrics;
use lightlag_lab::report::{Compared, Finding, Holds, Met, Verdict};
use lightlag_lab::results::number;
use lightlag_lab::statistics::{bootstrap, mean};

/// In this share of the cells another may be better.
const WORSE_MOST: f64 = 0.03;
/// In none by more than this.
const FAR: f64 = 0.05;
/// Part of the worst regret of the next mechanism.
const REGRET_MOST: f64 = 1.0 / 3.0;
/// Mean delivery ratio above the best single other.
const AHEAD: f64 = 0.03;
/// Of the draws of every interval.
const SEED: u64 = 1;
const OF_DEVELOPMENT: &str = "the mechanism was developed with these networks";

/// The claims of `study.toml`, tested; not on the networks of the development.
pub fn evaluate(standings: &[Standing<'_>], regrets: &[Regret<'_, '_>]) -> Vec<Verdict> {
    let claims: [(&'static str, &dyn Fn() -> Finding); 6] = [
        ("U1", &|| rarely_worse(standings)),
        ("U2", &|| never_far(standings)),
        ("U3", &|| never_below_nothing(standings)),
        ("U4", &|| small_regret(regrets)),
        ("U5", &|| ahead(regrets)),
        ("U6", &|| parts(standings)),
    ];
    let seed = format!("s{DEVELOPMENT}_");
    let tested = !standings.iter().any(|one| one.cell.case().starts_with(&seed));
    let finding = |test: &dyn Fn() -> Finding| match (tested, standings.is_empty()) {
        (false, _) => Finding::untestable(OF_DEVELOPMENT),
        (_, true) => Finding::untestable(NOT_RUN),
        _ => test(),
    };
    claims.map(|(id, test)| WORDS.verdict(id, finding(test))).into()
}

/// Whether ours is behind by more than a margin, beyond random differences.
pub fn is_behind(difference: &Difference, margin: f64) -> bool {
    difference.mean < -margin && difference.interval.is_some_and(|(_, high)| high < 0.0)
}

/// The cells in which ours is worse than the best other, the worst first.
pub fn worse<'s, 'a>(standings: &'s [Standing<'a>], margin: f64) -> Vec<(&'s Standing<'a>, Difference)> {
    let of = |one: &'s Standing<'a>| Some((one, *one.by(Measure::Ratio)?));
    sorted(standings.iter().filter_map(of).filter(|(_, found)| is_behind(found, margin)).collect())
}

fn sorted<'s, 'a>(mut all: Vec<(&'s Standing<'a>, Difference)>) -> Vec<(&'s Standing<'a>, Difference)> {
    all.sort_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    all
}

/// How many cells, and the worst of them.
fn counted(found: &[(&Standing<'_>, Difference)], all: usize) -> String {
    let worst = found.first().map_or(String::new(), |(standing, difference)| {
        format!("; the worst is {}, {}", described(&standing.cell), with_interval(difference))
    });
    format!("in {} of {all} cells{worst}", found.len())
}

/// A mean difference with its interval.
pub fn with_interval(found: &Difference) -> String {
    let Some((low, high)) = found.interval else { return number(found.mean) };
    let (mean, [low, high]) = metrics::with_interval(found.mean, (high - low) / 2.0, [low, high]);
    format!("{mean} [{low}, {high}]")
}

fn at_most(found: &[(&Standing<'_>, Difference)], all: usize, most: f64) -> Finding {
    let holds = if found.len() as f64 <= most * all as f64 { Holds::Yes } else { Holds::No };
    let share = 100.0 * found.len() as f64 / all.max(1) as f64;
    let dot = Compared::at_most("networks in which it is worse", share, 100.0 * most, "%");
    Finding::new(holds, counted(found, all)).comparing(vec![dot])
}

fn rarely_worse(standings: &[Standing<'_>]) -> Finding {
    at_most(&worse(standings, NEAR), standings.len(), WORSE_MOST)
}

fn never_far(standings: &[Standing<'_>]) -> Finding {
    at_most(&worse(standings, FAR), standings.len(), 0.0)
}

fn never_below_nothing(standings: &[Standing<'_>]) -> Finding {
    let beside_none =
        |cell: &Cell<'_>| Difference::of(Measure::Ratio, cell.ours()?, cell.treatment(NONE_WITH_RECEIPTS)?);
    let all = standings.iter().filter_map(|one| Some((one, beside_none(&one.cell)?)));
    let behind = sorted(all.filter(|(_, found)| is_behind(found, NEAR)).collect());
    at_most(&behind, standings.len(), 0.0)
}

fn small_regret(regrets: &[Regret<'_, '_>]) -> Finding {
    let worst = |one: &Regret<'_, '_>| one.worst().map(|worst| worst.regret);
    let next = everywhere(regrets).filter_map(|one| Some((one.name, worst(one)?)));
    let next = next.min_by(|one, other| one.1.total_cmp(&other.1));
    let Some((ours, (name, next))) = ours(regrets).and_then(worst).zip(next) else {
        return Finding::untestable(NOT_RUN);
    };
    let holds = if ours <= REGRET_MOST * next { Holds::Yes } else { Holds::No };
    let we_measure = format!("{}; the next is {name} with {}", number(ours), number(next));
    Finding::new(holds, we_measure).comparing(vec![Compared::at_most(
        "worst regret",
        ours,
        REGRET_MOST * next,
        "",
    )])
}

/// The single other that delivers most.
pub fn best_single<'r, 's, 'a>(regrets: &'r [Regret<'s, 'a>]) -> Option<&'r Regret<'s, 'a>> {
    everywhere(regrets).max_by(|one, other| one.ratio().total_cmp(&other.ratio()))
}

fn ahead(regrets: &[Regret<'_, '_>]) -> Finding {
    let Some((ours, other)) = ours(regrets).zip(best_single(regrets)) else {
        return Finding::untestable(NOT_RUN);
    };
    let holds = if ours.ratio() >= other.ratio() + AHEAD { Holds::Yes } else { Holds::No };
    let we_measure = format!("{}; {} {}", number(ours.ratio()), other.name, number(other.ratio()));
    let dot = Compared::at_least("mean delivery ratio", ours.ratio(), other.ratio() + AHEAD, "");
    Finding::new(holds, we_measure).comparing(vec![dot])
}

/// What a part adds to the delivery ratio: the mean over the cells, and its interval by the bootstrap over them.
pub fn contribution(standings: &[Standing<'_>], part: &str) -> Option<(f64, (f64, f64))> {
    let name = name_without(part);
    let gain = |one: &Standing<'_>| {
        let (ours, without) = (one.cell.ours()?, one.cell.treatment(&name)?);
        Some(Measure::Ratio.mean(ours)? - Measure::Ratio.mean(without)?)
    };
    let gains: Vec<f64> = standings.iter().filter_map(gain).collect();
    Some((mean(&gains)?, bootstrap(&gains, SEED)?))
}

fn parts(standings: &[Standing<'_>]) -> Finding {
    let known: Vec<_> =
        PARTS.iter().filter_map(|part| Some((part, contribution(standings, part)?))).collect();
    let adds: Vec<bool> = known.iter().map(|(_, (_, (low, _)))| *low > 0.0).collect();
    let one = |(part, (mean, (low, high))): &(&&str, (f64, (f64, f64)))| {
        format!("{part} {} [{}, {}]", number(*mean), number(*low), number(*high))
    };
    let dots = known.iter().map(|(part, (mean, ends))| {
        let so = Met::from_so(ends.0 > 0.0);
        Compared::at_least(**part, *mean, 0.0, "").with_interval(Some(*ends)).found(so)
    });
    found(&adds, known.iter().map(one).collect::<Vec<_>>().join("; ")).comparing(dots.collect())
}

//! The limits, and the sentences that open the report.

use super::controllers::{CONTESTANTS, REFERENCE};
use super::standing::{
    DROPPED_MOST, NETWORKS_KEPT, Pace, SHARE_CONSTANT, SHARE_SLOW, SHARE_WORST, Standing, quantile,
};
use super::tables::{PROPERTIES, controllers, kept, left_out};
use super::text::short;
use crate::shared::parts::compare;
use lightlag_lab::report::{Compared, Finding, Met, Verdict};
use lightlag_lab::statistics::share_interval;

/// The controllers that the claims are about: those that are defaults, or those that were asked for.
pub fn judged<'a>(standings: &[Standing<'a>]) -> Vec<&'a str> {
    let names = controllers(standings);
    if names.len() > ASKED_MOST {
        let is_default = |name: &&str| CONTESTANTS.iter().any(|row| row.is_default && row.name == *name);
        return names.into_iter().filter(is_default).collect();
    }
    let asked: Vec<&str> = names.iter().copied().filter(|name| *name != REFERENCE).collect();
    if asked.is_empty() { names } else { asked }
}

/// A controller that was asked for, the same over names, and the reference: with more names, all were run.
const ASKED_MOST: usize = 3;

/// Those of a controller.
fn of<'s, 'a>(standings: &'s [Standing<'a>], name: &'s str) -> impl Iterator<Item = &'s Standing<'a>> {
    standings.iter().filter(move |standing| standing.controller == name)
}

/// A share as a whole number of per cent.
fn whole(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A share with its 95% interval.
fn sure(part: usize, all: usize) -> String {
    let ends =
        share_interval(part, all).map(|(low, high)| format!(" ({:.0} to {})", 100.0 * low, whole(high)));
    whole(part as f64 / all.max(1) as f64) + &ends.unwrap_or_default()
}

fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// In which share of its networks each judged controller keeps a limit.
fn in_most(standings: &[Standing<'_>], keeps: impl Fn(&Standing<'_>) -> Option<bool>, most: f64) -> Finding {
    let (mut all, mut said) = (Vec::new(), Vec::new());
    for name in judged(standings) {
        let asked: Vec<bool> = of(standings, name).filter_map(&keeps).collect();
        let held = asked.iter().filter(|held| **held).count();
        let so = held as f64 >= most * asked.len() as f64;
        let share = 100.0 * held as f64 / asked.len().max(1) as f64;
        all.push(Compared::at_least(name, share, 100.0 * most, "%").found(Met::from_so(so)));
        said.push(format!("{name} {} of {}", percent(held, asked.len()), asked.len()));
    }
    compare(all, said.join(", "))
}

/// All claims of `study.toml`.
pub fn verdicts(
    standings: &[Standing<'_>],
    verdict: impl Fn(&'static str, Finding) -> Verdict,
) -> Vec<Verdict> {
    let at =
        |pace: Pace| move |one: &Standing<'_>| one.keeps_share().filter(|_| Pace::of(&one.network) == pace);
    vec![
        verdict("S1", in_most(standings, |one| Some(one.keeps_drops()), NETWORKS_KEPT)),
        verdict("S2", in_most(standings, at(Pace::Constant), NETWORKS_KEPT)),
        verdict("S3", in_most(standings, at(Pace::Slow), NETWORKS_KEPT)),
        verdict("S4", in_most(standings, |one| Some(!one.is_bad()), 1.0)),
    ]
}

/// The sentences that matter: three that the report says first, and facts of its introduction.
pub fn sentences(standings: &[Standing<'_>], count: usize) -> ([String; 3], Vec<(&'static str, String)>) {
    let judged = judged(standings);
    let each =
        |say: &dyn Fn(&str) -> String| judged.iter().map(|name| say(name)).collect::<Vec<_>>().join("; ");
    let runs = |name: &str| of(standings, name).count();
    let keeping = |name: &str| {
        let held = of(standings, name).filter(|one| one.keeps()).count();
        let few = if runs(name) < count { format!(" of {}", runs(name)) } else { String::new() };
        format!("{name} in {}{few}", sure(held, runs(name)))
    };
    let reference = (!judged.contains(&REFERENCE) && runs(REFERENCE) > 0)
        .then(|| format!("; by the reference {}", keeping(REFERENCE)));
    let limits = each(&keeping) + &reference.unwrap_or_default();
    let drops = each(&|name| {
        let over = of(standings, name).filter(|one| one.dropped() >= DROPPED_MOST).count();
        let beyond = of(standings, name).filter(|one| !one.keeps_drops()).count();
        let most = of(standings, name).map(Standing::dropped).fold(0.0, f64::max);
        let excused = match over - beyond {
            0 => String::new(),
            as_cubic => format!("beside TCP in {as_cubic} of {over} no more than CUBIC; "),
        };
        format!("{name} in {} ({excused}at most {:.0} %)", sure(over, runs(name)), 100.0 * most)
    });
    let shares = each(&|name| {
        let median = |pace: Pace| {
            let here = of(standings, name).filter(|one| Pace::of(&one.network) == pace);
            quantile(here.map(Standing::share), 0.5).map_or("-".to_owned(), short)
        };
        let [constant, slow, fast] = [Pace::Constant, Pace::Slow, Pace::Fast].map(median);
        format!("{name} {constant}, {slow}, {fast}")
    });
    let breaks = each(&|name| {
        let shares = PROPERTIES.iter().filter_map(|&(property, has)| {
            let enough = of(standings, name).filter(|one| has(&one.network)).count() >= 5;
            Some((property, kept(standings, name, has).filter(|_| enough)?))
        });
        let worst = shares.min_by(|one, other| one.1.total_cmp(&other.1));
        worst.map_or_else(String::new, |(property, share)| {
            format!("{name} at \"{property}\" ({:.0} %)", 100.0 * share)
        })
    });
    let harms = |name: &str| of(standings, name).filter_map(|one| one.harm).collect::<Vec<_>>();
    let beside: Vec<&str> = judged.iter().copied().filter(|name| !harms(name).is_empty()).collect();
    let harm = beside.iter().map(|name| {
        let harms = harms(name);
        let mean = harms.iter().sum::<f64>() / harms.len().max(1) as f64;
        let most = quantile(harms.iter().copied(), 0.9).unwrap_or(0.0);
        format!("{name} {} % (a tenth: {} % or more)", short(100.0 * mean), short(100.0 * most))
    });
    let harm = match beside.as_slice() {
        [] => "No flow of TCP is beside them.".to_owned(),
        _ => {
            let each = harm.collect::<Vec<_>>().join("; ");
            format!("TCP beside them loses, compared to CUBIC in their place, on average: {each}.")
        }
    };
    let left_out = left_out(standings, count).map_or(String::new(), |text| format!(" {text}"));
    let answer = [
        format!("Of {count} networks, the limits are kept by {limits}."),
        format!(
            "The limits: queues drop less than {} of the packets, and a flow gets {} of what a sender delivers that knows the network, \
             {} where rate or delay change slowly, {} where quickly.",
            whole(DROPPED_MOST),
            whole(SHARE_CONSTANT),
            whole(SHARE_SLOW),
            whole(SHARE_WORST)
        ),
        format!("What breaks them: queues drop too much under {drops}."),
    ];
    let facts = vec![
        (
            "shares",
            format!(
                "Median share of the limit on constant, slowly and quickly changing networks: {shares}. The limits are kept \
                 least often: {breaks}.{left_out}"
            ),
        ),
        ("harm", harm),
        ("some", super::envelope::sentence(standings)),
    ];
    (answer, facts)
}

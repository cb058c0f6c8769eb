//! What all controllers together can do: a network in which none of them keeps the limits may ask for too much.

use super::claims::judged;
use super::controllers::{CONTESTANTS, Contestant};
use super::standing::Standing;
use std::collections::{BTreeMap, BTreeSet};

/// Names of the networks in which some controller keeps the limits: among those of names, and among the others.
fn kept_by_some<'a>(standings: &'a [Standing<'_>]) -> BTreeMap<bool, BTreeSet<&'a str>> {
    let mut kept: BTreeMap<bool, BTreeSet<&str>> = BTreeMap::new();
    for one in standings.iter().filter(|one| one.keeps()) {
        kept.entry(is_of_names(one.controller)).or_default().insert(&one.network.name);
    }
    kept
}

fn is_of_names(controller: &str) -> bool {
    CONTESTANTS.iter().find(|row| row.name == controller).is_some_and(Contestant::is_of_names)
}

/// In how many networks some controller keeps the limits, and in which share of these each judged one does.
pub fn sentence(standings: &[Standing<'_>]) -> String {
    let kept = kept_by_some(standings);
    let percent = |part: usize, all: usize| format!("{:.0} %", 100.0 * part as f64 / all.max(1) as f64);
    let networks = |of_names: bool| {
        let those = standings.iter().filter(|one| is_of_names(one.controller) == of_names);
        those.map(|one| &one.network.name).collect::<BTreeSet<_>>().len()
    };
    let some = |of_names: bool| percent(kept.get(&of_names).map_or(0, BTreeSet::len), networks(of_names));
    let each = judged(standings).into_iter().map(|name| {
        let possible = kept.get(&is_of_names(name));
        let here = |one: &&Standing<'_>| possible.is_some_and(|set| set.contains(&*one.network.name));
        let all: Vec<_> = standings.iter().filter(|one| one.controller == name).filter(here).collect();
        let held = all.iter().filter(|one| one.keeps()).count();
        format!("{name} {}", percent(held, all.len()))
    });
    let names =
        if networks(true) > 0 { format!(" ({} of those of names)", some(true)) } else { String::new() };
    format!(
        "In {} of the networks{names} at least one of the controllers that ran keeps the limits; of these each keeps: {}.",
        some(false),
        each.collect::<Vec<_>>().join("; ")
    )
}

//! What would help the bundles that were lost, as far as the records show it.

use super::collect::{Collector, Fact};
use super::contacts::{Path, Paths};
use super::groups;
use super::losses::{Fate, Fates, Judged};
use super::why::{Measured, median};
use super::words::{size, span};
use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::time::{Duration, Instant};

/// Bundles for which a later path is searched.
const SEARCHED: usize = 1_000;

/// Copies of a bundle from which fewer would leave room.
const MANY_COPIES: f64 = 3.0;

/// A sentence on what would help most of the lost bundles; `None` where the records do not show it.
pub fn sentence(run: &Collector, fates: &Fates, measured: &Measured) -> Option<String> {
    let counts = fates.counts();
    let lost = counts.iter().filter(|(fate, _)| *fate != Fate::Delivered);
    let (most, _) = lost.max_by_key(|(fate, count)| (*count, std::cmp::Reverse(*fate)))?;
    let of: Vec<&Judged> = fates.all.iter().filter(|one| one.fate == *most).collect();
    let help = match most {
        Fate::TooLarge => {
            let largest = of.iter().map(|one| one.fact.bundle.size.get()).max()?;
            format!("a buffer of at least {} at their sources, or smaller bundles", size(largest))
        }
        Fate::NoRoom | Fate::Waited => "a larger buffer at their sources, or less traffic".to_owned(),
        Fate::NoContact | Fate::NoPath => later(run, &of)?,
        Fate::ContactsTooShort => "longer contacts, higher rates, or smaller bundles".to_owned(),
        Fate::RunEnded => "a longer run: they outlive it, and later contacts may lead there".to_owned(),
        Fate::InFlight => "a longer run".to_owned(),
        Fate::Dropped => room(run, fates, of.len() as u64)?,
        Fate::Expired => time(&of, measured),
        Fate::Held => held(run, &of, measured)?,
        Fate::Refused | Fate::Replaced | Fate::Delivered => return None,
    };
    Some(format!("What would help: {help}."))
}

/// Of bundles that no contacts led to their destination in time: whether contacts do so later.
fn later(run: &Collector, of: &[&Judged]) -> Option<String> {
    let mut paths = Paths::new(&run.meetings, run.end);
    let searched = of.len().min(SEARCHED);
    let endless = |one: &&Judged| Bundle { expires: Instant::MAX, ..one.fact.bundle };
    let found = of.iter().take(SEARCHED).filter(|one| paths.of(&endless(one)) == Path::Open).count();
    if !paths.complete() {
        return None;
    }
    Some(match found {
        0 => "other contacts: no router, mechanism, buffer or lifetime can deliver them".to_owned(),
        found if found == of.len() => {
            "a longer lifetime: contacts lead them to their destination later".to_owned()
        }
        found if 2 * found >= searched => {
            format!("a longer lifetime: contacts lead {found} of these {searched} to their destination later")
        }
        found => format!("more contacts: a longer lifetime would help {found} of these {searched} at most"),
    })
}

/// Of bundles that were deleted for lack of room.
fn room(run: &Collector, fates: &Fates, dropped: u64) -> Option<String> {
    let nodes = run.nodes.values().filter(|node| node.dropped > 0);
    let buffer = size(median(nodes.map(|node| node.buffer).collect())?);
    let worst = groups::by_node(run, fates).into_iter().next().filter(|worst| 2 * worst.lost > dropped);
    let named = worst.and_then(|worst| {
        let node = run.nodes.values().find(|node| node.name.as_ref() == Some(&worst.name))?;
        Some(format!("a larger buffer at {} than {}", worst.name, size(node.buffer)))
    });
    let larger = named.unwrap_or_else(|| format!("larger buffers than {buffer}"));
    let copies = fates.all.iter().map(|one| one.fact.stored).sum::<u64>() as f64 / fates.all.len() as f64;
    let fewer = if copies >= MANY_COPIES {
        format!(", or a router or mechanism that makes fewer copies ({copies:.0} of each bundle, on average)")
    } else {
        String::new()
    };
    Some(format!("{larger}{fewer}, or less traffic"))
}

/// Of bundles whose lifetime ended although contacts led to their destination in time.
fn time(of: &[&Judged], measured: &Measured) -> String {
    let lifetime = |one: &&Judged| one.fact.bundle.expires - one.fact.bundle.created;
    let lifetime = median(of.iter().map(lifetime).collect()).unwrap_or(Duration::ZERO);
    let open = "contacts led them to their destination in time";
    match measured.delay(0.9) {
        Some(late) if late * 2 > lifetime => format!(
            "a longer lifetime than {}: one in ten delivered bundles took more than {}; or another router: {open}",
            span(lifetime),
            span(late)
        ),
        _ => format!("another router: {open}"),
    }
}

/// Of bundles that were still stored when the run ended.
fn held(run: &Collector, of: &[&Judged], measured: &Measured) -> Option<String> {
    let age = median(of.iter().map(|one| run.end - one.fact.bundle.created).collect())?;
    let stayed = of.iter().filter(|one| never_left(one.fact)).count();
    match measured.delay(0.5) {
        Some(half) if age < half => Some(format!(
            "a longer run: they were {} old when it ended, and delivered ones took {} (medians)",
            span(age),
            span(half)
        )),
        _ if 2 * stayed >= of.len() => {
            let some = if stayed == of.len() {
                "they".to_owned()
            } else {
                format!("{stayed} of these {}", of.len())
            };
            Some(format!(
                "another router or mechanism: contacts led to their destination, but {some} were never sent"
            ))
        }
        _ => None,
    }
}

fn never_left(fact: &Fact) -> bool {
    fact.stored == 0 && fact.started == 0
}

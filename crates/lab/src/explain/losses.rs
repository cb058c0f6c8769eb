//! What became of the bundles of a run: each has one fate, and the fates add up to what was created.

use super::collect::{Collector, Fact};
use super::contacts::{Path, Paths};
use lightlag_protocols::dtn::DropReason;
use lightlag_protocols::time::Instant;

/// What became of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    Delivered,
    TooLarge,
    NoRoom,
    Waited,
    NoContact,
    NoPath,
    ContactsTooShort,
    RunEnded,
    Dropped,
    Expired,
    Refused,
    Replaced,
    InFlight,
    Held,
}

/// All fates, with their names in JSON and what became of bundles that have them.
pub const FATES: [(Fate, &str, &str); 14] = [
    (Fate::Delivered, "delivered", "delivered"),
    (Fate::TooLarge, "too_large", "larger than the buffer of their source"),
    (Fate::NoRoom, "no_room", "not stored: their source had no room"),
    (Fate::Waited, "waited", "waited at their source for room that never came"),
    (Fate::NoContact, "no_contact", "unreachable: their source met no other node while they lived"),
    (Fate::NoPath, "no_path", "unreachable: no sequence of contacts led to their destination in time"),
    (
        Fate::ContactsTooShort,
        "contacts_too_short",
        "unreachable: contacts to their destination were too short for their size",
    ),
    (
        Fate::RunEnded,
        "run_ended",
        "unreachable before the run ended, which they outlive: no contacts led to their destination yet",
    ),
    (Fate::Dropped, "dropped", "deleted for lack of room, to the last copy"),
    (Fate::Expired, "expired", "expired: their lifetime ended before a copy arrived"),
    (Fate::Refused, "refused", "refused on arrival after the sender had given up its copy"),
    (Fate::Replaced, "replaced", "replaced at a node by a later bundle of the same name"),
    (Fate::InFlight, "in_flight", "on a link when the run ended"),
    (Fate::Held, "held", "still stored when the run ended"),
];

impl Fate {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        FATES[self as usize].1
    }
    /// What became of bundles that have it.
    pub fn about(self) -> &'static str {
        FATES[self as usize].2
    }
    /// Whether no router and no mechanism could have delivered the bundle.
    pub fn is_unreachable(self) -> bool {
        matches!(self, Self::NoContact | Self::NoPath | Self::ContactsTooShort | Self::RunEnded)
    }
}

/// A bundle and what became of it.
pub struct Judged<'a> {
    pub fact: &'a Fact,
    pub fate: Fate,
}

/// What became of each bundle, by number.
pub struct Fates<'a> {
    pub all: Vec<Judged<'a>>,
    /// Whether paths were searched for every bundle that was not delivered.
    pub complete: bool,
}

impl<'a> Fates<'a> {
    pub fn new(run: &'a Collector) -> Self {
        let mut paths = Paths::new(&run.meetings, run.end);
        let all =
            run.bundles.values().map(|fact| Judged { fact, fate: fate(run, fact, &mut paths) }).collect();
        Self { all, complete: paths.complete() }
    }
    /// How many bundles have each fate, where any has it, in the order of [`FATES`].
    pub fn counts(&self) -> Vec<(Fate, u64)> {
        let count = |fate: Fate| self.all.iter().filter(|one| one.fate == fate).count() as u64;
        FATES.iter().map(|fate| (fate.0, count(fate.0))).filter(|(_, count)| *count > 0).collect()
    }
    /// The bundles that were not delivered.
    pub fn lost(&self) -> impl Iterator<Item = &Judged<'a>> {
        self.all.iter().filter(|one| one.fate != Fate::Delivered)
    }
}

fn fate(run: &Collector, fact: &Fact, paths: &mut Paths) -> Fate {
    if fact.delivered.is_some() {
        return Fate::Delivered;
    }
    if let Some(at) = fact.rejected {
        return rejection(run, fact, at);
    }
    match paths.of(&fact.bundle) {
        Path::NoContact | Path::Missing if fact.bundle.expires > run.end => return Fate::RunEnded,
        Path::NoContact => return Fate::NoContact,
        Path::Missing => return Fate::NoPath,
        Path::TooShort => return Fate::ContactsTooShort,
        Path::Open => {}
    }
    match (fact.copies, fact.flying, fact.gone.map(|gone| gone.reason)) {
        (1.., _, _) => Fate::Held,
        (_, 1.., _) => Fate::InFlight,
        (_, _, Some(DropReason::Overflow)) => Fate::Dropped,
        (_, _, Some(DropReason::Expired)) => Fate::Expired,
        // The sender gave up its copy, which no node has: it was refused.
        (_, _, Some(DropReason::HandedOver | DropReason::Acknowledged)) => Fate::Refused,
        (_, _, Some(DropReason::Replaced)) => Fate::Replaced,
        (_, _, None) => Fate::Held,
    }
}

fn rejection(run: &Collector, fact: &Fact, at: Instant) -> Fate {
    let source = run.nodes.get(&fact.bundle.source.0);
    if source.is_some_and(|node| fact.bundle.size.get() > node.buffer) {
        Fate::TooLarge
    } else if at > fact.bundle.created {
        Fate::Waited
    } else {
        Fate::NoRoom
    }
}

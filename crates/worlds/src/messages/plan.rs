//! What is known before the run begins: contacts, creations, lifetimes, purges, samples.

use super::Setup;
use lightlag_protocols::dtn::{Bundle, BundleId};
use lightlag_protocols::time::{Duration, Instant};

/// A cursor over each list; every list is sorted by time.
pub(super) struct Plan<'a> {
    downs: Cursor<(Instant, u32)>,
    ups: Cursor<(Instant, u32)>,
    rates: Cursor<(Instant, u32)>,
    revisions: Cursor<(Instant, u32)>,
    bundles: &'a [Bundle],
    expiries: Cursor<(Instant, u32)>,
    purge: Option<(Instant, Duration)>,
    sample: Option<(Instant, Duration)>,
}

struct Cursor<T> {
    list: Vec<T>,
    at: usize,
}

impl Cursor<(Instant, u32)> {
    fn new(mut list: Vec<(Instant, u32)>) -> Self {
        list.sort_unstable();
        Self { list, at: 0 }
    }
    fn next_at(&self) -> Instant {
        self.list.get(self.at).map_or(Instant::MAX, |item| item.0)
    }
    fn take(&mut self, now: Instant) -> Option<u32> {
        let &(at, item) = self.list.get(self.at)?;
        (at <= now).then(|| {
            self.at += 1;
            item
        })
    }
}

impl<'a> Plan<'a> {
    pub fn new(setup: &'a Setup) -> Self {
        let contacts = &setup.contacts.list;
        let times = |pick: fn(&crate::contacts::Contact) -> Instant| {
            contacts.iter().enumerate().map(move |(i, c)| (pick(c), i as u32)).collect()
        };
        let rules = &setup.rules;
        let at_once = rules.purge_every.is_none();
        let expiries = setup.bundles.iter().filter(|b| at_once && b.expires <= setup.until);
        Self {
            downs: Cursor::new(times(|c| c.end)),
            ups: Cursor::new(times(|c| c.start)),
            rates: Cursor::new(rate_changes(setup)),
            revisions: Cursor::new(revisions(setup)),
            bundles: &setup.bundles[..setup.bundles.len() - setup.replies.len()],
            expiries: Cursor::new(expiries.map(|b| (b.expires, b.id.0)).collect()),
            purge: rules.purge_every.map(|every| (Instant::ZERO + every, every)),
            sample: rules.sample_every.map(|every| (Instant::ZERO, every)),
        }
    }
    pub fn next_at(&self) -> Instant {
        let regular = |due: Option<(Instant, Duration)>| due.map_or(Instant::MAX, |(at, _)| at);
        let creation = self.bundles.first().map_or(Instant::MAX, |b| b.created);
        self.downs
            .next_at()
            .min(self.ups.next_at())
            .min(self.rates.next_at())
            .min(self.revisions.next_at())
            .min(creation)
            .min(self.expiries.next_at())
            .min(regular(self.purge))
            .min(regular(self.sample))
    }
    pub fn contact_down(&mut self, now: Instant) -> Option<u32> {
        self.downs.take(now)
    }
    pub fn contact_up(&mut self, now: Instant) -> Option<u32> {
        self.ups.take(now)
    }
    /// A contact whose rate changes.
    pub fn rate_change(&mut self, now: Instant) -> Option<u32> {
        self.rates.take(now)
    }
    /// The number of a revision of what nodes know.
    pub fn revision(&mut self, now: Instant) -> Option<u32> {
        self.revisions.take(now)
    }
    pub fn creation(&mut self, now: Instant) -> Option<&'a Bundle> {
        let (first, rest) = self.bundles.split_first()?;
        (first.created <= now).then(|| {
            self.bundles = rest;
            first
        })
    }
    pub fn expiry(&mut self, now: Instant) -> Option<BundleId> {
        self.expiries.take(now).map(BundleId)
    }
    pub fn purge(&mut self, now: Instant) -> bool {
        advance(&mut self.purge, now)
    }
    pub fn sample(&mut self, now: Instant) -> bool {
        advance(&mut self.sample, now)
    }
}

/// Those after the beginning.
fn revisions(setup: &Setup) -> Vec<(Instant, u32)> {
    let all = setup.revisions.iter().zip(0..).map(|(revision, number)| (revision.at, number));
    all.filter(|(at, _)| *at > Instant::ZERO).collect()
}

fn rate_changes(setup: &Setup) -> Vec<(Instant, u32)> {
    let contacts = &setup.contacts;
    let mut all = Vec::new();
    for (contact, index) in contacts.list.iter().zip(0..) {
        let changes = |channel: u32| contacts.channels[channel as usize].changes(contact.start, contact.end);
        all.extend(changes(contact.forward).map(|at| (at, index)));
        // Most contacts have one table for both directions: a change that is set twice changes nothing.
        if contact.forward != contact.backward {
            all.extend(changes(contact.backward).map(|at| (at, index)));
        }
    }
    all
}

fn advance(regular: &mut Option<(Instant, Duration)>, now: Instant) -> bool {
    match regular {
        Some((at, every)) if *at <= now => {
            *at = at.saturating_add(*every);
            true
        }
        _ => false,
    }
}

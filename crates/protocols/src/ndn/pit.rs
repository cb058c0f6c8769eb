//! Pending Interests, and the faces that wait for their Data.

use super::wheel::Wheel;
use super::{Face, Interest, Name, Selectors};
use crate::time::Instant;
use hashbrown::HashTable;

/// Someone who waits for Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downstream {
    /// Where its Interest came from, and the Data go to.
    pub face: Face,
    /// Of its newest Interest.
    pub nonce: u32,
    /// What it wants to see on the Data.
    pub token: u32,
    /// When it no longer waits.
    pub expires: Instant,
}

/// An Interest that was passed on and has had no answer.
#[derive(Clone, Debug)]
pub struct Entry {
    name: Name,
    selectors: Selectors,
    first: Downstream,
    /// Others; most Interests are of one face only.
    more: Vec<Downstream>,
    /// When it was last passed on.
    pub passed_on: Instant,
}

impl Entry {
    /// What is waited for.
    pub fn name(&self) -> Name {
        self.name
    }
    /// Everyone who waits.
    pub fn downstream(&self) -> impl Iterator<Item = &Downstream> {
        std::iter::once(&self.first).chain(&self.more)
    }
    fn has_come_by_another(&self, face: Face, nonce: u32) -> bool {
        self.downstream().any(|one| one.face != face && one.nonce == nonce)
    }
    fn downstream_mut(&mut self) -> impl Iterator<Item = &mut Downstream> {
        std::iter::once(&mut self.first).chain(&mut self.more)
    }
}

/// What an Interest finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No face waits for this yet.
    Nothing,
    /// Another face waits for it, or did until now, and this Interest came by that one too: it went in a
    /// circle.
    Loop,
    /// This face has asked before.
    Again(u32),
    /// Other faces wait for it.
    Others(u32),
}

/// The table.
#[derive(Clone, Debug)]
pub struct Pit {
    entries: Wheel<Entry>,
    index: HashTable<u32>,
    /// Entries that answer to more than their exact name.
    unusual: usize,
    limit: usize,
    /// Interests whose time ended without an answer.
    pub expired: u64,
    /// Most entries there ever were.
    pub peak: usize,
}

fn hash(name: Name, selectors: Selectors) -> u64 {
    let flags = u64::from(selectors.can_be_prefix) | u64::from(selectors.must_be_fresh) << 1;
    name.hash() ^ flags
}

impl Pit {
    /// An empty table for at most `limit` Interests.
    pub fn new(limit: usize) -> Self {
        let limit = limit.min(u32::MAX as usize - 1);
        Self { entries: Wheel::new(), index: HashTable::new(), unusual: 0, limit, expired: 0, peak: 0 }
    }
    /// How many are pending, those included whose time ended a moment ago.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }
    /// Whether there is no room for another name.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.limit
    }
    /// Removes entries that have expired by now, and passes each to `each`.
    #[inline]
    pub fn expire(&mut self, now: Instant, mut each: impl FnMut(&Entry)) {
        while let Some(entry) = self.entries.pop_ended(now) {
            self.expired += 1;
            self.forget(&entry);
            each(&entry);
        }
    }
    fn forget(&mut self, entry: &Entry) {
        let entries = &self.entries;
        // Its slot is free already, which distinguishes it from others of equal hash.
        let gone = |at: &u32| entries.get(*at).is_none();
        if let Ok(found) = self.index.find_entry(hash(entry.name, entry.selectors), gone) {
            found.remove();
        }
        self.unusual -= usize::from(entry.selectors != Selectors::default());
    }
    #[inline]
    fn slot(&self, name: Name, selectors: Selectors) -> Option<u32> {
        let is_it = |at: &u32| {
            self.entries.get(*at).is_some_and(|entry| entry.name == name && entry.selectors == selectors)
        };
        self.index.find(hash(name, selectors), is_it).copied()
    }
    /// Finds the entry for the same Data; an expired one is removed and passed to `ended`.
    #[inline]
    pub fn find(
        &mut self,
        now: Instant,
        face: Face,
        interest: &Interest,
        ended: impl FnOnce(&Entry),
    ) -> Found {
        let Some(at) = self.slot(interest.name, interest.selectors) else { return Found::Nothing };
        if self.entries.ends(at) <= now {
            // The wheel turns in ticks: what ended between two is over all the same.
            if let Some(entry) = self.entries.remove(at) {
                self.expired += 1;
                self.forget(&entry);
                ended(&entry);
                if entry.has_come_by_another(face, interest.nonce) {
                    return Found::Loop;
                }
            }
            return Found::Nothing;
        }
        let Some(entry) = self.entries.get(at) else { return Found::Nothing };
        if entry.has_come_by_another(face, interest.nonce) {
            return Found::Loop;
        }
        if entry.downstream().any(|one| one.face == face) { Found::Again(at) } else { Found::Others(at) }
    }
    /// A first Interest for a name; it is passed on now.
    #[inline]
    pub fn insert(&mut self, now: Instant, face: Face, interest: &Interest) {
        let first =
            Downstream { face, nonce: interest.nonce, token: interest.token, expires: interest.expires(now) };
        let (name, selectors) = (interest.name, interest.selectors);
        let entry = Entry { name, selectors, first, more: Vec::new(), passed_on: now };
        let at = self.entries.insert(first.expires, entry);
        let entries = &self.entries;
        let hash_of = |at: &u32| entries.get(*at).map_or(0, |entry| hash(entry.name, entry.selectors));
        self.index.insert_unique(hash(name, selectors), at, hash_of);
        self.unusual += usize::from(selectors != Selectors::default());
        self.peak = self.peak.max(self.entries.len());
    }
    /// A face that waits asks again, or one more waits; returns the nonce that it replaces.
    pub fn join(&mut self, now: Instant, at: u32, face: Face, interest: &Interest) -> Option<u32> {
        let expires = interest.expires(now);
        let news = Downstream { face, nonce: interest.nonce, token: interest.token, expires };
        let entry = self.entries.get_mut(at)?;
        let known = entry.downstream_mut().find(|one| one.face == face);
        let replaced = known.map(|known| std::mem::replace(known, news).nonce);
        if replaced.is_none() {
            entry.more.push(news);
        }
        if expires > self.entries.ends(at) {
            self.entries.set_end(at, expires);
        }
        replaced.filter(|nonce| *nonce != interest.nonce)
    }
    /// When the entry was last passed on.
    pub fn passed_on(&mut self, at: u32) -> Option<&mut Instant> {
        self.entries.get_mut(at).map(|entry| &mut entry.passed_on)
    }
    /// Takes out everyone whom Data of this name answer; `above` are the prefixes of it.
    #[inline]
    pub fn take(&mut self, name: Name, above: impl Iterator<Item = Name>, mut each: impl FnMut(&Entry)) {
        self.take_one(name, Selectors::default(), &mut each);
        if self.unusual == 0 {
            return;
        }
        for must_be_fresh in [false, true] {
            self.take_one(name, Selectors { can_be_prefix: false, must_be_fresh }, &mut each);
            self.take_one(name, Selectors { can_be_prefix: true, must_be_fresh }, &mut each);
        }
        for name in above {
            for must_be_fresh in [false, true] {
                self.take_one(name, Selectors { can_be_prefix: true, must_be_fresh }, &mut each);
            }
        }
    }
    #[inline]
    fn take_one(&mut self, name: Name, selectors: Selectors, each: &mut impl FnMut(&Entry)) {
        let is_it = |at: &u32| {
            self.entries.get(*at).is_some_and(|entry| entry.name == name && entry.selectors == selectors)
        };
        let Ok(found) = self.index.find_entry(hash(name, selectors), is_it) else { return };
        let (at, _) = found.remove();
        self.unusual -= usize::from(selectors != Selectors::default());
        if let Some(entry) = self.entries.remove(at) {
            each(&entry);
        }
    }
    /// Bytes that each pending Interest of one face takes, its share of the table included.
    pub const fn entry_bytes() -> usize {
        // The table of numbers is half full at least, and has a byte more for each.
        Wheel::<Entry>::slot_bytes() + (size_of::<u32>() + 1) * 2
    }
}

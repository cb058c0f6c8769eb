//! Interests of a consumer that have had no answer, and when each is taken to be lost.

use super::Name;
use crate::time::Instant;
use hashbrown::HashTable;
use std::collections::VecDeque;

/// An Interest without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub name: Name,
    /// How manieth of all Interests it was.
    pub number: u64,
    /// When it was sent last, and when first.
    pub sent: Instant,
    pub first_sent: Instant,
    /// How often it was sent again.
    pub repairs: u32,
    /// Bytes of content that had come when it was sent, and when the last of them had.
    pub delivered: u64,
    pub delivered_at: Instant,
    /// Taken to be lost, and not sent again yet.
    pub lost: bool,
}

/// All of them, by name and by the time at which they are taken to be lost.
#[derive(Default)]
pub(super) struct WaitingTable {
    slots: Vec<Waiting>,
    free: Vec<u32>,
    index: HashTable<u32>,
    /// (when, slot, number): of an earlier number than the slot has now, it is settled.
    deadlines: VecDeque<(Instant, u32, u64)>,
}

impl WaitingTable {
    #[inline]
    fn slot(&self, name: Name) -> Option<u32> {
        let is_it = |at: &u32| self.slots[*at as usize].name == name;
        self.index.find(name.hash(), is_it).copied()
    }
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }
    /// All names, in no order that means anything but the same in every run.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.slots.iter().filter(|waiting| waiting.number != u64::MAX).map(|waiting| waiting.name)
    }
    #[inline]
    pub(super) fn get(&self, name: Name) -> Option<&Waiting> {
        self.slot(name).map(|at| &self.slots[at as usize])
    }
    #[inline]
    pub(super) fn get_mut(&mut self, name: Name) -> Option<&mut Waiting> {
        self.slot(name).map(|at| &mut self.slots[at as usize])
    }
    /// A new one, or one that is sent again.
    #[inline]
    pub(super) fn put(&mut self, waiting: Waiting, deadline: Instant) {
        let known = if waiting.repairs > 0 { self.slot(waiting.name) } else { None };
        let at = match known {
            Some(at) => {
                self.slots[at as usize] = waiting;
                at
            }
            None => self.add(waiting),
        };
        let due = (deadline, at, waiting.number);
        match self.deadlines.back() {
            Some(last) if last.0 > deadline => {
                let place = self.deadlines.partition_point(|other| other.0 <= deadline);
                self.deadlines.insert(place, due);
            }
            _ => self.deadlines.push_back(due),
        }
    }
    #[inline]
    fn add(&mut self, waiting: Waiting) -> u32 {
        let at = match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = waiting;
                at
            }
            None => {
                self.slots.push(waiting);
                self.slots.len() as u32 - 1
            }
        };
        let slots = &self.slots;
        let hash = |at: &u32| slots[*at as usize].name.hash();
        self.index.insert_unique(waiting.name.hash(), at, hash);
        at
    }
    /// Its answer has come.
    #[inline]
    pub(super) fn take(&mut self, name: Name) -> Option<Waiting> {
        let slots = &self.slots;
        let is_it = |at: &u32| slots[*at as usize].name == name;
        let (at, _) = self.index.find_entry(name.hash(), is_it).ok()?.remove();
        let taken = self.slots[at as usize];
        // No deadline is of this number.
        self.slots[at as usize].number = u64::MAX;
        self.free.push(at);
        self.settle();
        Some(taken)
    }
    /// Forgets deadlines of what has been answered, up to the first that has not.
    #[inline]
    fn settle(&mut self) {
        while let Some(&(_, at, number)) = self.deadlines.front() {
            let waiting = &self.slots[at as usize];
            if waiting.number == number && !waiting.lost {
                break;
            }
            self.deadlines.pop_front();
        }
    }
    /// When the first is taken to be lost.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.front().map(|first| first.0)
    }
    /// Takes it to be lost before its deadline. `None`: it has been answered, or is lost already.
    pub(super) fn give_up(&mut self, name: Name) -> Option<Waiting> {
        let waiting = self.get_mut(name).filter(|waiting| !waiting.lost)?;
        waiting.lost = true;
        let waiting = *waiting;
        self.settle();
        Some(waiting)
    }
    /// The next that is taken to be lost by now.
    pub(super) fn lose(&mut self, now: Instant) -> Option<Waiting> {
        let &(deadline, at, _) = self.deadlines.front()?;
        if deadline > now {
            return None;
        }
        let waiting = &mut self.slots[at as usize];
        waiting.lost = true;
        let waiting = *waiting;
        self.settle();
        Some(waiting)
    }
}

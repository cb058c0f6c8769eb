//! A direction of a link as the judge sees it: what is in it, in the order in which it was offered.
//!
//! One packet leaves after the other. When each has left at the earliest follows from when it was
//! offered, from those before it that were not dropped, and from the rate; when it comes, from the delay.

use super::facts::Facts;
use super::kind::{Findings, Kind};
use super::rules::{keeps_order, leaves, slack, under_way};
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Why};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits, leaves, or is under way.
    Inside,
    /// It was lost under way, or has come.
    Over,
    /// The queue has dropped it: it never leaves.
    Dropped,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    offered: Instant,
    /// When it has left; known once it was served.
    left: Instant,
    size: u32,
    state: State,
}

/// A direction of a link.
#[derive(Clone, Debug)]
pub(super) struct LinkState {
    spec: LinkSpec,
    in_order: bool,
    slack: Duration,
    hold: Duration,
    entries: VecDeque<Entry>,
    /// How many have gone from the front.
    gone: u64,
    /// Of all that were ever offered, the next to leave.
    next: u64,
    free_at: Instant,
    waiting: u64,
    waiting_bytes: u64,
    /// When the newest was offered, until it is settled whether it was dropped.
    unsettled: Option<Instant>,
    /// What has come of which a copy may come.
    copies: VecDeque<(Instant, u64)>,
}

/// Who tells of a finding, and where.
pub(super) struct Teller<'a> {
    pub found: &'a mut Findings,
    pub now: Instant,
    pub link: &'a dyn Fn() -> String,
}

impl Teller<'_> {
    fn tell(&mut self, kind: Kind, detail: impl FnOnce() -> String) {
        let link = self.link;
        self.found.add(kind, self.now, || format!("{}: {}", link(), detail()));
    }
}

impl LinkState {
    pub(super) fn new(spec: &LinkSpec) -> Self {
        Self {
            in_order: keeps_order(spec),
            slack: slack(&spec.delay),
            hold: spec.reorder.map_or(Duration::ZERO, |reorder| reorder.1),
            spec: spec.clone(),
            entries: VecDeque::new(),
            gone: 0,
            next: 0,
            free_at: Instant::ZERO,
            waiting: 0,
            waiting_bytes: 0,
            unsettled: None,
            copies: VecDeque::new(),
        }
    }
    fn at(&self, index: u64) -> usize {
        (index - self.gone) as usize
    }
    fn count(&self) -> u64 {
        self.gone + self.entries.len() as u64
    }

    #[inline]
    pub(super) fn offered(&mut self, packet: &Facts, mut to: Teller) {
        self.settle(&mut to);
        let (key, size, offered) = (packet.key(), packet.size, to.now);
        self.entries.push_back(Entry { key, offered, left: Instant::MAX, size, state: State::Inside });
        self.waiting += 1;
        self.waiting_bytes += u64::from(size);
        self.unsettled = Some(offered);
    }
    /// What was offered last has not been dropped at once: then there was room for it.
    #[inline]
    fn settle(&mut self, to: &mut Teller) {
        let Some(at) = self.unsettled.take() else { return };
        self.serve(at);
        if self.waiting > 0 && !self.fits(self.waiting, self.waiting_bytes) {
            let waiting = self.waiting;
            to.tell(Kind::Overfull, || format!("{waiting} packets wait at {} s", at.as_secs_f64()));
        }
    }
    /// Whether so much may wait beside the packet that is leaving.
    fn fits(&self, packets: u64, bytes: u64) -> bool {
        let (Discipline::DropTail(limit) | Discipline::Priority(limit) | Discipline::CoDel { limit, .. }) =
            self.spec.queue;
        match limit {
            Limit::Packets(most) => packets < most,
            Limit::Bytes(most) => bytes <= most.0,
        }
    }
    /// Everything leaves whose turn has come by `until`.
    #[inline]
    fn serve(&mut self, until: Instant) {
        while self.next < self.count() && self.serve_next(until) {}
    }
    fn serve_next(&mut self, until: Instant) -> bool {
        let at = self.at(self.next);
        let entry = &mut self.entries[at];
        if entry.state != State::Dropped {
            let start = self.free_at.max(entry.offered);
            if start > until || start == Instant::MAX {
                return false;
            }
            entry.left = leaves(&self.spec.rate, start, entry.size);
            self.free_at = entry.left;
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(entry.size);
        }
        self.next += 1;
        true
    }

    #[inline]
    pub(super) fn arrived(&mut self, packet: &Facts, mut to: Teller) {
        self.settle(&mut to);
        let key = packet.key();
        let found = self.entries.iter().position(|entry| entry.key == key && entry.state == State::Inside);
        let Some(at) = found else { return self.arrived_again(key, to) };
        let index = self.gone + at as u64;
        while self.next <= index && self.serve_next(to.now) {}
        if self.next <= index || !self.can_be_here(&self.entries[at], to.now) {
            if self.take_copy(key, to.now) {
                return;
            }
            while self.next <= index && self.serve_next(Instant::MAX) {}
            self.tell_early(self.entries[at], &mut to);
        }
        if self.in_order {
            for before in self.entries.iter_mut().take(at).filter(|entry| entry.state == State::Inside) {
                before.state = State::Over;
                let offered = before.offered;
                to.tell(Kind::NeverArrived, || {
                    format!("offered at {} s, a later one has come", offered.as_secs_f64())
                });
            }
        }
        self.entries[at].state = State::Over;
        if self.spec.duplicate > 0.0 {
            self.copies.push_back((to.now, key));
        }
        self.forget();
    }
    fn can_be_here(&self, entry: &Entry, now: Instant) -> bool {
        entry.left < Instant::MAX
            && entry.left.saturating_add(under_way(&self.spec.delay, entry.left))
                <= now.saturating_add(self.slack)
    }
    fn tell_early(&self, entry: Entry, to: &mut Teller) {
        let alone = leaves(&self.spec.rate, entry.offered, entry.size);
        let light = self.can_be_here(&Entry { left: alone, ..entry }, to.now);
        let kind = if light { Kind::OverRate } else { Kind::FasterThanLight };
        let (offered, left) = (entry.offered.as_secs_f64(), entry.left.as_secs_f64());
        to.tell(kind, || format!("offered at {offered} s, cannot have left before {left} s"));
    }
    /// Something came that is not inside: a copy, or out of thin air.
    fn arrived_again(&mut self, key: u64, mut to: Teller) {
        if !self.take_copy(key, to.now) {
            to.tell(Kind::OutOfThinAir, || "nothing like this is under way".to_owned());
        }
    }
    fn take_copy(&mut self, key: u64, now: Instant) -> bool {
        let hold = self.hold;
        while self.copies.front().is_some_and(|copy| copy.0.saturating_add(hold) < now) {
            self.copies.pop_front();
        }
        let found = self.copies.iter().position(|copy| copy.1 == key);
        found.and_then(|at| self.copies.remove(at)).is_some()
    }
    /// What is over and has left need not be kept.
    #[inline]
    fn forget(&mut self) {
        while self.gone < self.next && self.entries.front().is_some_and(|entry| entry.state != State::Inside)
        {
            self.entries.pop_front();
            self.gone += 1;
        }
    }

    pub(super) fn dropped(&mut self, at: Instant, packet: &Facts, why: Why, mut to: Teller) {
        let key = packet.key();
        let found = match why {
            Why::Full => self.dropped_full(key, &mut to),
            Why::Marked => self.dropped_marked(key, at, &mut to),
            Why::Lost => self.lost(key, at, &mut to),
        };
        if !found {
            to.tell(Kind::NothingToDrop, || format!("{why:?}"));
        }
        self.forget();
    }
    /// The newest finds no room.
    fn dropped_full(&mut self, key: u64, to: &mut Teller) -> bool {
        let Some(at) = self.unsettled else { return false };
        self.serve(at);
        let newest = self.count() - 1;
        let Some(entry) = self.entries.back().copied().filter(|entry| entry.key == key) else { return false };
        if self.next > newest || self.fits(self.waiting, self.waiting_bytes) {
            let waiting = self.waiting;
            to.tell(Kind::DroppedEarly, || format!("{waiting} packets would wait"));
        }
        self.unsettled = None;
        if self.next <= newest {
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(entry.size);
        }
        if let Some(entry) = self.entries.back_mut() {
            entry.state = State::Dropped;
        }
        true
    }
    /// The discipline asks a sender to slow down.
    fn dropped_marked(&mut self, key: u64, at: Instant, to: &mut Teller) -> bool {
        if !matches!(self.spec.queue, Discipline::CoDel { .. }) {
            to.tell(Kind::DroppedWithoutCause, || "the queue marks nothing".to_owned());
        }
        // Dropped instead of leaving: those before it have begun to leave.
        self.serve_before(at);
        let from = self.at(self.next);
        let waiting = self.entries.iter_mut().skip(from);
        let found = waiting.into_iter().find(|entry| entry.key == key && entry.state == State::Inside);
        let Some(entry) = found else { return false };
        entry.state = State::Dropped;
        self.waiting -= 1;
        self.waiting_bytes -= u64::from(entry.size);
        true
    }
    /// Lost while it left, or no later contact will take it.
    fn lost(&mut self, key: u64, at: Instant, to: &mut Teller) -> bool {
        // Told when it begins to leave: those before it have left, those behind it have not.
        self.serve_before(at);
        let mut lost = self.last_served(key, |left| left == at);
        if lost.is_none() {
            self.serve(at);
            lost = self.last_served(key, |left| left == Instant::MAX);
        }
        let lost = lost.or_else(|| {
            self.entries.iter().position(|entry| entry.key == key && entry.state == State::Inside)
        });
        let Some(index) = lost else { return false };
        let no_contact = self.entries[index].left == Instant::MAX;
        if matches!(self.spec.loss, Loss::None) && !no_contact {
            to.tell(Kind::DroppedWithoutCause, || "the link loses nothing".to_owned());
        }
        self.entries[index].state = State::Over;
        true
    }
    /// Everything leaves whose turn has come before `at`.
    fn serve_before(&mut self, at: Instant) {
        let starts = |link: &Self| link.free_at.max(link.entries[link.at(link.next)].offered);
        while self.next < self.count() && starts(self) < at && self.serve_next(at) {}
    }
    /// The packet that began to leave last, if it is this one and has left when it should.
    fn last_served(&self, key: u64, when: impl Fn(Instant) -> bool) -> Option<usize> {
        let mut index = self.at(self.next);
        while index > 0 {
            index -= 1;
            let entry = &self.entries[index];
            if entry.state != State::Dropped {
                return (entry.key == key && entry.state == State::Inside && when(entry.left))
                    .then_some(index);
            }
        }
        None
    }

    /// The run is over: what should have come by now?
    pub(super) fn ended(&mut self, mut to: Teller) {
        self.settle(&mut to);
        self.serve(to.now);
        let late = |entry: &Entry| {
            let comes = entry.left.saturating_add(self.longest(entry.left));
            entry.state == State::Inside && comes < to.now
        };
        let lost: Vec<Instant> = self.entries.iter().filter(|e| late(e)).map(|e| e.offered).collect();
        for offered in lost {
            to.tell(Kind::NeverArrived, || format!("offered at {} s", offered.as_secs_f64()));
        }
    }
    fn longest(&self, left: Instant) -> Duration {
        let longest = match &self.spec.delay {
            Delay::Constant(delay) => *delay,
            curve @ Delay::Curve(_) => under_way(curve, left),
        };
        longest.saturating_add(self.hold).saturating_add(self.slack)
    }
}

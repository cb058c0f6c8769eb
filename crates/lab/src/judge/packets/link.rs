//! A direction of a link as the judge sees it: what is in it, in the order in which it leaves.
//!
//! One packet leaves after the other. When each has left at the earliest follows from when it was
//! offered, from those before it that were not dropped, and from the rate; when it comes, from the delay.

use super::facts::Facts;
use super::kind::{Kind, Violation};
use super::rules::{keeps_order, leaves, slack, under_way};
use crate::judge::findings::Findings;
use lightlag_protocols::link::queues::{Discipline, Limit};
use lightlag_protocols::link::{Delay, LinkSpec, Loss, Why};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::{HashMap, VecDeque};

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
    priority: u8,
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
    /// Of all that were ever offered, in the order in which they leave, the next to leave.
    next: u64,
    free_at: Instant,
    waiting: u64,
    waiting_bytes: u64,
    /// When the newest was offered and which it is, until it is settled whether a packet was dropped.
    unsettled: Option<(Instant, u64)>,
    /// Of what has come and may come again: when last, and how often. Nobody goes through it.
    copies: HashMap<u64, (Instant, u64)>,
    /// The same in order of time.
    expected: VecDeque<(Instant, u64)>,
}

/// Who tells of a finding, and where.
pub(super) struct Teller<'a> {
    pub found: &'a mut Findings<Violation>,
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
            hold: spec.reorder.map_or(Duration::ZERO, |reorder| reorder.1).saturating_add(spec.jitter),
            spec: spec.clone(),
            entries: VecDeque::new(),
            gone: 0,
            next: 0,
            free_at: Instant::ZERO,
            waiting: 0,
            waiting_bytes: 0,
            unsettled: None,
            copies: HashMap::new(),
            expected: VecDeque::new(),
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
        let (key, size, offered, priority) = (packet.key(), packet.size, to.now, packet.priority);
        let entry = Entry { key, offered, left: Instant::MAX, size, priority, state: State::Inside };
        let index = if self.has_priorities() { self.place_of(priority, offered) } else { self.count() };
        if index == self.count() {
            self.entries.push_back(entry);
        } else {
            let at = self.at(index);
            self.entries.insert(at, entry);
        }
        self.waiting += 1;
        self.waiting_bytes += u64::from(size);
        self.unsettled = Some((offered, index));
    }
    fn has_priorities(&self) -> bool {
        matches!(self.spec.queue, Discipline::Priority(_))
    }
    /// Behind what has begun to leave by now, and what waits and is as urgent or more.
    fn place_of(&mut self, priority: u8, now: Instant) -> u64 {
        self.serve(now);
        let mut index = self.count();
        while index > self.next && self.entries[self.at(index - 1)].priority > priority {
            index -= 1;
        }
        index
    }
    /// What was offered last has not been dropped at once: then there was room for it.
    #[inline]
    fn settle(&mut self, to: &mut Teller) {
        let Some((at, _)) = self.unsettled.take() else { return };
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
        let Some(at) = self.which(key, to.now) else { return self.arrived_again(key, to) };
        let index = self.gone + at as u64;
        if self.next <= index || !self.can_be_here(&self.entries[at], to.now) {
            if self.take_copy(key, to.now) {
                return;
            }
            while self.next <= index && self.serve_next(Instant::MAX) {}
            self.tell_early(at, &mut to);
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
            self.expect_copy(key, to.now);
        }
        self.forget();
    }
    /// Which of those with this key it is: the first that can be here by now, else the first.
    fn which(&mut self, key: u64, now: Instant) -> Option<usize> {
        let first = self.inside(key, 0)?;
        let mut next = Some(first);
        while let Some(at) = next {
            while self.next <= self.gone + at as u64 && self.serve_next(now) {}
            if self.can_be_here(&self.entries[at], now) {
                return Some(at);
            }
            next = self.inside(key, at + 1);
        }
        Some(first)
    }
    fn inside(&self, key: u64, from: usize) -> Option<usize> {
        let is_it = |entry: &Entry| entry.key == key && entry.state == State::Inside;
        self.entries.iter().skip(from).position(is_it).map(|at| from + at)
    }
    fn can_be_here(&self, entry: &Entry, now: Instant) -> bool {
        entry.left < Instant::MAX
            && entry.left.saturating_add(under_way(&self.spec.delay, entry.left))
                <= now.saturating_add(self.slack)
    }
    fn tell_early(&self, at: usize, to: &mut Teller) {
        let entry = self.entries[at];
        let alone = leaves(&self.spec.rate, entry.offered, entry.size);
        let light = self.can_be_here(&Entry { left: alone, ..entry }, to.now);
        // Those that were here with it, ought to have left before it, and have not come yet.
        let pushed = |before: &Entry| {
            let waits = before.state == State::Inside && before.left > entry.offered;
            waits && before.priority < entry.priority
        };
        let kind = match light {
            false => Kind::FasterThanLight,
            true if self.has_priorities() && self.entries.iter().take(at).any(pushed) => Kind::Overtaken,
            true => Kind::OverRate,
        };
        let (offered, left) = (entry.offered.as_secs_f64(), entry.left.as_secs_f64());
        to.tell(kind, || format!("offered at {offered} s, cannot have left before {left} s"));
    }
    /// Something came that is not inside: a copy, or out of thin air.
    fn arrived_again(&mut self, key: u64, mut to: Teller) {
        if !self.take_copy(key, to.now) {
            to.tell(Kind::OutOfThinAir, || "nothing like this is under way".to_owned());
        }
    }
    /// Nobody can tell equal packets apart: a copy that is still to come may be of the newest of them.
    fn expect_copy(&mut self, key: u64, now: Instant) {
        self.forget_copies(now);
        let copies = self.copies.entry(key).or_insert((now, 0));
        *copies = (now, copies.1 + 1);
        self.expected.push_back((now, key));
    }
    fn forget_copies(&mut self, now: Instant) {
        let is_over = |came: Instant, hold: Duration| came.saturating_add(hold) < now;
        while let Some(&(_, key)) = self.expected.front().filter(|copy| is_over(copy.0, self.hold)) {
            self.expected.pop_front();
            if self.copies.get(&key).is_some_and(|copies| is_over(copies.0, self.hold)) {
                self.copies.remove(&key);
            }
        }
    }
    fn take_copy(&mut self, key: u64, now: Instant) -> bool {
        self.forget_copies(now);
        let left = self.copies.get_mut(&key).map(|copies| &mut copies.1).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
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
    /// The newest finds no room, or only that of the last to leave.
    fn dropped_full(&mut self, key: u64, to: &mut Teller) -> bool {
        let Some((at, newest)) = self.unsettled else { return false };
        self.serve(at);
        let victim = self.victim(newest);
        let is_it = |entry: &Entry| entry.key == key && entry.state == State::Inside;
        let Some(dropped) = self.find_dropped(victim, newest, is_it) else { return false };
        if self.next > newest || self.fits(self.waiting, self.waiting_bytes) {
            let waiting = self.waiting;
            to.tell(Kind::DroppedEarly, || format!("{waiting} packets would wait"));
        } else if dropped != victim {
            let [this, other] = [dropped, victim].map(|index| self.entries[self.at(index)].priority);
            to.tell(Kind::WrongVictim, || format!("of priority {this}, and one of {other} is the last"));
        }
        self.unsettled = None;
        let index = self.at(dropped);
        if self.next > dropped {
            self.entries[index].state = State::Dropped;
        } else if let Some(entry) = self.entries.remove(index) {
            // Gone at once: where others always go first, its turn would never come.
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(entry.size);
        }
        true
    }
    /// Who has to go: the last to leave, if that makes enough room for the newest; else that.
    fn victim(&self, newest: u64) -> u64 {
        let waits = |index: &u64| self.entries[self.at(*index)].state != State::Dropped;
        let Some(last) = (newest..self.count()).rev().find(waits) else { return newest };
        let bytes = u64::from(self.entries[self.at(last)].size);
        if self.fits(self.waiting.saturating_sub(1), self.waiting_bytes.saturating_sub(bytes)) {
            last
        } else {
            newest
        }
    }
    /// The likely ones first: packets of equal content wait more than once.
    fn find_dropped(&self, victim: u64, newest: u64, is_it: impl Fn(&Entry) -> bool) -> Option<u64> {
        let likely = [victim, newest].into_iter().chain((self.next..self.count()).rev());
        likely.into_iter().find(|index| is_it(&self.entries[self.at(*index)]))
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
        let mut lost = self.served(key, at);
        if lost.is_none() {
            self.serve(at);
            lost = self.served(key, Instant::MAX);
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
    /// The packet that has left at `left`, if it is this one; the newest are looked at first.
    fn served(&self, key: u64, left: Instant) -> Option<usize> {
        let is_it = |entry: &Entry| entry.key == key && entry.state == State::Inside && entry.left == left;
        (0..self.at(self.next)).rev().find(|index| is_it(&self.entries[*index]))
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

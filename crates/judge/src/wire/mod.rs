//! A direction of a link as the judge sees it: what is in it, in the order in which it leaves.
//!
//! One packet leaves after the other. When each has left at the earliest follows from when it was
//! offered, from those before it that were not dropped, and from the rate; when it comes, from the delay.

mod times;

use lightlag_protocols::link::queues::Limit;
use lightlag_protocols::link::{Delay, DropCause, LinkSpec, Rate};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::{HashMap, VecDeque};
use times::{Served, keeps_order, leaves, slack, spread, under_way};

/// What a link can do wrong, whatever it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    OutOfThinAir,
    FasterThanLight,
    OverRate,
    Overtaken,
    NeverArrived,
    Overfull,
    NothingToDrop,
    WrongVictim,
    DroppedEarly,
    DroppedWithoutCause,
}

/// What a link must know of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parcel {
    /// The same for equal packets.
    pub key: u64,
    /// Beside the key, what may change on a link.
    pub tags: u64,
    /// Bits of the tags that may change on this one.
    pub changes: u64,
    /// Bytes on the link.
    pub size: u32,
    /// Lower ones leave first, where the queue has priorities.
    pub priority: u8,
}

/// How a packet that came out of a link went in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossed {
    /// Its tags then.
    pub tags: u64,
    /// When it was offered.
    pub offered: Instant,
    /// When its first bit can have left: where packets overtake each other, equal ones are indistinguishable.
    pub began: (Instant, Instant),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits, leaves, or is in flight.
    Inside,
    /// It was lost in flight, or has arrived.
    Over,
    /// The queue has dropped it: it never leaves.
    Dropped,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    parcel: Parcel,
    offered: Instant,
    /// When it began to leave and had left; known once it was served.
    began: Instant,
    left: Instant,
    state: State,
}

impl Entry {
    /// Whether this is inside, and a packet like that can come of it.
    #[inline]
    fn is(&self, packet: &Parcel) -> bool {
        let parcel = &self.parcel;
        self.state == State::Inside
            && parcel.key == packet.key
            && (parcel.tags ^ packet.tags) & !parcel.changes == 0
    }
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
    /// Of recorded opportunities.
    served: Served,
    waiting: u64,
    waiting_bytes: u64,
    /// When the newest was offered and which it is, until it is settled whether a packet was dropped.
    unsettled: Option<(Instant, u64)>,
    /// Arrived packets that may arrive again: the last arrival and the count. Never iterated.
    copies: HashMap<u64, (Instant, u64)>,
    /// The same in order of time.
    expected: VecDeque<(Instant, u64)>,
}

/// Where a link reports faults.
pub(super) struct Teller<'a> {
    pub now: Instant,
    pub hear: &'a mut dyn FnMut(Fault, String),
}

impl Teller<'_> {
    #[cold]
    fn tell(&mut self, fault: Fault, detail: impl FnOnce() -> String) {
        (self.hear)(fault, detail());
    }
}

impl LinkState {
    pub(super) fn new(spec: &LinkSpec) -> Self {
        Self {
            in_order: keeps_order(spec),
            slack: slack(&spec.delay),
            hold: spec
                .reorder
                .map_or(Duration::ZERO, |reorder| reorder.1)
                .saturating_add(spec.jitter)
                .saturating_add(spread(&spec.delay)),
            spec: spec.clone(),
            entries: VecDeque::new(),
            gone: 0,
            next: 0,
            free_at: Instant::ZERO,
            served: Served::default(),
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
    pub(super) fn offered(&mut self, packet: &Parcel, mut to: Teller) {
        self.settle(&mut to);
        let (offered, never) = (to.now, Instant::MAX);
        let entry = Entry { parcel: *packet, offered, began: never, left: never, state: State::Inside };
        let index =
            if self.has_priorities() { self.place_of(packet.priority, offered) } else { self.count() };
        if index == self.count() {
            self.entries.push_back(entry);
        } else {
            let at = self.at(index);
            self.entries.insert(at, entry);
        }
        self.waiting += 1;
        self.waiting_bytes += u64::from(packet.size);
        self.unsettled = Some((offered, index));
    }
    fn has_priorities(&self) -> bool {
        self.spec.queue.by_priority()
    }
    /// Behind packets that have begun to leave by now, and waiting ones of equal or higher priority.
    fn place_of(&mut self, priority: u8, now: Instant) -> u64 {
        self.serve(now);
        let mut index = self.count();
        while index > self.next && self.entries[self.at(index - 1)].parcel.priority > priority {
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
            to.tell(Fault::Overfull, || format!("{waiting} packets wait at {} s", at.as_secs_f64()));
        }
    }
    /// Whether that much may wait beside the packet that is leaving.
    fn fits(&self, packets: u64, bytes: u64) -> bool {
        match self.spec.queue.limit() {
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
            entry.began = start;
            entry.left = match &self.spec.rate {
                Rate::Opportunities(trace) => {
                    let waited = self.free_at > entry.offered;
                    self.served.leaves(trace.at_ms(), start, waited, entry.parcel.size)
                }
                rate => leaves(rate, start, entry.parcel.size),
            };
            self.free_at = entry.left;
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(entry.parcel.size);
        }
        self.next += 1;
        true
    }

    /// How it went in; `None` for a duplicate or after a fault.
    #[inline]
    pub(super) fn arrived(&mut self, packet: &Parcel, mut to: Teller) -> Option<Crossed> {
        self.settle(&mut to);
        let at = self.which(packet, to.now);
        if at.is_none_or(|at| !self.is_here(at, to.now)) && self.take_copy(packet, to.now) {
            return None;
        }
        let Some(at) = at.or_else(|| self.inside_altered(packet.key, to.now)) else {
            to.tell(Fault::OutOfThinAir, || "no such packet is in flight".to_owned());
            return None;
        };
        if !self.is_here(at, to.now) {
            let index = self.gone + at as u64;
            while self.next <= index && self.serve_next(Instant::MAX) {}
            self.tell_early(at, &mut to);
        }
        if self.in_order {
            self.tell_overtaken(at, &mut to);
        }
        self.entries[at].state = State::Over;
        let crossed = self.crossed(&self.entries[at], to.now);
        if self.spec.duplicate > 0.0 {
            self.expect_copy(packet, to.now);
        }
        self.forget();
        Some(crossed)
    }
    /// Those before it ought to have come by now.
    fn tell_overtaken(&mut self, at: usize, to: &mut Teller) {
        for before in self.entries.iter_mut().take(at).filter(|entry| entry.state == State::Inside) {
            before.state = State::Over;
            let offered = before.offered.as_secs_f64();
            to.tell(Fault::NeverArrived, || format!("offered at {offered} s, a later one has come"));
        }
    }
    fn crossed(&self, entry: &Entry, now: Instant) -> Crossed {
        let steady = (&self.spec.rate, &self.spec.delay);
        let began = if self.in_order && self.spec.duplicate == 0.0 {
            (entry.began, entry.began)
        } else if matches!(steady, (Rate::Constant(_), Delay::Constant(_))) {
            (before(entry.offered, self.hold), now)
        } else {
            (Instant::ZERO, now)
        };
        Crossed { tags: entry.parcel.tags, offered: entry.offered, began }
    }
    /// Which of those like this it is: the first that can be here by now, else the first.
    fn which(&mut self, packet: &Parcel, now: Instant) -> Option<usize> {
        let first = self.inside(packet, 0)?;
        let mut next = Some(first);
        while let Some(at) = next {
            while self.next <= self.gone + at as u64 && self.serve_next(now) {}
            if self.can_be_here(&self.entries[at], now) {
                return Some(at);
            }
            next = self.inside(packet, at + 1);
        }
        Some(first)
    }
    fn inside(&self, packet: &Parcel, from: usize) -> Option<usize> {
        self.entries.iter().skip(from).position(|entry| entry.is(packet)).map(|at| from + at)
    }
    /// The same packet, with tags that cannot have become those that it has.
    fn inside_altered(&mut self, key: u64, now: Instant) -> Option<usize> {
        self.serve(now);
        self.entries.iter().position(|entry| entry.state == State::Inside && entry.parcel.key == key)
    }
    /// Whether it has left and had the time to come.
    fn is_here(&self, at: usize, now: Instant) -> bool {
        self.next > self.gone + at as u64 && self.can_be_here(&self.entries[at], now)
    }
    fn can_be_here(&self, entry: &Entry, now: Instant) -> bool {
        entry.left < Instant::MAX
            && entry.left.saturating_add(under_way(&self.spec.delay, entry.left))
                <= now.saturating_add(self.slack)
    }
    fn tell_early(&self, at: usize, to: &mut Teller) {
        let entry = self.entries[at];
        let alone = leaves(&self.spec.rate, entry.offered, entry.parcel.size);
        let light = self.can_be_here(&Entry { left: alone, ..entry }, to.now);
        // Those that were here with it, ought to have left before it, and have not come yet.
        let pushed = |before: &Entry| {
            let waits = before.state == State::Inside && before.left > entry.offered;
            waits && before.parcel.priority < entry.parcel.priority
        };
        let kind = match light {
            false => Fault::FasterThanLight,
            true if self.has_priorities() && self.entries.iter().take(at).any(pushed) => Fault::Overtaken,
            true => Fault::OverRate,
        };
        let (offered, left) = (entry.offered.as_secs_f64(), entry.left.as_secs_f64());
        to.tell(kind, || format!("offered at {offered} s, cannot have left before {left} s"));
    }
    /// Equal packets are indistinguishable: a copy that is still to come may be of the newest of them.
    fn expect_copy(&mut self, packet: &Parcel, now: Instant) {
        let key = packet.key;
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
    fn take_copy(&mut self, packet: &Parcel, now: Instant) -> bool {
        if self.spec.duplicate == 0.0 {
            return false;
        }
        self.forget_copies(now);
        let left = self.copies.get_mut(&packet.key).map(|copies| &mut copies.1).filter(|left| **left > 0);
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

    pub(super) fn dropped(&mut self, at: Instant, packet: &Parcel, why: DropCause, mut to: Teller) {
        let found = match why {
            DropCause::Full => self.dropped_full(packet, &mut to),
            DropCause::Marked => self.dropped_marked(packet, at, &mut to),
            DropCause::Lost => self.lost(packet, at, &mut to),
        };
        if !found {
            to.tell(Fault::NothingToDrop, || format!("{why:?}"));
        }
        self.forget();
    }
    /// The newest finds no room, or only that of the last to leave.
    fn dropped_full(&mut self, packet: &Parcel, to: &mut Teller) -> bool {
        let Some((at, newest)) = self.unsettled else { return false };
        self.serve(at);
        let victim = self.victim(newest);
        let Some(dropped) = self.find_dropped(victim, newest, packet) else { return false };
        if self.next > newest || self.fits(self.waiting, self.waiting_bytes) {
            let waiting = self.waiting;
            to.tell(Fault::DroppedEarly, || format!("{waiting} packets would wait"));
        } else if dropped != victim {
            let [this, other] = [dropped, victim].map(|index| self.entries[self.at(index)].parcel.priority);
            to.tell(Fault::WrongVictim, || format!("of priority {this}, and one of {other} is the last"));
        }
        self.unsettled = None;
        let index = self.at(dropped);
        if self.next > dropped {
            self.entries[index].state = State::Dropped;
        } else if let Some(entry) = self.entries.remove(index) {
            // Gone at once: where others always go first, its turn would never come.
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(entry.parcel.size);
        }
        true
    }
    /// Who has to go: the last to leave, if that makes enough room for the newest; else that.
    fn victim(&self, newest: u64) -> u64 {
        let waits = |index: &u64| self.entries[self.at(*index)].state != State::Dropped;
        let Some(last) = (newest..self.count()).rev().find(waits) else { return newest };
        let bytes = u64::from(self.entries[self.at(last)].parcel.size);
        if self.fits(self.waiting.saturating_sub(1), self.waiting_bytes.saturating_sub(bytes)) {
            last
        } else {
            newest
        }
    }
    /// The likely ones first: packets of equal content wait more than once.
    fn find_dropped(&self, victim: u64, newest: u64, packet: &Parcel) -> Option<u64> {
        let likely = [victim, newest].into_iter().chain((self.next..self.count()).rev());
        likely.into_iter().find(|index| self.entries[self.at(*index)].is(packet))
    }
    /// The discipline asks a sender to slow down.
    fn dropped_marked(&mut self, packet: &Parcel, at: Instant, to: &mut Teller) -> bool {
        if !self.spec.queue.drops_waiting() {
            to.tell(Fault::DroppedWithoutCause, || "the queue marks nothing".to_owned());
        }
        // Dropped instead of leaving: those before it have begun to leave.
        self.serve_before(at);
        let from = self.at(self.next);
        let waiting = self.entries.iter_mut().skip(from);
        let Some(entry) = waiting.into_iter().find(|entry| entry.is(packet)) else { return false };
        entry.state = State::Dropped;
        self.waiting -= 1;
        self.waiting_bytes -= u64::from(entry.parcel.size);
        true
    }
    /// Lost while it left, or no later contact will take it.
    fn lost(&mut self, packet: &Parcel, at: Instant, to: &mut Teller) -> bool {
        // Recorded when it begins to leave: those before it have left, those behind it have not.
        self.serve_before(at);
        let mut lost = self.served(packet, at);
        if lost.is_none() {
            self.serve(at);
            lost = self.served(packet, Instant::MAX);
        }
        let lost = lost.or_else(|| self.inside(packet, 0));
        let Some(index) = lost else { return false };
        let no_contact = self.entries[index].left == Instant::MAX;
        if self.spec.loss.is_none() && !no_contact {
            to.tell(Fault::DroppedWithoutCause, || "the link loses nothing".to_owned());
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
    fn served(&self, packet: &Parcel, left: Instant) -> Option<usize> {
        let is_it = |entry: &Entry| entry.left == left && entry.is(packet);
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
            to.tell(Fault::NeverArrived, || format!("offered at {} s", offered.as_secs_f64()));
        }
    }
    fn longest(&self, left: Instant) -> Duration {
        under_way(&self.spec.delay, left).saturating_add(self.hold).saturating_add(self.slack)
    }
}

fn before(at: Instant, span: Duration) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(span.as_nanos()))
}

//! What a sender knows of its segments: which have arrived, which are lost, which were sent again
//! (the scoreboard of RFC 6675).

use super::super::ranges::{Range, Ranges};
use super::SACK_BLOCKS_MAX;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// When a segment was sent last, and whether that was the first time.
#[derive(Clone, Copy, Debug)]
pub struct Stamp(i64);

impl Stamp {
    fn once(at: Instant) -> Self {
        Self(at.as_nanos())
    }
    fn again(at: Instant) -> Self {
        Self(!at.as_nanos())
    }
    /// When.
    pub fn at(self) -> Instant {
        Instant::from_nanos(if self.0 < 0 { !self.0 } else { self.0 })
    }
    /// Whether it was sent once only.
    pub fn is_first(self) -> bool {
        self.0 >= 0
    }
}

/// The later one.
pub fn newer(one: Option<Stamp>, other: Option<Stamp>) -> Option<Stamp> {
    match (one, other) {
        (Some(a), Some(b)) => Some(if b.at() > a.at() { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The scoreboard. Bytes from `una` to `next` have been sent and are not acknowledged cumulatively.
#[derive(Debug)]
pub struct Board {
    segment: u64,
    /// Everything below is acknowledged.
    pub una: u64,
    /// Everything below has been sent.
    pub next: u64,
    /// One stamp for each segment from `una` on.
    stamps: VecDeque<Stamp>,
    stamps_from: u64,
    /// Arrived above `una`.
    pub sacked: Ranges,
    /// The SACK blocks received last: most acknowledgements repeat two of three.
    told: [Range; SACK_BLOCKS_MAX],
    /// What is not sacked below this is lost.
    pub lost_below: u64,
    /// What was lost below this has been sent again.
    pub resent_below: u64,
    /// Lost bytes that were not sent again yet: those from `resent_below` to `lost_below`.
    pending: u64,
    /// Repairs in flight, in order of sending.
    repairs: VecDeque<(Instant, Range)>,
    /// Repairs that were lost too.
    again: Ranges,
    /// When the newest segment that has arrived was sent.
    newest: Option<Instant>,
    /// The gap to repair next, cached until it may change.
    gap: Option<Option<Range>>,
}

impl Board {
    /// Nothing sent.
    pub fn new(segment: u64) -> Self {
        Self {
            segment,
            una: 0,
            next: 0,
            stamps: VecDeque::new(),
            stamps_from: 0,
            sacked: Ranges::default(),
            told: [(0, 0); SACK_BLOCKS_MAX],
            lost_below: 0,
            resent_below: 0,
            pending: 0,
            repairs: VecDeque::new(),
            again: Ranges::default(),
            newest: None,
            gap: None,
        }
    }
    /// Estimate of the bytes in flight (RFC 6675, SetPipe).
    pub fn in_flight(&self) -> u64 {
        (self.next - self.una) - self.sacked.total() - self.pending - self.again.total()
    }
    /// The stamp of the segment that holds `at`.
    pub fn stamp(&self, at: u64) -> Option<Stamp> {
        let index = at.checked_sub(self.stamps_from)? / self.segment;
        self.stamps.get(index as usize).copied()
    }
    /// New data were sent.
    pub fn on_new(&mut self, now: Instant, length: u64) {
        if self.stamps.len() == self.stamps.capacity() {
            self.stamps.reserve_exact(self.stamps.len() / 8 + 16);
        }
        self.stamps.push_back(Stamp::once(now));
        self.next += length;
    }
    /// The next repair was sent.
    pub fn on_resent(&mut self, now: Instant, range: Range) {
        let index = ((range.0 - self.stamps_from) / self.segment) as usize;
        if let Some(stamp) = self.stamps.get_mut(index) {
            *stamp = Stamp::again(now);
        }
        if self.again.is_empty() {
            self.pending -= range.1 - range.0;
            self.resent_below = range.1;
        } else {
            self.again.remove_below(range.1);
        }
        let left = self.gap.flatten().map(|gap| (range.1, gap.1)).filter(|left| left.0 < left.1);
        self.gap = left.map(Some);
        self.repairs.push_back((now, range));
    }
    /// How much of a range is pending.
    fn pending_in(&self, from: u64, to: u64) -> u64 {
        if self.pending == 0 {
            return 0;
        }
        self.unsacked(from.max(self.resent_below).max(self.una), to.min(self.lost_below))
    }
    fn unsacked(&self, from: u64, to: u64) -> u64 {
        if from >= to { 0 } else { to - from - self.sacked.within(from, to) }
    }
    /// Everything below `ack` has arrived. Returns the number of new bytes, and the stamp of their newest
    /// segment.
    pub fn advance(&mut self, ack: u64) -> (u64, Option<Stamp>) {
        if ack <= self.una {
            return (0, None);
        }
        self.gap = self.gap.filter(|gap| gap.is_none_or(|gap| gap.0 >= ack));
        let stamp = self.stamp(ack - 1);
        self.pending -= self.pending_in(self.una, ack);
        let known = self.sacked.remove_below(ack);
        self.again.remove_below(ack);
        let news = ack - self.una - known;
        self.una = ack;
        self.resent_below = self.resent_below.max(ack);
        self.lost_below = self.lost_below.max(ack);
        let whole = ((ack - self.stamps_from) / self.segment) as usize;
        let whole = if ack == self.next { self.stamps.len() } else { whole.min(self.stamps.len()) };
        // Nearly always one or two.
        if whole <= 4 {
            for _ in 0..whole {
                self.stamps.pop_front();
            }
        } else {
            self.stamps.drain(..whole);
        }
        self.stamps_from += whole as u64 * self.segment;
        self.saw(stamp);
        (news, stamp)
    }
    /// Blocks have arrived. Returns their number of new bytes, and the newest stamp of their last segments.
    pub fn sack(&mut self, blocks: &[Range]) -> (u64, Option<Stamp>) {
        let (mut news, mut newest) = (0, None);
        for &block in blocks {
            if !self.told.contains(&block) {
                let (more, stamp) = self.sack_one(block);
                news += more;
                newest = newer(newest, stamp);
            }
        }
        self.told.iter_mut().zip(blocks).for_each(|(told, block)| *told = *block);
        (news, newest)
    }
    fn sack_one(&mut self, block: Range) -> (u64, Option<Stamp>) {
        // What was never sent cannot have arrived: a peer that says so is not believed.
        let (from, to) = (block.0.max(self.una), block.1.min(self.next));
        if from >= to {
            return (0, None);
        }
        // Most blocks repeat earlier ones.
        if self.sacked.around(from).is_some_and(|known| to <= known.1) {
            return (0, None);
        }
        let was_pending = self.pending_in(from, to);
        let news = self.sacked.insert(from, to);
        if news == 0 {
            return (0, None);
        }
        self.pending -= was_pending;
        self.gap = self.gap.filter(|gap| gap.is_none_or(|gap| gap.0 >= to || gap.1 <= from));
        // A repair that was thought lost has arrived after all.
        self.again.remove(from, to);
        let stamp = self.stamp(to - 1);
        self.saw(stamp);
        (news, stamp)
    }
    fn saw(&mut self, stamp: Option<Stamp>) {
        if let Some(stamp) = stamp {
            self.newest = self.newest.max(Some(stamp.at()));
        }
    }
    /// Everything not sacked below `bound` is lost; returns the number of newly lost bytes.
    pub fn lose_below(&mut self, bound: u64) -> u64 {
        let bound = bound.min(self.next);
        if bound <= self.lost_below {
            return 0;
        }
        let fresh = self.unsacked(self.lost_below.max(self.una), bound);
        if fresh > 0 {
            self.pending += fresh;
            self.gap = None;
        }
        self.lost_below = bound;
        fresh
    }
    /// Below this, what is not sacked is lost: more than `duplicates` - 1 segments have arrived above
    /// (RFC 6675, IsLost).
    pub fn overtaken(&self, duplicates: u64) -> u64 {
        let enough = (duplicates - 1) * self.segment;
        let mut above = 0;
        for (from, to) in self.sacked.iter().rev() {
            above += to - from;
            if above > enough {
                return from;
            }
        }
        0
    }
    /// Repairs sent more than `reordering` before a segment that has arrived are lost too
    /// (RFC 8985, section 6.2); returns their number of bytes.
    pub fn lose_repairs(&mut self, reordering: Duration) -> u64 {
        let Some(newest) = self.newest else { return 0 };
        let mut fresh = 0;
        while let Some(&(at, range)) = self.repairs.front() {
            let arrived = range.1 <= self.una;
            if !arrived && at.saturating_add(reordering) >= newest {
                break;
            }
            self.repairs.pop_front();
            let mut from = range.0.max(self.una);
            while let Some(gap) = self.sacked.gap(from, range.1) {
                fresh += self.again.insert(gap.0, gap.1);
                from = gap.1;
                self.gap = None;
            }
        }
        fresh
    }
    /// The timer has expired: everything in flight is lost, repairs included.
    pub fn lose_all(&mut self) {
        self.gap = None;
        self.repairs.clear();
        self.again.clear();
        self.lost_below = self.next;
        self.resent_below = self.una;
        self.pending = self.unsacked(self.una, self.next);
    }
    /// A recovery ended, or begins: nothing has been sent again yet.
    pub fn begin_recovery(&mut self) {
        self.repairs.clear();
    }
    /// The first range to retransmit, at most a segment.
    pub fn next_repair(&mut self) -> Option<Range> {
        let gap = self.gap.unwrap_or_else(|| self.find_gap());
        self.gap = Some(gap);
        let gap = gap?;
        // Segments are sent again as they were cut.
        let end = gap.0 - (gap.0 - self.stamps_from) % self.segment + self.segment;
        Some((gap.0, gap.1.min(end)))
    }
    fn find_gap(&self) -> Option<Range> {
        match self.again.first() {
            None if self.pending == 0 => None,
            None => self.sacked.gap(self.resent_below.max(self.una), self.lost_below),
            first => first,
        }
    }
}

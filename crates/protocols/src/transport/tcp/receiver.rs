//! The receiving end: puts the stream together and acknowledges it (RFC 5681, section 4.2; RFC 2018).

use super::super::Machine;
use super::super::ranges::{Range, Ranges};
use super::{Config, Kind, SACK_BLOCKS_MAX, Sack, Segment};
use crate::controllers::{ArrivalCounts, Recovery};
use crate::time::{Duration, Instant};

/// The receiving end of a connection.
pub struct Receiver {
    ack_every: u32,
    ack_delay: Duration,
    sacks: bool,
    /// Everything below has arrived.
    next: u64,
    above: Ranges,
    /// The blocks that were reported last, newest first; empty ones at the end.
    reported: [Range; SACK_BLOCKS_MAX],
    end: Option<u64>,
    /// Segments that arrived in order and are not acknowledged yet.
    unacknowledged: u32,
    waits_until: Option<Instant>,
    send: Option<Kind>,
    /// Segments that have arrived; none before the first probe.
    arrivals: Option<ArrivalCounts>,
    high: u64,
}

impl Receiver {
    /// One that has received nothing.
    pub fn new(config: &Config) -> Self {
        Self {
            ack_every: config.ack_every,
            ack_delay: config.ack_delay,
            sacks: config.recovery != Recovery::NewReno,
            next: 0,
            above: Ranges::default(),
            reported: [(0, 0); SACK_BLOCKS_MAX],
            end: None,
            unacknowledged: 0,
            waits_until: None,
            send: None,
            arrivals: None,
            high: 0,
        }
    }
    /// How much has arrived in order.
    pub fn delivered(&self) -> u64 {
        self.next
    }
    /// Whether the whole stream has arrived.
    pub fn is_complete(&self) -> bool {
        self.end == Some(self.next)
    }

    fn accept(&mut self, now: Instant, segment: &Segment) {
        let (from, to) = (segment.offset, segment.offset + u64::from(segment.length));
        if matches!(segment.kind, Kind::Data { fin: true }) {
            self.end = Some(to);
        }
        let in_order = from <= self.next && self.above.is_empty() && to > self.next;
        if from <= self.next {
            self.next = self.next.max(to);
            self.above.remove_below(self.next);
            if let Some(first) = self.above.first().filter(|first| first.0 == self.next) {
                self.next = first.1;
                self.above.remove_below(self.next);
            }
        } else {
            self.above.insert(from, to);
            self.report(from);
        }
        self.unacknowledged += 1;
        if !in_order || self.unacknowledged >= self.ack_every || self.is_complete() {
            self.send = Some(Kind::Ack);
        } else if self.waits_until.is_none() {
            self.waits_until = Some(now.saturating_add(self.ack_delay));
        }
    }
    /// A probe is counted, and reported with the next acknowledgement.
    fn accept_probe(&mut self, now: Instant, segment: &Segment) {
        self.arrivals.get_or_insert_default().low += 1;
        let (from, to) = (segment.offset, segment.offset + u64::from(segment.length));
        let known = to <= self.next || self.above.around(from).is_some_and(|block| block.1 >= to);
        if !known {
            self.accept(now, segment);
        }
    }
    /// The block around `at` is the newest; those that have become part of it are forgotten. No other has
    /// grown since it was the newest.
    fn report(&mut self, at: u64) {
        let Some(block) = self.above.around(at) else { return };
        let former = std::mem::replace(&mut self.reported, [(0, 0); SACK_BLOCKS_MAX]);
        self.reported[0] = block;
        let others = former.into_iter().filter(|other| other.0 < block.0 || other.0 >= block.1);
        self.reported[1..].iter_mut().zip(others).for_each(|(slot, other)| *slot = other);
    }
    fn answer(&mut self, kind: Kind) -> Segment {
        self.waits_until = None;
        self.unacknowledged = 0;
        Segment { kind, length: 0, offset: 0, ack: self.next, sack: self.blocks() }
    }
    fn blocks(&self) -> Option<Box<Sack>> {
        if (!self.sacks || self.above.is_empty()) && self.arrivals.is_none() {
            return None;
        }
        let blocks =
            self.reported.into_iter().filter(|block| self.sacks && block.0 >= self.next && block.1 > 0);
        let arrivals = self.arrivals.map(|arrivals| ArrivalCounts { high: self.high, ..arrivals });
        Some(Box::new(Sack::new(blocks).counting(arrivals)))
    }
}

impl Machine for Receiver {
    type Input = Segment;
    type Output = Segment;

    fn handle(&mut self, now: Instant, segment: Segment) {
        match segment.kind {
            Kind::Syn => self.send = Some(Kind::SynAck),
            Kind::Data { .. } => {
                self.high += 1;
                self.accept(now, &segment);
            }
            Kind::Probe => self.accept_probe(now, &segment),
            Kind::SynAck | Kind::Ack => {}
        }
    }
    #[inline]
    fn poll(&mut self, now: Instant) -> Option<Segment> {
        // Asked more often than it has something to say.
        if self.waits_until.is_some_and(|until| until <= now) {
            self.send = self.send.or(Some(Kind::Ack));
        }
        let kind = self.send.take()?;
        Some(self.answer(kind))
    }
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        self.waits_until
    }
}

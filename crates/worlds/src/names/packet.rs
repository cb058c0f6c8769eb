//! What links carry.

use lightlag_protocols::link::Load;
use lightlag_protocols::ndn::{Data, Interest, stamp};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;

/// A packet on a link. Small: it is copied several times on each.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What it is.
    pub body: Body,
    /// How long it has waited in queues since it was made; while it waits, less the time at which it began to.
    waited: Duration,
    /// It is to be stamped when it leaves, by a clock that is ahead by so much; [`Duration::MAX`]: it is not.
    stamp_due: Duration,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// An Interest, and its bytes on a link.
    Interest(Interest, Bytes),
    /// Data.
    Data(Data),
}

impl Packet {
    /// One that is offered to a link now, has waited for so long in others, and is to be stamped by a clock
    /// that is ahead by so much, or not.
    #[inline]
    pub fn new(now: Instant, body: Body, queued: Duration, stamp_due: Option<Duration>) -> Self {
        let waited = queued - (now - Instant::ZERO);
        Self { body, waited, stamp_due: stamp_due.unwrap_or(Duration::MAX) }
    }
    /// How long it has waited in queues since it was made, once it has left the last.
    #[inline]
    pub fn queued(&self) -> Duration {
        self.waited
    }
    /// How far the clock is ahead by which it is to be stamped when it leaves.
    #[inline]
    pub fn stamp_due(&self) -> Option<Duration> {
        (self.stamp_due < Duration::MAX).then_some(self.stamp_due)
    }
}

impl Load for Packet {
    #[inline]
    fn size(&self) -> Bytes {
        match &self.body {
            Body::Interest(_, size) => *size,
            Body::Data(data) => Bytes(u64::from(data.size)),
        }
    }
    #[inline]
    fn leaves(&mut self, now: Instant) {
        self.waited = self.waited + (now - Instant::ZERO);
        if let (true, Body::Data(data)) = (self.stamp_due < Duration::MAX, &mut self.body) {
            data.stamp = Some(stamp(now, self.stamp_due));
            self.stamp_due = Duration::MAX;
        }
    }
    #[inline]
    fn mark(&mut self) -> bool {
        match &mut self.body {
            Body::Data(data) => {
                data.marked = true;
                true
            }
            Body::Interest(..) => false,
        }
    }
}

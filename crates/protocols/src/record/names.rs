//! What happens in a world of names, and what its links carry.

use super::{Observation, observers};
use crate::link::{DropCause, Load};
use crate::ndn::{Data, Face, Interest, Name, Refused, stamp};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// Something about a packet: on which link, and what.
#[derive(Clone, Debug)]
pub enum Record<'p> {
    /// A packet was offered to a link.
    Offered(u32, &'p Packet),
    /// It came out of it.
    Arrived(u32, &'p Packet),
    /// A queue dropped it, or it was lost.
    Dropped(u32, &'p Packet, DropCause),
    /// A consumer asks its own node.
    Asked(u32, &'p Interest),
    /// Data came to a consumer that waited for them.
    Delivered(u32, &'p Data),
    /// A producer on that node answered.
    Produced(u32, &'p Data),
    /// The store of a node answered.
    Hit(u32, &'p Data),
    /// A node passes an Interest or Data no further; the face by which they came.
    Refused(u32, Face, Name, Refused),
    /// What a consumer and its controller show.
    Consumer(u32, Observation),
    /// Packets that wait at a link.
    Backlog(u32, u64),
}

observers!(Record, PACKETS);

/// A packet on a link. Small: it is copied several times on each.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What it is.
    pub body: Body,
    /// How long it has waited in queues since it was made; while it waits, less the time at which it began
    /// to.
    waited: Duration,
    /// Offset of the clock that stamps it when it leaves; [`Duration::MAX`]: no stamp.
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
    /// A packet that is offered to a link now and has waited for `queued` in others; `stamp_due` is the
    /// offset of the clock that stamps it when it leaves, `None`: no stamp.
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
    /// Offset of the clock that stamps it when it leaves; `None`: no stamp.
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

//! Queue disciplines: which packet leaves next, and which is dropped. One file each.

use super::Load;
use crate::time::{Duration, Instant};
use crate::units::Bytes;

mod codel;
mod drop_tail;
mod priority;

pub use codel::CoDel;
pub use drop_tail::DropTail;
pub use priority::Priority;

/// Packets that a queue has dropped while it was asked for the next one.
pub type Dropped<P> = Vec<P>;

/// What waits in front of a link.
pub trait Queue<P> {
    /// A packet comes; given back if there is no room.
    ///
    /// # Errors
    /// The packet.
    fn push(&mut self, now: Instant, packet: P) -> Result<(), P>;
    /// The packet that leaves now.
    fn pop(&mut self, now: Instant, dropped: &mut Dropped<P>) -> Option<P>;
    /// How many wait.
    fn len(&self) -> usize;
    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets, the one that is leaving included.
    Packets(u64),
    /// So many bytes, without the packet that is leaving.
    Bytes(Bytes),
}

/// A queue discipline, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped.
    DropTail(Limit),
    /// As `DropTail`, of each priority first the lowest number.
    Priority(Limit),
    /// Controlled delay (RFC 8289).
    CoDel {
        /// How much may wait.
        limit: Limit,
        /// Acceptable standing delay.
        target: Duration,
        /// How long it may stand above the target: about the longest round trip.
        interval: Duration,
        /// Mark what can be marked instead of dropping it (RFC 8289, section 5.7).
        mark: bool,
    },
}

impl Discipline {
    /// An empty queue.
    pub fn build<P: Load + 'static>(&self) -> Waiting<P> {
        match *self {
            Self::DropTail(limit) => Waiting::DropTail(DropTail::new(limit)),
            Self::Priority(limit) => Waiting::Other(Box::new(Priority::new(limit))),
            Self::CoDel { limit, target, interval, mark } => {
                Waiting::Other(Box::new(CoDel::new(limit, target, interval, mark)))
            }
        }
    }
}

/// A queue of any discipline; that of most links without the cost of a call through a table.
pub enum Waiting<P> {
    /// First in, first out.
    DropTail(DropTail<P>),
    /// Any other.
    Other(Box<dyn Queue<P>>),
}

impl<P: Load> Queue<P> for Waiting<P> {
    #[inline]
    fn push(&mut self, now: Instant, packet: P) -> Result<(), P> {
        match self {
            Self::DropTail(queue) => queue.push(now, packet),
            Self::Other(queue) => queue.push(now, packet),
        }
    }
    #[inline]
    fn pop(&mut self, now: Instant, dropped: &mut Dropped<P>) -> Option<P> {
        match self {
            Self::DropTail(queue) => queue.pop(now, dropped),
            Self::Other(queue) => queue.pop(now, dropped),
        }
    }
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::DropTail(queue) => queue.len(),
            Self::Other(queue) => queue.len(),
        }
    }
}

/// What waits, counted.
#[derive(Clone, Copy, Debug)]
struct Room {
    limit: Limit,
    bytes: u64,
}

impl Room {
    fn new(limit: Limit) -> Self {
        Self { limit, bytes: 0 }
    }
    /// Counts a packet in, if it fits beside `waiting` others.
    #[inline]
    fn admit(&mut self, waiting: usize, size: Bytes) -> bool {
        let fits = match self.limit {
            Limit::Packets(most) => waiting as u64 + 1 < most,
            Limit::Bytes(most) => self.bytes + size.0 <= most.0,
        };
        if fits {
            self.bytes += size.0;
        }
        fits
    }
    #[inline]
    fn release(&mut self, size: Bytes) {
        self.bytes -= size.0;
    }
}

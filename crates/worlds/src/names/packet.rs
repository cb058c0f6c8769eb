//! What links carry.

use lightlag_protocols::link::Load;
use lightlag_protocols::ndn::{Data, Interest, stamp};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;

/// A packet on a link.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What it is.
    pub body: Body,
    /// When it was offered to the link that it is on.
    pub offered: Instant,
    /// How long it has waited in queues since it was made.
    pub queued: Duration,
    /// Is to be stamped when it leaves, by a clock that is ahead by so much.
    pub stamp_due: Option<Duration>,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// An Interest, and its bytes on a link.
    Interest(Interest, Bytes),
    /// Data.
    Data(Data),
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
        self.queued = self.queued + (now - self.offered);
        if let (Some(ahead), Body::Data(data)) = (self.stamp_due, &mut self.body) {
            data.stamp = Some(stamp(now, ahead));
            self.stamp_due = None;
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

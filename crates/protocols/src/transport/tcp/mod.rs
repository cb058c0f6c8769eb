//! TCP: a sender and a receiver without I/O, one direction of data (RFC 9293).
//!
//! Offsets count the bytes of the stream from zero; code that writes headers adds the initial sequence
//! numbers. A sender polls out segments; each that arrives goes into the receiver's
//! [`super::Machine::handle`], and segments that the receiver polls out go to the sender's.

mod board;
mod receiver;
mod sender;

pub use super::rto::Timers;
pub use receiver::Receiver;
pub use sender::{Counts, Sender};

use super::ranges::Range;
use crate::controllers::{ArrivalCounts, Recovery};
use crate::time::Duration;
use crate::units::Bytes;

/// Bytes of an IPv4 and a TCP header without options.
pub const HEADER: Bytes = Bytes(40);
/// Most blocks of a selective acknowledgement beside no other option but a timestamp (RFC 2018, section 3).
pub const SACK_BLOCKS_MAX: usize = 3;

/// Most that a receiver can allow (RFC 7323, section 2.3).
pub const WINDOW_MAX: Bytes = Bytes(1 << 30);

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Opens the connection.
    Syn,
    /// Answers it.
    SynAck,
    /// Carries data, and the end of the stream where `fin`.
    Data {
        /// The stream ends with this segment.
        fin: bool,
    },
    /// Repeats data that wait for their acknowledgement, at low priority: it asks for room, and repairs
    /// what it happens to repair.
    Probe,
    /// Acknowledges.
    Ack,
}

/// A segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// What for.
    pub kind: Kind,
    /// How many bytes of data.
    pub length: u32,
    /// Offset of its first byte.
    pub offset: u64,
    /// Everything below this has arrived.
    pub ack: u64,
    /// What has arrived above, newest first.
    pub sack: Option<Box<Sack>>,
}

/// Blocks of a selective acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    blocks: [Range; SACK_BLOCKS_MAX],
    count: u8,
    /// Where the sender probes.
    pub arrivals: Option<ArrivalCounts>,
}

impl Sack {
    /// Of these blocks, the first [`SACK_BLOCKS_MAX`].
    pub fn new(blocks: impl Iterator<Item = Range>) -> Self {
        let mut sack = Self::default();
        for block in blocks.take(SACK_BLOCKS_MAX) {
            sack.blocks[usize::from(sack.count)] = block;
            sack.count += 1;
        }
        sack
    }
    /// The same with what has arrived in all.
    pub fn counting(self, arrivals: Option<ArrivalCounts>) -> Self {
        Self { arrivals, ..self }
    }
    /// The blocks.
    pub fn blocks(&self) -> &[Range] {
        &self.blocks[..usize::from(self.count)]
    }
}

impl Segment {
    /// Of two priorities: 0 leaves first where queues know them.
    pub fn priority(&self) -> u8 {
        u8::from(self.kind == Kind::Probe)
    }
    /// Bytes on the link: headers, the option of its blocks (RFC 2018, section 3: 2 + 8 a block and two
    /// to fill up), and data. Simulators that users compare with count none for the option, so `options`
    /// says whether it is counted.
    #[inline]
    pub fn size(&self, options: bool) -> Bytes {
        let blocks = self.sack.as_ref().map_or(0, |sack| 4 + 8 * u64::from(sack.count));
        Bytes(HEADER.0 + u64::from(self.length) + if options { blocks } else { 0 })
    }
}

/// How a connection behaves, but for its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// The retransmission timer.
    pub timers: Timers,
    /// Duplicate acknowledgements that mean a loss (RFC 5681, section 3.2; RFC 6675, DupThresh).
    pub duplicates: u32,
    /// Segments that may arrive before one must be acknowledged (RFC 5681, section 4.2).
    pub ack_every: u32,
    /// How long an acknowledgement may wait.
    pub ack_delay: Duration,
    /// The receiver's window.
    pub window: Bytes,
    /// Whether the connection is opened by a handshake; else the first data leave at once.
    pub handshake: bool,
}

impl Config {
    /// Segments of `segment` bytes, repaired by `recovery`, timers of `timers`: the rest as usual.
    pub fn new(segment: Bytes, recovery: Recovery, timers: Timers) -> Self {
        Self {
            segment,
            recovery,
            timers,
            duplicates: 3,
            ack_every: 2,
            ack_delay: Duration::from_nanos(100_000_000),
            window: WINDOW_MAX,
            handshake: true,
        }
    }
}

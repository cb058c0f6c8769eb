//! LTP, the Licklider Transmission Protocol (RFC 5326): blocks over links whose light time is long.
//!
//! An [`Engine`] is one end of one link: it sends blocks to its peer and receives blocks from it, many
//! sessions of both kinds at once. A block has a red part, which is repaired until all of it is there,
//! then a green part, which is not. Segments of data ask for reports by being checkpoints; a report claims
//! received data, and unclaimed data are sent again. Timers follow the light time and stand still
//! while the link is down in either direction.
//!
//! LTP has no congestion control of its own: any [`crate::controllers::Controller`] paces an engine. Reports
//! show it which data were acknowledged and which were lost.
//!
//! # The contract
//!
//! The engine holds no data. What it gives out ([`crate::transport::Machine::poll`]) names the range of
//! the block that belongs to the segment, and the driver appends these bytes from where it has them. What
//! arrives ([`Engine::receive`]) causes events, before anything else arrives, that name the ranges
//! which are new: the driver puts these bytes of the segment where it wants them, and drops the rest. So
//! bytes that were once acknowledged are never overwritten.
//!
//! `docs/guide/ltp.md` describes the choices that the RFC leaves open.

mod aggregator;
mod alarms;
mod copies;
mod engine;
mod export;
mod import;
mod pace;
mod repair;

pub use aggregator::Aggregator;
pub use alarms::Direction;
pub use engine::Engine;

use crate::time::Duration;
use crate::units::Bytes;
pub use crate::wire::ltp::{
    Checkpoint, Claim, Color, Content, Data, End, Ends, Reason, Report, Segment, SessionId,
};
use thiserror::Error;

/// Bytes of an IPv4 and a UDP header.
pub const UDP_HEADER: Bytes = Bytes(28);

/// How an engine behaves, but for its controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Names this engine.
    pub engine: u64,
    /// Names the other one.
    pub peer: u64,
    /// Longest segment, in bytes.
    pub segment: u64,
    /// Bytes of them that extensions take.
    pub extensions: u64,
    /// Light-time round trip, if known; [`Engine::on_light`] changes it.
    pub light: Option<Duration>,
    /// How long to wait for the first answer where no light time is known.
    pub first_wait: Duration,
    /// What both ends and their queues may take beside the light time.
    pub margin: Duration,
    /// Which red segments may be checkpoints.
    pub checkpoints: Checkpoints,
    /// Most red bytes between checkpoints, where they may be anywhere; `None`: checkpoints only at the end of the red part, and where a
    /// controller's window closes.
    pub checkpoint_every: Option<u64>,
    /// Interval of unsolicited reports while data arrive; `None`: never.
    pub report_every: Option<Duration>,
    /// How often each checkpoint, report and cancellation leaves at once, and repairs once; none: as often as
    /// weighs less than the round trip that its loss would cost, and so do repairs where a rate paces them.
    pub copies: Option<u32>,
    /// How often each may be sent because no answer came, before the session is given up (RLEXC).
    pub tries: u32,
    /// Answers in a row without anything new, before the session is given up (RXMTCYCEXC).
    pub cycles: u32,
    /// Timeout of a session of the peer without segments, counted while the link is up.
    pub idle: Duration,
    /// Most pacing delay that a burst may make up for.
    pub slack: Duration,
    /// Client services that are here; none: any.
    pub services: Option<Vec<u64>>,
    /// Bounds of the state that a peer can make it hold.
    pub quotas: Quotas,
    /// Names the random numbers: sessions and serial numbers begin with one.
    pub seed: u64,
}

/// Which red segments may be checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoints {
    /// Any: also those at which a controller's window closes (RFC 5326, section 4.1).
    Anywhere,
    /// The last of the red part, and the last of each repair; the next repair ends when all reports on the one before
    /// are here. For peers that accept few reports a session: ION accepts none before the end of the red part. A window
    /// that closes is opened by probes: cancellations of sessions that were never used, which the peer acknowledges
    /// (section 6.17).
    AtEnds,
}

/// What an engine holds at most. An open session takes about 1 kB, a piece 100 B, a report 16 B a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// Sessions of its own, open at once.
    pub exports: usize,
    /// Sessions of the peer, open at once.
    pub imports: usize,
    /// Bytes of a block of the peer.
    pub block: u64,
    /// Fragments of all blocks of the peer, separated by gaps.
    pub pieces: usize,
    /// Reports that are not acknowledged.
    pub reports: usize,
    /// Answers that wait to leave.
    pub answers: usize,
    /// Runs of closed sessions that are remembered.
    pub closed: usize,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            exports: 1024,
            imports: 1024,
            block: 1 << 40,
            pieces: 1 << 20,
            reports: 4096,
            answers: 4096,
            closed: 4096,
        }
    }
}

impl Config {
    /// Between two engines, with packets of at most `packet` bytes on the link.
    pub fn new(engine: u64, peer: u64, packet: Bytes) -> Self {
        Self {
            engine,
            peer,
            segment: packet.saturating_sub(UDP_HEADER).0,
            extensions: 0,
            light: None,
            first_wait: Duration::from_secs(3),
            margin: Duration::from_secs(1),
            checkpoints: Checkpoints::Anywhere,
            checkpoint_every: None,
            report_every: None,
            copies: None,
            tries: 20,
            cycles: 256,
            idle: Duration::from_secs(86_400),
            slack: Duration::from_nanos(1_000_000),
            services: None,
            quotas: Quotas::default(),
            seed: 0,
        }
    }
    /// The same for the other engine.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self { engine: self.peer, peer: self.engine, seed: crate::rng::mix(self.seed), ..self.clone() }
    }
}

/// Notices to the client of an engine (RFC 5326, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All of a block has left once (7.7).
    Transmitted(SessionId),
    /// All of a block has left, and its red part is there (7.4).
    Sent(SessionId),
    /// These bytes of the segment that has just come are new.
    Arrived {
        /// Of which block.
        session: SessionId,
        /// For whom.
        service: u64,
        /// The first of them in the block.
        from: u64,
        /// Behind the last.
        to: u64,
        /// Whether they are repaired when they are lost.
        red: bool,
    },
    /// The red part is here (7.3).
    RedPart {
        /// Of which block.
        session: SessionId,
        /// For whom.
        service: u64,
        /// Bytes of it.
        length: u64,
        /// It is the whole block.
        ends_block: bool,
    },
    /// A block of the peer is done with: nothing more comes of it.
    Closed(SessionId),
    /// A session was given up (7.5 and 7.6).
    Cancelled {
        /// Which.
        session: SessionId,
        /// By whom.
        by: End,
        /// Why.
        reason: Reason,
    },
}

/// Why a segment changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Refusal {
    /// Of another link.
    #[error("the session was begun by neither engine of this link")]
    Stranger,
    /// Data to the sender of a block, say.
    #[error("a segment of this type does not come from that end of the session")]
    WrongWay,
    /// The RFC gives it no meaning.
    #[error("the type of the segment is undefined")]
    Undefined,
    /// It came late.
    #[error("the session is closed")]
    Closed,
    /// It was never opened.
    #[error("the session is not known")]
    Unknown,
    /// A quota.
    #[error("as many sessions are open as may be")]
    Sessions,
    /// A quota.
    #[error("the block is larger than this engine takes")]
    TooLarge,
    /// A quota.
    #[error("blocks are in too many pieces")]
    Pieces,
    /// A quota.
    #[error("too many reports are not acknowledged")]
    Reports,
    /// A quota.
    #[error("answers come up faster than they leave")]
    Answers,
    /// Behind the end.
    #[error("the data lie outside the block")]
    Outside,
    /// Two ends.
    #[error("it contradicts what was said of the block before")]
    Contradiction,
    /// Red behind green.
    #[error("red data lie behind green")]
    Miscolored,
    /// Without data.
    #[error("it carries no data")]
    Empty,
    /// A report of more than there is.
    #[error("it acknowledges what was never sent")]
    NeverSent,
    /// A report of a checkpoint that there is not.
    #[error("it answers a checkpoint that was never sent")]
    NeverAsked,
}

/// Why a block is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsendable {
    /// A quota.
    #[error("as many blocks are being sent as may be: wait until one is done")]
    Busy,
    /// Nothing to send.
    #[error("a block has at least one byte")]
    Empty,
    /// More than can be counted.
    #[error("the block is longer than 2^62 B")]
    TooLong,
    /// Headers fill the segments.
    #[error("a segment has no room for data")]
    NoRoom,
}

/// How much an engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments of data sent, repairs included.
    pub sent: u64,
    /// Repairs among them, and checkpoints sent again; copies included.
    pub repairs: u64,
    /// Copies of segments of any kind, sent before their loss was known.
    pub copies: u64,
    /// Probes sent ([`Checkpoints::AtEnds`]).
    pub probes: u64,
    /// Reports sent, copies included.
    pub reports: u64,
    /// Expiries of timers.
    pub timeouts: u64,
    /// Losses that its controller was asked to answer.
    pub episodes: u64,
    /// Segments that changed nothing for a reason ([`Engine::refusals`]).
    pub refused: u64,
}

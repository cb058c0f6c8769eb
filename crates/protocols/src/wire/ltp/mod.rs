//! The segments of LTP as bytes (RFC 5326, section 3), their extensions and authentication (RFC 5327),
//! and aggregated service data (CCSDS 734.1-B-1, section 7).
//!
//! A [`Segment`] is what the protocol machine understands; its data travel beside it, so that a block
//! is never held twice. A [`Packet`] is a segment as it stands in a datagram, with data and extensions.
//!
//! | byte | what |
//! |---|---|
//! | version 4 bits, type 4 bits | version 0; see [`Segment::kind`] |
//! | session | originator SDNV, number SDNV |
//! | extensions | header 4 bits, trailer 4 bits: how many of each |
//! | each extension | tag 1, length SDNV, value |
//! | content | by type |

pub mod aggregation;
pub mod auth;
mod read;
pub mod sdnv;
#[cfg(test)]
mod tests;
mod write;

use thiserror::Error;

/// The UDP port of LTP (RFC 5326, section 10.1).
pub const PORT: u16 = 1113;
/// What this file speaks.
pub const VERSION: u8 = 0;
/// Most extensions in a header or a trailer: four bits count them.
pub const EXTENSIONS_MOST: usize = 15;

/// Why bytes are no segment of LTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A field is cut.
    #[error("ends within the {field} that begins at byte {at}")]
    Ends {
        /// Which.
        field: &'static str,
        /// Where it begins.
        at: usize,
    },
    /// A number that no engine could count to.
    #[error("the {field} at byte {at} does not fit 64 bits")]
    TooLarge {
        /// Which.
        field: &'static str,
        /// Where it begins.
        at: usize,
    },
    /// A serial number of zero, which stands for none (sections 3.2.1 to 3.2.3).
    #[error("the {field} before byte {at} is zero")]
    Zero {
        /// Which.
        field: &'static str,
        /// Behind it.
        at: usize,
    },
    /// Another version of the protocol.
    #[error("is of version {0}, not {VERSION}")]
    Version(u8),
    /// Data reach beyond the largest offset.
    #[error("data at offset {offset} of {length} B do not fit 64 bits")]
    Offset {
        /// Of the data.
        offset: u64,
        /// Of the data.
        length: u64,
    },
    /// A report of less than nothing.
    #[error("the report's lower bound {lower} is above its upper bound {upper}")]
    Bounds {
        /// Lower bound.
        lower: u64,
        /// Upper bound.
        upper: u64,
    },
    /// A claim is empty, overlaps the one before, or reaches out of the report's bounds.
    #[error("claim {number} of the report (offset {offset}, length {length}) {why}")]
    Claim {
        /// Counted from 1.
        number: usize,
        /// From the lower bound.
        offset: u64,
        /// Of the claim.
        length: u64,
        /// What is wrong.
        why: &'static str,
    },
    /// Something follows the segment.
    #[error("{0} B follow the segment's end")]
    Longer(usize),
}

/// Names a session (section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    /// The engine that sends the block.
    pub originator: u64,
    /// Which of its sessions.
    pub number: u64,
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.originator, self.number)
    }
}

/// A segment without its data and extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// To what it belongs.
    pub session: SessionId,
    /// What it says.
    pub content: Content,
}

/// What a segment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A piece of the block (types 0 to 4 and 7; section 3.2.1).
    Data(Data),
    /// What the receiver has (type 8; section 3.2.2).
    Report(Box<Report>),
    /// The report of this serial number came (type 9; section 3.2.3).
    ReportAck(u64),
    /// An end gives the session up (types 12 and 14; section 3.2.4).
    Cancel(End, Reason),
    /// The cancellation by that end came (types 13 and 15; section 3.2.4).
    CancelAck(End),
    /// A type that the RFC leaves undefined (5, 6, 10, 11): the bytes after the header extensions cannot be
    /// split.
    Undefined {
        /// Which.
        kind: u8,
    },
}

/// Which end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The sender of the block.
    Sender,
    /// Its receiver.
    Receiver,
}

/// A piece of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Client service that it is for.
    pub service: u64,
    /// Where it begins in the block, in bytes.
    pub offset: u64,
    /// Bytes of it.
    pub length: u64,
    /// Whether it is acknowledged, and what it ends.
    pub color: Color,
}

impl Data {
    /// Where it ends in the block.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
    /// Whether it is of the red part.
    pub fn is_red(&self) -> bool {
        matches!(self.color, Color::Red(_))
    }
    /// The checkpoint that it is.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        match self.color {
            Color::Red(checkpoint) => checkpoint,
            Color::Green { .. } => None,
        }
    }
    /// Whether the red part ends with it.
    pub fn ends_red(&self) -> bool {
        self.checkpoint().is_some_and(|checkpoint| checkpoint.ends >= Ends::Red)
    }
    /// Whether the block ends with it.
    pub fn ends_block(&self) -> bool {
        self.color == Color::Green { ends_block: true }
            || self.checkpoint().is_some_and(|checkpoint| checkpoint.ends == Ends::Block)
    }
}

/// Whether data are repaired when they are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// They are; some ask for a report.
    Red(Option<Checkpoint>),
    /// They are not.
    Green {
        /// The block ends here (EOB).
        ends_block: bool,
    },
}

/// Asks for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its serial number, never zero.
    pub serial: u64,
    /// Of the report that it answers; zero: of none.
    pub report: u64,
    /// What ends with it.
    pub ends: Ends,
}

/// What ends with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    /// Nothing: it is discretionary.
    Nothing,
    /// The red part (EORP).
    Red,
    /// The red part and the block (EORP and EOB).
    Block,
}

/// What a receiver has of the red part, within bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Its serial number, never zero.
    pub serial: u64,
    /// Of the checkpoint that it answers; zero: of none.
    pub checkpoint: u64,
    /// Its scope in the block is from here
    pub lower: u64,
    /// to here.
    pub upper: u64,
    /// Ascending, none touching the next.
    pub claims: Vec<Claim>,
}

impl Report {
    /// What it claims, as half-open ranges of the block.
    pub fn ranges(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.claims.iter().map(|claim| {
            let from = self.lower.saturating_add(claim.offset);
            (from, from.saturating_add(claim.length))
        })
    }
}

/// Bytes that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// From the report's lower bound.
    pub offset: u64,
    /// At least one.
    pub length: u64,
}

/// Why a session is given up (section 3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Reason {
    /// The client service cancelled it (USR_CNCLD).
    #[error("the client did not want it (USR_CNCLD)")]
    User,
    /// No such client service (UNREACH).
    #[error("its client service is not running (UNREACH)")]
    Unreachable,
    /// A segment was repeated as often as may be (RLEXC).
    #[error("its limit of reports or repetitions was reached (RLEXC)")]
    Repeated,
    /// Red data behind green, or green before red (MISCOLORED).
    #[error("red data lie behind green (MISCOLORED)")]
    Miscolored,
    /// The engine has to (SYS_CNCLD).
    #[error("the engine had to, for want of resources or time (SYS_CNCLD)")]
    System,
    /// Too many rounds of repairs (RXMTCYCEXC).
    #[error("too many rounds of repairs brought nothing new (RXMTCYCEXC)")]
    Cycles,
    /// Reserved.
    #[error("for a reserved reason, {0}")]
    Reserved(u8),
}

impl Reason {
    /// Of a code.
    pub const fn from_code(code: u8) -> Self {
        match code {
            0 => Self::User,
            1 => Self::Unreachable,
            2 => Self::Repeated,
            3 => Self::Miscolored,
            4 => Self::System,
            5 => Self::Cycles,
            other => Self::Reserved(other),
        }
    }
    /// Its code.
    pub const fn code(self) -> u8 {
        match self {
            Self::User => 0,
            Self::Unreachable => 1,
            Self::Repeated => 2,
            Self::Miscolored => 3,
            Self::System => 4,
            Self::Cycles => 5,
            Self::Reserved(code) => code,
        }
    }
}

/// Something beside the content (section 3.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// What it is: [`auth::TAG`], [`COOKIE_TAG`], or another.
    pub tag: u8,
    /// What it says.
    pub value: &'a [u8],
}

/// Marks a cookie against floods (RFC 5327, section 2.2); it is passed on, and none is asked for.
pub const COOKIE_TAG: u8 = 1;

/// A segment as it stands in a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What the machine understands.
    pub segment: Segment,
    /// The data of a data segment; of an undefined one all that follows the header, with its trailer.
    pub data: &'a [u8],
    /// Before the content.
    pub header: Vec<Extension<'a>>,
    /// Behind it; of an undefined segment empty, as its start is unknown.
    pub trailer: Vec<Extension<'a>>,
    /// How many trailer extensions an undefined segment announces; else zero.
    pub unread_trailers: u8,
}

impl<'a> Packet<'a> {
    /// Without extensions.
    pub fn new(segment: Segment, data: &'a [u8]) -> Self {
        Self { segment, data, header: Vec::new(), trailer: Vec::new(), unread_trailers: 0 }
    }
}

impl Segment {
    /// The type, as in the first byte (section 3.1.2).
    pub fn kind(&self) -> u8 {
        match &self.content {
            Content::Data(Data { color: Color::Red(None), .. }) => 0,
            Content::Data(Data { color: Color::Red(Some(checkpoint)), .. }) => 1 + checkpoint.ends as u8,
            Content::Data(Data { color: Color::Green { ends_block }, .. }) => 4 + 3 * u8::from(*ends_block),
            Content::Report(_) => 8,
            Content::ReportAck(_) => 9,
            Content::Cancel(End::Sender, _) => 12,
            Content::CancelAck(End::Sender) => 13,
            Content::Cancel(End::Receiver, _) => 14,
            Content::CancelAck(End::Receiver) => 15,
            Content::Undefined { kind } => *kind & 15,
        }
    }
    /// Whether it comes from the session's sender.
    pub fn is_from_sender(&self) -> bool {
        matches!(
            self.content,
            Content::Data(_)
                | Content::ReportAck(_)
                | Content::Cancel(End::Sender, _)
                | Content::CancelAck(End::Receiver)
        )
    }
    /// Bytes of data that it carries.
    pub fn data_length(&self) -> u64 {
        if let Content::Data(data) = &self.content { data.length } else { 0 }
    }
}

//! The messages of TCPCLv4, the TCP convergence layer of the Bundle Protocol (RFC 9174), as bytes. All
//! numbers are big-endian.
//!
//! The input is a stream: [`Contact::read`] and [`Message::read`] return how many bytes they took, or that
//! they need more. The data of a bundle follow their [`Segment`] and are no part of it, so that the reader
//! never holds a bundle.
//!
//! | message | number | then |
//! |---|---|---|
//! | contact header | `dtn!` | version 1, flags 1 |
//! | XFER_SEGMENT | 1 | flags 1, transfer 8, of the first: length of items 4, items; length 8, data |
//! | XFER_ACK | 2 | flags 1, transfer 8, length 8 |
//! | XFER_REFUSE | 3 | reason 1, transfer 8 |
//! | KEEPALIVE | 4 | |
//! | SESS_TERM | 5 | flags 1, reason 1 |
//! | MSG_REJECT | 6 | reason 1, message 1 |
//! | SESS_INIT | 7 | keepalive 2, segment MRU 8, transfer MRU 8, length 2, node, length of items 4, items |

mod read;
#[cfg(test)]
mod tests;
mod write;

use thiserror::Error;

/// The TCP port (section 8.1).
pub const PORT: u16 = 4556;
/// What this file speaks.
pub const VERSION: u8 = 4;
/// What each end begins with, before its version.
pub const MAGIC: &[u8; 4] = b"dtn!";
/// Most bytes of the extension items of a message; the RFC has room for 4 GiB.
pub const ITEMS_MOST: u32 = 1 << 16;
/// The transfer extension with the length of the bundle (section 5.2.5.1).
pub const TRANSFER_LENGTH: u16 = 1;

/// What each end begins with (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Of the protocol.
    pub version: u8,
    /// Whether it can use TLS.
    pub can_tls: bool,
}

/// A message after the contact headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Data of a bundle follow.
    Segment(Segment),
    /// Data have come (section 5.2.3).
    Ack {
        /// As of the segment.
        flags: Flags,
        /// Which bundle.
        transfer: u64,
        /// Bytes of it that have come.
        length: u64,
    },
    /// A bundle is not taken (section 5.2.4).
    Refuse {
        /// Why.
        reason: RefuseReason,
        /// Which bundle.
        transfer: u64,
    },
    /// Nothing to say (section 5.1.1).
    Keepalive,
    /// No further bundle begins (section 6.1).
    Term {
        /// It answers one.
        reply: bool,
        /// Why.
        reason: TermReason,
    },
    /// A message was not understood (section 5.1.2).
    Reject {
        /// Why.
        reason: RejectReason,
        /// Its number.
        message: u8,
    },
    /// Who speaks, and what it takes (section 4.6).
    Init(Init),
}

impl Message {
    /// Its number.
    pub fn number(&self) -> u8 {
        match self {
            Self::Segment(_) => 1,
            Self::Ack { .. } => 2,
            Self::Refuse { .. } => 3,
            Self::Keepalive => 4,
            Self::Term { .. } => 5,
            Self::Reject { .. } => 6,
            Self::Init(_) => 7,
        }
    }
}

/// The place of a segment in its bundle (section 5.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It is the first.
    pub start: bool,
    /// It is the last.
    pub end: bool,
    /// Reserved bits, in their places: unset by senders, and returned by acknowledgements.
    pub others: u8,
}

/// What stands before data of a bundle (section 5.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its place.
    pub flags: Flags,
    /// Which bundle: counted by the sender.
    pub transfer: u64,
    /// Of the first segment only.
    pub items: Vec<Item>,
    /// Bytes that follow.
    pub length: u64,
}

impl Segment {
    /// The length of the bundle, if given.
    pub fn total(&self) -> Option<u64> {
        let item = self.items.iter().find(|item| item.kind == TRANSFER_LENGTH)?;
        Some(u64::from_be_bytes(item.value.as_slice().try_into().ok()?))
    }
    /// Whether its items can be understood: no critical one is unknown, and the length of the bundle has
    /// eight bytes, at most once (sections 5.2.5 and 5.2.5.1).
    pub fn is_understood(&self) -> bool {
        let (lengths, others): (Vec<_>, Vec<_>) =
            self.items.iter().partition(|item| item.kind == TRANSFER_LENGTH);
        let told_right = lengths.len() < 2 && lengths.iter().all(|item| item.value.len() == 8);
        told_right && !others.iter().any(|item| item.is_critical)
    }
    /// Adds the length of the bundle.
    #[must_use]
    pub fn with_total(mut self, total: u64) -> Self {
        let value = total.to_be_bytes().to_vec();
        self.items.push(Item { is_critical: false, kind: TRANSFER_LENGTH, value });
        self
    }
}

/// Who speaks, and what it takes (section 4.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// Keepalive interval in seconds; zero: none.
    pub keepalive_s: u16,
    /// Most data of a segment, in bytes.
    pub segment_mru: u64,
    /// Longest bundle, in bytes.
    pub transfer_mru: u64,
    /// The node, as an endpoint of the Bundle Protocol; empty: not given.
    pub node: String,
    /// Extensions of the session.
    pub items: Vec<Item>,
}

/// An extension of a session or transfer (sections 4.8 and 5.2.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// A receiver that does not know it must end the session or refuse the transfer.
    pub is_critical: bool,
    /// Which.
    pub kind: u16,
    /// What it says.
    pub value: Vec<u8>,
}

/// Numbers with names, and the rest.
macro_rules! reasons {
    ($(#[$of_all:meta])* $name:ident { $($(#[$of_one:meta])* $reason:ident = $number:literal $words:literal,)* }) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of_one])* $reason,)*
            /// One of another document.
            Other(u8),
        }
        impl $name {
            /// Of a number.
            pub fn from_number(number: u8) -> Self {
                match number {
                    $($number => Self::$reason,)*
                    other => Self::Other(other),
                }
            }
            /// Its number.
            pub fn number(self) -> u8 {
                match self {
                    $(Self::$reason => $number,)*
                    Self::Other(number) => number,
                }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$reason => f.write_str($words),)*
                    Self::Other(number) => write!(f, "reason {number}"),
                }
            }
        }
    };
}

reasons! {
    /// Why a session ends (section 6.1).
    TermReason {
        /// Not given.
        Unknown = 0 "no reason given",
        /// Nothing came for too long.
        IdleTimeout = 1 "nothing came for too long",
        /// Of the contact header.
        VersionMismatch = 2 "another version of TCPCL",
        /// Too much to do.
        Busy = 3 "it is busy",
        /// What the two contact headers or SESS_INITs say does not fit.
        ContactFailure = 4 "what the two sides want does not fit",
        /// Memory or disk.
        ResourceExhaustion = 5 "it is out of resources",
    }
}

reasons! {
    /// Why a bundle is refused (section 5.2.4).
    RefuseReason {
        /// Not given.
        Unknown = 0 "no reason given",
        /// It is there already.
        Completed = 1 "it has the bundle already",
        /// Memory or disk.
        NoResources = 2 "it is out of resources",
        /// It must be sent again from the start.
        Retransmit = 3 "it must be sent again",
        /// Not this one.
        NotAcceptable = 4 "it does not take the bundle",
        /// An extension of the transfer.
        ExtensionFailure = 5 "an extension of the transfer is unknown or wrong",
        /// No further bundle begins.
        SessionTerminating = 6 "the session is ending",
    }
}

reasons! {
    /// Why a message is rejected (section 5.1.2).
    RejectReason {
        /// No such number.
        TypeUnknown = 1 "the type is unknown",
        /// It cannot be done.
        Unsupported = 2 "it is not supported",
        /// Not now.
        Unexpected = 3 "it is not expected now",
    }
}

/// Why bytes are no TCPCLv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// No contact header.
    #[error("it does not begin with `dtn!`: no TCP convergence layer")]
    Magic,
    /// A number that no message has.
    #[error("unknown message type {0}")]
    Type(u8),
    /// More than anybody needs.
    #[error("the extension items take {0} B, more than {ITEMS_MOST}")]
    Items(u32),
    /// They do not fill their list.
    #[error("an extension item does not end with its list")]
    Item,
    /// No text.
    #[error("the node's name is not UTF-8")]
    Node,
}

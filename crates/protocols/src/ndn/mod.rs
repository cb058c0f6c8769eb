//! Named data without I/O: Interests go out, Data come back on the reverse path
//! (NDN packet specification v0.3; the forwarding pipelines of "NFD Developer's Guide").
//!
//! Here a name is a number: [`Names`] interns what stands before the segment, so that a forwarder
//! compares two words and not two texts. Bytes on the wire are the affair of [`crate::wire::ndn`].
//!
//! - [`Consumer`] asks: a window of Interests under any [`crate::controllers::Controller`].
//! - [`Forwarder`] passes on: routes ([`Fib`]), pending Interests ([`Pit`]), a [`Store`] of Data.
//! - [`Producer`] answers.

mod consumer;
mod fib;
mod forwarder;
mod name;
mod pit;
mod producer;
mod requests;
mod stamp;
mod store;
mod waiting;
mod wheel;

pub use consumer::{Config, Consumer, Counts};
pub use fib::Fib;
pub use forwarder::{Forwarder, ForwarderConfig, ForwarderCounts, Refused, Verdict};
pub use name::{Name, Names, Prefix};
pub use pit::{Downstream, Pit};
pub use producer::Producer;
pub use requests::{Catalogue, Requests};
pub use stamp::{Clock, StampedAt, one_way, stamp};
pub use store::Store;

use crate::time::{Duration, Instant};

/// One of a forwarder's faces: a link, or a consumer or producer on the same node.
pub type Face = u32;

/// Asks for Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// Of what.
    pub name: Name,
    /// Distinguishes two Interests for one name.
    pub nonce: u32,
    /// What the previous node wants to see on the Data (the PIT token of NDNLPv2).
    pub token: u32,
    /// How long it stays pending, in milliseconds.
    pub lifetime_ms: u32,
    /// How many more forwarders it may pass.
    pub hop_limit: u8,
    /// What the Data must be.
    pub selectors: Selectors,
}

/// What an Interest says of the Data beside their name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selectors {
    /// Their name may be longer.
    pub can_be_prefix: bool,
    /// A store may only answer while they are fresh.
    pub must_be_fresh: bool,
}

/// InterestLifetime where an Interest says nothing (packet specification, section 3.6).
pub const LIFETIME: Duration = Duration::from_nanos(4_000_000_000);
/// HopLimit where an Interest says nothing.
pub const HOP_LIMIT: u8 = u8::MAX;

impl Interest {
    /// When it is no longer pending.
    #[inline]
    pub fn expires(&self, now: Instant) -> Instant {
        now.saturating_add(Duration::from_nanos(i64::from(self.lifetime_ms) * 1_000_000))
    }
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Of what.
    pub name: Name,
    /// Bytes of content.
    pub content: u32,
    /// Bytes of the whole packet on a link.
    pub size: u32,
    /// How long a store may answer with them where `must_be_fresh` is set, in milliseconds.
    pub freshness_ms: u32,
    /// As the Interest that brought them had it.
    pub token: u32,
    /// When they left the node that answered, in microseconds of its clock modulo 2³² (SendTime, a field
    /// of the link protocol outside of what is signed).
    pub stamp: Option<u32>,
    /// Who answered (SiteId).
    pub site: Option<u32>,
    /// A queue on the path asks to slow down (CongestionMark).
    pub marked: bool,
    /// A digest of the content: it must not change in transit.
    pub print: u64,
}

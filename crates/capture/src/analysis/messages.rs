//! Messages above a transport: blocks of LTP, transfers of TCPCL, bundles, Interests.

use super::flow::{Moment, Protocol};
use super::moments::{Moments, Spread};
use lightlag_protocols::wire::bundle;
use serde::Serialize;
use std::collections::BTreeSet;

/// Bundles that are remembered of a direction; more are not known again when they come again.
const BUNDLES_MAX: usize = 65_536;
/// The Bundle Protocol counts from the year 2000 (UTC).
const YEAR_2000_MS: i64 = 946_684_800_000;
/// Clocks that agree less do not measure an age: ten years.
const AGE_MAX_MS: f64 = 10.0 * 365.25 * 86_400_000.0;

named! {
    /// What the messages of a protocol are.
    Kind {
        /// Of LTP (RFC 5326).
        Blocks = "blocks",
        /// Of TCPCL (RFC 9174).
        Transfers = "transfers",
        /// Of the Bundle Protocol, one in a datagram.
        Bundles = "bundles",
        /// Of NDN, which Data answers.
        Interests = "Interests",
    }
}

impl Kind {
    /// Those of a protocol, if it has any.
    pub fn of(protocol: Protocol) -> Option<Self> {
        match protocol {
            Protocol::Ltp | Protocol::LtpDccp => Some(Self::Blocks),
            Protocol::Tcpcl => Some(Self::Transfers),
            Protocol::BpUdp | Protocol::BpDccp => Some(Self::Bundles),
            Protocol::Ndn => Some(Self::Interests),
            _ => None,
        }
    }
}

/// What is counted of the messages of a direction.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Begun.
    pub sent: u64,
    /// Known to have arrived whole; Interests: answered with Data.
    pub complete: u64,
    /// Refused, cancelled or not answered.
    pub lost: u64,
    /// Begun again.
    pub again: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// From the first packet to the answer that completes it.
    pub delay_ms: Moments,
    /// From the creation of a bundle to its capture.
    age_ms: Moments,
    bundles: BTreeSet<Fingerprint>,
}

/// Stands for bytes (FNV-1a), so that names of any length take the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// With more bytes.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }
    fn of(head: &bundle::Head) -> Self {
        let fragment = head.offset.map_or(0, |offset| offset.wrapping_add(1));
        let numbers = [head.version.into(), head.created, head.sequence, fragment];
        numbers.iter().fold(Self::default(), |sum, number| sum.with(&number.to_be_bytes())).with(&head.source)
    }
}

/// The same, as reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MessageFigures {
    /// What they are.
    pub kind: Kind,
    /// Begun.
    pub sent: u64,
    /// Known to have arrived whole; Interests: answered with Data. None for bundles, which nothing acknowledges.
    pub complete: Option<u64>,
    /// Refused, cancelled or not answered. None for bundles.
    pub lost: Option<u64>,
    /// Begun again: a bundle that began before, an Interest that was not answered yet.
    pub sent_again: u64,
    /// Bytes of them; Interests: of the Data that answers.
    pub bytes: u64,
    /// From the first packet to the answer that completes it.
    pub delay_ms: Option<Spread>,
    /// From the creation of a bundle, by the clock of its source, to its capture.
    pub age_ms: Option<Spread>,
}

impl Messages {
    /// One is complete that began at `began_ns`.
    pub fn complete(&mut self, began_ns: i64, now: &Moment) {
        self.complete += 1;
        self.delay_ms.add((now.ns - began_ns).max(0) as f64 / 1e6);
    }

    /// A bundle begins with these bytes, as far as they were kept; whether it began before. None if they are no
    /// bundle's.
    pub fn on_bundle(&mut self, bytes: &[u8], now: &Moment) -> Option<bool> {
        let head = bundle::head(bytes).ok()?;
        if let Some(created_ms) = head.created_ms() {
            let age_ms = now.ns as f64 / 1e6 - (YEAR_2000_MS as f64 + created_ms as f64);
            if (0.0..AGE_MAX_MS).contains(&age_ms) {
                self.age_ms.add(age_ms);
            }
        }
        let bundle = Fingerprint::of(&head);
        if self.bundles.contains(&bundle) {
            self.again += 1;
            return Some(true);
        }
        if self.bundles.len() < BUNDLES_MAX {
            self.bundles.insert(bundle);
        }
        Some(false)
    }

    /// As reported; none without any.
    pub fn figures(&self, protocol: Protocol) -> Option<MessageFigures> {
        let kind = Kind::of(protocol).filter(|_| self.sent > 0)?;
        let answered = kind != Kind::Bundles;
        Some(MessageFigures {
            kind,
            sent: self.sent,
            complete: answered.then_some(self.complete),
            lost: answered.then_some(self.lost),
            sent_again: self.again,
            bytes: self.bytes,
            delay_ms: self.delay_ms.spread(),
            age_ms: self.age_ms.spread(),
        })
    }
}

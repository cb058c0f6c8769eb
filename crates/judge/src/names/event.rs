//! What the judge and traces know of what happened.

use crate::wire::Parcel;
use lightlag_protocols::link::{DropCause, Load};
use lightlag_protocols::ndn::{Data, Face, Interest, Name, Refused};
use lightlag_protocols::record::names::{Body, Packet, Record};
use lightlag_protocols::time::Duration;

/// What a link carries, as far as it matters for what can have happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carried {
    /// An Interest, and its bytes on the link.
    Interest(Interest, u32),
    /// Data, and the offset of the clock that stamps them when they leave; `None` if they need no stamp.
    Data(Data, Option<Duration>),
}

/// One thing that happened, as traces keep it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A packet was offered to a link.
    Offered(u32, Carried),
    /// It came out of it.
    Arrived(u32, Carried),
    /// A queue dropped it, or it was lost; recorded at the decision, before the packet would have left.
    Dropped(u32, Carried, DropCause),
    /// A consumer asks its own node.
    Asked(u32, Interest),
    /// Data came to a consumer that waited for them.
    Delivered(u32, Data),
    /// A producer answered.
    Produced(u32, Data),
    /// The store of a node answered.
    Hit(u32, Data),
    /// A node passes an Interest or Data no further; the face by which they came.
    Refused(u32, Face, Name, Refused),
    /// The run is over.
    End,
}

impl Event {
    /// Of a world's record; nothing for samples.
    #[inline]
    pub fn of(record: &Record) -> Option<Self> {
        match *record {
            Record::Offered(link, packet) => Some(Self::Offered(link, Carried::of(packet))),
            Record::Arrived(link, packet) => Some(Self::Arrived(link, Carried::of(packet))),
            Record::Dropped(link, packet, why) => Some(Self::Dropped(link, Carried::of(packet), why)),
            Record::Asked(consumer, interest) => Some(Self::Asked(consumer, *interest)),
            Record::Delivered(consumer, data) => Some(Self::Delivered(consumer, *data)),
            Record::Produced(producer, data) => Some(Self::Produced(producer, *data)),
            Record::Hit(node, data) => Some(Self::Hit(node, *data)),
            Record::Refused(node, face, name, why) => Some(Self::Refused(node, face, name, why)),
            Record::Consumer(..) | Record::Backlog(..) => None,
        }
    }
}

/// Set in the tags of Data that a queue has marked.
pub(super) const MARKED: u64 = 1 << 34;
/// Set in the tags of Data that will be stamped when they leave.
pub(super) const DUE: u64 = 1 << 33;
const STAMPED: u64 = 1 << 32;
/// What the stamping changes.
const STAMP: u64 = DUE | STAMPED | u32::MAX as u64;

impl Carried {
    /// What a packet is.
    #[inline]
    pub fn of(packet: &Packet) -> Self {
        match packet.body {
            Body::Interest(interest, _) => Self::Interest(interest, packet.size().0 as u32),
            Body::Data(data) => Self::Data(data, packet.stamp_due()),
        }
    }
    /// As a link sees it; `marks` if its queue marks Data.
    #[inline]
    pub(super) fn parcel(&self, marks: bool) -> Parcel {
        match self {
            Self::Interest(interest, size) => {
                Parcel { key: interest_key(interest), size: *size, ..Parcel::default() }
            }
            Self::Data(data, due) => {
                let stamp = data.stamp.map_or(0, |stamp| STAMPED | u64::from(stamp));
                let due = if due.is_some() { DUE } else { 0 };
                let marked = if data.marked { MARKED } else { 0 };
                let may_be_marked = if marks && !data.marked { MARKED } else { 0 };
                let may_be_stamped = if due > 0 { STAMP } else { 0 };
                let (tags, changes) = (stamp | due | marked, may_be_marked | may_be_stamped);
                Parcel { key: data_key(data), tags, changes, size: data.size, priority: 0 }
            }
        }
    }
}

#[inline]
fn interest_key(interest: &Interest) -> u64 {
    let selectors = interest.selectors;
    let flags = u64::from(selectors.can_be_prefix) << 1 | u64::from(selectors.must_be_fresh);
    let print = fold(1, interest.name.word());
    let print = fold(print, u64::from(interest.nonce) << 32 | u64::from(interest.token));
    fold(print, u64::from(interest.lifetime_ms) << 16 | u64::from(interest.hop_limit) << 2 | flags)
}

/// Of everything that must not change on a link.
#[inline]
fn data_key(data: &Data) -> u64 {
    let print = fold(2, data.name.word());
    let print = fold(print, u64::from(data.content) << 32 | u64::from(data.size));
    let print = fold(print, u64::from(data.freshness_ms) << 32 | u64::from(data.token));
    fold(fold(print, data.print), data.site.map_or(u64::MAX, u64::from))
}

#[inline]
fn fold(print: u64, word: u64) -> u64 {
    (print.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

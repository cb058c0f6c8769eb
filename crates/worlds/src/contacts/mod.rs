//! When can two nodes talk: contacts, from motion, schedules or traces.

pub mod kinetic;

use lightlag_protocols::dtn::{ContactPlan, NodeId, PlannedContact};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;

/// An interval in which two nodes can exchange data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The node that notices first; it speaks first.
    pub a: NodeId,
    /// The other one.
    pub b: NodeId,
    /// When the link comes up.
    pub start: Instant,
    /// When the link goes down.
    pub end: Instant,
    /// The channel from `a` to `b`, an index into [`Contacts::channels`].
    pub forward: u32,
    /// The channel from `b` to `a`.
    pub backward: u32,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Bits per second while the contact lasts.
    pub rate: BitRate,
    /// One-way light time.
    pub delay: Delay,
}

/// One-way delay of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The same at all times.
    Constant(Duration),
    /// From each instant on, the delay beside it; before the first, the first. Ascending, not empty.
    Table(Vec<(Instant, Duration)>),
}

impl Delay {
    /// Whether the delay is zero at all times.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Constant(delay) => *delay == Duration::ZERO,
            Self::Table(rows) => rows.iter().all(|row| row.1 == Duration::ZERO),
        }
    }
    /// The least delay of bits that leave from `start` to `end`.
    pub fn least(&self, start: Instant, end: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Table(rows) => {
                let within = rows.iter().filter(|row| start < row.0 && row.0 <= end).map(|row| row.1);
                within.fold(self.at(start), Duration::min)
            }
        }
    }
    /// The greatest delay of bits that leave from `start` to `end`.
    pub fn greatest(&self, start: Instant, end: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Table(rows) => {
                let within = rows.iter().filter(|row| start < row.0 && row.0 < end).map(|row| row.1);
                within.fold(self.at(start), Duration::max)
            }
        }
    }
    /// The delay of a bit that leaves at `now`.
    pub fn at(&self, now: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Table(rows) => {
                let after = rows.partition_point(|row| row.0 <= now);
                rows[after.saturating_sub(1)].1
            }
        }
    }
}

/// All contacts of a run, in order of their start (ties by `a`, then `b`), and the channels they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// The contacts.
    pub list: Vec<Contact>,
    /// The channels that they name.
    pub channels: Vec<Channel>,
}

impl Contacts {
    /// The same as a plan: each link is two contacts, with the rate and the delay of its channels.
    pub fn plan(&self) -> ContactPlan {
        let both = self.list.iter().flat_map(|contact| {
            let &Contact { a, b, start, end, forward, backward } = contact;
            [(a, b, forward), (b, a, backward)].map(|(from, to, channel)| {
                let Channel { rate, delay } = &self.channels[channel as usize];
                PlannedContact { from, to, start, end, rate: *rate, delay: delay.greatest(start, end) }
            })
        });
        ContactPlan::new(both)
    }
}

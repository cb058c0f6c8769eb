//! When can two nodes talk: contacts, from motion, schedules or traces.

pub mod distance;
pub mod kinetic;

use lightlag_protocols::dtn::{ContactPlan, NodeId, PlannedContact};
use lightlag_protocols::math;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;
use std::sync::Arc;

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
    /// Bits per second while the contact lasts; the highest where they vary.
    pub rate: BitRate,
    /// How they vary.
    pub course: Course,
    /// One-way light time.
    pub delay: Delay,
}

/// How the rate of a channel varies during a contact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// It does not.
    #[default]
    Steady,
    /// From each instant on, the rate beside it; before the first, the first. Ascending, not empty.
    Table(Arc<[(Instant, BitRate)]>),
    /// Transmitters nearby interfere ([`shared_rate`]).
    Interference,
}

/// The rate that interference leaves of `rate` to a transfer of a node that takes part in `transfers`, and that is one of
/// `transmitters` among itself and its neighbours: rate / (sqrt(n ln n) · transfers), with n at least two.
///
/// Source: Gupta, Kumar, "The capacity of wireless networks", IEEE Transactions on Information Theory 46(2), 2000, in
/// the form of The ONE's `InterferenceLimitedInterface`.
pub fn shared_rate(rate: BitRate, transmitters: usize, transfers: u32) -> BitRate {
    let n = transmitters.max(2) as f64;
    BitRate((rate.0 as f64 / (n * math::log(n)).sqrt() / f64::from(transfers.max(1))) as u64)
}

impl Channel {
    /// The same rate and delay at all times.
    pub fn steady(rate: BitRate, delay: Delay) -> Self {
        Self { rate, course: Course::Steady, delay }
    }
    /// The rate at `now`, interference aside.
    #[inline]
    pub fn rate_at(&self, now: Instant) -> BitRate {
        match &self.course {
            Course::Steady => self.rate,
            Course::Table(rows) => rows[rows.partition_point(|row| row.0 <= now).saturating_sub(1)].1,
            Course::Interference => shared_rate(self.rate, 2, 1),
        }
    }
    /// The instants after `start` and before `end` at which the rate changes.
    pub fn changes(&self, start: Instant, end: Instant) -> impl Iterator<Item = Instant> + '_ {
        let rows: &[(Instant, BitRate)] = if let Course::Table(rows) = &self.course { rows } else { &[] };
        rows.iter().map(|row| row.0).filter(move |at| (start < *at) & (*at < end))
    }
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
                let Channel { rate, delay, .. } = &self.channels[channel as usize];
                PlannedContact { from, to, start, end, rate: *rate, delay: delay.greatest(start, end) }
            })
        });
        ContactPlan::new(both)
    }
}

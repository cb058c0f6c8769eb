//! Links and what is under way on them, as the judge sees them.

use super::table::{Table, key};
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};

/// A pair of nodes that was ever in contact, or claims to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub up: bool,
    /// From the lower node to the higher one, and back.
    pub directions: [Direction; 2],
}

#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub rate: BitRate,
    pub delay: Duration,
    /// First bit has left, last bit has not. More than one is a violation already.
    pub sending: Vec<Sending>,
    /// Last bit has left.
    pub flying: Vec<Flight>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub id: BundleId,
    pub started: Instant,
    pub size: Bytes,
    /// The contact is over: told already.
    pub cut: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub id: BundleId,
    pub started: Instant,
    pub sent: Instant,
    /// When light can have brought the last bit.
    pub earliest: Instant,
    pub delay: Duration,
    /// Links crossed on arrival, if the judge knows.
    pub hops: Option<u32>,
}

impl Direction {
    pub(super) fn take_sending(&mut self, id: BundleId) -> Option<Sending> {
        let at = self.sending.iter().position(|sending| sending.id == id)?;
        Some(self.sending.remove(at))
    }
    /// The flight that started at `started`, or else the oldest of the bundle.
    pub(super) fn take_flight(&mut self, id: BundleId, started: Instant) -> Option<Flight> {
        let same = |flight: &Flight| flight.id == id && flight.started == started;
        let at = self.flying.iter().position(same);
        let at = at.or_else(|| self.flying.iter().position(|flight| flight.id == id))?;
        Some(self.flying.remove(at))
    }
}

/// All links.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(Table<Link>);

impl Links {
    #[inline]
    pub(super) fn of(&mut self, a: NodeId, b: NodeId) -> &mut Link {
        self.0.entry(key(a.0.min(b.0), a.0.max(b.0))).or_default()
    }
    #[inline]
    pub(super) fn direction(&mut self, from: NodeId, to: NodeId) -> (bool, &mut Direction) {
        let link = self.of(from, to);
        (link.up, &mut link.directions[usize::from(from > to)])
    }
    /// Every direction on which something is under way, by sender and receiver.
    pub(super) fn busy(&self) -> Vec<(NodeId, NodeId, &Direction)> {
        let mut busy = Vec::new();
        for (pair, link) in &self.0 {
            let (low, high) = (NodeId((pair >> 32) as u32), NodeId(*pair as u32));
            for (from, to, direction) in [(low, high, &link.directions[0]), (high, low, &link.directions[1])]
            {
                if !direction.sending.is_empty() || !direction.flying.is_empty() {
                    busy.push((from, to, direction));
                }
            }
        }
        busy.sort_unstable_by_key(|&(from, to, _)| (from, to));
        busy
    }
}

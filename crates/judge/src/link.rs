//! Links and the transfers in progress on them, as the judge sees them.

use super::table::Slots;
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Remaining};

/// Most links have one transfer in progress, which is stored inline, without an allocation.
type Few<T> = smallvec::SmallVec<[T; 1]>;

/// A pair of nodes that was ever in contact, or claims to be.
#[derive(Clone, Debug)]
pub(super) struct Link {
    low: NodeId,
    high: NodeId,
    pub up: bool,
    /// From the lower node to the higher one, and back.
    pub directions: [Direction; 2],
}

#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub rate: BitRate,
    pub delay: Duration,
    /// First bit has left, last bit has not. More than one is a violation already.
    pub sending: Few<Sending>,
    /// Last bit has left.
    pub flying: Few<Flight>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub id: BundleId,
    pub started: Instant,
    /// Since when the link has had its rate.
    pub since: Instant,
    /// What remained then.
    pub left: Remaining,
    /// The contact is over, and this transfer is already reported.
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

impl Sending {
    /// What remains at `now`, at the rate that the link has had since [`Sending::since`].
    #[inline]
    pub(super) fn left_at(&self, now: Instant, rate: BitRate) -> Remaining {
        let elapsed = now.as_nanos().saturating_sub(self.since.as_nanos());
        self.left.after(Duration::from_nanos(elapsed), rate)
    }
}

impl Direction {
    pub(super) fn take_sending(&mut self, id: BundleId) -> Option<Sending> {
        let at = self.sending.iter().position(|sending| sending.id == id)?;
        Some(take(&mut self.sending, at))
    }
    /// The flight that started at `started`, or else the oldest of the bundle.
    pub(super) fn take_flight(&mut self, id: BundleId, started: Instant) -> Option<Flight> {
        let same = |flight: &Flight| flight.id == id && flight.started == started;
        let at = self.flying.iter().position(same);
        let at = at.or_else(|| self.flying.iter().position(|flight| flight.id == id))?;
        Some(take(&mut self.flying, at))
    }
}

/// Nearly always the only one.
#[inline]
fn take<T: Copy>(list: &mut Few<T>, at: usize) -> T {
    match list[..] {
        [only] => {
            list.clear();
            only
        }
        _ => list.remove(at),
    }
}

/// All links.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(Slots<Link>);

impl Links {
    #[inline]
    pub(super) fn of(&mut self, a: NodeId, b: NodeId) -> &mut Link {
        let (low, high) = (a.min(b), a.max(b));
        // Pairs in triangular order: those of the first nodes come first.
        let pair = u64::from(high.0) * (u64::from(high.0) + 1) / 2 + u64::from(low.0);
        self.0.ensure(pair, || Link { low, high, up: false, directions: Default::default() })
    }
    #[inline]
    pub(super) fn direction(&mut self, from: NodeId, to: NodeId) -> (bool, &mut Direction) {
        let link = self.of(from, to);
        (link.up, &mut link.directions[usize::from(from > to)])
    }
    /// Every direction with a transfer in progress, by sender and receiver.
    pub(super) fn busy(&self) -> Vec<(NodeId, NodeId, &Direction)> {
        let both = |link: &'_ Link| [(link.low, link.high, 0), (link.high, link.low, 1)];
        let all = self
            .0
            .values()
            .iter()
            .flat_map(|link| both(link).map(|(from, to, at)| (from, to, &link.directions[at])));
        let mut busy: Vec<_> = all
            .filter(|(_, _, direction)| !direction.sending.is_empty() || !direction.flying.is_empty())
            .collect();
        busy.sort_unstable_by_key(|&(from, to, _)| (from, to));
        busy
    }
}

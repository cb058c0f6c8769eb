//! Bundles that wait at the application until there is room in the buffer.

use crate::dtn::{Bundle, BundleId};
use crate::time::Instant;
use crate::units::Bytes;
use std::collections::VecDeque;

/// Bundles that were created here and not stored yet, in the order in which they are tried.
#[derive(Debug)]
pub(super) struct Waiting {
    bundles: VecDeque<Bundle>,
    used: Bytes,
    /// Most bytes; `None`: no bound.
    limit: Option<Bytes>,
    smallest_first: bool,
}

impl Waiting {
    pub fn new(limit: Option<Bytes>, smallest_first: bool) -> Self {
        Self { bundles: VecDeque::new(), used: Bytes(0), limit, smallest_first }
    }
    pub fn is_empty(&self) -> bool {
        self.bundles.is_empty()
    }
    /// Room that is left; `u64::MAX` without bound.
    pub fn free(&self) -> Bytes {
        self.limit.map_or(Bytes(u64::MAX), |limit| Bytes(limit.0.saturating_sub(self.used.0)))
    }
    /// Keeps a bundle; false if there is no room for it.
    pub fn keep(&mut self, bundle: Bundle) -> bool {
        if self.limit.is_some_and(|limit| self.used + bundle.size > limit) {
            return false;
        }
        let rank = |bundle: &Bundle| if self.smallest_first { bundle.size } else { Bytes(0) };
        let key = |bundle: &Bundle| (rank(bundle), bundle.created, bundle.id);
        let own = key(&bundle);
        let place = self.bundles.partition_point(|other| key(other) < own);
        self.used += bundle.size;
        self.bundles.insert(place, bundle);
        true
    }
    /// Takes out the first bundle of which this holds.
    pub fn take_first(&mut self, holds: impl FnMut(&Bundle) -> bool) -> Option<Bundle> {
        let place = self.bundles.iter().position(holds)?;
        let bundle = self.bundles.remove(place)?;
        self.used -= bundle.size;
        Some(bundle)
    }
    /// Takes out `id` if its lifetime is over, where there is a bound.
    pub fn take_expired(&mut self, now: Instant, id: BundleId) -> Option<Bundle> {
        self.limit?;
        self.take_first(|bundle| bundle.id == id && bundle.expires <= now)
    }
    /// Takes out all bundles whose lifetime is over, where there is a bound.
    pub fn take_all_expired(&mut self, now: Instant) -> Vec<Bundle> {
        if self.limit.is_none() {
            return Vec::new();
        }
        std::iter::from_fn(|| self.take_first(|bundle| bundle.expires <= now)).collect()
    }
    /// Takes all out.
    pub fn drain(&mut self) -> std::collections::vec_deque::Drain<'_, Bundle> {
        self.used = Bytes(0);
        self.bundles.drain(..)
    }
}

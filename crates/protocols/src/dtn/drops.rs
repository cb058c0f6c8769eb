//! What was dropped here to make room, until there is room again.

use crate::dtn::{BundleId, IdSet, Local};
use std::collections::VecDeque;

/// Free share of the buffer at which drops are forgotten: the load that caused them has passed.
const RELIEVED: f64 = 0.5;

/// The newest drops.
pub struct Drops {
    memory: usize,
    known: IdSet,
    /// In order.
    order: VecDeque<BundleId>,
}

impl Drops {
    /// Nothing was dropped; the `memory` last ones will be remembered.
    pub fn new(memory: usize) -> Self {
        Self { memory, known: IdSet::default(), order: VecDeque::new() }
    }
    /// Whether it is remembered.
    pub fn contains(&self, id: BundleId) -> bool {
        self.known.contains(id.0)
    }
    /// All that are remembered.
    pub fn known(&self) -> &IdSet {
        &self.known
    }
    /// Forgets them all if much of the buffer is free again: what was dropped may come back.
    pub fn forget_if_relieved(&mut self, at: &Local) {
        let capacity = at.store.capacity().0 as f64;
        if !self.known.is_empty() && at.store.free().0 as f64 >= RELIEVED * capacity {
            self.forget_all();
        }
    }
    /// There is room again: what was dropped may come back.
    fn forget_all(&mut self) {
        self.known = IdSet::default();
        self.order.clear();
    }
    /// It was dropped.
    pub fn insert(&mut self, id: BundleId) {
        if self.memory == 0 || !self.known.insert(id.0) {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > self.memory
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(oldest.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_drops_are_remembered() {
        let mut drops = Drops::new(2);
        (1..4).for_each(|id| drops.insert(BundleId(id)));
        assert_eq!([1, 2, 3].map(|id| drops.contains(BundleId(id))), [false, true, true]);
        drops.forget_all();
        assert!(drops.known().is_empty());
        drops.insert(BundleId(3));
        assert!(drops.contains(BundleId(3)));
    }
}

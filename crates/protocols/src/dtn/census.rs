//! Global counts of copies: the oracle that the papers of AFNER and GBSD assume.

use super::{BundleId, IdSet, NodeId};

/// Per bundle, how many copies were made, how many are alive and how many nodes have seen it, and the
/// averages over all bundles of which a copy is alive.
#[derive(Clone, Debug, Default)]
pub struct Census {
    made: Vec<u32>,
    alive: Vec<u32>,
    seen: Vec<u32>,
    /// By bundle: its source, and the nodes that are counted in `seen`.
    seers: Vec<IdSet>,
    bundles: u64,
    made_sum: u64,
    alive_sum: u64,
}

impl Census {
    /// A bundle was created at `source`: its first copy.
    pub fn on_created(&mut self, id: BundleId, source: NodeId) {
        let at = self.row(id);
        self.seers[at].insert(source.0);
        self.on_copied(id, source, true);
    }
    /// A copy was stored at `node`; `replication` when the giver kept its own (a move makes no new copy).
    pub fn on_copied(&mut self, id: BundleId, node: NodeId, replication: bool) {
        self.on_delivered(id, node);
        let at = self.row(id);
        if self.alive[at] == 0 {
            self.bundles += 1;
            self.made_sum += u64::from(self.made[at]);
        }
        self.alive[at] += 1;
        self.alive_sum += 1;
        if replication {
            self.made[at] += 1;
            self.made_sum += 1;
        }
    }
    /// A copy came to its destination, which counts as having seen it and stores none.
    pub fn on_delivered(&mut self, id: BundleId, node: NodeId) {
        let at = self.row(id);
        self.seen[at] += u32::from(self.seers[at].insert(node.0));
    }
    fn row(&mut self, id: BundleId) -> usize {
        let at = id.0 as usize;
        if at >= self.made.len() {
            self.made.resize(at + 1, 0);
            self.alive.resize(at + 1, 0);
            self.seen.resize(at + 1, 0);
            self.seers.resize(at + 1, IdSet::default());
        }
        at
    }
    /// A copy is gone.
    pub fn on_gone(&mut self, id: BundleId) {
        let at = id.0 as usize;
        self.alive[at] -= 1;
        self.alive_sum -= 1;
        if self.alive[at] == 0 {
            self.bundles -= 1;
            self.made_sum -= u64::from(self.made[at]);
        }
    }
    /// Copies of `id` made so far, the first included.
    pub fn made(&self, id: BundleId) -> u32 {
        self.made.get(id.0 as usize).copied().unwrap_or(0)
    }
    /// Copies of `id` that are alive.
    pub fn alive(&self, id: BundleId) -> u32 {
        self.alive.get(id.0 as usize).copied().unwrap_or(0)
    }
    /// Nodes other than the source that have held a copy of `id` or got it as its destination, each
    /// counted once however often it came back.
    pub fn seen(&self, id: BundleId) -> u32 {
        self.seen.get(id.0 as usize).copied().unwrap_or(0)
    }
    /// Whether `node` is the source of `id` or has seen it.
    pub fn seen_by(&self, id: BundleId, node: NodeId) -> bool {
        self.seers.get(id.0 as usize).is_some_and(|seers| seers.contains(node.0))
    }
    /// Mean of [`Census::made`] over the bundles in the network; 0 without bundles.
    pub fn mean_made(&self) -> f64 {
        ratio(self.made_sum, self.bundles)
    }
    /// Mean of [`Census::alive`] over the bundles in the network; 0 without bundles.
    pub fn mean_alive(&self) -> f64 {
        ratio(self.alive_sum, self.bundles)
    }
}

fn ratio(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_gets_a_copy_again_has_seen_it_once_and_the_source_does_not_count() {
        let (mut census, id) = (Census::default(), BundleId(3));
        census.on_created(id, NodeId(0));
        for node in [1, 2, 1, 0] {
            census.on_copied(id, NodeId(node), true);
        }
        census.on_delivered(id, NodeId(9));
        assert_eq!((census.made(id), census.alive(id), census.seen(id)), (5, 5, 3));
        census.on_gone(id);
        assert_eq!((census.made(id), census.alive(id), census.seen(id)), (5, 4, 3));
        assert_eq!([0, 1, 3, 9].map(|node| census.seen_by(id, NodeId(node))), [true, true, false, true]);
        assert!(census.seen(BundleId(7)) == 0 && !census.seen_by(BundleId(7), NodeId(0)));
    }
}

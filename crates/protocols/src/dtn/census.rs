//! Global counts of copies: the oracle that AFNER's paper assumes.

use super::BundleId;

/// Per bundle, how many copies were made and how many are alive, and the averages over all bundles
/// of which a copy is alive.
#[derive(Clone, Debug, Default)]
pub struct Census {
    made: Vec<u32>,
    alive: Vec<u32>,
    bundles: u64,
    made_sum: u64,
    alive_sum: u64,
}

impl Census {
    /// A bundle was created: its first copy.
    pub fn on_created(&mut self, id: BundleId) {
        self.on_copied(id, true);
    }
    /// A copy was stored; `replication` when the giver kept its own (a move makes no new copy).
    pub fn on_copied(&mut self, id: BundleId, replication: bool) {
        let at = id.0 as usize;
        if at >= self.made.len() {
            self.made.resize(at + 1, 0);
            self.alive.resize(at + 1, 0);
        }
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
    /// Mean of [`Census::made`] over the bundles in the network; 0 when there are none.
    pub fn mean_made(&self) -> f64 {
        ratio(self.made_sum, self.bundles)
    }
    /// Mean of [`Census::alive`] over the bundles in the network; 0 when there are none.
    pub fn mean_alive(&self) -> f64 {
        ratio(self.alive_sum, self.bundles)
    }
}

fn ratio(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

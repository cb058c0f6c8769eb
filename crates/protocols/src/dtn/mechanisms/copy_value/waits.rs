//! How long copies wait for their delivery, learnt at one node.

use crate::dtn::{Bundle, BundleId, NodeId};
use crate::time::{Duration, Instant};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Default)]
struct Sums {
    deliveries: f64,
    exposure_s: f64,
}

#[derive(Default)]
pub struct Waits {
    pub prior: f64,
    pub finished: bool,
    held: BTreeMap<BundleId, (Instant, NodeId)>,
    of: Vec<Sums>,
    all: Sums,
    stays: f64,
    drops: f64,
}

impl Waits {
    pub fn new(prior: f64, finished: bool) -> Self {
        Self { prior, finished, ..Self::default() }
    }
    pub fn on_stored(&mut self, now: Instant, bundle: &Bundle) {
        self.held.insert(bundle.id, (now, bundle.destination));
    }
    fn end(&mut self, now: Instant, id: BundleId) -> Option<(f64, NodeId)> {
        let (since, to) = self.held.remove(&id)?;
        Some(((now - since).as_secs_f64(), to))
    }
    fn sums(&mut self, to: NodeId) -> &mut Sums {
        let at = to.0 as usize;
        if self.of.len() <= at {
            self.of.resize(at + 1, Sums::default());
        }
        &mut self.of[at]
    }
    /// A copy has left the buffer.
    pub fn on_gone(&mut self, now: Instant, id: BundleId, overflow: bool, delivered: bool) {
        let Some((held, to)) = self.end(now, id) else { return };
        let count = if delivered { 1.0 } else { 0.0 };
        let one = self.sums(to);
        one.deliveries += count;
        one.exposure_s += held;
        self.all.deliveries += count;
        self.all.exposure_s += held;
        if self.all.deliveries > 50.0 {
            self.all.deliveries *= 0.5;
            self.all.exposure_s *= 0.5;
            for one in &mut self.of {
                one.deliveries *= 0.5;
                one.exposure_s *= 0.5;
            }
        }
        if overflow {
            self.drops += 1.0;
            self.stays += held;
            if self.drops > 50.0 {
                self.drops *= 0.5;
                self.stays *= 0.5;
            }
        }
    }
    /// Mean wait of a copy.
    pub fn usual(&self, now: Instant) -> f64 {
        let held: f64 = self.held.values().map(|(since, _)| (now - *since).as_secs_f64()).sum();
        let held = if self.finished && self.all.deliveries >= 1.0 { 0.0 } else { held };
        (self.all.exposure_s + held + 1.0) / (self.all.deliveries + 0.1)
    }
    /// Of copies for a node.
    pub fn to(&self, usual: f64, to: NodeId) -> f64 {
        let one = self.of.get(to.0 as usize).copied().unwrap_or_default();
        (self.prior * usual + one.exposure_s) / (self.prior + one.deliveries)
    }
    /// Mean stay of copies that were dropped.
    pub fn stay(&self) -> Option<f64> {
        (self.drops > 0.0).then(|| self.stays / self.drops)
    }
}

/// What a copy adds, for each byte and second that it takes.
pub fn worth(wait_s: f64, held: Duration, left: f64, others: f64, size: f64) -> f64 {
    let wait = wait_s + held.as_secs_f64();
    let chance = (left / wait).min(50.0);
    let n = others + 1.0;
    let adds = crate::math::exp(-others * chance) * (1.0 - crate::math::exp(-chance));
    let takes = wait / n * (1.0 - crate::math::exp(-n * chance));
    adds / takes / size
}

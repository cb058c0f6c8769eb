//! Forwarding numbers as one node has learnt them.

use crate::dtn::{BundleId, Store, Table};
use crate::time::Instant;

/// The largest number heard per bundle, and their mean; bundles leave it when their lifetime is over.
#[derive(Default)]
pub struct View {
    /// By bundle; number 0: unknown.
    known: Vec<(u32, Instant)>,
    sum: u64,
    count: u64,
    /// No lifetime in the view ends before.
    next_expiry: Option<Instant>,
}

/// The largest bundle number that is heard from a peer: bounds the memory that it can make us spend.
const LAST_ID: u64 = 1 << 24;

impl View {
    pub fn number(&self, id: BundleId) -> u32 {
        self.known.get(id.0 as usize).map_or(0, |known| known.0)
    }
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }
    /// Keeps the larger of what is known and `number`.
    pub fn learn(&mut self, id: BundleId, number: u32, expires: Instant) {
        let old = self.number(id);
        if number > old {
            self.set(id, number, expires);
        }
    }
    /// A copy is gone.
    pub fn lose_one(&mut self, id: BundleId) {
        if let Some(&(number, expires)) = self.known.get(id.0 as usize) {
            self.set(id, number.saturating_sub(1), expires);
        }
    }
    /// The state for peers: per copy in the buffer the number (even rows) and the end of its lifetime
    /// in seconds (odd rows).
    pub fn summary(&self, store: &Store) -> Table {
        let copies = store.replicas().iter().map(|r| (r.bundle.id, r.bundle.expires));
        let rows = copies.flat_map(|(id, expires)| {
            let row = u64::from(id.0) << 1;
            [(row, f64::from(self.number(id))), (row | 1, expires.as_secs_f64())]
        });
        rows.collect()
    }
    /// Learns the state of a peer.
    pub fn hear(&mut self, told: &Table, now: Instant) {
        let mut number = None;
        for (row, value) in told.iter().filter(|row| row.0 >> 1 < LAST_ID) {
            if row & 1 == 0 {
                // `as` saturates, and makes nothing of what is not a number.
                number = Some((row >> 1, value as u32));
            } else if let Some((id, number)) = number.take().filter(|&(id, _)| id == row >> 1) {
                let expires = Instant::from_secs_f64(value);
                if expires > now {
                    self.learn(BundleId(id as u32), number, expires);
                }
            }
        }
    }
    pub fn forget_expired(&mut self, now: Instant) {
        if self.next_expiry.is_none_or(|next| next > now) {
            return;
        }
        self.next_expiry = None;
        for id in 0..self.known.len() as u32 {
            let (number, expires) = self.known[id as usize];
            if number > 0 && expires <= now {
                self.set(BundleId(id), 0, expires);
            } else if number > 0 {
                self.next_expiry = Some(self.next_expiry.map_or(expires, |next| next.min(expires)));
            }
        }
    }
    fn set(&mut self, id: BundleId, number: u32, expires: Instant) {
        let at = id.0 as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, (0, Instant::ZERO));
        }
        let old = self.known[at].0;
        self.known[at] = (number, expires);
        self.sum = self.sum - u64::from(old) + u64::from(number);
        self.count = self.count - u64::from(old > 0) + u64::from(number > 0);
        self.next_expiry = Some(self.next_expiry.map_or(expires, |next| next.min(expires)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_bundles_whose_lifetime_is_not_over() {
        let mut view = View::default();
        view.learn(BundleId(1), 4, Instant::from_secs(10));
        view.learn(BundleId(1), 2, Instant::from_secs(10));
        view.learn(BundleId(7), 8, Instant::from_secs(20));
        assert_eq!(view.mean(), 6.0);
        view.forget_expired(Instant::from_secs(10));
        assert_eq!((view.mean(), view.number(BundleId(1))), (8.0, 0));
        view.lose_one(BundleId(7));
        assert_eq!(view.mean(), 7.0);
        view.forget_expired(Instant::from_secs(20));
        assert_eq!(view.mean(), 0.0);
    }
}

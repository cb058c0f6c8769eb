//! The content store: Data that came by lately, the least recently used of which go first.

use super::{Data, Name};
use crate::rng;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use std::hash::{BuildHasherDefault, Hasher};

/// Data kept for others who ask, as many bytes of packets as fit.
pub struct Store {
    capacity: Bytes,
    used: Bytes,
    kept: lru::LruCache<u64, Kept, BuildHasherDefault<Mixed>>,
}

struct Kept {
    data: Data,
    fresh_until: Instant,
}

/// The same on every machine; the table is never iterated in its order.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = rng::mix(self.0 ^ word);
    }
}

impl Store {
    /// An empty store of `capacity` bytes; with 0, nothing is ever kept.
    pub fn new(capacity: Bytes) -> Self {
        Self { capacity, used: Bytes(0), kept: lru::LruCache::unbounded_with_hasher(Default::default()) }
    }
    /// Data of that name, if they are here, and fresh if they have to be.
    #[inline]
    pub fn find(&mut self, now: Instant, name: Name, must_be_fresh: bool) -> Option<Data> {
        if self.capacity == Bytes(0) {
            return None;
        }
        let kept = self.kept.get(&name.word())?;
        (!must_be_fresh || now < kept.fresh_until).then_some(kept.data)
    }
    /// Keeps Data that pass through, without stamp, site and mark: those hold for this passage only.
    #[inline]
    pub fn keep(&mut self, now: Instant, data: &Data) {
        let size = Bytes(u64::from(data.size));
        if size <= self.capacity {
            self.put(now, size, data);
        }
    }
    fn put(&mut self, now: Instant, size: Bytes, data: &Data) {
        let fresh_until = now.saturating_add(Duration::from_nanos(i64::from(data.freshness_ms) * 1_000_000));
        let kept = Kept { data: Data { stamp: None, site: None, marked: false, ..*data }, fresh_until };
        self.used += size;
        if let Some(old) = self.kept.put(data.name.word(), kept) {
            self.used -= Bytes(u64::from(old.data.size));
        }
        while self.used > self.capacity {
            let Some((_, oldest)) = self.kept.pop_lru() else { break };
            self.used -= Bytes(u64::from(oldest.data.size));
        }
    }
    /// Bytes of packets that are kept.
    pub fn used(&self) -> Bytes {
        self.used
    }
    /// How many Data are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prefix;
    use super::*;

    fn data(segment: u32, freshness_ms: u32) -> Data {
        let name = Name { prefix: Prefix(1), segment };
        let (content, size) = (900, 1000);
        let (stamp, site) = (Some(1), Some(2));
        Data { name, content, size, freshness_ms, token: 0, stamp, site, marked: true, print: 9 }
    }
    fn name(segment: u32) -> Name {
        Name { prefix: Prefix(1), segment }
    }

    #[test]
    fn the_least_recently_used_make_room() {
        let mut store = Store::new(Bytes(2_500));
        let now = Instant::ZERO;
        store.keep(now, &data(0, 0));
        store.keep(now, &data(1, 0));
        assert!(store.find(now, name(0), false).is_some());
        store.keep(now, &data(2, 0));
        assert!(store.find(now, name(1), false).is_none());
        assert!(store.find(now, name(0), false).is_some());
        assert_eq!((store.len(), store.used()), (2, Bytes(2_000)));
        store.keep(now, &data(0, 0));
        assert_eq!((store.len(), store.used()), (2, Bytes(2_000)));
    }
    #[test]
    fn what_is_no_longer_fresh_answers_only_who_does_not_mind() {
        let mut store = Store::new(Bytes(10_000));
        store.keep(Instant::ZERO, &data(0, 500));
        let later = Instant::from_secs(1);
        assert!(store.find(Instant::ZERO, name(0), true).is_some());
        assert!(store.find(later, name(0), true).is_none());
        assert!(store.find(later, name(0), false).is_some());
    }
    #[test]
    fn stamps_and_marks_are_of_one_passage() {
        let mut store = Store::new(Bytes(10_000));
        store.keep(Instant::ZERO, &data(0, 500));
        let kept = store.find(Instant::ZERO, name(0), false).expect("it was kept");
        assert_eq!((kept.stamp, kept.site, kept.marked, kept.print), (None, None, false, 9));
    }
    #[test]
    fn a_store_of_nothing_keeps_nothing() {
        let mut store = Store::new(Bytes(0));
        store.keep(Instant::ZERO, &data(0, 500));
        assert!(store.is_empty() && store.find(Instant::ZERO, name(0), false).is_none());
    }
}

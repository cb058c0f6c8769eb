//! Tables by number: a few instructions a look-up where numbers are small, as worlds count them, and
//! no more memory than there are entries where a trace names large ones.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash map for one integer key. Never iterated without sorting: its order means nothing.
pub(super) type Table<V> = HashMap<u64, V, BuildHasherDefault<Fold>>;

/// Keys below this are looked up in an array of positions, 16 MiB at most.
const DENSE: u64 = 1 << 22;

/// What is known by number and never taken out.
#[derive(Clone, Debug)]
pub(super) struct Slots<V> {
    /// Position + 1 by small key; 0 without an entry.
    dense: Vec<u32>,
    sparse: Table<u32>,
    values: Vec<V>,
}

impl<V> Default for Slots<V> {
    fn default() -> Self {
        Self { dense: Vec::new(), sparse: Table::default(), values: Vec::new() }
    }
}

impl<V> Slots<V> {
    #[inline]
    fn position(&self, key: u64) -> Option<usize> {
        if key < DENSE {
            let place = *self.dense.get(key as usize)?;
            return (place as usize).checked_sub(1);
        }
        self.sparse.get(&key).map(|&at| at as usize)
    }
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.position(key).map(|at| &self.values[at])
    }
    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        self.position(key).map(|at| &mut self.values[at])
    }
    /// The value of a key; a missing one is made by `fresh`.
    #[inline]
    pub(super) fn ensure(&mut self, key: u64, fresh: impl FnOnce() -> V) -> &mut V {
        let at = self.position(key).unwrap_or_else(|| self.add(key, fresh()));
        &mut self.values[at]
    }
    fn add(&mut self, key: u64, value: V) -> usize {
        let at = self.values.len();
        if key < DENSE {
            let key = key as usize;
            if key >= self.dense.len() {
                self.dense.resize(key + 1, 0);
            }
            self.dense[key] = at as u32 + 1;
        } else {
            self.sparse.insert(key, at as u32);
        }
        self.values.push(value);
        at
    }
    /// In the order in which they were added.
    pub(super) fn values(&self) -> &[V] {
        &self.values
    }
}

/// Two numbers as one key.
#[inline]
pub(super) fn key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// Multiply and fold: both halves of the product, so that high and low bits of the key move all bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fold(u64);

impl Hasher for Fold {
    #[inline]
    fn write_u64(&mut self, key: u64) {
        let product = u128::from(key ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0.rotate_left(8) ^ u64::from(*byte)));
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

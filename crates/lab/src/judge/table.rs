//! Tables by small numbers: a few nanoseconds a look-up, whatever numbers a trace may name.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash map for one integer key. Never iterated without sorting: its order means nothing.
pub(super) type Table<V> = HashMap<u64, V, BuildHasherDefault<Fold>>;

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

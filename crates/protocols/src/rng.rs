//! Seeded random streams, one per purpose.
//!
//! A stream is named by (seed, purpose, index). Adding a draw to one stream changes nothing in any
//! other, so two mechanisms that are compared under one seed meet the same world (common random
//! numbers). Generator: xoshiro256++; integers by Lemire's multiply-and-reject (2019), so that the
//! values are ours to keep and do not move with a library's version.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a purpose; `index` distinguishes streams of one purpose (one per node, say).
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        // FNV-1a over the name, then one avalanche per part.
        let name = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(mix(mix(seed) ^ name) ^ index)))
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Uniform integer in `0..n`.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0) has no value to give");
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            let low = wide as u64;
            // The second test is the exact one; the first spares its division nearly always.
            if low >= n || low >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }
    /// Uniform float in `[0, 1)`, 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
    /// Uniform float in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    /// Fisher–Yates shuffle.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves every output bit.
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_purposes_do_not_share_values() {
        let first = |purpose, index| Stream::new(7, purpose, index).bits();
        assert_ne!(first("traffic", 0), first("mobility", 0));
        assert_ne!(first("mobility", 0), first("mobility", 1));
        assert_eq!(first("mobility", 1), first("mobility", 1));
    }

    #[test]
    fn the_first_values_of_a_stream_never_change() {
        let mut s = Stream::new(1, "golden", 0);
        let drawn: Vec<u64> = (0..4).map(|_| s.below(1000)).collect();
        assert_eq!(drawn, GOLDEN);
    }
    const GOLDEN: [u64; 4] = [732, 265, 465, 600];

    #[test]
    fn below_covers_its_range_and_stays_inside() {
        let mut s = Stream::new(3, "range", 0);
        let mut seen = [0_u32; 7];
        (0..7000).for_each(|_| seen[s.below(7) as usize] += 1);
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}

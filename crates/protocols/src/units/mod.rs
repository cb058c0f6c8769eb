//! Quantities that carry their unit in their type, and the parser of quantities written with a unit
//! ([`parse`]).

pub mod parse;

use crate::time::Duration;
use std::fmt;

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(pub u64);

impl Bytes {
    /// The largest amount: "no bound".
    pub const MAX: Self = Self(u64::MAX);

    /// The plain number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// This amount less `other`, at least zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl BitRate {
    /// From bits per second.
    pub const fn from_bit_per_s(bit_per_s: u64) -> Self {
        Self(bit_per_s)
    }
    /// Bits per second.
    pub const fn as_bit_per_s(self) -> u64 {
        self.0
    }
    /// How long `size` occupies a link of this rate: size · 8 / rate, rounded up to a nanosecond.
    /// A rate of zero never finishes ([`Duration::MAX`]).
    pub fn time_for(self, size: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Below 2.3 GB the product fits 64 bits, whose division is several times faster.
        if let Some(bit_ns) = size.0.checked_mul(8_000_000_000) {
            return Duration::from_nanos(i64::try_from(bit_ns.div_ceil(self.0)).unwrap_or(i64::MAX));
        }
        let bit_ns = u128::from(size.0) * 8_000_000_000;
        let ns = bit_ns.div_ceil(u128::from(self.0));
        Duration::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX))
    }
}

impl std::ops::Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl std::ops::AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}
impl std::ops::SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}
impl fmt::Debug for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_takes_size_over_rate_rounded_up() {
        let rate = BitRate::from_bit_per_s(2_500_000);
        assert_eq!(rate.time_for(Bytes(75_000)), Duration::from_nanos(240_000_000));
        assert_eq!(BitRate(3).time_for(Bytes(1)), Duration::from_nanos(2_666_666_667));
        assert_eq!(BitRate(0).time_for(Bytes(1)), Duration::MAX);
    }
}

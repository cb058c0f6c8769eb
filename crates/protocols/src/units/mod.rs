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

/// What remains of a transfer whose rate changes, in bits times 10^9: a rate takes off its bits per second in each
/// nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Remaining(u128);

impl Remaining {
    /// All of `size`.
    pub fn of(size: Bytes) -> Self {
        Self(u128::from(size.0) * 8_000_000_000)
    }
    /// What is left after `elapsed` at `rate`.
    pub fn after(self, elapsed: Duration, rate: BitRate) -> Self {
        Self(self.0.saturating_sub(elapsed.as_nanos().max(0) as u128 * u128::from(rate.0)))
    }
    /// How long it takes at `rate`, rounded up; [`Duration::MAX`] at a rate of zero, unless nothing is left.
    pub fn time_at(self, rate: BitRate) -> Duration {
        match (self.0, u128::from(rate.0)) {
            (0, _) => Duration::ZERO,
            (_, 0) => Duration::MAX,
            (bit_ns, rate) => Duration::from_nanos(i64::try_from(bit_ns.div_ceil(rate)).unwrap_or(i64::MAX)),
        }
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

    #[test]
    fn what_remains_at_one_rate_takes_as_long_as_the_whole_and_a_pause_adds_to_it() {
        let (rate, size) = (BitRate(3_333_333), Bytes(75_000));
        let all = Remaining::of(size);
        assert_eq!(all.time_at(rate), rate.time_for(size));
        let half = all.after(Duration::from_nanos(90_000_000), rate);
        assert_eq!(half.time_at(rate).saturating_add(Duration::from_nanos(90_000_000)), rate.time_for(size));
        assert_eq!(half.time_at(BitRate(0)), Duration::MAX);
        assert_eq!(half.after(Duration::from_secs(9), BitRate(0)), half);
        assert_eq!(all.after(Duration::from_secs(9), rate).time_at(BitRate(0)), Duration::ZERO);
    }
}

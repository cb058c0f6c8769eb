//! Sequence numbers of 48 bits, in circular arithmetic (RFC 4340, sections 3.1 and 7).

use std::fmt;

/// A sequence or acknowledgement number. It has no order of its own, only a distance from another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sequence(u64);

const BITS: u32 = 48;
const MASK: u64 = (1 << BITS) - 1;
const SHORT_BITS: u32 = 24;

impl Sequence {
    /// From a number, of which the low 48 bits count.
    pub const fn new(number: u64) -> Self {
        Self(number & MASK)
    }
    /// The plain number, below 2^48.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// The one `count` after.
    pub const fn plus(self, count: u64) -> Self {
        Self::new(self.0.wrapping_add(count))
    }
    /// The one `count` before.
    pub const fn minus(self, count: u64) -> Self {
        Self::new(self.0.wrapping_sub(count))
    }
    /// How many after `other`: negative where this one is the earlier.
    pub const fn since(self, other: Self) -> i64 {
        let unused = 64 - BITS;
        (self.0.wrapping_sub(other.0) << unused).cast_signed() >> unused
    }
    /// Whether it lies from `low` to `high`, both included.
    pub const fn is_within(self, low: Self, high: Self) -> bool {
        self.since(low) >= 0 && self.since(high) <= 0
    }
    /// The later of two.
    #[must_use]
    pub const fn later(self, other: Self) -> Self {
        if self.since(other) >= 0 { self } else { other }
    }
    /// The number near this one whose low 24 bits are `short` (section 7.6).
    pub const fn extend(self, short: u32) -> Self {
        let unused = u32::BITS - SHORT_BITS;
        let ahead = (short.wrapping_sub(self.0 as u32) << unused).cast_signed() >> unused;
        Self::new(self.0.wrapping_add_signed(ahead as i64))
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

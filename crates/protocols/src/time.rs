//! Virtual time: integer nanoseconds, always passed in.
//!
//! No algorithm reads a clock. A world advances [`Instant`] from event to event, a real node from
//! its monotonic clock; the algorithm cannot distinguish them.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(i64);

/// A span of time, in nanoseconds. May be negative as the result of a subtraction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

const NS_PER_S: i64 = 1_000_000_000;

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event: "never".
    pub const MAX: Self = Self(i64::MAX);

    /// From whole nanoseconds.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }
    /// From whole seconds.
    pub const fn from_secs(s: i64) -> Self {
        Self(s * NS_PER_S)
    }
    /// From seconds, rounded to the nearest nanosecond; saturates at [`Instant::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        Self(Duration::from_secs_f64(s).0)
    }
    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
    /// The first multiple of `tick` that is not before this instant.
    pub const fn round_up(self, tick: Duration) -> Self {
        let rest = self.0.rem_euclid(tick.0);
        if rest == 0 { self } else { Self(self.0.saturating_add(tick.0 - rest)) }
    }
    /// This instant plus `d`, at most [`Instant::MAX`].
    pub const fn saturating_add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than every run.
    pub const MAX: Self = Self(i64::MAX);

    /// From whole nanoseconds.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }
    /// From whole seconds.
    pub const fn from_secs(s: i64) -> Self {
        Self(s * NS_PER_S)
    }
    /// From seconds, rounded to the nearest nanosecond; saturates at [`Duration::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates, and IEEE multiplication and rounding are the same on every machine.
        Self(libm::rint(s * NS_PER_S as f64) as i64)
    }
    /// Nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
    /// This span plus `other`, at most [`Duration::MAX`].
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, d: Duration) {
        self.0 = self.0.saturating_add(d.0);
    }
}
impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0 - earlier.0)
    }
}
impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, d: Duration) -> Self {
        Self(self.0 - d.0)
    }
}
impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl Mul<i64> for Duration {
    type Output = Self;
    fn mul(self, n: i64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}
impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_up_keeps_multiples_and_lifts_everything_else() {
        let tick = Duration::from_nanos(100);
        assert_eq!(Instant::from_nanos(300).round_up(tick), Instant::from_nanos(300));
        assert_eq!(Instant::from_nanos(301).round_up(tick), Instant::from_nanos(400));
        assert_eq!(Instant::MAX.round_up(tick), Instant::MAX);
    }
}

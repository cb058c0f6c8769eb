//! When Data left the node that answered, as 32 bits of microseconds (as in uTP, BEP 29).

use crate::time::{Duration, Instant};

/// A node's own idea of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// Ahead of true time at the start.
    pub offset: Duration,
    /// Seconds gained per second.
    pub skew: f64,
}

impl Clock {
    /// How far it is ahead of true time.
    #[inline]
    pub fn ahead(&self, now: Instant) -> Duration {
        if self.skew == 0.0 {
            return self.offset;
        }
        let gained = (now - Instant::ZERO).as_nanos() as f64 * self.skew;
        self.offset.saturating_add(Duration::from_nanos(gained as i64))
    }
}

/// When Data are stamped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StampedAt {
    /// When the first bit leaves: delay in queues in front of the first link is not measured.
    #[default]
    Wire,
    /// When they are made or found: such queues count as delay.
    Application,
    /// Never.
    Nowhere,
}

/// The time of a clock that is `ahead` of true time, in microseconds modulo 2³².
#[inline]
pub fn stamp(now: Instant, ahead: Duration) -> u32 {
    ((now.saturating_add(ahead)).as_nanos().div_euclid(1_000)) as u32
}

/// From a stamp to now, by two clocks: off by their difference, between −2147 and 2147 seconds.
#[inline]
pub fn one_way(now: u32, stamp: u32) -> Duration {
    Duration::from_nanos(i64::from(now.wrapping_sub(stamp) as i32) * 1_000)
}

/// One-way delays without the jump of a clock of 32 bits: each is as close to the first as it can be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OneWay {
    first: Option<Duration>,
}

impl OneWay {
    /// From a stamp to now, by two clocks.
    #[inline]
    pub(super) fn measure(&mut self, now: u32, stamp: u32) -> Duration {
        let delay = one_way(now, stamp);
        let first = *self.first.get_or_insert(delay);
        let difference = (delay - first).as_nanos().rem_euclid(WRAP_NS);
        first
            + Duration::from_nanos(if difference >= WRAP_NS / 2 { difference - WRAP_NS } else { difference })
    }
}

/// Microseconds of 32 bits.
const WRAP_NS: i64 = 1_000 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_clocks_half_a_turn_apart_do_not_jump() {
        let mut delays = OneWay::default();
        let half = 1_u32 << 31;
        let first = delays.measure(half - 10, 0);
        assert_eq!(delays.measure(half + 10, 0) - first, Duration::from_nanos(20_000));
        assert_eq!(delays.measure(half - 20, 0) - first, Duration::from_nanos(-10_000));
    }

    #[test]
    fn differences_survive_the_wrap_and_clocks_that_disagree() {
        let ahead = Duration::from_secs(4_294);
        let (left, came) = (Instant::from_secs(0), Instant::from_secs(2));
        let delay = one_way(stamp(came, ahead), stamp(left, ahead));
        assert_eq!(delay, Duration::from_secs(2));
        let behind = Duration::from_secs(-5);
        assert_eq!(one_way(stamp(came, behind), stamp(left, Duration::ZERO)), Duration::from_secs(-3));
    }
}

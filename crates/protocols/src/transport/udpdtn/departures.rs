//! When datagrams left.

use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// An entry at least after this number of datagrams,
const EVERY: u32 = 1024;
/// and after this time: far less than the period after which a stamp on the wire repeats.
const SPAN: Duration = Duration::from_secs(256);
/// A stamp on the wire counts units of 2^16 ns, modulo 2^24.
pub const STAMP_UNIT_NS: i64 = 1 << 16;
/// Period after which a stamp repeats.
pub const STAMP_WRAP_NS: i64 = STAMP_UNIT_NS << 24;

/// Send times of some datagrams: enough to compute all others from their stamps.
#[derive(Debug, Default)]
pub struct Departures {
    log: VecDeque<(u32, Instant)>,
}

impl Departures {
    /// A datagram leaves.
    pub fn push(&mut self, number: u32, now: Instant) {
        let due = |last: &(u32, Instant)| number - last.0 >= EVERY || now - last.1 >= SPAN;
        if self.log.back().is_none_or(due) {
            self.log.push_back((number, now));
        }
    }
    /// When the datagram of this number left, by the stamp that its receiver gave back. A stamp that
    /// cannot be right is brought between the times that can.
    pub fn at(&self, number: u32, stamp: Instant, now: Instant) -> Instant {
        let after = self.log.partition_point(|entry| entry.0 <= number);
        let Some(low) = after.checked_sub(1).map(|index| self.log[index].1) else { return now };
        let high = self.log.get(after).map_or(now, |entry| entry.1);
        let start = low.as_nanos() - low.as_nanos().rem_euclid(STAMP_UNIT_NS);
        let since = (i128::from(stamp.as_nanos()) - i128::from(start)).rem_euclid(STAMP_WRAP_NS.into());
        Instant::from_nanos(start.saturating_add(since as i64)).clamp(low, high.max(low))
    }
    /// Nothing before this number will be asked for.
    pub fn forget_before(&mut self, number: u32) {
        while self.log.get(1).is_some_and(|entry| entry.0 <= number) {
            self.log.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_tells_when_a_datagram_left_though_it_wraps() {
        let mut log = Departures::default();
        let at = |n: u32| Instant::from_nanos(i64::from(n) * 123_456_789);
        (0..40_000).for_each(|number| log.push(number, at(number)));
        for number in (0..40_000).step_by(777) {
            let exact = at(number);
            let stamp = exact.as_nanos() / STAMP_UNIT_NS % (1 << 24) * STAMP_UNIT_NS;
            let found = log.at(number, Instant::from_nanos(stamp), at(40_000));
            assert!((exact - found).as_nanos().abs() <= STAMP_UNIT_NS, "{number}: {found:?} {exact:?}");
            assert_eq!(log.at(number, exact, at(40_000)), exact);
        }
    }

    #[test]
    fn a_stamp_that_lies_stays_within_what_can_be() {
        let mut log = Departures::default();
        log.push(0, Instant::from_secs(5));
        log.push(5000, Instant::from_secs(6));
        for stamp in [i64::MIN, -1, 0, 7, i64::MAX] {
            let found = log.at(3, Instant::from_nanos(stamp), Instant::from_secs(9));
            assert!(found >= Instant::from_secs(5) && found <= Instant::from_secs(6), "{found:?}");
        }
    }
}

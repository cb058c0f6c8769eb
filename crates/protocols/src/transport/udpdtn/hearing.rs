//! Validation of reports, and correction of their clocks.

use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Earlier epochs of a receiver that are remembered: their reports are ignored.
const LIVES_MAX: usize = 64;
/// How far two clocks drift apart at most, in parts of the time.
const DRIFT: f64 = 2e-4;
/// A longer one-way time is invalid (three years).
const ONE_WAY_MOST: Duration = Duration::from_secs(100_000_000);

/// The receiver's epoch, its newest report, and the least one-way time.
#[derive(Debug, Default)]
pub struct Hearing {
    incarnation: Option<u32>,
    sequence: u32,
    former: VecDeque<u32>,
    /// The least one-way time, and when it was measured.
    floor: Option<(Instant, Duration)>,
}

impl Hearing {
    /// `None` if a report is not newer than all before it; else whether the receiver has begun a new epoch.
    pub fn admit(&mut self, incarnation: u32, sequence: u32) -> Option<bool> {
        if self.incarnation == Some(incarnation) {
            let newer = sequence > self.sequence;
            self.sequence = self.sequence.max(sequence);
            return newer.then_some(false);
        }
        if self.former.contains(&incarnation) {
            return None;
        }
        let before = self.incarnation.replace(incarnation);
        if let Some(before) = before {
            if self.former.len() == LIVES_MAX {
                self.former.pop_front();
            }
            self.former.push_back(before);
            self.floor = None;
        }
        self.sequence = sequence;
        Some(before.is_some())
    }
    /// A one-way time for a controller: noise and drift of clocks removed. With `noise` zero it is unchanged.
    pub fn steady(&mut self, now: Instant, one_way: Duration, noise: Duration) -> Duration {
        if noise == Duration::ZERO {
            return one_way;
        }
        let one_way = one_way.clamp(Duration::ZERO - ONE_WAY_MOST, ONE_WAY_MOST);
        let floor = self.floor.map_or(one_way, |(at, least)| {
            let drift = Duration::from_secs_f64((now - at).as_secs_f64() * DRIFT);
            one_way.min(least.saturating_add(drift))
        });
        self.floor = Some((now, floor));
        let above = one_way - floor;
        if above < noise { Duration::ZERO } else { above }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_reports_and_those_of_former_lives_do_not_count() {
        let mut hearing = Hearing::default();
        assert_eq!(hearing.admit(7, 1), Some(false));
        assert_eq!(hearing.admit(7, 1), None);
        assert_eq!(hearing.admit(7, 3), Some(false));
        assert_eq!(hearing.admit(7, 2), None);
        assert_eq!(hearing.admit(8, 1), Some(true));
        assert_eq!(hearing.admit(7, 9), None);
        assert_eq!(hearing.admit(8, 2), Some(false));
    }

    #[test]
    fn clocks_that_drift_apart_are_no_queue() {
        let noise = Duration::from_nanos(2_000_000);
        let mut hearing = Hearing::default();
        for second in 0..100_000 {
            let drifted = Duration::from_nanos(second * 100_000);
            let seen = hearing.steady(Instant::from_secs(second), drifted, noise);
            assert_eq!(seen, Duration::ZERO, "after {second} s");
        }
        let queue = Duration::from_nanos(100_000 * 100_000 + 50_000_000);
        assert!(hearing.steady(Instant::from_secs(100_000), queue, noise) > Duration::from_nanos(40_000_000));
        for absurd in [i64::MIN, i64::MAX] {
            hearing.steady(Instant::from_secs(100_001), Duration::from_nanos(absurd), noise);
        }
    }
}

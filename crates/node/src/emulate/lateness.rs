//! How late packets leave an emulator.

use hdrhistogram::Histogram;
use lightlag_protocols::time::Duration;
use std::io;

/// How late packets left, compared with the schedule; three significant digits.
pub struct Lateness(Histogram<u64>);

impl Lateness {
    /// Of no packet.
    pub(super) fn new() -> io::Result<Self> {
        Histogram::new(3).map(Self).map_err(io::Error::other)
    }
    /// One packet more.
    pub(super) fn record(&mut self, late: Duration) {
        // Nothing leaves early, and nothing so late that a histogram of 64 bits has no place for it.
        let _ = self.0.record(u64::try_from(late.as_nanos()).unwrap_or(0));
    }
    /// How many packets have left.
    pub fn count(&self) -> u64 {
        self.0.len()
    }
    /// So late at most was this share of them, from 0 to 1.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(i64::try_from(self.0.value_at_quantile(share)).unwrap_or(i64::MAX))
    }
    /// How many were up to so late, by powers of two of a microsecond: each with its upper bound.
    pub fn histogram(&self) -> Vec<(Duration, u64)> {
        let bins = self.0.iter_log(1_000, 2.0);
        bins.map(|bin| {
            (Duration::from_nanos(bin.value_iterated_to() as i64), bin.count_since_last_iteration())
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_bins_are_of_the_packets_that_left() {
        let mut lateness = Lateness::new().expect("three digits are few");
        (1..=1_000).for_each(|us| lateness.record(Duration::from_nanos(us * 1_000)));
        let p99 = lateness.quantile(0.99).as_nanos();
        assert!((985_000..995_000).contains(&p99), "{p99}");
        assert_eq!(lateness.histogram().iter().map(|bin| bin.1).sum::<u64>(), lateness.count());
    }
}

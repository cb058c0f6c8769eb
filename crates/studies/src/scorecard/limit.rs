//! What a network can carry at most: the limit that controllers are compared with.
//!
//! A sender that knows the rate at any time, never waits and repairs each loss by one packet delivers the payload of
//! all packets that leave the link and are not lost. No controller delivers more in the same time.

use super::space::{Network, PAYLOAD};
use super::text::{delays, rates};

/// The limit of a network over time.
pub struct Limit {
    /// (second, payload in bytes delivered per second) from then on.
    rows: Vec<(f64, f64)>,
    /// (second, one-way delay in seconds).
    delays: Vec<(f64, f64)>,
}

impl Limit {
    /// The limit of a network.
    pub fn new(network: &Network) -> Self {
        let kept = 1.0 - network.loss.map_or(0.0, |loss| loss.share);
        let rows = rates(network).into_iter().map(|(at, rate)| (at, rate / 8.0 * PAYLOAD * kept));
        Self { rows: rows.collect(), delays: delays(network) }
    }
    /// One-way delay of a packet that leaves at this second.
    pub fn delay(&self, at: f64) -> f64 {
        let after = self.delays.partition_point(|point| point.0 <= at);
        match (after.checked_sub(1).map(|before| self.delays[before]), self.delays.get(after).copied()) {
            (Some((t0, d0)), Some((t1, d1))) => d0 + (d1 - d0) * (at - t0) / (t1 - t0),
            (Some((_, delay)), None) | (None, Some((_, delay))) => delay,
            (None, None) => 0.0,
        }
    }
    /// Most bytes that can arrive between two seconds.
    pub fn bytes(&self, from: f64, to: f64) -> f64 {
        // What arrives now has left a delay earlier.
        let left = |at: f64| (at - self.delay(at)).max(0.0);
        self.leaving(left(from), left(to))
    }
    /// Most bytes that can leave between two seconds.
    fn leaving(&self, from: f64, to: f64) -> f64 {
        let ends = self.rows.iter().skip(1).map(|row| row.0).chain([f64::INFINITY]);
        let part = |(row, end): (&(f64, f64), f64)| row.1 * (end.min(to) - row.0.max(from)).max(0.0);
        self.rows.iter().zip(ends).map(part).sum()
    }
    /// Least seconds in which this number of bytes arrives, of which a share of the rate is free, from a start on;
    /// infinite where the rate is zero from some time on.
    pub fn seconds(&self, bytes: f64, share: f64, start: f64) -> f64 {
        let mut missing = bytes;
        let ends = self.rows.iter().skip(1).map(|row| row.0).chain([f64::INFINITY]);
        for (row, end) in self.rows.iter().zip(ends).filter(|(_, end)| *end > start) {
            let (from, rate) = (row.0.max(start), row.1 * share);
            if missing <= rate * (end - from) {
                let left = from + if rate > 0.0 { missing / rate } else { 0.0 };
                return left + self.delay(left) - start;
            }
            missing -= rate * (end - from);
        }
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::drawn;
    use super::*;

    #[test]
    fn the_time_of_a_file_is_that_in_which_the_limit_carries_it() {
        let mut alone = drawn(1, 3);
        (alone.rate_change, alone.delay_change, alone.outages, alone.loss) = (None, None, None, None);
        let limit = Limit::new(&alone);
        let bytes = 1e6;
        let seconds = limit.seconds(bytes, 1.0, 0.0);
        let right = alone.rtt_s / 2.0 + bytes * 8.0 / PAYLOAD / alone.rate_bit_s;
        assert!((seconds - right).abs() < 1e-6 * right, "{seconds}, not {right}");
        assert!((limit.bytes(0.0, seconds) - bytes).abs() < 1e-6 * bytes);
    }
}

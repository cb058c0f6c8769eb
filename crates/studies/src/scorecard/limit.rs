//! What a network can carry at most: the limit that controllers are compared with.
//!
//! A sender that knows the rate at any time, never waits and repairs each loss by one packet delivers the payload of
//! all packets that leave the link and are not lost. No controller delivers more in the same time. Data of names need an
//! Interest each, which comes over the return link and may be lost there, half a round trip before.

use super::controllers::Contestant;
use super::names::{CONTENT, INTEREST};
use super::space::{Network, PACKET_BYTES, PAYLOAD};
use super::text::{delays, rate_back, rates};

/// The limit of a network over time.
pub struct Limit {
    /// (second, payload in bytes delivered per second) from then on.
    rows: Vec<(f64, f64)>,
    /// (second, one-way delay in seconds).
    delays: Vec<(f64, f64)>,
    /// Whether data leave only a delay after they were asked for.
    asks: bool,
}

impl Limit {
    /// The limit of a network for a contestant.
    pub fn new(network: &Network, contestant: &Contestant) -> Self {
        let kept = 1.0 - network.loss.map_or(0.0, |loss| loss.share);
        let asks = contestant.is_of_names();
        let [payload, most] = if asks {
            let kept_back = if network.loss_back { kept } else { 1.0 };
            [CONTENT / PACKET_BYTES, rate_back(network) / INTEREST * PACKET_BYTES * kept_back]
        } else {
            [PAYLOAD, f64::INFINITY]
        };
        let rows = rates(network).into_iter().map(|(at, rate)| (at, rate.min(most) / 8.0 * payload * kept));
        Self { rows: rows.collect(), delays: delays(network), asks }
    }
    /// Seconds after a request at this second until data can leave.
    fn asking(&self, at: f64) -> f64 {
        if self.asks { self.delay(at) } else { 0.0 }
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
        let first = self.asking(0.0);
        let left = |at: f64| (at - self.delay(at)).max(first);
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
        let (mut missing, asked) = (bytes, start);
        let start = asked + self.asking(asked);
        let ends = self.rows.iter().skip(1).map(|row| row.0).chain([f64::INFINITY]);
        for (row, end) in self.rows.iter().zip(ends).filter(|(_, end)| *end > start) {
            let (from, rate) = (row.0.max(start), row.1 * share);
            if missing <= rate * (end - from) {
                let left = from + if rate > 0.0 { missing / rate } else { 0.0 };
                return left + self.delay(left) - asked;
            }
            missing -= rate * (end - from);
        }
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::super::controllers::find;
    use super::super::space::drawn;
    use super::*;

    #[test]
    fn data_of_names_wait_for_interests_and_are_no_more_than_these() {
        let mut alone = drawn(1, 3);
        (alone.rate_change, alone.delay_change, alone.outages, alone.loss) = (None, None, None, None);
        let limits = |network: &Network| {
            ["cubic", "dcp_names"]
                .map(|name| Limit::new(network, find(name).ok().unwrap()).seconds(1e6, 1.0, 5.0))
        };
        alone.return_ratio = 1.0;
        let [packets, names] = limits(&alone);
        let sending = 8e6 / alone.rate_bit_s;
        let later = alone.rtt_s / 2.0 + sending * (1500.0 / 1466.0 - 1500.0 / 1460.0);
        assert!((names - packets - later).abs() < 1e-6 * packets, "{names} and {packets}");
        // An Interest has 24 bytes: a return rate of 1:125 carries half of those that the link could answer.
        alone.return_ratio = 125.0;
        let [packets, names] = limits(&alone);
        let later = alone.rtt_s / 2.0 + sending * (2.0 * 1500.0 / 1466.0 - 1500.0 / 1460.0);
        assert!((names - packets - later).abs() < 1e-6 * packets, "{names} and {packets}");
    }

    #[test]
    fn the_time_of_a_file_is_that_in_which_the_limit_carries_it() {
        let mut alone = drawn(1, 3);
        (alone.rate_change, alone.delay_change, alone.outages, alone.loss) = (None, None, None, None);
        let limit = Limit::new(&alone, find("cubic").ok().unwrap());
        let bytes = 1e6;
        let seconds = limit.seconds(bytes, 1.0, 0.0);
        let right = alone.rtt_s / 2.0 + bytes * 8.0 / PAYLOAD / alone.rate_bit_s;
        assert!((seconds - right).abs() < 1e-6 * right, "{seconds}, not {right}");
        assert!((limit.bytes(0.0, seconds) - bytes).abs() < 1e-6 * bytes);
    }
}

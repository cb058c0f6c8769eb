//! Estimates of a path that BBR makes: whether its pipe is full, its least round-trip time, and how much is
//! acknowledged at once (draft-ietf-ccwg-bbr).

use super::Ack;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// A round trip whose rate grows by less found no more bandwidth.
const FULL_GROWTH: f64 = 1.25;
/// This number of such round trips fills the pipe.
const FULL_ROUNDS: u32 = 3;
/// Validity of the least round-trip time (MinRTTFilterLen); it is measured after half of it (ProbeRTTInterval).
const RTT_WINDOW: Duration = Duration::from_secs(10);

/// The search for the rate that no longer grows (full_bw).
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    /// The rate that has to grow, in bytes/s; and the round trips in which it did not.
    rate: f64,
    count: u32,
    /// Since the last reset (full_bw_now).
    pub now: bool,
    /// Since the start of the connection (full_bw_reached).
    pub reached: bool,
    /// Highest sample of this round trip, in bytes/s.
    pub best: f64,
}

impl FullPipe {
    /// The search starts again from this rate in bytes/s.
    pub fn reset(&mut self, rate: f64) {
        *self = Self { rate, reached: self.reached, ..Self::default() };
    }
    /// A round trip ended; `limited`: by the application.
    pub fn end_round(&mut self, limited: bool) {
        let best = std::mem::take(&mut self.best);
        if self.now || limited || best <= 0.0 {
            return;
        }
        if best >= self.rate * FULL_GROWTH {
            self.reset(best);
            return;
        }
        self.count += 1;
        self.now = self.count >= FULL_ROUNDS;
        self.reached |= self.now;
    }
}

/// The search for the least round-trip time.
#[derive(Clone, Copy, Debug)]
pub struct LeastRtt {
    /// The least one of the time of its validity (min_rtt).
    pub rtt: Option<Duration>,
    at: Instant,
    /// The least one since the last ProbeRTT was due (probe_rtt_min_delay), and when it was seen.
    probed: Option<Duration>,
    pub probed_at: Instant,
    /// ProbeRTT is due.
    pub expired: bool,
    /// Validity in round trips, where that is longer.
    rounds: i64,
}

impl LeastRtt {
    /// None is known yet; valid for 10 s, or for this number of round trips if those take longer.
    pub const fn new(rounds: i64) -> Self {
        let (at, probed_at) = (Instant::ZERO, Instant::ZERO);
        Self { rtt: None, at, probed: None, probed_at, expired: false, rounds }
    }
    /// In seconds; zero while none is known.
    pub fn seconds(&self) -> f64 {
        self.rtt.map_or(0.0, Duration::as_secs_f64)
    }
    /// An acknowledgement came, with this measurement.
    pub fn update(&mut self, now: Instant, rtt: Option<Duration>) {
        let longer = self.rtt.map_or(Duration::ZERO, |rtt| rtt * self.rounds);
        let valid = RTT_WINDOW.max(longer);
        self.expired = (now - self.probed_at) * 2 > valid;
        if let Some(rtt) = rtt
            && (self.expired || self.probed.is_none_or(|least| rtt < least))
        {
            (self.probed, self.probed_at) = (Some(rtt), now);
        }
        let lower = self.rtt.is_none_or(|rtt| self.probed.is_some_and(|probed| probed < rtt));
        if self.probed.is_some() && (lower || now - self.at > valid) {
            (self.rtt, self.at) = (self.probed, self.probed_at);
        }
    }
}

/// How much more is acknowledged at once than the bandwidth explains (extra_acked).
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    /// When the excess began to be counted, and what was acknowledged since.
    pub began: Instant,
    acked: f64,
    /// Excess, each with its round, descending.
    most: VecDeque<(u64, f64)>,
}

impl Aggregation {
    /// An acknowledgement came, in this round trip; the excess of the last `rounds` counts. `bandwidth` in bytes/s.
    pub fn update(&mut self, ack: &Ack, bandwidth: f64, window: f64, (round, rounds): (u64, u64)) {
        let mut expected = bandwidth * (ack.now - self.began).as_secs_f64();
        if self.acked <= expected {
            (self.acked, self.began, expected) = (0.0, ack.now, 0.0);
        }
        self.acked += ack.acked.0 as f64;
        let extra = (self.acked - expected).min(window);
        while self.most.back().is_some_and(|back| back.1 <= extra) {
            self.most.pop_back();
        }
        self.most.push_back((round, extra));
        while self.most.front().is_some_and(|front| front.0 + rounds < round) {
            self.most.pop_front();
        }
    }
    /// The highest excess, in bytes.
    pub fn extra(&self) -> f64 {
        self.most.front().map_or(0.0, |front| front.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_round_trips_without_a_quarter_more_fill_the_pipe() {
        let mut full = FullPipe::default();
        for rate in [1.0, 2.0, 2.4, 2.4, 3.0, 3.0, 3.0] {
            full.best = rate;
            full.end_round(false);
            assert!(!full.now, "{rate}");
        }
        full.end_round(false);
        assert!(!full.now, "a round trip without a sample does not count");
        full.best = 3.0;
        full.end_round(true);
        assert!(!full.now, "nor does one that the application limits");
        full.best = 3.0;
        full.end_round(false);
        assert!(full.now && full.reached);
        full.reset(3.0);
        assert!(!full.now && full.reached);
    }

    #[test]
    fn the_least_round_trip_is_due_after_five_seconds_or_half_of_its_round_trips() {
        for (rtt_ms, rounds, due_s) in [(100, 0, 5.0), (100, 10, 5.0), (10_000, 0, 5.0), (10_000, 100, 500.0)]
        {
            let mut least = LeastRtt::new(rounds);
            let rtt = Duration::from_nanos(rtt_ms * 1_000_000);
            least.update(Instant::ZERO, Some(rtt));
            least.update(Instant::from_secs_f64(due_s), Some(rtt));
            assert!(!least.expired, "{rtt_ms} ms, {rounds} round trips");
            least.update(Instant::from_secs_f64(due_s + 0.001), Some(rtt));
            assert!(least.expired, "{rtt_ms} ms, {rounds} round trips");
        }
    }

    #[test]
    fn a_longer_round_trip_counts_when_the_least_one_is_too_old() {
        let mut least = LeastRtt::new(0);
        let rtt = |ms: i64| Some(Duration::from_nanos(ms * 1_000_000));
        least.update(Instant::ZERO, rtt(100));
        least.update(Instant::from_secs(6), rtt(200));
        assert_eq!(least.rtt, rtt(100));
        least.update(Instant::from_secs(11), rtt(250));
        assert_eq!(least.rtt, rtt(200));
        least.update(Instant::from_secs(12), rtt(50));
        assert_eq!(least.rtt, rtt(50));
    }

    #[test]
    fn acknowledgements_that_come_at_once_are_an_excess() {
        let mut aggregation = Aggregation::default();
        let ack = |ms: i64| Ack {
            now: Instant::from_nanos(ms * 1_000_000),
            acked: crate::units::Bytes(1_000),
            ..Ack::default()
        };
        // 1000 bytes every 10 ms are what 1e5 bytes/s explain; then ten come at once.
        for n in 0..10 {
            aggregation.update(&ack(10 * n), 1e5, 1e6, (0, 10));
        }
        assert_eq!(aggregation.extra(), 1_000.0);
        for _ in 0..10 {
            aggregation.update(&ack(100), 1e5, 1e6, (1, 10));
        }
        assert_eq!(aggregation.extra(), 10_000.0);
        aggregation.update(&ack(1_000), 1e5, 1e6, (12, 10));
        assert_eq!(aggregation.extra(), 1_000.0);
    }
}

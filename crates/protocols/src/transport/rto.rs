//! The retransmission timer (RFC 6298).

use crate::time::{Duration, Instant};

/// Bounds of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// Before the first measurement (section 2.1).
    pub first: Duration,
    /// At least the smoothed time and this: granularity of the clock, and delays of acknowledgements.
    pub margin: Duration,
    /// At least (section 2.4).
    pub least: Duration,
    /// At most (section 2.5); [`Duration::MAX`]: no bound.
    pub most: Duration,
}

/// Estimates of the round-trip time, and the timer that follows them.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    bounds: Timers,
    smoothed: Option<Duration>,
    variation: Duration,
    /// Until the first RTT sample: the longest RTT that the answers to repeated requests allow.
    longest: Option<Duration>,
    /// Doublings since the last measurement.
    backoff: u32,
    expires: Option<Instant>,
}

/// Most doublings once a round trip was measured: RFC 6298 has no such bound, only one of the timer, but nothing is gained by
/// waiting longer. Before, the timer may begin far below the round trip, and doubles until it reaches it.
const BACKOFF_MAX: u32 = 6;
/// More shifts do not fit.
const DOUBLINGS_MAX: u32 = 40;

impl Rto {
    /// Stopped.
    pub fn new(bounds: Timers) -> Self {
        Self { bounds, smoothed: None, variation: Duration::ZERO, longest: None, backoff: 0, expires: None }
    }
    /// A measurement (sections 2.2 and 2.3; Karn's rule is the caller's).
    pub fn measure(&mut self, rtt: Duration) {
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = Duration::from_nanos(rtt.as_nanos() / 2);
            }
            Some(smoothed) => {
                let (s, v, r) = (smoothed.as_nanos(), self.variation.as_nanos(), rtt.as_nanos());
                self.variation = Duration::from_nanos(v - v / 4 + (s - r).abs() / 4);
                self.smoothed = Some(Duration::from_nanos(s - s / 8 + r / 8));
            }
        }
        self.backoff = 0;
    }
    /// Bounds the RTT by an answer to a repeated request: `least` is the time since the last request, `most` the time since
    /// the first. By Karn's rule such an answer is not an RTT sample. If every first request is lost there is no sample,
    /// and the timer would double without limit. Until the first sample, the doubled timer is at most the longest RTT that
    /// these answers allow.
    pub fn bound(&mut self, least: Duration, most: Duration) {
        if self.smoothed.is_none() {
            self.longest = Some(self.longest.map_or(most, |before| before.min(most).max(least)));
        }
    }
    /// The smoothed round-trip time.
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }
    /// How long the timer runs.
    pub fn span(&self) -> Duration {
        let span = match self.smoothed {
            None => self.bounds.first,
            Some(smoothed) => smoothed.saturating_add((self.variation * 4).max(self.bounds.margin)),
        };
        self.backed_off(span.max(self.bounds.least)).min(self.bounds.most)
    }
    /// A span of another rule, doubled as often as this timer.
    pub fn backed_off(&self, span: Duration) -> Duration {
        let doubled = Duration::from_nanos(span.as_nanos().saturating_mul(1 << self.backoff));
        let longest = self.longest.filter(|_| self.smoothed.is_none());
        longest.map_or(doubled, |longest| doubled.min(longest.saturating_add(self.bounds.margin).max(span)))
    }
    /// Restarts it.
    pub fn restart(&mut self, now: Instant) {
        self.expires = Some(now.saturating_add(self.span()));
    }
    /// Starts it, if it does not run.
    pub fn start(&mut self, now: Instant) {
        if self.expires.is_none() {
            self.restart(now);
        }
    }
    /// Stops it.
    pub fn stop(&mut self) {
        self.expires = None;
    }
    /// It has expired: the next span is twice as long (section 5.5).
    pub fn back_off(&mut self) {
        let most = if self.smoothed.is_some() { BACKOFF_MAX } else { DOUBLINGS_MAX };
        self.backoff = (self.backoff + 1).min(most);
    }
    /// Doublings since the last measurement.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
    /// When it expires.
    pub fn expires(&self) -> Option<Instant> {
        self.expires
    }
}

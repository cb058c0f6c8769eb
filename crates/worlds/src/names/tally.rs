//! Figures of a consumer that are taken while it runs.

use hdrhistogram::Histogram;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;

/// Windows are looked at this often, where Data come as often.
const WINDOW_EVERY: Duration = Duration::from_nanos(10_000_000);
/// Windows are counted in hundredths of an Interest.
const WINDOW_PARTS: f64 = 100.0;
/// More Interests than any window lets out.
const WINDOW_MAX: f64 = 1e12;
/// A window of this size or more is no bound: the rate decides.
const NO_WINDOW: f64 = 1e9;

/// Why nothing is too large for a histogram.
const GROWS: &str = "histograms without bounds grow";

/// What a consumer got, from some time on.
pub struct Tally {
    from: Instant,
    pub content: Bytes,
    pub drops: u64,
    pub interest_drops: u64,
    /// Of Data and of Interests, in microseconds.
    queueing: Histogram<u64>,
    interest_queueing: Histogram<u64>,
    windows: Histogram<u64>,
    window_due: Instant,
}

impl Tally {
    /// Of nothing yet.
    pub fn new(from: Instant) -> Self {
        let empty = || Histogram::new(3).expect("three digits are between none and five");
        Self {
            from,
            content: Bytes(0),
            drops: 0,
            interest_drops: 0,
            queueing: empty(),
            interest_queueing: empty(),
            windows: empty(),
            window_due: from,
        }
    }
    /// From when on it counts.
    pub fn from(&self) -> Instant {
        self.from
    }
    /// Data came that had waited in queues for `queued`.
    #[inline]
    pub fn data(&mut self, now: Instant, content: u32, queued: Duration) {
        if now >= self.from {
            self.content += Bytes(u64::from(content));
            self.queueing.record(microseconds(queued)).expect(GROWS);
        }
    }
    /// An Interest that had waited in queues for `queued` reached a responder.
    #[inline]
    pub fn interest(&mut self, now: Instant, queued: Duration) {
        if now >= self.from {
            self.interest_queueing.record(microseconds(queued)).expect(GROWS);
        }
    }
    /// Whether it is time to look at the window.
    #[inline]
    pub fn wants_window(&self, now: Instant) -> bool {
        now >= self.window_due
    }
    /// The window is so large.
    pub fn window(&mut self, now: Instant, interests: f64) {
        // Without arrivals the window stays the same: each look counts for the time since the last.
        let looks = 1 + (now - self.window_due).as_nanos() / WINDOW_EVERY.as_nanos();
        let window = (interests.min(WINDOW_MAX) * WINDOW_PARTS) as u64;
        self.windows.record_n(window, looks as u64).expect(GROWS);
        self.window_due = now.saturating_add(WINDOW_EVERY);
    }
    /// The median of the windows, where there was one.
    pub fn window_median(&self) -> Option<f64> {
        let median = (!self.windows.is_empty()).then(|| self.windows.value_at_quantile(0.5) as f64);
        median.map(|parts| parts / WINDOW_PARTS).filter(|window| *window < NO_WINDOW)
    }
    /// A quantile of the time that Data spent in queues.
    pub fn queueing(&self, quantile: f64) -> Option<Duration> {
        at(&self.queueing, quantile)
    }
    /// A quantile of the time that Interests spent in queues.
    pub fn interest_queueing(&self, quantile: f64) -> Option<Duration> {
        at(&self.interest_queueing, quantile)
    }
}

fn microseconds(queued: Duration) -> u64 {
    (queued.as_nanos() / 1_000) as u64
}

/// A quantile of microseconds, where there are any.
fn at(all: &Histogram<u64>, quantile: f64) -> Option<Duration> {
    let us = (!all.is_empty()).then(|| all.value_at_quantile(quantile))?;
    Some(Duration::from_nanos(us as i64 * 1_000))
}

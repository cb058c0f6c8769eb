//! The monotonic clock.

use lightlag_protocols::time::{Duration, Instant};
use std::time::{Instant as Real, SystemTime, UNIX_EPOCH};

/// Time since the start, which never goes back, whatever is done to the time of day.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Real,
}

/// A packet that seems to have waited longer in the kernel than this met a clock that jumped.
const WAITED_MOST: std::time::Duration = std::time::Duration::from_secs(1);

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Self { start: Real::now() }
    }
    /// Time since the start.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX))
    }
    /// Now, by this clock and by the time of day.
    pub fn both(&self) -> (Instant, Option<std::time::Duration>) {
        // Day first: an interruption between the readings can make a packet's time later, never earlier.
        let day = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        (self.now(), day)
    }
}

/// When a packet came that the kernel stamped by the time of day; `now` by both clocks.
pub fn of_stamp(now: (Instant, Option<std::time::Duration>), stamp: Option<std::time::Duration>) -> Instant {
    let waited = stamp.zip(now.1).and_then(|(stamp, day)| day.checked_sub(stamp));
    let waited = waited.filter(|waited| *waited < WAITED_MOST).unwrap_or_default();
    now.0 - Duration::from_nanos(waited.as_nanos() as i64)
}

/// A span as the standard library has it; nothing if negative.
pub fn to_std(span: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(0))
}

/// A span of the standard library as protocols have it.
pub fn of_std(span: std::time::Duration) -> Duration {
    Duration::from_nanos(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
}

/// What this process has kept processors busy, user and system.
pub fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::from_nanos(spent.tv_sec.saturating_mul(1_000_000_000).saturating_add(spent.tv_nsec))
}

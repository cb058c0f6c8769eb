//! Rate limit of log lines about unknown hosts.

use lightlag_protocols::time::{Duration, Instant};

/// Lines shown at once; afterwards one in [`LINE_EVERY`].
const BURST: u32 = 30;
const LINE_EVERY: Duration = Duration::from_nanos(500_000_000);
const SUM_EVERY: Duration = Duration::from_secs(10);

/// Shows the first lines and counts the others, so that a flood of openings is no flood of lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// Lines shown that have not been paid off by time.
    shown: u32,
    paid: Instant,
    suppressed: u64,
    next_sum: Instant,
}

impl Lines {
    /// Whether another line is shown.
    pub fn admit(&mut self, now: Instant) -> bool {
        let passed = (now - self.paid).as_nanos().max(0) / LINE_EVERY.as_nanos();
        let passed = u32::try_from(passed).unwrap_or(u32::MAX);
        if passed > 0 {
            self.paid = now;
            self.shown = self.shown.saturating_sub(passed);
        }
        let shows = self.shown < BURST;
        self.shown += u32::from(shows);
        self.suppressed += u64::from(!shows);
        shows
    }
    /// From time to time how many lines were not shown.
    pub fn suppressed(&mut self, now: Instant) -> Option<String> {
        if self.suppressed == 0 || now < self.next_sum {
            return None;
        }
        self.next_sum = now + SUM_EVERY;
        let count = std::mem::take(&mut self.suppressed);
        Some(format!("{count} more lines about transfers are not shown: too many at once"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_not_shown() {
        let mut lines = Lines::default();
        let (mut now, mut shown, mut sums) = (Instant::ZERO, 0, 0);
        for _ in 0..100_000 {
            now += Duration::from_nanos(1_000_000);
            shown += u32::from(lines.admit(now));
            sums += u32::from(lines.suppressed(now).is_some());
        }
        assert!((200..=231).contains(&shown) && sums == 10, "{shown} {sums}");
    }
}

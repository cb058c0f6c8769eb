//! Bundles that wait at the application until a buffer has room: how many, and for how long.

use super::Summary;
use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::time::Instant;

/// A bundle that waited.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Instant,
    until: Instant,
    size: u64,
    /// It was stored, not lost.
    was_stored: bool,
}

/// All bundles that have waited, known when they have stopped to.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits(Vec<Wait>);

impl Waits {
    /// A bundle was stored at its source or lost there; it has waited since its creation.
    pub fn over(&mut self, now: Instant, bundle: &Bundle, was_stored: bool) {
        if now > bundle.created {
            self.0.push(Wait { since: bundle.created, until: now, size: bundle.size.get(), was_stored });
        }
    }
    /// Writes the figures, means over the time from `from` to `now`.
    pub fn sum_up(&self, from: Instant, now: Instant, summary: &mut Summary) {
        // What was lost at the end had waited for it.
        let at_end = || self.0.iter().filter(|wait| wait.until == now && !wait.was_stored);
        summary.waiting = at_end().count() as u64;
        summary.waiting_bytes = at_end().map(|wait| wait.size).sum();
        (summary.waiting_max, summary.waiting_bytes_max) = self.most();
        let lasts_s = |wait: &Wait| (wait.until - wait.since).as_secs_f64();
        let time_s = (now - from).as_secs_f64();
        // The sum of nothing is -0.
        let mean = |sum: f64| if time_s > 0.0 { sum / time_s + 0.0 } else { 0.0 };
        summary.waiting_avg = mean(self.0.iter().map(lasts_s).sum());
        summary.waiting_bytes_avg = mean(self.0.iter().map(|wait| wait.size as f64 * lasts_s(wait)).sum());
    }
    /// Most bundles and most bytes that waited at one time.
    fn most(&self) -> (u64, u64) {
        let [mut begins, mut ends] = [self.0.clone(), self.0.clone()];
        begins.sort_unstable_by_key(|wait| wait.since);
        ends.sort_unstable_by_key(|wait| wait.until);
        let (mut ends, mut bytes, mut ended, mut most) = (ends.iter().peekable(), 0, 0, (0, 0));
        for (begun, wait) in (1..).zip(&begins) {
            bytes += wait.size;
            while let Some(over) = ends.next_if(|over| over.until <= wait.since) {
                bytes -= over.size;
                ended += 1;
            }
            most = (most.0.max(begun - ended), most.1.max(bytes));
        }
        most
    }
}

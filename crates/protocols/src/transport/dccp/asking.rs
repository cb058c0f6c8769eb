//! Asking where the other end is.

use crate::time::{Duration, Instant};

/// Doublings of the time between two questions; more change nothing.
const DOUBLINGS_MAX: u32 = 6;

/// When to ask by a Sync: all numbers that the other end would take are used up, and it is silent. What it
/// answers moves its window and ours (RFC 4340, section 7.5.1); without a question both would be silent for
/// ever, as nothing is sent twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asking {
    at: Option<Instant>,
    asked: u32,
}

impl Asking {
    /// No number is left; an answer takes `span`.
    pub fn begin(&mut self, now: Instant, span: Duration) {
        self.at.get_or_insert(now.saturating_add(span));
    }
    /// The other end was heard.
    pub fn stop(&mut self) {
        *self = Self::default();
    }
    /// When to come back.
    pub fn deadline(&self) -> Option<Instant> {
        self.at
    }
    /// Whether to ask now; the next time is later.
    pub fn is_due(&mut self, now: Instant, span: Duration) -> bool {
        let due = self.at.is_some_and(|at| at <= now);
        if due {
            self.asked = (self.asked + 1).min(DOUBLINGS_MAX);
            self.at = Some(now.saturating_add(span * (1 << self.asked)));
        }
        due
    }
}

//! How often a connection answers what cannot be (RFC 4340, section 7.5.4).

use crate::time::{Duration, Instant};

/// At most so many Syncs and Resets leave in a second (section 7.5.4).
const ANSWERS_A_SECOND: u32 = 8;

/// Answers to what cannot be, so many a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limiter {
    begun: Instant,
    count: u32,
}

impl Limiter {
    /// Whether one more may leave.
    pub fn may(&mut self, now: Instant) -> bool {
        if now - self.begun >= Duration::from_secs(1) {
            *self = Self { begun: now, count: 0 };
        }
        self.count += 1;
        self.count <= ANSWERS_A_SECOND
    }
}

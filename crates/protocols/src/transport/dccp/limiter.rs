//! How often a connection answers invalid packets (RFC 4340, section 7.5.4).

use crate::time::{Duration, Instant};

/// Most Syncs and Resets sent in a second (section 7.5.4).
const ANSWERS_A_SECOND: u32 = 8;

/// Limits the rate of answers to invalid packets.
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

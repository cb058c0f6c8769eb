//! What controllers of delay remember: the least delay of each of the last minutes, of which the least
//! is the base, and the last few delays, of which the least is the current one (RFC 6817, section 2.4.2).

use crate::time::{Duration, Instant};
use std::collections::VecDeque;

const MINUTE_NS: i64 = 60_000_000_000;

/// Least delays of minutes and the last delays. Only differences count, so that any offset between
/// two clocks cancels out.
#[derive(Clone, Debug)]
pub struct DelayHistory {
    minutes: VecDeque<Duration>,
    minutes_kept: usize,
    minute: i64,
    last: VecDeque<Duration>,
    last_kept: usize,
}

impl DelayHistory {
    /// Keeps the least delays of `minutes_kept` minutes and the last `last_kept` delays.
    pub fn new(minutes_kept: usize, last_kept: usize) -> Self {
        Self { minutes: VecDeque::new(), minutes_kept, minute: 0, last: VecDeque::new(), last_kept }
    }
    /// One more delay was measured.
    pub fn learn(&mut self, now: Instant, delay: Duration) {
        let minute = now.as_nanos() / MINUTE_NS;
        match self.minutes.back_mut() {
            Some(least) if minute == self.minute => *least = delay.min(*least),
            _ => self.minutes.push_back(delay),
        }
        self.minute = minute;
        self.last.push_back(delay);
        if self.minutes.len() > self.minutes_kept {
            self.minutes.pop_front();
        }
        if self.last.len() > self.last_kept {
            self.last.pop_front();
        }
    }
    /// The least delay of the minutes kept.
    pub fn base(&self) -> Option<Duration> {
        self.minutes.iter().min().copied()
    }
    /// By how much the current delay exceeds the base.
    pub fn queueing(&self) -> Option<Duration> {
        Some(*self.last.iter().min()? - self.base()?)
    }
    /// Forgets everything: the path is another one.
    pub fn clear(&mut self) {
        self.minutes.clear();
        self.last.clear();
    }
}

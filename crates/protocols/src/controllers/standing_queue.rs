//! How long packets wait in front of the link, from delays alone: the least delay of a round trip above the
//! least of the last round trips. A queue that stands all the time is seen, bursts and jitter are not.

use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Round trips, with their queues, of which the least delay is that of the path.
const KEPT: i64 = 16;
/// Most that are remembered.
const MOST: usize = 512;
/// Fewer delays say nothing of a round trip.
const DELAYS_LEAST: u32 = 4;

/// The least delay of each of the last round trips. Only differences count, so that any offset between two
/// clocks cancels out.
#[derive(Clone, Debug, Default)]
pub struct StandingQueue {
    /// When they ended, and their least delay.
    trips: VecDeque<(Instant, Duration)>,
    open: Option<Trip>,
}

#[derive(Clone, Copy, Debug)]
struct Trip {
    began: Instant,
    least: Duration,
    delays: u32,
}

impl StandingQueue {
    /// One more delay was measured; a round trip takes `least` without a queue, and `rtt` now. Gives whether one
    /// has ended.
    pub fn learn(&mut self, now: Instant, delay: Duration, least: Duration, rtt: Duration) -> bool {
        let open = self.open.get_or_insert(Trip { began: now, least: delay, delays: 0 });
        open.least = open.least.min(delay);
        open.delays += 1;
        let ends = open.delays >= DELAYS_LEAST && now - open.began >= least;
        if ends {
            let is_old = |trip: &(Instant, Duration)| now - trip.0 > rtt * KEPT;
            while self.trips.len() == MOST || self.trips.front().is_some_and(is_old) {
                self.trips.pop_front();
            }
            self.trips.push_back((now, open.least));
            self.open = None;
        }
        ends
    }
    /// The least delay of the last round trip; `None` before the first has ended.
    pub fn delay(&self) -> Option<Duration> {
        let newest = self.trips.back()?.1;
        Some(self.open.map_or(newest, |open| newest.min(open.least)))
    }
    /// That delay above the one of the path; `None` before the first round trip has ended.
    pub fn stands(&self) -> Option<Duration> {
        let newest = self.delay()?;
        let base = self.trips.iter().map(|trip| trip.1).min().map_or(newest, |base| newest.min(base));
        Some(newest - base)
    }
}

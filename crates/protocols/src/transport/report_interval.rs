//! How often the receiver reports: often enough for the sender, and never more than the return path carries.

use crate::controllers::StandingQueue;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Reports in a round trip, and the least time and datagrams between two.
const PER_ROUND_TRIP: i64 = 16;
const LEAST: Duration = Duration::from_nanos(2_000_000);
const DATAGRAMS_LEAST: u64 = 4;
/// Longest time between two, and where a queue stands on the return path.
const MOST: Duration = Duration::from_secs(60);
const MOST_OF_SLOW: Duration = Duration::from_secs(3600);
/// Before the round trip is known.
const FIRST: Duration = Duration::from_secs(1);
/// A queue on the return path stands if it takes this part of a round trip.
const STANDS: i64 = 8;
/// Share of the reports that come through such a queue which is sent from then on, and the factor of the interval after a
/// round trip without one.
const LEFT: f64 = 0.5;
const SHORTER: f64 = 0.97;

/// The interval, by the queue of reports on the return path: where one stands, reports come as often as the path carries
/// them, and half as many are asked for.
#[derive(Debug, Default)]
pub struct ReportInterval {
    back: StandingQueue,
    /// The delay in that queue, at the end of the last round trip.
    queue: Duration,
    /// No less, because a queue stood.
    least: Duration,
    /// When this round trip began, and the reports since.
    began: Option<Instant>,
    count: i64,
}

impl ReportInterval {
    /// A report took this long to come back, by two clocks of any offset.
    pub fn learn(&mut self, now: Instant, back: Duration, rtt: Duration) {
        let began = *self.began.get_or_insert(now);
        self.count += i64::from(now > began);
        if !self.back.learn(now, back, rtt, rtt) {
            return;
        }
        let apart = (now - began).as_secs_f64() / self.count.max(1) as f64;
        let queue = self.back.stands().unwrap_or(Duration::ZERO);
        if queue <= Duration::from_nanos(rtt.as_nanos() / STANDS) {
            self.least = Duration::from_secs_f64(self.least.as_secs_f64() * SHORTER);
        } else if queue >= self.queue {
            self.least = self.least.max(Duration::from_secs_f64(apart / LEFT));
        }
        (self.queue, self.began, self.count) = (queue, Some(now), 0);
    }
    /// The interval where a round trip takes `rtt`, and datagrams of `packet` bytes leave at `rate`.
    pub fn span(&self, rtt: Option<Duration>, packet: Bytes, rate: Option<BitRate>) -> Duration {
        let Some(rtt) = rtt else { return FIRST };
        let datagrams = rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes(DATAGRAMS_LEAST * packet.0)));
        let often = Duration::from_nanos(rtt.as_nanos() / PER_ROUND_TRIP).max(LEAST).max(datagrams);
        often.min(MOST).max(self.least).min(MOST_OF_SLOW)
    }
}

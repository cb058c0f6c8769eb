//! How often the receiver reports: often enough for the sender, and never more than the return path carries.

use crate::controllers::StandingQueue;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Reports in a round trip, and the least time and datagrams between two.
const PER_ROUND_TRIP: i64 = 16;
const LEAST: Duration = Duration::from_nanos(2_000_000);
const DATAGRAMS_LEAST: u64 = 4;
/// Longest time between two.
const MOST: Duration = Duration::from_secs(60);
/// Before the round trip is known.
const FIRST: Duration = Duration::from_secs(1);
/// A queue on the return path stands if it takes this part of a round trip.
const STANDS: i64 = 8;
/// By what the interval grows while one stands, shrinks in a round trip without, and grows at most.
const LONGER: f64 = 2.0;
const SHORTER: f64 = 0.9;
const LONGEST: f64 = 1024.0;

/// The interval, by the queue of reports on the return path.
#[derive(Debug)]
pub struct ReportInterval {
    back: StandingQueue,
    longer: f64,
}

impl Default for ReportInterval {
    fn default() -> Self {
        Self { back: StandingQueue::default(), longer: 1.0 }
    }
}

impl ReportInterval {
    /// A report took this long to come back, by two clocks of any offset.
    pub fn learn(&mut self, now: Instant, back: Duration, rtt: Duration) {
        if !self.back.learn(now, back, rtt, rtt) {
            return;
        }
        let stands =
            self.back.stands().is_some_and(|queue| queue > Duration::from_nanos(rtt.as_nanos() / STANDS));
        self.longer = (self.longer * if stands { LONGER } else { SHORTER }).clamp(1.0, LONGEST);
    }
    /// The interval where a round trip takes `rtt`, and datagrams of `packet` bytes leave at `rate`.
    pub fn span(&self, rtt: Option<Duration>, packet: Bytes, rate: Option<BitRate>) -> Duration {
        let Some(rtt) = rtt else { return FIRST };
        let datagrams = rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes(DATAGRAMS_LEAST * packet.0)));
        let often = Duration::from_nanos(rtt.as_nanos() / PER_ROUND_TRIP).max(LEAST).max(datagrams);
        Duration::from_nanos((often.min(MOST).as_nanos() as f64 * self.longer) as i64).min(MOST)
    }
}

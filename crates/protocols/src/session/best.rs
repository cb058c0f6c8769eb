//! The best rate that a stream had, and whether the path can carry more.

use crate::time::{Duration, Instant};

/// A stream that has not become faster for this time and this number of round trips has found its rate.
const FOUND_AFTER: Duration = Duration::from_secs(2);
const FOUND_ROUNDS: i64 = 8;
/// Smaller growth is noise.
const GROWTH: f64 = 1.05;

/// The best rate of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// In bytes a second.
    pub rate: f64,
    /// When it was measured.
    pub at: Instant,
    /// What later ones are measured against, and since when.
    mark: (f64, Instant),
}

impl Best {
    /// The better of what is known and another rate.
    pub fn with(known: Option<Self>, now: Instant, rate: f64) -> Self {
        match known {
            Some(best) if rate < best.rate => best,
            Some(best) if rate <= best.mark.0 * GROWTH => Self { rate, at: now, mark: best.mark },
            _ => Self { rate, at: now, mark: (rate, now) },
        }
    }
    /// Whether the stream had stopped becoming faster: then another transport may start at this rate; else
    /// the rate is only a lower bound of the path's.
    pub fn is_found(&self, now: Instant, round_trip: Option<Duration>) -> bool {
        let rounds = round_trip.unwrap_or_default() * FOUND_ROUNDS;
        now - self.mark.1 >= rounds.max(FOUND_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_found_when_it_has_not_grown_for_some_round_trips() {
        let at = Instant::from_secs;
        let rtt = Some(Duration::from_secs(1));
        let mut best = Best::with(None, at(0), 100.0);
        best = Best::with(Some(best), at(5), 200.0);
        assert!(!best.is_found(at(12), rtt) && best.is_found(at(13), rtt) && best.is_found(at(7), None));
        // Chance changes nothing, and neither does a lower rate.
        best = Best::with(Some(Best::with(Some(best), at(11), 209.0)), at(12), 50.0);
        assert!((best.rate - 209.0).abs() < 1e-9 && best.is_found(at(13), rtt));
        assert!(!Best::with(Some(best), at(14), 211.0).is_found(at(21), rtt));
    }
}

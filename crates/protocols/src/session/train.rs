//! Datagrams that leave back to back, and the rate at which they arrive: that of the narrowest link.

use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use crate::wire::session::Report;
use std::collections::VecDeque;

/// Fewer arrivals behind the first reported one measure the clocks more than the link ...
const ARRIVALS_LEAST: u64 = 3;
/// ... but where no more of a train came, this many are believed: a short queue dropped the others.
const ARRIVALS_FEW: u64 = 2;
/// A shorter time may be that in which a socket was read.
const SPAN_LEAST_US: u64 = 200;
/// A datagram that leaves later than this behind the one before begins another train.
const GAP: Duration = Duration::from_nanos(1_000_000);

/// Trains that are waited for at most: as many as leave in the longest round trips.
const TRAINS_MOST: usize = 4096;

/// Trains of which no later datagram was reported.
#[derive(Debug, Default)]
pub struct Trains {
    all: VecDeque<Train>,
    /// Datagrams still missing from the last one.
    left: u32,
    /// When its last one left.
    last: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Train {
    first: u64,
    count: u64,
    /// Of the first report on it: datagrams that had come, and when its highest came, in microseconds of that clock.
    seen: Option<(u64, u64)>,
    /// The rate of few arrivals.
    of_few: Option<BitRate>,
}

impl Train {
    fn end(&self) -> u64 {
        self.first + self.count
    }
}

impl Trains {
    /// Whether the next datagram leaves at once; trains have `length`, 1 for none.
    pub fn go_on(&self, length: u32) -> bool {
        self.left > 0 && length > 1
    }
    /// This datagram has left.
    pub fn on_left(&mut self, now: Instant, number: u64, length: u32) {
        let goes_on = self.go_on(length) && now - self.last <= GAP;
        self.last = now;
        if let Some(train) = self.all.back_mut().filter(|train| goes_on && train.end() == number) {
            (train.count, self.left) = (train.count + 1, self.left - 1);
            return;
        }
        self.left = length.saturating_sub(1);
        if length > 1 && self.all.len() < TRAINS_MOST {
            self.all.push_back(Train { first: number, count: 1, seen: None, of_few: None });
        }
    }
    /// The rate at which datagrams of this size came, if this report and an earlier one on the same train say it.
    pub fn rate(&mut self, report: &Report, packet: Bytes) -> Option<BitRate> {
        let mut of_few = None;
        while self.all.front().is_some_and(|train| train.end() <= report.highest) {
            of_few = self.all.pop_front().and_then(|train| train.of_few);
        }
        let in_train = |train: &&mut Train| train.first <= report.highest && train.count > 1;
        let Some(train) = self.all.front_mut().filter(in_train) else { return of_few };
        let at = report.at_us.saturating_sub(report.held_us);
        let (received, from) = *train.seen.get_or_insert((report.received, at));
        let arrivals = report.received.saturating_sub(received);
        let span_s = at.saturating_sub(from).max(SPAN_LEAST_US) as f64 / 1e6;
        let rate = BitRate(((arrivals * packet.0) as f64 * 8.0 / span_s) as u64);
        train.of_few = (arrivals == ARRIVALS_FEW).then_some(rate);
        if arrivals >= ARRIVALS_LEAST { Some(rate) } else { of_few }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_arrivals_between_two_reports_on_one_train() {
        let mut trains = Trains::default();
        (0..16).for_each(|number| trains.on_left(Instant::ZERO, number, 16));
        assert!(!trains.go_on(16));
        let report = |highest: u64, came_us: u64, held_us| Report {
            highest,
            held_us,
            at_us: 7_000_000 + came_us + held_us,
            received: highest + 1,
            ..Report::default()
        };
        let packet = Bytes(1250);
        assert_eq!(trains.rate(&report(0, 0, 0), packet), None);
        assert_eq!(trains.rate(&report(2, 2000, 500), packet), None, "two are too few");
        assert_eq!(trains.rate(&report(10, 10_000, 3), packet), Some(BitRate(10_000_000)));
        assert_eq!(trains.rate(&report(16, 16_000, 3), packet), None, "it is of no train");
        // Two that left before the first report.
        (16..48).for_each(|number| trains.on_left(Instant::from_secs(number as i64 / 16), number, 16));
        assert_eq!(trains.rate(&report(18, 20_000, 0), packet), None);
        assert_eq!(trains.rate(&report(28, 30_000, 0), packet), Some(BitRate(10_000_000)));
        assert_eq!(trains.rate(&report(33, 40_000, 0), packet), None);
        assert_eq!(trains.rate(&report(43, 60_000, 0), packet), Some(BitRate(5_000_000)));
        // A datagram that leaves after a pause begins another train.
        trains.on_left(Instant::from_secs(4), 48, 16);
        trains.on_left(Instant::from_secs(5), 49, 16);
        assert!(trains.go_on(16) && !trains.go_on(1));
        assert_eq!(trains.all.len(), 3);
    }

    #[test]
    fn two_arrivals_are_believed_once_a_later_train_shows_that_no_more_come() {
        let mut trains = Trains::default();
        (0..32).for_each(|number| trains.on_left(Instant::from_secs(number as i64 / 16), number, 16));
        let report = |highest, received, at_us| Report { highest, received, at_us, ..Report::default() };
        let packet = Bytes(1250);
        assert_eq!(trains.rate(&report(0, 1, 0), packet), None);
        assert_eq!(trains.rate(&report(2, 3, 2000), packet), None);
        assert_eq!(trains.rate(&report(16, 4, 1_000_000), packet), Some(BitRate(10_000_000)));
        assert_eq!(trains.rate(&report(17, 5, 1_001_000), packet), None);
    }
}

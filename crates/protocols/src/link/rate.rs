//! How fast bits leave, over time.

use super::Opportunities;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::sync::Arc;

/// The rate of a link, over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rate {
    /// The same at all times.
    Constant(BitRate),
    /// From each instant on the rate beside it, zero before the first. Ascending in time. A packet that
    /// does not fit before a rate of zero begins waits until it has passed.
    Table(Vec<(Instant, BitRate)>),
    /// At recorded opportunities. Where a single rate is asked for, it is their mean.
    Opportunities(Arc<Opportunities>),
}

impl Rate {
    /// When a packet has left whose turn comes at `start`, on a link that was idle; [`Instant::MAX`] if never.
    #[inline]
    pub fn finish(&self, start: Instant, size: Bytes) -> Instant {
        match self {
            Self::Constant(rate) => start.saturating_add(rate.time_for(size)),
            Self::Table(rows) => finish_in_table(rows, start, size),
            Self::Opportunities(trace) => trace.send(&mut trace.after(start), size),
        }
    }
    /// The highest rate at any time.
    pub fn highest(&self) -> BitRate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Table(rows) => rows.iter().map(|row| row.1).max().unwrap_or_default(),
            Self::Opportunities(trace) => trace.highest(),
        }
    }
    /// The rate at `now`.
    pub fn at(&self, now: Instant) -> BitRate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Table(rows) => {
                let after = rows.partition_point(|row| row.0 <= now);
                after.checked_sub(1).map_or(BitRate(0), |row| rows[row].1)
            }
            Self::Opportunities(trace) => trace.mean(),
        }
    }
    /// The first rate above zero after `now`, if there is one.
    pub fn next_after(&self, now: Instant) -> Option<BitRate> {
        match self {
            Self::Constant(rate) => Some(*rate),
            Self::Table(rows) => rows.iter().find(|row| row.0 > now && row.1 > BitRate(0)).map(|row| row.1),
            Self::Opportunities(trace) => Some(trace.mean()),
        }
    }
    /// The lower of the two rates, at all times.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (one, two) = match (self, other) {
            (Self::Constant(one), Self::Constant(two)) => return Self::Constant(*one.min(two)),
            _ => (self.changes(), other.changes()),
        };
        let mut times: Vec<Instant> = one.chain(two).collect();
        times.sort_unstable();
        times.dedup();
        let row = |at: Instant| (at, self.at(at).min(other.at(at)));
        Self::Table(times.into_iter().map(row).collect())
    }
    /// When it changes; a constant rate at the very beginning.
    fn changes(&self) -> impl Iterator<Item = Instant> {
        let (constant, rows) = match self {
            Self::Constant(_) | Self::Opportunities(_) => (Some(Instant::ZERO), [].as_slice()),
            Self::Table(rows) => (None, rows.as_slice()),
        };
        constant.into_iter().chain(rows.iter().map(|row| row.0))
    }
    /// The rate that it has in these windows of contact, and zero between them. Windows ascend.
    pub fn within(windows: &[(Instant, Instant, BitRate)]) -> Self {
        let mut rows: Vec<(Instant, BitRate)> = Vec::with_capacity(windows.len() * 2);
        for &(start, end, rate) in windows {
            match rows.last_mut() {
                Some(last) if last.0 == start => last.1 = rate,
                _ => rows.push((start, rate)),
            }
            rows.push((end, BitRate(0)));
        }
        Self::Table(rows)
    }
}

/// Bits leave at each row's rate in turn; a row of zero makes the packet start over after it.
fn finish_in_table(rows: &[(Instant, BitRate)], start: Instant, size: Bytes) -> Instant {
    let mut row = rows.partition_point(|row| row.0 <= start);
    let mut now = start;
    let mut rate = row.checked_sub(1).map_or(BitRate(0), |row| rows[row].1);
    // In bit-nanoseconds per second: exact sums across rows of different rates.
    let whole = u128::from(size.0) * 8_000_000_000;
    let mut missing = whole;
    loop {
        let until = rows.get(row).map_or(Instant::MAX, |row| row.0);
        if rate == BitRate(0) {
            missing = whole;
        } else {
            let needs = missing.div_ceil(u128::from(rate.0));
            let spans = (until - now).as_nanos() as u128;
            if needs <= spans {
                return now.saturating_add(Duration::from_nanos(needs as i64));
            }
            missing -= spans * u128::from(rate.0);
        }
        let Some(&(at, next)) = rows.get(row) else { return Instant::MAX };
        (now, rate) = (at.max(start), next);
        row += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(i64) -> Instant = Instant::from_secs;

    #[test]
    fn a_packet_that_does_not_fit_into_a_contact_waits_for_the_next() {
        let rate = Rate::within(&[(S(10), S(12), BitRate(8)), (S(20), S(30), BitRate(16))]);
        assert_eq!(rate.finish(S(0), Bytes(2)), S(12));
        assert_eq!(rate.finish(S(11), Bytes(2)), S(21));
        assert_eq!(rate.finish(S(0), Bytes(21)), Instant::MAX);
        assert_eq!(rate.at(S(11)), BitRate(8));
    }

    #[test]
    fn the_lower_of_two_rates_changes_where_either_does() {
        let table = Rate::Table(vec![(S(1), BitRate(8)), (S(3), BitRate(32))]);
        let least = table.and(&Rate::Constant(BitRate(16)));
        assert_eq!([0, 1, 2, 3].map(|at| least.at(S(at)).0), [0, 8, 8, 16]);
        assert_eq!(least, Rate::Constant(BitRate(16)).and(&table));
    }

    #[test]
    fn bits_of_one_packet_leave_at_each_rate_in_turn() {
        let rate = Rate::Table(vec![(S(0), BitRate(8)), (S(2), BitRate(16))]);
        assert_eq!(rate.finish(S(1), Bytes(5)), S(4));
    }
}

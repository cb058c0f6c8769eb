//! Delivery opportunities of a recorded link, as mahimahi's `mm-link` serves them.

use crate::time::Instant;
use crate::units::{BitRate, Bytes};

/// Bytes of one opportunity: `PACKET_SIZE` of mahimahi, an MTU of 1500 bytes and [`HEADER_BYTES`].
pub const OPPORTUNITY_BYTES: u64 = 1504;
/// Bytes that mahimahi's TUN device adds to each IP packet, so that 1500 bytes fill one opportunity.
pub const HEADER_BYTES: u64 = 4;

const NS_PER_MS: u128 = 1_000_000;

/// Times at which a link carries [`OPPORTUNITY_BYTES`], repeated from the last one on.
///
/// A packet takes its size and [`HEADER_BYTES`]; one that does not fit continues in the next opportunity, and what it
/// leaves goes to the packets that wait. An opportunity at which nothing waits passes unused, and a packet that arrives
/// at its very instant is too late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Milliseconds, not descending; the last one is not zero.
    at_ms: Box<[u32]>,
}

/// How far the opportunities of a link have been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// The next opportunity, counted from the first one of the first repetition.
    next: u128,
    /// Bytes left of the one before it.
    left: u64,
}

impl Opportunities {
    /// From times in milliseconds; `None` if the list is empty, if it descends, or if the last one is zero.
    pub fn new(at_ms: Vec<u32>) -> Option<Self> {
        let fits = at_ms.is_sorted() && at_ms.last().is_some_and(|last| *last > 0);
        fits.then(|| Self { at_ms: at_ms.into() })
    }
    /// Their times in milliseconds; the last one is the period.
    pub fn at_ms(&self) -> &[u32] {
        &self.at_ms
    }
    fn period_ms(&self) -> u128 {
        u128::from(self.at_ms.last().copied().unwrap_or(1))
    }
    /// The mean rate over a period, at least 1 bit/s.
    pub fn mean(&self) -> BitRate {
        rate(self.at_ms.len() as u128, self.period_ms())
    }
    /// The rate of the millisecond with the most opportunities; those at the end of a period and at the beginning of
    /// the next one are together.
    pub fn highest(&self) -> BitRate {
        let most = self.at_ms.chunk_by(|one, next| one == next).map(<[u32]>::len).max().unwrap_or(0);
        let ends = [0, self.period_ms() as u32];
        let around = self.at_ms.iter().filter(|at| ends.contains(at)).count();
        rate(most.max(around) as u128, 1)
    }
    /// All are unused that come after `start`.
    pub(super) fn after(&self, start: Instant) -> Used {
        let ms = start.as_nanos().max(0) as u128 / NS_PER_MS;
        let (turns, within) = (ms / self.period_ms(), ms % self.period_ms());
        let passed = self.at_ms.partition_point(|at| u128::from(*at) <= within);
        Used { next: turns * self.at_ms.len() as u128 + passed as u128, left: 0 }
    }
    /// Sends a packet; when its last byte leaves.
    pub(super) fn send(&self, used: &mut Used, size: Bytes) -> Instant {
        let bytes = size.0.saturating_add(HEADER_BYTES);
        if let Some(left) = used.left.checked_sub(bytes) {
            used.left = left;
        } else {
            let more = bytes - used.left;
            let opportunities = more.div_ceil(OPPORTUNITY_BYTES);
            used.next += u128::from(opportunities);
            used.left = opportunities.saturating_mul(OPPORTUNITY_BYTES) - more;
        }
        self.time_of(used.next - 1)
    }
    fn time_of(&self, index: u128) -> Instant {
        let count = self.at_ms.len() as u128;
        let ms = index / count * self.period_ms() + u128::from(self.at_ms[(index % count) as usize]);
        i64::try_from(ms * NS_PER_MS).map_or(Instant::MAX, Instant::from_nanos)
    }
}

fn rate(opportunities: u128, ms: u128) -> BitRate {
    let bits = opportunities * u128::from(OPPORTUNITY_BYTES) * 8 * 1000;
    // A rate of zero would mean that nothing is ever carried.
    BitRate(u64::try_from(bits / ms).unwrap_or(u64::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }
    /// When packets of these sizes leave that wait from `start` on.
    fn leave(at_ms: &[u32], start: Instant, sizes: &[u64]) -> Vec<i64> {
        let trace = Opportunities::new(at_ms.to_vec()).unwrap();
        let mut used = trace.after(start);
        sizes.iter().map(|size| trace.send(&mut used, Bytes(*size)).as_nanos() / 1_000_000).collect()
    }

    #[test]
    fn a_packet_of_1500_bytes_takes_an_opportunity_and_the_trace_repeats_from_its_last_time() {
        assert_eq!(leave(&[2, 2, 5], ms(0), &[1500; 7]), [2, 2, 5, 7, 7, 10, 12]);
        assert_eq!(leave(&[0, 3], ms(0), &[1500; 4]), [3, 3, 6, 6], "the one at 0 has passed at 0");
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        assert_eq!(leave(&[1, 4], ms(0), &[748, 748, 748, 1500, 748]), [1, 1, 4, 5, 5]);
        assert_eq!(leave(&[1, 4], ms(0), &[3004, 1]), [4, 5]);
    }

    #[test]
    fn an_opportunity_at_the_instant_of_a_packet_has_passed() {
        assert_eq!(leave(&[2, 5], ms(2), &[1500]), [5]);
        assert_eq!(leave(&[2, 5], ms(5), &[1500]), [7]);
        assert_eq!(leave(&[2, 5], ms(2) - crate::time::Duration::from_nanos(1), &[1500]), [2]);
    }

    #[test]
    fn rates_are_the_mean_and_that_of_the_fullest_millisecond() {
        let trace = Opportunities::new(vec![0, 2, 2, 4]).unwrap();
        assert_eq!((trace.mean(), trace.highest()), (BitRate(12_032_000), BitRate(24_064_000)));
    }

    #[test]
    fn times_that_descend_or_do_not_last_are_refused() {
        for wrong in [vec![], vec![0], vec![0, 0], vec![3, 2]] {
            assert_eq!(Opportunities::new(wrong), None);
        }
    }
}

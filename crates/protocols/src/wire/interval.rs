//! Times between reports, on the link: 2 ms · 2^(n/2), n in five bits.

use crate::time::Duration;

const LEAST_NS: [i64; 2] = [2_000_000, 2_828_427];
const COUNT: u8 = 32;

/// The interval of a code, of which the lower five bits count.
pub fn of(code: u8) -> Duration {
    let code = code % COUNT;
    Duration::from_nanos(LEAST_NS[usize::from(code % 2)] << (code / 2))
}

/// The code of the interval that is nearest.
pub fn code(every: Duration) -> u8 {
    let off = |code: &u8| of(*code).as_nanos().abs_diff(every.as_nanos());
    // Codes grow with the interval: the nearest is next to the greatest power of two below it.
    let doubled = (every.as_nanos().max(1) / LEAST_NS[0]).checked_ilog2().unwrap_or(0) as u8;
    let first = doubled.saturating_mul(2).min(COUNT - 1);
    (first..(first + 3).min(COUNT)).min_by_key(off).unwrap_or_default()
}

/// An interval as the wire can say it.
pub fn round(every: Duration) -> Duration {
    of(code(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_an_interval_is_that_of_the_nearest_one() {
        let nearest = |every: i64| {
            (0..COUNT).min_by_key(|number| of(*number).as_nanos().abs_diff(every)).unwrap_or_default()
        };
        for number in 0..COUNT {
            for off in [-1_000_000, -414_214, -1, 0, 1, 414_213, 414_214, 586_000] {
                for scale in [1, 1 << (number / 2)] {
                    let every = of(number).as_nanos() + off * scale;
                    assert_eq!(code(Duration::from_nanos(every)), nearest(every), "{every} ns");
                }
            }
        }
        for every in [i64::MIN, -1, 0, 1, i64::MAX] {
            assert_eq!(code(Duration::from_nanos(every)), nearest(every), "{every} ns");
        }
    }
}

//! Earliest departure and arrival of a packet, recomputed without the code of links.

use lightlag_protocols::link::{DEVIATIONS_MOST, Delay, HEADER_BYTES, LinkSpec, OPPORTUNITY_BYTES, Rate};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;

/// When the last bit has left of what begins to leave at `start` on an idle link, at the earliest.
pub(super) fn leaves(rate: &Rate, start: Instant, size: u32) -> Instant {
    let bits = u128::from(size) * 8_000_000_000;
    match rate {
        Rate::Constant(rate) => later(start, bits, *rate),
        Rate::Opportunities(trace) => Served::default().leaves(trace.at_ms(), start, false, size),
        Rate::Table(rows) => {
            let mut at = start;
            let mut left = bits;
            let mut next = rows.partition_point(|row| row.0 <= start);
            let mut now = if next == 0 { BitRate(0) } else { rows[next - 1].1 };
            loop {
                let until = rows.get(next).map(|row| row.0);
                if now.0 == 0 {
                    // A packet cut off by an outage starts again.
                    left = bits;
                } else {
                    let done = later(at, left, now);
                    match until {
                        Some(until) if done > until => {
                            left -= (until - at).as_nanos() as u128 * u128::from(now.0);
                        }
                        _ => return done,
                    }
                }
                let Some(until) = until else { return Instant::MAX };
                (at, now) = (until, rows[next].1);
                next += 1;
            }
        }
    }
}

/// How far recorded opportunities are used: the millisecond at which their period began, the next one in it, and the
/// bytes left of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    began_ms: u64,
    next: usize,
    left: u64,
}

impl Served {
    /// When the last byte leaves of a packet whose turn comes at `start`, one opportunity after the other; `waited` if
    /// it was there before.
    pub(super) fn leaves(&mut self, at_ms: &[u32], start: Instant, waited: bool, size: u32) -> Instant {
        let period = u64::from(at_ms.last().copied().unwrap_or(1)).max(1);
        let time = |served: &Self| served.began_ms + u64::from(at_ms[served.next]);
        if !waited {
            self.left = 0;
            let ms = start.as_nanos().max(0) as u64 / 1_000_000;
            if ms > self.began_ms + period {
                *self = Self { began_ms: ms - ms % period, ..Self::default() };
            }
            while time(self) <= ms {
                self.pass(at_ms.len(), period);
            }
        }
        let mut missing = u64::from(size) + HEADER_BYTES;
        let mut at = start;
        while missing > self.left {
            missing -= self.left;
            at = Instant::ZERO
                .saturating_add(Duration::from_nanos((time(self) as i64).saturating_mul(1_000_000)));
            self.left = OPPORTUNITY_BYTES;
            self.pass(at_ms.len(), period);
        }
        self.left -= missing;
        at
    }
    fn pass(&mut self, count: usize, period: u64) {
        self.next += 1;
        if self.next == count {
            (self.next, self.began_ms) = (0, self.began_ms + period);
        }
    }
}

/// `bits` are in billionths.
fn later(at: Instant, bits: u128, rate: BitRate) -> Instant {
    if rate.0 == 0 {
        return Instant::MAX;
    }
    let ns = match u64::try_from(bits) {
        Ok(bits) => u128::from(bits.div_ceil(rate.0)),
        Err(_) => bits.div_ceil(u128::from(rate.0)),
    };
    at.saturating_add(Duration::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX)))
}

/// Least one-way delay of a packet that leaves at `at`: half a nanosecond may be lost on a curve.
pub(super) fn under_way(delay: &Delay, at: Instant) -> Duration {
    match delay {
        Delay::Constant(delay) => *delay,
        Delay::Curve(points) => on_curve(points, at),
        Delay::Normal { mean, every, .. } => {
            // A distribution is that of the last multiple of its interval.
            let looked_up = at - Duration::from_nanos(at.as_nanos() % every.as_nanos());
            let off = Duration::from_nanos(spread(delay).as_nanos() / 2);
            (under_way(mean, looked_up) - off).max(Duration::ZERO)
        }
    }
}

/// How far apart the delays of two packets may be that left together.
pub(super) fn spread(delay: &Delay) -> Duration {
    let Delay::Normal { deviation, .. } = delay else { return Duration::ZERO };
    Duration::from_nanos((2.0 * DEVIATIONS_MOST * deviation.as_nanos() as f64).ceil() as i64)
}

fn on_curve(points: &[(Instant, Duration)], at: Instant) -> Duration {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Duration::ZERO };
    match points.partition_point(|point| point.0 <= at) {
        0 => first.1,
        after if after == points.len() => last.1,
        after => {
            let [(from, low), (to, high)] = [points[after - 1], points[after]];
            let share = (at - from).as_secs_f64() / (to - from).as_secs_f64();
            let rise = (high.as_nanos() - low.as_nanos()) as f64 * share;
            Duration::from_nanos(low.as_nanos() + rise.round() as i64)
        }
    }
}

/// Whether packets come out of a link in the order in which they went in.
pub(super) fn keeps_order(spec: &LinkSpec) -> bool {
    let steep = |points: &[(Instant, Duration)]| {
        points.windows(2).any(|two| two[0].1 - two[1].1 > two[1].0 - two[0].0)
    };
    spec.reorder.is_none()
        && spec.jitter == Duration::ZERO
        && match &spec.delay {
            Delay::Constant(_) => true,
            Delay::Curve(points) => !steep(points),
            Delay::Normal { .. } => false,
        }
}

/// How far a computed time may be off.
pub(super) fn slack(delay: &Delay) -> Duration {
    match delay {
        Delay::Constant(_) => Duration::ZERO,
        Delay::Curve(_) | Delay::Normal { .. } => Duration::from_nanos(1_000),
    }
}

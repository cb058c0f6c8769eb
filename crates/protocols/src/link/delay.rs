//! Propagation delay of a link.

use crate::math;
use crate::rng::Stream;
use crate::time::{Duration, Instant};

/// The one-way delay of a link, over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The same at all times.
    Constant(Duration),
    /// Straight lines between these points; before the first as there, after the last as there.
    /// Ascending in time, not empty.
    Curve(Vec<(Instant, Duration)>),
    /// Drawn for each packet from a normal distribution, never negative; later packets may overtake. The
    /// mean changes in steps of `every`.
    Normal {
        /// The mean.
        mean: Box<Delay>,
        /// The square root of the variance.
        deviation: Duration,
        /// How often the mean is looked up.
        every: Duration,
    },
}

/// No draw of [`Delay::Normal`] is more deviations off its mean: 53 random bits give no more.
pub const DEVIATIONS_MOST: f64 = 8.6;

impl Delay {
    /// The delay of a packet sent at `now`; the mean where it is drawn.
    #[inline]
    pub fn at(&self, now: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Curve(points) => on_curve(points, now),
            Self::Normal { mean, every, .. } => {
                mean.at(Instant::from_nanos(now.as_nanos().div_euclid(every.as_nanos()) * every.as_nanos()))
            }
        }
    }
    /// Whether a packet may overtake an earlier one.
    pub fn falls_faster_than_time(&self) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Curve(points) => points.windows(2).any(|two| two[0].1 - two[1].1 >= two[1].0 - two[0].0),
            Self::Normal { .. } => true,
        }
    }
    /// The least delay at any time, and the most; those of the mean where it is drawn.
    pub fn bounds(&self) -> (Duration, Duration) {
        match self {
            Self::Constant(delay) => (*delay, *delay),
            Self::Curve(points) => {
                let delays = || points.iter().map(|point| point.1);
                (delays().min().unwrap_or_default(), delays().max().unwrap_or_default())
            }
            Self::Normal { mean, .. } => mean.bounds(),
        }
    }
    /// The least delay at any time; that of the mean where it is drawn.
    pub fn least(&self) -> Duration {
        self.bounds().0
    }
}

fn on_curve(points: &[(Instant, Duration)], now: Instant) -> Duration {
    let after = points.partition_point(|point| point.0 <= now);
    if after == 0 || after == points.len() {
        return points[after.saturating_sub(1)].1;
    }
    let [(start, low), (end, high)] = [points[after - 1], points[after]];
    let (span, part) = ((end - start).as_nanos(), (now - start).as_nanos());
    let rise = i128::from(high.as_nanos() - low.as_nanos()) * i128::from(part) / i128::from(span);
    low + Duration::from_nanos(rise as i64)
}

/// Draws of a normal distribution, by the method of Box and Muller (1958).
pub(super) struct NormalDraws {
    deviation_ns: f64,
    draws: Stream,
}

impl NormalDraws {
    /// None of a delay that is not drawn.
    pub(super) fn new(delay: &Delay, draws: Stream) -> Option<Self> {
        let Delay::Normal { deviation, .. } = delay else { return None };
        Some(Self { deviation_ns: deviation.as_nanos() as f64, draws })
    }
    pub(super) fn around(&mut self, mean: Duration) -> Duration {
        let (radius, angle) = (1.0 - self.draws.unit(), self.draws.unit());
        let deviations = math::sqrt(-2.0 * math::log(radius)) * math::cos(std::f64::consts::TAU * angle);
        let off = math::rint(deviations * self.deviation_ns) as i64;
        Duration::from_nanos(mean.as_nanos().saturating_add(off).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(mean: Delay, deviation_ms: i64) -> Delay {
        let ms = |n| Duration::from_nanos(n * 1_000_000);
        Delay::Normal { mean: Box::new(mean), deviation: ms(deviation_ms), every: ms(250) }
    }

    fn drawn(delay: &Delay, count: usize) -> Vec<f64> {
        let mut draws = NormalDraws::new(delay, Stream::new(1, "test", 0)).expect("it is drawn");
        (0..count).map(|_| draws.around(delay.at(Instant::ZERO)).as_secs_f64()).collect()
    }

    #[test]
    fn drawn_delays_have_the_mean_and_the_variance_that_were_asked_for() {
        let delays = drawn(&normal(Delay::Constant(Duration::from_secs(5)), 20), 100_000);
        let mean = delays.iter().sum::<f64>() / 1e5;
        let variance = delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / 1e5;
        assert!((mean - 5.0).abs() < 2e-4, "{mean}");
        assert!((variance / 4e-4 - 1.0).abs() < 0.02, "{variance}");
        let far = delays.iter().filter(|delay| (*delay - 5.0).abs() > 0.04).count();
        assert!((4_350..4_750).contains(&far), "{far} of 100,000 are two deviations off");
        assert!(delays.iter().all(|delay| (delay - 5.0).abs() <= DEVIATIONS_MOST * 0.02));
    }

    #[test]
    fn no_drawn_delay_is_negative() {
        let delays = drawn(&normal(Delay::Constant(Duration::ZERO), 20), 1_000);
        assert!(delays.iter().all(|delay| *delay >= 0.0));
        assert!((400..600).contains(&delays.iter().filter(|delay| **delay == 0.0).count()));
    }

    #[test]
    fn the_distribution_changes_each_quarter_of_a_second() {
        let rising = vec![(Instant::ZERO, Duration::ZERO), (Instant::from_secs(10), Duration::from_secs(10))];
        let delay = normal(Delay::Curve(rising), 20);
        let at = |ms: i64| delay.at(Instant::from_nanos(ms * 1_000_000)).as_secs_f64();
        assert_eq!([at(0), at(249), at(250), at(499), at(9_999)], [0.0, 0.0, 0.25, 0.25, 9.75]);
    }
}

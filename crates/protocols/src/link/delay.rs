//! How long bits are under way.

use crate::time::{Duration, Instant};

/// The one-way delay of a link, over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The same at all times.
    Constant(Duration),
    /// Straight lines between these points; before the first as there, after the last as there.
    /// Ascending in time, not empty.
    Curve(Vec<(Instant, Duration)>),
}

impl Delay {
    /// The delay of what leaves at `now`.
    #[inline]
    pub fn at(&self, now: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Curve(points) => on_curve(points, now),
        }
    }
    /// Whether what leaves later may come earlier.
    pub fn falls_faster_than_time(&self) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Curve(points) => points.windows(2).any(|two| two[0].1 - two[1].1 >= two[1].0 - two[0].0),
        }
    }
    /// The least delay at any time.
    pub fn least(&self) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Curve(points) => points.iter().map(|point| point.1).min().unwrap_or_default(),
        }
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

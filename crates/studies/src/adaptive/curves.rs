//! Delay curves: those of the paper, fifty that are drawn, and what a link with such a delay can deliver at most.

use lightlag_protocols::rng::Stream;

/// How long every run lasts, in seconds.
pub const RUN_S: f64 = 1200.0;
/// Delays that are drawn lie between these, in seconds.
const DELAYS_S: (f64, f64) = (0.01, 120.0);
/// Points of time between a value and the next that follows at once, in seconds.
const AT_ONCE_S: f64 = 0.25;

/// A delay over time, in straight lines, and what is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// (seconds, seconds of delay), ascending.
    pub points: Vec<(f64, f64)>,
    /// Shares that are lost at the least delay and at the most.
    pub loss: (f64, f64),
    /// Packets a second.
    pub rate: f64,
}

impl Curve {
    /// The paper's first scenario, as `adaptive_short.toml` has it.
    pub fn short() -> Self {
        let points = [
            (200.0, 0.0),
            (290.0, 5.0),
            (410.0, 5.0),
            (500.0, 0.0),
            (700.0, 0.0),
            (790.0, 5.0),
            (910.0, 5.0),
            (1000.0, 0.0),
        ];
        Self { points: points.to_vec(), loss: (1e-4, 0.05), rate: 72.0 }
    }
    /// The second, as `adaptive_long.toml` has it.
    pub fn long() -> Self {
        let points = [(240.0, 0.0), (300.0, 120.0), (900.0, 120.0), (960.0, 0.0)];
        Self { points: points.to_vec(), loss: (1e-4, 0.05), rate: 90.0 }
    }
    /// The so-manieth of those that are drawn: plateaus, ramps and flaps. Every second one loses nothing.
    pub fn drawn(number: u64) -> Self {
        let mut draws = Stream::new(number, "delay curve", 0);
        let mut points = vec![(0.0, delay(&mut draws))];
        while let Some(&(at, before)) = points.last().filter(|last| last.0 < RUN_S) {
            match draws.below(4) {
                0 | 1 => points.push((at + draws.uniform(20.0, 200.0), before)),
                2 => points.push((at + draws.uniform(2.0, 90.0), delay(&mut draws))),
                _ => flap(&mut points, (at, before), &mut draws),
            }
        }
        let lossy = number.is_multiple_of(2);
        Self { points, loss: if lossy { (1e-4, 0.05) } else { (0.0, 0.0) }, rate: 72.0 }
    }
    /// Its points as a scenario has them.
    pub fn steps(&self) -> String {
        let step = |(at, delay): &(f64, f64)| format!("{{ at = \"{at:.3} s\", delay = \"{delay:.4} s\" }}");
        format!("[{}]", self.points.iter().map(step).collect::<Vec<_>>().join(", "))
    }
    /// What it loses, as a scenario has it.
    pub fn losses(&self) -> String {
        format!("{{ model = \"by_delay\", least = {:?}, most = {:?} }}", self.loss.0, self.loss.1)
    }
    /// The delay at a time.
    pub fn delay(&self, at: f64) -> f64 {
        let behind = self.points.partition_point(|point| point.0 <= at);
        match (behind.checked_sub(1).map(|before| self.points[before]), self.points.get(behind)) {
            (Some((t0, d0)), Some((t1, d1))) => d0 + (d1 - d0) * (at - t0) / (t1 - t0),
            (Some((_, delay)), None) | (None, Some(&(_, delay))) => delay,
            (None, None) => 0.0,
        }
    }
    /// Packets that a sender delivers which fills the link from the first moment on, repeats what is lost, and nothing else:
    /// all that leave early enough to come before the end, less those that are lost.
    pub fn limit(&self) -> f64 {
        let delays = || self.points.iter().map(|point| point.1);
        let (least, most) = (delays().fold(f64::MAX, f64::min), delays().fold(0.0, f64::max));
        let share = |delay: f64| if most > least { (delay - least) / (most - least) } else { 0.0 };
        let comes = |at: f64| {
            let delay = self.delay(at);
            let loss = self.loss.0 + (self.loss.1 - self.loss.0) * share(delay);
            if at + delay <= RUN_S { 1.0 - loss } else { 0.0 }
        };
        let steps = (RUN_S * 10.0) as u32;
        (0..steps).map(|step| comes(f64::from(step) / 10.0)).sum::<f64>() * self.rate / 10.0
    }
}

/// All magnitudes are equally likely.
fn delay(draws: &mut Stream) -> f64 {
    let (least, most) = DELAYS_S;
    least * lightlag_protocols::math::pow(most / least, draws.unit())
}

/// To another delay and back at once, some times.
fn flap(points: &mut Vec<(f64, f64)>, (at, before): (f64, f64), draws: &mut Stream) {
    let (other, each) = (delay(draws), draws.uniform(1.0, 20.0));
    let mut at = at;
    for turn in 0..2 * (1 + draws.below(4)) {
        let delay = if turn % 2 == 0 { other } else { before };
        points.push((at + AT_ONCE_S, delay));
        points.push((at + each, delay));
        at += each;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_the_paper_s_curves_are_those_of_the_reference() {
        let [short, long] = [Curve::short(), Curve::long()].map(|curve| curve.limit().round());
        assert!((84_000.0..85_200.0).contains(&short), "{short}");
        assert!((104_500.0..105_500.0).contains(&long), "{long}");
    }

    #[test]
    fn fifty_curves_differ_and_can_be_written_and_read() {
        for number in 1..=50 {
            let curve = Curve::drawn(number);
            assert!(curve.points.windows(2).all(|two| two[0].0 < two[1].0), "{number}");
            assert_ne!(curve, Curve::drawn(number + 1));
            assert!(curve.limit() > 40_000.0, "{number}: {}", curve.limit());
        }
    }
}

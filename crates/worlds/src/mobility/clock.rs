//! The clock of a simulation in ticks, as The ONE keeps it.
//!
//! The ONE adds its update interval to a double over and over, so that after ten steps of 0.1 the
//! clock shows 0.9999999999999999. Whether a pause of a node is over is decided on that clock, so a
//! faithful replay keeps the same double. Steps are numbered from zero at t = 0; those of the
//! warm-up are negative. Step n lasts from tick n to tick n + 1.

use super::MobilityError;
use lightlag_protocols::time::{Duration, Instant};

/// Every `MARK`-th reading is kept, the ones between are added up again.
const MARK: usize = 32;
/// Steps that are added up faithfully (310 days of 0.1 s); beyond, the clock is multiplied.
const FAITHFUL: i64 = 1 << 28;

/// Reads the time at the start of each step.
#[derive(Debug)]
pub(super) struct Clock {
    tick: Duration,
    step_s: f64,
    /// Readings at the steps of the warm-up.
    warm: Vec<f64>,
    /// Length of the last step of the warm-up, which ends at zero exactly.
    warm_last_s: f64,
    marks: Vec<f64>,
    /// Moments at which the clock stands still for an event in the middle of a step.
    stops: Vec<f64>,
}

impl Clock {
    pub(super) fn new(tick: Duration, warmup: Duration, stops: &[Instant]) -> Result<Self, MobilityError> {
        if tick <= Duration::ZERO {
            let seconds = tick.as_secs_f64();
            return Err(MobilityError::Time { what: "tick", seconds, right: "greater than 0" });
        }
        let step_s = tick.as_secs_f64();
        let mut warm = Vec::new();
        let mut now = -warmup.as_secs_f64();
        while now < -step_s {
            warm.push(now);
            now += step_s;
        }
        if now < 0.0 {
            warm.push(now);
        }
        let mut stops: Vec<f64> = stops.iter().map(|t| t.as_secs_f64()).collect();
        stops.sort_by(f64::total_cmp);
        Ok(Self { tick, step_s, warm, warm_last_s: -now, marks: vec![0.0], stops })
    }
    /// The step with which the warm-up begins; zero without a warm-up.
    pub(super) fn first_step(&self) -> i64 {
        -(self.warm.len() as i64)
    }
    /// The tick at which a step starts.
    pub(super) fn tick(&self, step: i64) -> Instant {
        let ns = i128::from(step) * i128::from(self.tick.as_nanos());
        Instant::from_nanos(ns.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
    /// How long the motion of a step lasts, in seconds.
    pub(super) fn length_s(&self, step: i64) -> f64 {
        if step == -1 { self.warm_last_s } else { self.step_s }
    }
    /// How many steps of full length lie ahead from `step` on.
    pub(super) fn full_steps(&self, step: i64) -> i64 {
        if step < 0 { -1 - step } else { i64::MAX }
    }
    /// The reading at the start of a step.
    pub(super) fn reading(&mut self, step: i64) -> f64 {
        if step < 0 {
            return self.warm[(step - self.first_step()) as usize];
        }
        if step > FAITHFUL {
            return self.reading(FAITHFUL) + (step - FAITHFUL) as f64 * self.step_s;
        }
        let (mark, rest) = (step as usize / MARK, step as usize % MARK);
        while self.marks.len() <= mark {
            let last = self.marks[self.marks.len() - 1];
            self.marks.push(self.add(last, MARK));
        }
        self.add(self.marks[mark], rest)
    }
    fn add(&self, from: f64, steps: usize) -> f64 {
        (0..steps).fold(from, |clock, _| clock + self.step_s)
    }
    /// What the clock shows while the nodes move: the start of the step, or the last event in it.
    pub(super) fn reading_in_motion(&mut self, step: i64) -> f64 {
        let start = self.reading(step);
        if step < 0 || self.stops.is_empty() {
            return start;
        }
        let after = self.stops.partition_point(|&stop| stop <= start + self.step_s);
        match after.checked_sub(1) {
            Some(last) => start.max(self.stops[last]),
            None => start,
        }
    }
    /// The first step from `from` on in whose motion the clock shows at least `until_s`.
    pub(super) fn first_step_at(&mut self, from: i64, until_s: f64) -> Option<i64> {
        if until_s == f64::INFINITY {
            return None;
        }
        let ahead = (until_s - self.reading(from)) / self.step_s;
        // Beyond this many steps there is no such time in nanoseconds either.
        if ahead.is_nan() || ahead >= i64::MAX as f64 / self.tick.as_nanos() as f64 {
            return None;
        }
        let mut step = from.saturating_add((ahead as i64).saturating_sub(2)).max(from);
        while self.reading_in_motion(step) < until_s {
            step += 1;
        }
        while step > from && self.reading_in_motion(step - 1) >= until_s {
            step -= 1;
        }
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(warmup: Duration, stops: &[Instant]) -> Clock {
        Clock::new(Duration::from_nanos(100_000_000), warmup, stops).expect("a sound tick")
    }

    #[test]
    fn the_clock_gathers_the_rounding_of_a_sum() {
        let mut clock = clock(Duration::ZERO, &[]);
        assert_eq!(clock.reading(10), 0.999_999_999_999_999_9);
        let summed = (0..1000).fold(0.0, |clock, _| clock + 0.1);
        assert_eq!(clock.reading(1000), summed);
    }

    #[test]
    fn a_pause_ends_with_the_first_step_that_does_not_start_before() {
        let mut clock = clock(Duration::ZERO, &[]);
        assert_eq!(clock.first_step_at(0, 0.0), Some(0));
        assert_eq!(clock.first_step_at(0, 1.0), Some(11), "step 10 starts at 0.99..9");
        assert_eq!(clock.first_step_at(5, 0.2), Some(5));
        assert_eq!(clock.first_step_at(0, f64::INFINITY), None);
    }

    #[test]
    fn an_event_inside_a_step_sets_the_clock_forward() {
        let mut clock = clock(Duration::ZERO, &[Instant::from_nanos(350_000_000)]);
        assert_eq!(clock.reading_in_motion(3), 0.35);
        assert_eq!(clock.reading_in_motion(4), 0.4);
        assert_eq!(clock.first_step_at(0, 0.34), Some(3));
    }

    #[test]
    fn the_warm_up_ends_at_zero_exactly() {
        let mut clock = clock(Duration::from_nanos(250_000_000), &[]);
        assert_eq!(clock.first_step(), -3);
        assert_eq!(clock.reading(-3), -0.25);
        assert!((clock.length_s(-1) - 0.05).abs() < 1e-12);
        assert_eq!(clock.reading(0), 0.0);
        assert_eq!(clock.tick(-3), Instant::from_nanos(-300_000_000));
    }
}

//! The ONE's clock: a float to which the update interval is added again and again.

use lightlag_protocols::time::{Duration, Instant};

/// What The ONE's clock shows at an instant.
///
/// With a tick, multiples of it read as the sum of that many additions (after ten steps of 0.1 s:
/// 0.9999999999999999), everything else as it is: events between ticks set the clock to their time.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    tick: Option<Duration>,
    marks: Vec<f64>,
}

/// More ticks than any run has; beyond, times read as they are.
const MOST_MARKS: i64 = 1 << 25;

impl Clock {
    pub(super) fn new(tick: Option<Duration>) -> Self {
        Self { tick: tick.filter(|tick| *tick > Duration::ZERO), marks: vec![0.0] }
    }
    pub(super) fn tick(&self) -> Option<Duration> {
        self.tick
    }
    /// What it shows at `at`.
    pub(super) fn shows(&mut self, at: Instant) -> f64 {
        let Some(tick) = self.tick else { return at.as_secs_f64() };
        let (ns, step) = (at.as_nanos(), tick.as_nanos());
        if ns < 0 || ns % step != 0 || ns / step > MOST_MARKS {
            return at.as_secs_f64();
        }
        self.mark((ns / step) as usize, tick.as_secs_f64())
    }
    /// The last tick up to which nodes have moved when an event of this time is processed: The ONE moves them after the
    /// events up to its next mark. Without ticks they move all the time.
    pub(super) fn moved_before(&mut self, at: Instant) -> Instant {
        let Some(tick) = self.tick else { return at };
        let tick_at = |count: i64| Instant::from_nanos(tick.as_nanos().saturating_mul(count));
        let event = at.as_secs_f64();
        let mut count = (at.as_nanos() / tick.as_nanos()).max(0);
        while count > 0 && self.shows(tick_at(count)) >= event {
            count -= 1;
        }
        while self.shows(tick_at(count + 1)) < event {
            count += 1;
        }
        tick_at(count)
    }
    /// What it shows when a run until `end` is over: its first mark that is not before the end.
    pub(super) fn shows_at_end(&mut self, end: Instant) -> f64 {
        let shown = self.shows(end);
        match self.tick {
            Some(tick) if shown < end.as_secs_f64() => self.shows(end.round_up(tick).saturating_add(tick)),
            Some(tick) => self.shows(end.round_up(tick)),
            None => shown,
        }
    }
    fn mark(&mut self, count: usize, step: f64) -> f64 {
        while self.marks.len() <= count {
            self.marks.push(self.marks[self.marks.len() - 1] + step);
        }
        self.marks[count]
    }
}

/// Instants at which a report looks at the network, as long as records have not passed them.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    step: Duration,
    next: Instant,
}

impl Steps {
    /// One step a tick, or one per `otherwise` without a tick.
    pub(super) fn new(clock: &Clock, otherwise: Duration) -> Self {
        let step = clock.tick().unwrap_or(otherwise).max(Duration::from_nanos(1));
        Self { step, next: Instant::ZERO.saturating_add(step) }
    }
    /// The next step before `now`, if there is one: everything up to it is known.
    pub(super) fn before(&mut self, now: Instant) -> Option<Instant> {
        if self.next >= now {
            return None;
        }
        let step = self.next;
        self.next = step.saturating_add(self.step);
        Some(step)
    }
    /// Where the steps end when the run is over at `end`.
    pub(super) fn horizon(clock: &mut Clock, end: Instant) -> Instant {
        let after = Duration::from_nanos(1);
        match clock.tick() {
            Some(tick) if clock.shows(end) < end.as_secs_f64() => {
                end.saturating_add(tick).saturating_add(after)
            }
            _ => end.saturating_add(after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_drifts_as_a_sum_of_tenths_does() {
        let mut clock = Clock::new(Some(Duration::from_nanos(100_000_000)));
        assert_eq!(clock.shows(Instant::from_secs(1)), 0.9999999999999999);
        assert_eq!(clock.shows(Instant::from_nanos(1_050_000_000)), 1.05);
        assert_eq!(Clock::new(None).shows(Instant::from_secs(1)), 1.0);
    }

    #[test]
    fn an_event_at_a_tick_finds_nodes_where_they_were_before_it() {
        let mut clock = Clock::new(Some(Duration::from_nanos(500_000_000)));
        let half = |count: i64| Instant::from_nanos(500_000_000 * count);
        assert_eq!(clock.moved_before(Instant::from_secs(3)), half(5));
        assert_eq!(clock.moved_before(Instant::from_nanos(3_100_000_000)), half(6));
        assert_eq!(clock.moved_before(Instant::ZERO), Instant::ZERO);
        // The sum of ten tenths is below 1.
        let mut clock = Clock::new(Some(Duration::from_nanos(100_000_000)));
        assert_eq!(clock.moved_before(Instant::from_secs(1)), Instant::from_secs(1));
        assert_eq!(Clock::new(None).moved_before(Instant::from_secs(1)), Instant::from_secs(1));
    }

    #[test]
    fn a_run_of_twelve_hours_ends_one_tick_late_and_one_of_four_does_not() {
        let mut clock = Clock::new(Some(Duration::from_nanos(100_000_000)));
        let end =
            |clock: &mut Clock, s| super::super::java::fixed(clock.shows_at_end(Instant::from_secs(s)), 4);
        assert_eq!(end(&mut clock, 43_200), "43200.1000");
        assert_eq!(end(&mut clock, 14_400), "14400.0000");
    }
}

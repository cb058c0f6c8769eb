//! The contact plan of a path, followed while something is sent.

use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::BitRate;

/// What a plan says of the path from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From when on, by the sender's clock.
    pub at: Instant,
    /// Rate of the contact; zero: no contact.
    pub rate: BitRate,
    /// Light-time RTT; `None`: as before.
    pub light: Option<Duration>,
}

/// Reads a plan: its steps in order of time, or `None` if there is no newer version than the last that it returned.
/// Its argument is the time by the sender's clock; it is called about once a second.
pub type ReadPlan = Box<dyn FnMut(Instant) -> Option<Vec<Step>>>;

const READ_EVERY: Duration = Duration::from_secs(1);

/// A plan and how far it is followed.
pub struct ContactPlan {
    read: ReadPlan,
    reads_at: Instant,
    steps: Vec<Step>,
    /// Rate and light time that hold now.
    now: Option<(BitRate, Option<Duration>)>,
    /// Since when there is no contact.
    gap: Option<Instant>,
}

impl ContactPlan {
    /// Before the first contact until [`ReadPlan`] says otherwise.
    pub fn new(read: ReadPlan) -> Self {
        Self { read, reads_at: Instant::ZERO, steps: Vec::new(), now: None, gap: None }
    }
    /// What holds from now on, if that is new, and how long there was no contact before.
    pub(super) fn poll(&mut self, now: Instant) -> Option<(Step, Duration)> {
        if now >= self.reads_at {
            self.reads_at = now + READ_EVERY;
            self.steps = (self.read)(now).unwrap_or(std::mem::take(&mut self.steps));
        }
        let nothing = Step { at: now, rate: BitRate(0), light: None };
        let step = self.begun(now).checked_sub(1).map_or(nothing, |last| self.steps[last]);
        if self.now.replace((step.rate, step.light)) == Some((step.rate, step.light)) {
            return None;
        }
        if step.rate == BitRate(0) {
            self.gap.get_or_insert(now);
            return Some((step, Duration::ZERO));
        }
        let gap = self.gap.take().map_or(Duration::ZERO, |since| now - since);
        Some((step, gap))
    }
    /// How many steps have begun.
    fn begun(&self, now: Instant) -> usize {
        self.steps.partition_point(|step| step.at <= now)
    }
    /// When [`ContactPlan::poll`] may say something new.
    pub(super) fn deadline(&self, now: Instant) -> Instant {
        self.steps.get(self.begun(now)).map_or(self.reads_at, |step| step.at.min(self.reads_at))
    }
    /// Outside contacts: since when, and the time of the next contact, if one is planned.
    pub(super) fn gap(&self, now: Instant) -> Option<(Instant, Option<Instant>)> {
        let next = self.steps[self.begun(now)..].iter().find(|step| step.rate > BitRate(0));
        Some((self.gap?, next.map(|step| step.at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(i64) -> Instant = Instant::from_secs;

    fn step(at: i64, rate: u64) -> Step {
        Step { at: S(at), rate: BitRate(rate), light: None }
    }

    #[test]
    fn steps_are_told_once_and_a_new_version_replaces_those_to_come() {
        let mut versions = vec![vec![step(0, 5), step(9, 0)], vec![step(2, 8), step(4, 0), step(6, 8)]];
        let mut plan = ContactPlan::new(Box::new(move |now| if now < S(3) { versions.pop() } else { None }));
        let mut told = |at: i64| plan.poll(S(at)).map(|(step, gap)| (step.rate.0, gap.as_secs_f64()));
        assert_eq!(told(0), Some((0, 0.0)), "its first contact is later");
        assert_eq!(told(1), Some((5, 1.0)), "the new version has one now");
        assert_eq!((told(2), told(8)), (None, None));
        assert_eq!(told(9), Some((0, 0.0)));
        assert_eq!(plan.gap(S(11)), Some((S(9), None)), "no contact is left");
    }

    #[test]
    fn it_is_asked_again_when_a_step_begins_and_each_second() {
        let mut steps = Some(vec![Step { at: Instant::from_nanos(2_500_000_000), ..step(0, 1) }]);
        let mut plan = ContactPlan::new(Box::new(move |_| steps.take()));
        plan.poll(S(0));
        assert_eq!(plan.deadline(S(0)), S(1));
        plan.poll(S(2));
        assert_eq!(plan.gap(S(2)), Some((S(0), Some(Instant::from_nanos(2_500_000_000)))));
        assert_eq!(plan.deadline(S(2)), Instant::from_nanos(2_500_000_000));
    }
}

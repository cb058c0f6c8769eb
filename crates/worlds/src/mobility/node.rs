//! One node in motion: from journeys and pauses to legs.

use super::clock::Clock;
use super::guide::Guide;
use super::together::Going;
use super::{Begin, Draw, Leg, MoveTimes, Point, Spot};
use lightlag_protocols::time::{Duration, Instant};
use std::collections::VecDeque;

/// What one node is doing.
#[derive(Debug)]
pub(super) struct Node {
    /// The number of its group.
    pub(super) group: u32,
    /// When the next leg starts; exact motion only.
    pub(super) now: Instant,
    /// The step with which the next leg starts; motion in ticks only.
    pub(super) step: i64,
    pub(super) at: Point,
    spot: Spot,
    /// Points still ahead, the next one last.
    path: Vec<Point>,
    speed_m_per_s: f64,
    rest: Rest,
    /// Legs that are made and not asked for yet.
    pub(super) ready: VecDeque<Leg>,
    /// Since when it rests for another node; none if it does not.
    pub(super) waits: Option<Instant>,
}

/// How far a node is with its pause.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    /// Not at rest: it has a path.
    None,
    /// It will rest for this number of seconds, known since the start.
    Known(f64),
    /// It rests until the clock shows this time in seconds; motion in ticks only.
    Until(f64),
    /// The pause is over: it departs next.
    Over,
}

/// Who decides, and by what.
pub(super) struct Rules<'a> {
    pub(super) guide: Guide<'a>,
    pub(super) times: &'a MoveTimes,
    pub(super) draw: &'a mut dyn Draw,
}

impl Node {
    /// At the start of the run or of its warm-up. `path` has the points along which it begins in motion.
    pub(super) fn new(
        group: u32,
        start: Instant,
        clock: Option<&mut Clock>,
        begin: &Begin,
        mut path: Vec<Point>,
    ) -> Self {
        path.reverse();
        let (mut step, mut rest) = (0, Rest::Known(begin.pause_s));
        if let Some(clock) = clock {
            step = clock.first_step();
            if begin.under_way.is_none() {
                rest = Rest::Until(clock.reading(step) + begin.pause_s);
            }
        }
        Self {
            group,
            now: start,
            step,
            at: begin.at,
            spot: begin.spot,
            path,
            speed_m_per_s: begin.under_way.unwrap_or(0.0),
            rest,
            ready: VecDeque::new(),
            waits: None,
        }
    }
    /// The next leg; `None` if it rests until another node wakes it.
    pub(super) fn make_leg(&mut self, rules: &mut Rules, clock: Option<&mut Clock>) -> Option<Leg> {
        match clock {
            None => self.exact_leg(rules),
            Some(clock) => self.ticked_leg(rules, clock),
        }
    }
    /// Keeps a leg until it is asked for; what lies before the start of the run is cut off.
    pub(super) fn keep(&mut self, leg: Leg) {
        if leg.start >= Instant::ZERO {
            self.ready.push_back(leg);
        } else if leg.end > Instant::ZERO {
            self.ready.push_back(Leg { start: Instant::ZERO, from: leg.at(Instant::ZERO), ..leg });
        }
    }
    /// Keeps a leg of rest.
    pub(super) fn keep_rest(&mut self, start: Instant, end: Instant) {
        if end > start {
            self.keep(Leg { start, end, from: self.at, to: self.at });
        }
    }

    fn depart(&mut self, rules: &mut Rules, now_s: f64) -> Going {
        let going = rules.guide.depart(now_s, &mut self.spot, rules.draw, &mut self.path);
        if let Going::Go(speed_m_per_s) = going {
            self.path.reverse();
            self.speed_m_per_s = speed_m_per_s;
            self.rest = Rest::None;
        }
        going
    }

    fn exact_leg(&mut self, rules: &mut Rules) -> Option<Leg> {
        loop {
            let (from, start) = (self.at, self.now);
            let now_s = start.as_secs_f64();
            let is_to_move = !self.path.is_empty() || matches!(self.rest, Rest::Over | Rest::Until(_));
            // Rounding must not make a time that is past.
            let after = |until_s| after(until_s).max(start + Duration::from_nanos(1));
            let until = match rules.times.at(now_s) {
                (true, until_s) => after(until_s),
                (false, until_s) if is_to_move => {
                    self.now = after(until_s);
                    return Some(Leg { start, end: self.now, from, to: from });
                }
                _ => Instant::MAX,
            };
            let seconds = if let Some(to) = self.path.pop() {
                self.at = to;
                from.distance(to) / self.speed_m_per_s
            } else {
                match self.rest {
                    Rest::None => {
                        self.rest = Rest::Over;
                        rules.guide.pause_s(now_s, self.spot, rules.draw)
                    }
                    Rest::Known(pause_s) => {
                        self.rest = Rest::Over;
                        pause_s
                    }
                    Rest::Over | Rest::Until(_) => match self.depart(rules, now_s) {
                        Going::Go(_) => continue,
                        Going::Stay => {
                            self.rest = Rest::Over;
                            rules.guide.pause_s(now_s, self.spot, rules.draw)
                        }
                        Going::Wait => return None,
                    },
                }
            };
            let end = start.saturating_add(Duration::from_secs_f64(seconds));
            if end > until && self.at != from {
                // It stops before the next point.
                let to = Leg { start, end, from, to: self.at }.at(until);
                self.path.push(self.at);
                (self.at, self.now) = (to, until);
                return Some(Leg { start, end: until, from, to });
            }
            self.now = end;
            if end > start {
                return Some(Leg { start, end, from, to: self.at });
            }
            // Shorter than a nanosecond: the next leg begins where the last one ended.
            self.at = from;
        }
    }

    fn ticked_leg(&mut self, rules: &mut Rules, clock: &mut Clock) -> Option<Leg> {
        loop {
            let (step, start) = (self.step, clock.tick(self.step));
            if let (Rest::Until(until_s), true) = (self.rest, self.path.is_empty()) {
                self.rest = Rest::Over;
                if let Some(rest) = self.ticked_rest(clock, until_s) {
                    return Some(rest);
                }
                continue;
            }
            let now_s = clock.reading_in_motion(step);
            let until = match rules.times.at(now_s) {
                (true, until_s) => clock.first_step_at(step, until_s),
                (false, until_s) => return self.ticked_rest(clock, until_s),
            };
            if !self.path.is_empty() {
                let most = until.map_or(i64::MAX, |until| until - step);
                return Some(self.ticked_motion(rules, clock, most));
            }
            match self.depart(rules, now_s) {
                // A journey to where the node stands: it has arrived within this step.
                Going::Go(_) if self.path.is_empty() => self.path.push(self.at),
                Going::Go(_) => {}
                Going::Stay => {
                    let pause_s = rules.guide.pause_s(now_s, self.spot, rules.draw);
                    self.rest = Rest::Until(now_s + pause_s);
                    self.step += 1;
                    return Some(Leg { start, end: clock.tick(self.step), from: self.at, to: self.at });
                }
                Going::Wait => return None,
            }
        }
    }

    /// A leg of rest up to the first step in whose motion the clock shows this time; none if that is the present one.
    fn ticked_rest(&mut self, clock: &mut Clock, until_s: f64) -> Option<Leg> {
        let (from, step) = (self.at, self.step);
        let end = match clock.first_step_at(step, until_s) {
            Some(until) if until == step => return None,
            Some(until) => {
                self.step = until;
                clock.tick(until)
            }
            None => Instant::MAX,
        };
        Some(Leg { start: clock.tick(step), end, from, to: from })
    }

    /// One leg of motion: all steps that end before the next point, `most` at most, or the one that reaches it.
    fn ticked_motion(&mut self, rules: &mut Rules, clock: &mut Clock, most: i64) -> Leg {
        let (from, step) = (self.at, self.step);
        let ahead_m = self.path.last().map_or(0.0, |next| from.distance(*next));
        let per_step_m = self.speed_m_per_s * clock.length_s(step);
        // An `f64` too large for the cast saturates; a speed of zero never arrives.
        let whole = ((ahead_m / per_step_m).ceil() as i64).saturating_sub(1).min(clock.full_steps(step));
        let steps = whole.min(most).max(1);
        let mut left_m = per_step_m * steps as f64;
        self.step = step.saturating_add(steps);
        let arrived = self.advance(&mut left_m);
        if arrived {
            let now_s = clock.reading_in_motion(step);
            let pause_s = match self.rest {
                Rest::Known(pause_s) => pause_s,
                _ => rules.guide.pause_s(now_s, self.spot, rules.draw),
            };
            self.rest = Rest::Until(now_s + pause_s);
        }
        Leg { start: clock.tick(step), end: clock.tick(self.step), from, to: self.at }
    }

    /// Moves along the path; true if its end is reached, and what is left of the motion is lost.
    fn advance(&mut self, left_m: &mut f64) -> bool {
        while let Some(&next) = self.path.last() {
            let ahead_m = self.at.distance(next);
            if *left_m < ahead_m {
                self.at = self.at.toward(next, *left_m / ahead_m);
                return false;
            }
            *left_m -= ahead_m;
            self.at = next;
            self.path.pop();
        }
        true
    }
}

/// A time in seconds from the start of the run.
fn after(seconds: f64) -> Instant {
    Instant::ZERO.saturating_add(Duration::from_secs_f64(seconds))
}

//! Recorded paths with a time at each place, as a simulation in ticks follows them.
//!
//! A path is not replayed by its times: between two places a node goes at the speed that they give, but a tick is one
//! movement at the speed at its start, also beyond places of the path, and what is left of it at the end of a path is lost. A
//! rest within a path takes no time.

use super::clock::Clock;
use super::{Fix, MobilityError, Point, TrackBuilder};
use lightlag_protocols::time::{Duration, Instant};
use std::sync::Arc;

/// A place and its time in seconds.
pub type Timed = (f64, Point);

/// The track of a node with these paths, one after the other, that moves in these spans of seconds only, both ends included
/// and in order of time. Without a path it rests at the origin.
///
/// # Errors
/// A tick that is not above zero.
pub fn at_ticks(
    paths: &[Vec<Timed>],
    active: &[(f64, f64)],
    tick: Duration,
) -> Result<Arc<[Fix]>, MobilityError> {
    let clock = Clock::new(tick, Duration::ZERO, &[])?;
    let mut walker = Walker { clock, tick_s: tick.as_secs_f64(), step: 0, at: Point::default(), active };
    let mut track = TrackBuilder::default();
    let paths: Vec<&[Timed]> = paths.iter().map(Vec::as_slice).filter(|path| !path.is_empty()).collect();
    if let Some(first) = paths.first() {
        walker.at = first[0].1;
    }
    track.go(Instant::ZERO, walker.at);
    for path in paths {
        let Some(step) = walker.first_active(walker.step, path[0].0) else { break };
        walker.step = step;
        let is_elsewhere = walker.at != path[0].1;
        if is_elsewhere {
            // It is there at the next tick: only positions at ticks are meant.
            track.go(walker.clock.tick(step), walker.at);
            walker.at = path[0].1;
        }
        if !walker.follow(path, is_elsewhere, &mut track) {
            break;
        }
    }
    Ok(track.build())
}

struct Walker<'a> {
    clock: Clock,
    tick_s: f64,
    /// The next step.
    step: i64,
    at: Point,
    active: &'a [(f64, f64)],
}

impl Walker<'_> {
    /// The first step from `from` on, and not before an instant, in which the node moves.
    fn first_active(&mut self, from: i64, not_before_s: f64) -> Option<i64> {
        let mut step = self.clock.first_step_at(from, not_before_s)?;
        loop {
            let now_s = self.clock.reading(step);
            let span = self.active.get(self.active.partition_point(|span| span.1 < now_s))?;
            if span.0 <= now_s {
                return Some(step);
            }
            step = self.clock.first_step_at(step, span.0)?;
        }
    }
    /// How many steps from this one on begin while the node moves; one at least.
    fn steps_ahead(&mut self) -> i64 {
        let now_s = self.clock.reading(self.step);
        let span = self.active.get(self.active.partition_point(|span| span.1 < now_s));
        let end_s = span.map_or(now_s, |span| span.1);
        let after = self.clock.first_step_at(self.step, end_s.next_up());
        after.map_or(i64::MAX, |after| after - self.step).max(1)
    }
    /// Follows a path from its first place on; false if the node never comes to its end.
    /// Where it jumps there, that takes the first step alone.
    fn follow(&mut self, path: &[Timed], jumps: bool, track: &mut TrackBuilder) -> bool {
        let mut most = if jumps { 1 } else { i64::MAX };
        let mut next = usize::from(path.len() > 1);
        loop {
            let Some(step) = self.first_active(self.step, f64::NEG_INFINITY) else { return false };
            self.step = step;
            let now = self.clock.tick(step);
            if track.last().is_none_or(|last| last.at < now) {
                track.go(now, self.at);
            }
            let speed_m_per_s = speed(path, next);
            let mut left_m = self.tick_s * speed_m_per_s;
            let mut far_m = self.at.distance(path[next].1);
            if left_m < far_m {
                if left_m <= 0.0 {
                    return false;
                }
                // Whole steps towards the place, without reaching it.
                let whole = ((far_m / left_m).ceil() as i64 - 1).clamp(1, self.steps_ahead().min(most));
                most = i64::MAX;
                self.advance(path[next].1, left_m * whole as f64 / far_m, whole, track);
                continue;
            }
            while left_m >= far_m {
                self.at = path[next].1;
                left_m -= far_m;
                next += 1;
                let Some(place) = path.get(next) else {
                    self.advance(self.at, 0.0, 1, track);
                    return true;
                };
                far_m = self.at.distance(place.1);
            }
            self.advance(path[next].1, left_m / far_m, 1, track);
            most = i64::MAX;
        }
    }
    fn advance(&mut self, to: Point, share: f64, steps: i64, track: &mut TrackBuilder) {
        self.at = self.at.toward(to, share);
        self.step += steps;
        track.go(self.clock.tick(self.step), self.at);
    }
}

/// Speed at which a node goes to a place of its path; zero to the only one.
fn speed(path: &[Timed], to: usize) -> f64 {
    let Some((from_s, from)) = to.checked_sub(1).map(|from| path[from]) else { return 0.0 };
    let speed = from.distance(path[to].1) / (path[to].0 - from_s);
    if speed.is_nan() { 0.0 } else { speed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Leg, Track};

    const ALWAYS: &[(f64, f64)] = &[(f64::NEG_INFINITY, f64::INFINITY)];

    /// Positions at whole seconds.
    fn positions(paths: &[Vec<Timed>], active: &[(f64, f64)], until_s: i64) -> Vec<f64> {
        let mut track = Track::new(at_ticks(paths, active, Duration::from_secs(1)).unwrap());
        let mut legs: Vec<Leg> = vec![track.next_leg()];
        while legs.last().is_some_and(|leg| leg.end < Instant::MAX) {
            legs.push(track.next_leg());
        }
        let at = |s| Instant::ZERO + Duration::from_secs(s);
        let leg = |s| legs.iter().rfind(|leg| leg.start <= at(s)).unwrap().at(at(s));
        (0..=until_s).map(|s| leg(s).x).collect()
    }
    fn path(places: &[(f64, f64)]) -> Vec<Timed> {
        places.iter().map(|&(s, x)| (s, Point::new(x, 0.0))).collect()
    }

    #[test]
    fn a_path_is_followed_at_its_speeds_and_a_rest_in_it_takes_no_time() {
        let one = path(&[(2.0, 0.0), (4.0, 20.0), (8.0, 20.0), (10.0, 26.0)]);
        let found = positions(&[one], ALWAYS, 7);
        assert_eq!(found, [0.0, 0.0, 0.0, 10.0, 20.0, 23.0, 26.0, 26.0]);
    }

    #[test]
    fn a_tick_is_one_movement_at_the_speed_at_its_start() {
        // 10 m/s to 15 m, then 2 m/s: the second step goes 5 m on beyond the bend.
        let found = positions(&[path(&[(0.0, 0.0), (1.5, 15.0), (6.5, 25.0)])], ALWAYS, 5);
        assert_eq!(found, [0.0, 10.0, 20.0, 22.0, 24.0, 25.0]);
    }

    #[test]
    fn a_node_rests_while_it_is_not_active_and_is_put_to_the_start_of_its_next_path() {
        let paths =
            [path(&[(0.0, 0.0), (4.0, 40.0)]), path(&[(5.0, 100.0), (7.0, 120.0)]), path(&[(8.0, 3.0)])];
        let found = positions(&paths, &[(0.0, 1.0), (3.0, 20.0)], 10);
        assert_eq!(found, [0.0, 10.0, 20.0, 20.0, 30.0, 40.0, 110.0, 120.0, 120.0, 3.0, 3.0]);
        // A jump is over after one tick, however long the path is straight.
        let far = [path(&[(0.0, 0.0)]), path(&[(3.0, 100.0), (13.0, 110.0)])];
        assert_eq!(positions(&far, ALWAYS, 6), [0.0, 0.0, 0.0, 0.0, 101.0, 102.0, 103.0]);
        assert_eq!(positions(&paths, &[], 3), [0.0; 4]);
        assert_eq!(positions(&[], ALWAYS, 1), [0.0; 2]);
    }
}

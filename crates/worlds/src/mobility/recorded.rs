//! Nodes that follow recorded positions.

use super::{Area, Begin, Draw, Journey, MobilityError, Model, Point, Spot};
use super::{Entry, GroupContext, Input, Pace};
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use lightlag_protocols::time::{Duration, Instant};
use std::sync::Arc;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "recorded",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[Parameter::integer(
            "first_track",
            0.0,
            (0.0, 1e6),
            "Track of the first node, from 0 on; the others take the ones that follow.",
        )],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, &context)),
    },
    inputs: &[Input::Tracks],
    check: |_| Ok(()),
    // The tracks are not known here: estimates are made where they are.
    pace: |_| Pace::still(Area::new(1.0, 1.0)),
};

fn build(parameters: &Parameters, context: &GroupContext) -> Recorded {
    let first = parameters.number("first_track") as usize;
    let at_origin = || Arc::from([Fix { at: Instant::ZERO, point: Point::default() }]);
    let known = |n: usize| context.tracks.get(first + n).filter(|track| !track.is_empty());
    let track = |n: usize| known(n).cloned().unwrap_or_else(at_origin);
    Recorded { tracks: (0..context.nodes as usize).map(track).collect() }
}

/// Where a node was at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// The instant.
    pub at: Instant,
    /// The place.
    pub point: Point,
}

/// Nodes that go straight, at an even speed, from each of their positions to the next. Before the first one they rest at
/// it, and after the last one too.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The positions of each node of the group, in order of time; at least one each.
    pub tracks: Vec<Arc<[Fix]>>,
}

impl Model for Recorded {
    fn check(&self, count: u32) -> Result<(), MobilityError> {
        let (points, nodes) = (self.tracks.len(), count);
        if points < nodes as usize { Err(MobilityError::Points { points, nodes }) } else { Ok(()) }
    }
    fn track(&self, index: u32) -> Option<Track> {
        Some(Track::new(Arc::clone(&self.tracks[index as usize])))
    }
    fn begin(&self, index: u32, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        Begin::at_rest(self.tracks[index as usize][0].point, f64::INFINITY)
    }
    fn depart(&self, from: Spot, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Journey {
        Journey { speed_m_per_s: 0.0, to: from }
    }
    fn pause_s(&self, _at: Spot, _draw: &mut dyn Draw) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> (Point, Point) {
        let points = || self.tracks.iter().flat_map(|track| track.iter().map(|fix| fix.point));
        let first = points().next().unwrap_or_default();
        points().fold((first, first), |(a, b), p| {
            (Point::new(a.x.min(p.x), a.y.min(p.y)), Point::new(b.x.max(p.x), b.y.max(p.y)))
        })
    }
}

/// Positions of a node in order of time, as legs.
#[derive(Clone, Debug)]
pub struct Track {
    fixes: Arc<[Fix]>,
    next: usize,
    now: Instant,
    at: Point,
}

impl Track {
    /// From zero on; at least one position, in order of time.
    pub fn new(fixes: Arc<[Fix]>) -> Self {
        let next = fixes.partition_point(|fix| fix.at <= Instant::ZERO);
        let at = match (next.checked_sub(1).map(|last| fixes[last]), fixes.get(next)) {
            (None, _) => fixes[0].point,
            (Some(last), None) => last.point,
            (Some(last), Some(next)) => {
                super::Leg { start: last.at, end: next.at, from: last.point, to: next.point }
                    .at(Instant::ZERO)
            }
        };
        Self { fixes, next, now: Instant::ZERO, at }
    }
    /// The next leg; the last one never ends.
    pub fn next_leg(&mut self) -> super::Leg {
        let (start, from) = (self.now, self.at);
        while let Some(fix) = self.fixes.get(self.next) {
            self.next += 1;
            if fix.at > start {
                (self.now, self.at) = (fix.at, fix.point);
                return super::Leg { start, end: fix.at, from, to: fix.point };
            }
        }
        super::Leg { start, end: Instant::MAX, from, to: from }
    }
}

/// Builds a track position by position.
#[derive(Clone, Debug, Default)]
pub struct TrackBuilder(Vec<Fix>);

impl TrackBuilder {
    /// The node goes straight to this place, where it is at that instant; not before the last one.
    pub fn go(&mut self, at: Instant, point: Point) {
        if let [.., before, last] = &self.0[..]
            && before.point == last.point
            && last.point == point
            && let Some(last) = self.0.last_mut()
        {
            last.at = at;
            return;
        }
        self.0.push(Fix { at, point });
    }
    /// The node rests where it is up to this instant, and is then at another place at once: within a nanosecond.
    pub fn jump(&mut self, at: Instant, point: Point) {
        let Some(last) = self.0.last().copied() else { return self.go(at, point) };
        if last.point != point {
            self.go(at.max(last.at), last.point);
            self.go(at.max(last.at).saturating_add(Duration::from_nanos(1)), point);
        } else if at > last.at {
            self.go(at, point);
        }
    }
    /// When its last position is.
    pub fn last(&self) -> Option<Fix> {
        self.0.last().copied()
    }
    /// The track; empty without a position.
    pub fn build(self) -> Arc<[Fix]> {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: i64) -> Instant {
        Instant::ZERO + Duration::from_secs(1) * s
    }

    #[test]
    fn a_track_rests_before_and_after_and_begins_between_its_positions() {
        let mut builder = TrackBuilder::default();
        builder.go(at(-10), Point::new(0.0, 0.0));
        builder.go(at(10), Point::new(20.0, 0.0));
        let mut track = Track::new(builder.clone().build());
        let leg = track.next_leg();
        assert_eq!((leg.start, leg.end), (at(0), at(10)));
        assert_eq!((leg.from, leg.to), (Point::new(10.0, 0.0), Point::new(20.0, 0.0)));
        assert_eq!(track.next_leg().end, Instant::MAX);
        builder.jump(at(30), Point::new(5.0, 5.0));
        let legs: Vec<_> = {
            let mut track = Track::new(builder.build());
            (0..4).map(|_| track.next_leg()).collect()
        };
        assert_eq!((legs[1].end, legs[1].to), (at(30), Point::new(20.0, 0.0)), "it rests until it jumps");
        assert_eq!((legs[2].end, legs[2].to), (at(30) + Duration::from_nanos(1), Point::new(5.0, 5.0)));
        let mut later = TrackBuilder::default();
        later.go(at(7), Point::new(1.0, 2.0));
        assert_eq!(Track::new(later.build()).next_leg().from, Point::new(1.0, 2.0));
    }

    #[test]
    fn rests_take_two_positions_however_long_they_are() {
        let mut builder = TrackBuilder::default();
        (0..100).for_each(|s| builder.go(at(s), Point::new(3.0, 4.0)));
        builder.go(at(100), Point::new(5.0, 4.0));
        assert_eq!(builder.build().len(), 3);
    }
}

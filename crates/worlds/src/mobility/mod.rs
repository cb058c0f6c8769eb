//! How nodes move.
//!
//! Motion is piecewise linear: a node passes through [`Leg`]s, one after the other without a gap; a
//! pause is a leg that ends where it began. A [`Model`] says where a node begins, where it goes
//! next, how fast and how long it rests; the [`Fleet`] asks the models of all its nodes in the
//! order of time and turns the answers into legs. The contact finder asks a [`Motion`] for one
//! leg at a time, so that only the present is kept.

mod clock;
mod draws;
mod error;
mod fleet;
pub mod map;
mod random_walk;
mod random_waypoint;
mod shortest_path_map;
mod stationary;
mod walk;

pub use draws::{Draw, Draws, JavaDraw};
pub use error::MobilityError;
pub use fleet::{Fleet, Group};
pub use random_walk::RandomWalk;
pub use random_waypoint::RandomWaypoint;
pub use shortest_path_map::ShortestPathMap;
pub use stationary::Stationary;
pub use walk::Walk;

use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::Instant;
use std::fmt;

/// A place in the plane, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Metres to the east of the origin.
    pub x: f64,
    /// Metres to the north of the origin (to the south in a map mirrored as The ONE does).
    pub y: f64,
}

impl Point {
    /// From both coordinates, in metres.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
    /// Euclidean distance in metres.
    pub fn distance(self, other: Self) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        (dx * dx + dy * dy).sqrt()
    }
    /// The point at `share` of the distance to `to`: 0 is here, 1 is there.
    pub fn toward(self, to: Self, share: f64) -> Self {
        Self { x: self.x + share * (to.x - self.x), y: self.y + share * (to.y - self.y) }
    }
}

/// A piece of uniform motion; a pause has `from == to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// When it begins.
    pub start: Instant,
    /// When it ends; [`Instant::MAX`] for ever.
    pub end: Instant,
    /// Where it begins.
    pub from: Point,
    /// Where it ends.
    pub to: Point,
}

impl Leg {
    /// The position at `t`, held at the ends of the leg.
    pub fn at(&self, t: Instant) -> Point {
        if t >= self.end {
            return self.to;
        }
        if t <= self.start || self.from == self.to {
            return self.from;
        }
        self.from.toward(self.to, (t - self.start).as_secs_f64() / (self.end - self.start).as_secs_f64())
    }
    /// Velocity in m/s, east and north.
    pub fn velocity(&self) -> (f64, f64) {
        if self.from == self.to || self.end <= self.start {
            return (0.0, 0.0);
        }
        let s = (self.end - self.start).as_secs_f64();
        ((self.to.x - self.from.x) / s, (self.to.y - self.from.y) / s)
    }
}

/// A closed range of a quantity, from which a value is drawn uniformly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

impl Span {
    /// From both ends.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }
    /// A uniform value; one draw, also when both ends are equal (as The ONE does).
    pub fn draw(self, draw: &mut dyn Draw) -> f64 {
        (self.high - self.low) * draw.unit() + self.low
    }
    /// The middle.
    pub fn mean(self) -> f64 {
        self.low + (self.high - self.low) / 2.0
    }
    fn check(self, what: &'static str) -> Result<(), MobilityError> {
        let fits = self.low.is_finite() && self.high.is_finite() && 0.0 <= self.low && self.low <= self.high;
        if fits { Ok(()) } else { Err(MobilityError::Span { what, low: self.low, high: self.high }) }
    }
}

/// The rectangle from (0, 0) to (width, height) in which nodes move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// West to east, in metres.
    pub width_m: f64,
    /// South to north, in metres.
    pub height_m: f64,
}

impl Area {
    /// From both sides, in metres.
    pub const fn new(width_m: f64, height_m: f64) -> Self {
        Self { width_m, height_m }
    }
    /// Is the point inside or on the border?
    pub fn contains(self, p: Point) -> bool {
        (0.0..=self.width_m).contains(&p.x) && (0.0..=self.height_m).contains(&p.y)
    }
    fn uniform(self, draw: &mut dyn Draw) -> Point {
        let x = draw.unit() * self.width_m;
        Point { x, y: draw.unit() * self.height_m }
    }
    fn check(self) -> Result<(), MobilityError> {
        let fits = |side: f64| side.is_finite() && side > 0.0;
        if fits(self.width_m) && fits(self.height_m) {
            return Ok(());
        }
        Err(MobilityError::Area { width_m: self.width_m, height_m: self.height_m })
    }
}

/// Where the nodes of a group are at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Initial {
    /// Uniformly over the area, resting.
    #[default]
    Uniform,
    /// As at a random moment of an endless run, so that no start-up phase has to be cut off (Navidi
    /// and Camp 2004; Le Boudec and Vojnovic 2005).
    StationaryDistribution,
    /// The n-th node of the group at the n-th point, resting.
    Points(Vec<Point>),
}

/// Where a node stands between two journeys.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spot {
    /// The place.
    pub point: Point,
    /// The vertex of the map that is there; models without a map leave it zero.
    pub vertex: u32,
}

/// What a node does first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Begin {
    /// Where it is.
    pub at: Point,
    /// Rest before the first journey, or before the one that follows `under_way`, in seconds.
    pub pause_s: f64,
    /// The spot from which the next journey leaves.
    pub spot: Spot,
    /// Speed in m/s if it begins in motion, along the points that the model has appended.
    pub under_way: Option<f64>,
}

/// A journey; its points are in the path that the model has appended to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Journey {
    /// Speed along the whole path, in m/s.
    pub speed_m_per_s: f64,
    /// The end of the path.
    pub to: Spot,
}

/// A mobility model: the rules by which the nodes of one group move.
///
/// The order of calls per node is [`begin`](Model::begin), then over and over
/// [`depart`](Model::depart) and, at the end of the journey, [`pause_s`](Model::pause_s). A model
/// keeps no state between calls; all chance comes from `draw`.
pub trait Model: fmt::Debug + Send + Sync {
    /// Are the parameters sound, for a group of `count` nodes?
    ///
    /// # Errors
    /// One that names the parameter and its value.
    fn check(&self, count: u32) -> Result<(), MobilityError>;
    /// Where the `index`-th node of the group begins. Appends to `path` if it begins in motion.
    fn begin(&self, index: u32, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Begin;
    /// The next journey; appends its points to `path`, the first one may be where the node stands.
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey;
    /// How long the node rests at the end of a journey, in seconds; infinite for ever.
    fn pause_s(&self, draw: &mut dyn Draw) -> f64;
    /// The corners (least, greatest) of a rectangle that holds all motion.
    fn bounds(&self) -> (Point, Point);
}

/// A source of legs for a number of nodes.
///
/// The first leg of each node starts at [`Instant::ZERO`], each further one when and where the last
/// ended, and each lasts longer than zero. **Legs must be asked for in the order of their start, ties by
/// node**: sources that share one random stream draw in that order.
pub trait Motion {
    /// How many nodes there are; they are numbered from zero.
    fn node_count(&self) -> u32;
    /// The corners (least, greatest) of a rectangle that holds all motion, nearly: it shapes
    /// memory, not results.
    fn bounds(&self) -> (Point, Point);
    /// The next leg of `node`.
    fn next_leg(&mut self, node: NodeId) -> Leg;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_is_linear_and_held_at_its_ends() {
        let (start, end) = (Instant::from_secs(10), Instant::from_secs(20));
        let leg = Leg { start, end, from: Point::new(0.0, 4.0), to: Point::new(10.0, 4.0) };
        assert_eq!(leg.at(Instant::from_secs(13)), Point::new(3.0, 4.0));
        assert_eq!(leg.at(Instant::ZERO), leg.from);
        assert_eq!(leg.at(Instant::MAX), leg.to);
        assert_eq!(leg.velocity(), (1.0, 0.0));
    }
}

//! How nodes move.
//!
//! Motion is piecewise linear: a node passes through [`Leg`]s, one after the other without a gap; a
//! pause is a leg that ends where it began. A [`Model`] says where a node begins, where it goes
//! next, how fast and how long it rests; the [`Fleet`] asks the models of all its nodes in the
//! order of time and turns the answers into legs. The contact finder asks a [`Motion`] for one
//! leg at a time, so that only the present is kept.

mod bus;
mod bus_passenger;
mod clock;
mod cluster;
mod draws;
mod error;
mod fleet;
mod grid;
mod guide;
mod line_formation;
mod line_walk;
pub mod map;
mod map_route;
mod map_walk;
mod move_times;
mod node;
mod on_map;
mod random_direction;
mod random_walk;
mod random_waypoint;
mod recorded;
mod shortest_path_map;
mod sine;
mod stationary;
mod timed_paths;
pub mod together;
mod walk;
mod working_day;

pub use bus::Bus;
pub use bus_passenger::BusPassenger;
pub use cluster::Cluster;
pub use draws::{Draw, Draws, JavaDraw};
pub use error::MobilityError;
pub use fleet::{Fleet, Group};
pub use grid::Grid;
pub use line_formation::{Line, LineFormation};
pub use line_walk::{LineStart, LineWalk};
pub use map_route::{MapRoute, Routes};
pub use map_walk::MapWalk;
pub use move_times::MoveTimes;
pub use random_direction::RandomDirection;
pub use random_walk::RandomWalk;
pub use random_waypoint::RandomWaypoint;
pub use recorded::{Fix, Recorded, Track, TrackBuilder};
pub use shortest_path_map::ShortestPathMap;
pub use stationary::Stationary;
pub use timed_paths::at_ticks;
pub use walk::Walk;
pub use working_day::{ENDLESS_S, WorkingDay};

pub use lightlag_protocols::units::parse::{Area, Bounds};

use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::parse::Wrong;
use map::RoadMap;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use together::Shared;

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
    /// Whether it lies inside the rectangle from (0, 0) to these sides, or on its border.
    pub fn is_in(self, area: Area) -> bool {
        (0.0..=area.width_m).contains(&self.x) && (0.0..=area.height_m).contains(&self.y)
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

/// Whether a model can draw from this range of a parameter.
fn check_range(what: &'static str, Bounds { low, high }: Bounds<f64>) -> Result<(), MobilityError> {
    let fits = low.is_finite() && high.is_finite() && 0.0 <= low && low <= high;
    if fits { Ok(()) } else { Err(MobilityError::Span { what, low, high }) }
}

/// Whether nodes can move in this rectangle, from (0, 0) to its sides.
fn check_area(Area { width_m, height_m }: Area) -> Result<(), MobilityError> {
    let fits = |side: f64| side.is_finite() && side > 0.0;
    if fits(width_m) && fits(height_m) { Ok(()) } else { Err(MobilityError::Area { width_m, height_m }) }
}

/// Whether nodes can move in this rectangle at these speeds.
fn check_moving(area: Area, speed: Bounds<f64>, pause_s: Bounds<f64>) -> Result<(), MobilityError> {
    check_area(area)?;
    check_range("speed in m/s", speed)?;
    check_range("pause in s", pause_s)?;
    let Bounds { low, high } = speed;
    let why = "the upper end must be greater than 0";
    if high > 0.0 { Ok(()) } else { Err(MobilityError::Speed { low, high, why }) }
}

/// Least and greatest corner of the rectangle.
fn corners(area: Area) -> (Point, Point) {
    (Point::default(), Point::new(area.width_m, area.height_m))
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
    /// What a model remembers from journey to journey, such as the stop of a route; zero in models without memory.
    pub state: u64,
}

impl Spot {
    /// A place off the map.
    pub const fn at(point: Point) -> Self {
        Self { point, vertex: 0, state: 0 }
    }
    /// A vertex of a map.
    pub fn on(map: &RoadMap, vertex: u32) -> Self {
        Self { point: map.point(vertex), vertex, state: 0 }
    }
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

impl Begin {
    /// It rests at a place off the map.
    pub const fn at_rest(at: Point, pause_s: f64) -> Self {
        Self { at, pause_s, spot: Spot::at(at), under_way: None }
    }
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
    fn check(&self, count: u32) -> Result<(), MobilityError> {
        let _ = count;
        Ok(())
    }
    /// The recorded positions of the `index`-th node, if all its motion is recorded: then only [`begin`](Model::begin) is
    /// called beside this.
    fn track(&self, index: u32) -> Option<Track> {
        let _ = index;
        None
    }
    /// Where the `index`-th node of the group begins. Appends to `path` if it begins in motion.
    fn begin(&self, index: u32, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Begin {
        let _ = (index, draw, path);
        Begin::at_rest(Point::default(), f64::INFINITY)
    }
    /// The next journey; appends its points to `path`, the first one may be where the node stands.
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let _ = (draw, path);
        Journey { speed_m_per_s: 1.0, to: from }
    }
    /// How long the node rests at the end of a journey, at the spot that the journey led to, in seconds; infinite for
    /// ever.
    fn pause_s(&self, at: Spot, draw: &mut dyn Draw) -> f64 {
        let _ = (at, draw);
        f64::INFINITY
    }
    /// The same model where its nodes depend on other nodes. `begin`, `depart` and `pause_s` are then not called, and need
    /// not be written.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
    /// The corners (least, greatest) of a rectangle that holds all motion.
    fn bounds(&self) -> (Point, Point);
}

/// The group that a model is built for.
#[derive(Clone, Debug, Default)]
pub struct GroupContext {
    /// How many nodes it has.
    pub nodes: u32,
    /// How long nodes move before t = 0, in seconds.
    pub warmup_s: f64,
    /// The roads, for models with [`Input::Map`].
    pub map: Option<Arc<RoadMap>>,
    /// Layers of the map that the nodes use: bit n for layer n.
    pub layers: u32,
    /// The stops of each route as vertices of the map, for models with [`Input::Routes`].
    pub routes: Vec<Vec<u32>>,
    /// Places that are visited more often, for models with [`Input::PointsOfInterest`].
    pub interest: Vec<Interest>,
    /// Recorded positions, for models with [`Input::Tracks`]; nodes without a position stay at the origin.
    pub tracks: Vec<Arc<[Fix]>>,
    /// Vertices of the map by the keys of [`Input::Places`].
    pub places: BTreeMap<&'static str, Vec<u32>>,
    /// The probabilities of [`Input::Chances`].
    pub chances: Vec<f64>,
}

/// Places of a map that are visited more often than others.
#[derive(Clone, Debug, PartialEq)]
pub struct Interest {
    /// Probability that a journey goes to one of them.
    pub share: f64,
    /// The places, at least one; all are visited equally often.
    pub vertices: Vec<u32>,
}

/// What a model reads beside its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Lists of places on the map, each in a file that may be left out (by these keys).
    Places(&'static [&'static str]),
    /// Probabilities (`chances`).
    Chances,
    /// A map (`map` in a scenario).
    Map,
    /// Routes on the map (`routes`).
    Routes,
    /// Places on the map that are visited more often (`points_of_interest`).
    PointsOfInterest,
    /// Recorded positions (`positions`).
    Tracks,
}

/// A row of [`TABLE`].
pub struct Entry {
    /// Name, source, parameters, builder.
    pub model: parameter::Entry<dyn Model, GroupContext>,
    /// What it reads beside its parameters.
    pub inputs: &'static [Input],
    /// What parameters must be together; the text continues "the mobility ...".
    pub check: fn(&Parameters) -> Result<(), Wrong>,
    /// How fast nodes move, about: budgets are made of it.
    pub pace: fn(&Parameters) -> Pace,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.model.name)
    }
}

/// Every mobility model.
pub const TABLE: &[Entry] = &[
    stationary::ENTRY,
    grid::ENTRY,
    line_formation::ENTRY,
    line_walk::ENTRY,
    random_waypoint::ENTRY,
    cluster::ENTRY,
    random_walk::ENTRY,
    random_direction::ENTRY,
    shortest_path_map::ENTRY,
    map_walk::ENTRY,
    map_route::ENTRY,
    recorded::ENTRY,
    bus::ENTRY,
    bus_passenger::ENTRY,
    working_day::ENTRY,
];

/// The row of this name.
///
/// # Panics
/// If the table has no such row.
pub fn entry(name: &str) -> &'static Entry {
    TABLE.iter().find(|row| row.model.name == name).expect("a row of the table")
}

/// The parameter `area`: the rectangle in which nodes move.
pub const AREA: Parameter = Parameter::area("area", "Rectangle in which the nodes move.");
/// The parameter `speed` of each journey, up to that of light.
pub const SPEED: Parameter =
    Parameter::range("speed", "m/s", None, (0.0, 299_792_458.0), "Speed of each journey.");
/// The parameter `pause`, up to a hundred years.
pub const PAUSE: Parameter = Parameter::range(
    "pause",
    "s",
    Some(Bounds::new(0.0, 0.0)),
    (0.0, 3.155_76e9),
    "Pause after each journey.",
);

/// How a node moves on average, about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Sides of the rectangle that holds all motion, in metres.
    pub area: Area,
    /// Speed in m/s; zero for nodes that never move.
    pub speed_m_per_s: f64,
    /// Length of a journey in metres.
    pub journey_m: f64,
    /// Pause after each journey, in seconds.
    pub pause_s: f64,
    /// Legs of a journey and its pause.
    pub legs: f64,
    /// Journeys that are drawn for each one that is made.
    pub tries: f64,
    /// How many times as often two nodes meet as they would if they were spread evenly over the area.
    pub crowding: f64,
}

impl Pace {
    /// Of nodes that never move.
    pub const fn still(area: Area) -> Self {
        Self { area, speed_m_per_s: 0.0, journey_m: 0.0, pause_s: 0.0, legs: 0.0, tries: 1.0, crowding: 1.0 }
    }
    /// Of straight journeys of this length with the parameters [`AREA`], [`SPEED`] and [`PAUSE`].
    pub fn straight(parameters: &Parameters, journey_m: f64) -> Self {
        Self {
            area: parameters.area("area"),
            speed_m_per_s: parameters.range("speed").mean(),
            journey_m,
            pause_s: parameters.range("pause").mean(),
            legs: 2.0,
            tries: 1.0,
            crowding: 1.0,
        }
    }
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

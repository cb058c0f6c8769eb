//! Along the roads of a map, from stop to stop of a route.

use super::map::{RoadMap, Tour, TourOrder};
use super::{AREA, Entry, GroupContext, Input, PAUSE, SPEED, on_map};
use super::{Area, Begin, Bounds, Draw, Journey, MobilityError, Model, Point, Spot};
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The parameter `order` of a route.
pub const ORDER: Parameter = Parameter::word(
    "order",
    &["circular", "ping_pong"],
    "What follows the last stop: the first one, or all stops backwards.",
);
/// The parameter `first_stop` of a route.
pub const FIRST_STOP: Parameter = Parameter::integer(
    "first_stop",
    -1.0,
    (-1.0, 1e6),
    "Stop at which all nodes begin, from 0 on; -1: a random one for each node, but not the last.",
);

/// The row of the table. Without `area` the map may lie anywhere.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "map_route",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[AREA.optional(), SPEED, PAUSE, ORDER, FIRST_STOP],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, context)),
    },
    inputs: &[Input::Map, Input::Routes],
    check: |_| Ok(()),
    pace: on_map::pace,
};

pub(super) fn build(parameters: &Parameters, context: GroupContext) -> MapRoute {
    let map = on_map::map(context.map);
    let order = match parameters.word("order") {
        "circular" => TourOrder::Circular,
        _ => TourOrder::PingPong,
    };
    let first_stop = parameters.number("first_stop");
    MapRoute {
        area: on_map::area(parameters, &map),
        routes: Routes::new(context.routes, order),
        first_stop: (first_stop >= 0.0).then_some(first_stop as u32),
        layers: context.layers,
        map,
        speed_m_per_s: parameters.range("speed"),
        pause_s: parameters.range("pause"),
    }
}

/// Map-route movement (Keränen, Ott and Kärkkäinen 2009): the stops of a route one after the other, by the shortest path,
/// with a pause at each. The nodes of a group take the routes in turn.
#[derive(Debug)]
pub struct MapRoute {
    /// The roads.
    pub map: Arc<RoadMap>,
    /// The world that has to hold the map.
    pub area: Area,
    /// Layers that the nodes use between stops: bit n for layer n (The ONE: `okMaps`); all if all bits are set.
    pub layers: u32,
    /// The routes.
    pub routes: Routes,
    /// The stop at which nodes begin; `None`: a uniform one for each node, but not the last.
    pub first_stop: Option<u32>,
    /// Speed from a stop to the next in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest at each stop in seconds.
    pub pause_s: Bounds<f64>,
}

/// Tours, with the shortest paths between their stops as far as they were needed.
pub struct Routes {
    tours: Vec<Tour>,
    /// Paths from each place of each tour to the next; empty without a path.
    kept: Vec<Vec<OnceLock<Vec<Point>>>>,
    /// Points that can still be kept.
    room: AtomicUsize,
}

/// More points of paths than are kept (32 MB); paths beyond are searched whenever a node departs.
const KEPT_MAX: usize = 2_000_000;

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Routes").field(&self.tours).finish()
    }
}

impl Routes {
    /// Tours through the stops of each route, at least one each.
    pub fn new(stops: Vec<Vec<u32>>, order: TourOrder) -> Self {
        let tours: Vec<Tour> = stops.into_iter().map(|stops| Tour { stops, order }).collect();
        let cells = |tour: &Tour| (0..tour.places()).map(|_| OnceLock::new()).collect();
        Self { kept: tours.iter().map(cells).collect(), tours, room: AtomicUsize::new(KEPT_MAX) }
    }
    /// The tours.
    pub fn tours(&self) -> &[Tour] {
        &self.tours
    }
    /// Appends the shortest path from a place of a route to the next one; nothing if these layers have none. They must be
    /// the same at each call.
    pub fn path(&self, map: &RoadMap, layers: u32, route: usize, place: usize, path: &mut Vec<Point>) {
        let (tour, kept) = (&self.tours[route], &self.kept[route][place]);
        if let Some(kept) = kept.get() {
            path.extend(kept);
            return;
        }
        let start = path.len();
        let _ = map.shortest_path(tour.vertex(place), tour.vertex(tour.after(place)), layers, path);
        let points = &path[start..];
        let take = |room: usize| room.checked_sub(points.len());
        if self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            // Another thread may have been first, with the same path.
            let _ = kept.set(points.to_vec());
        }
    }
}

/// A node's place on its tour, as [`Spot::state`].
fn state(route: usize, place: usize) -> u64 {
    (route as u64) << 32 | place as u64
}

impl MapRoute {
    fn spot(&self, route: usize, place: usize) -> Spot {
        let vertex = self.routes.tours()[route].vertex(place);
        Spot { state: state(route, place), ..Spot::on(&self.map, vertex) }
    }
}

impl Model for MapRoute {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        on_map::check(&self.map, self.area, self.layers, self.speed_m_per_s, self.pause_s)?;
        let shortest = self.routes.tours().iter().map(|tour| tour.stops.len()).min().unwrap_or(0);
        let least = self.first_stop.map_or(2, |first| first as usize + 1);
        if shortest < least {
            return Err(MobilityError::Stops { stops: shortest, least });
        }
        Ok(())
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let route = index as usize % self.routes.tours().len();
        let stops = self.routes.tours()[route].stops.len() as u32;
        let first = self.first_stop.unwrap_or_else(|| draw.below(stops - 1));
        let spot = self.spot(route, first as usize);
        Begin { at: spot.point, pause_s: draw.within(self.pause_s), spot, under_way: None }
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let (route, place) = ((from.state >> 32) as usize, from.state as u32 as usize);
        let to = self.spot(route, self.routes.tours()[route].after(place));
        // Without a path the node stays, and rests again.
        self.routes.path(&self.map, self.layers, route, place, path);
        Journey { speed_m_per_s, to }
    }
    fn pause_s(&self, _at: Spot, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        self.map.bounds()
    }
}

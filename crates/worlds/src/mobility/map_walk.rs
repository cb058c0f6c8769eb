//! Along the roads of a map, at random at every crossing.

use super::map::RoadMap;
use super::{AREA, Entry, GroupContext, Input, PAUSE, SPEED, on_map};
use super::{Area, Begin, Bounds, Draw, Journey, MobilityError, Model, Point, Spot};
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use std::sync::Arc;

/// The row of the table. Without `area` the map may lie anywhere.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "map_walk",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[
            AREA.optional(),
            SPEED,
            PAUSE,
            Parameter::range(
                "roads_per_journey",
                "",
                Some(MapWalk::THE_ONE_ROADS),
                (1.0, 10_000.0),
                "Roads between two vertices that a journey goes along.",
            ),
            Parameter::flag("turns_back", false, "Whether nodes may turn back at every crossing."),
        ],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, context)),
    },
    inputs: &[Input::Map],
    check: |_| Ok(()),
    pace: on_map::pace,
};

fn build(parameters: &Parameters, context: GroupContext) -> MapWalk {
    let map = on_map::map(context.map);
    let roads = parameters.range("roads_per_journey");
    MapWalk {
        area: on_map::area(parameters, &map),
        layers: context.layers,
        map,
        roads: Bounds { low: roads.low as u32, high: roads.high as u32 },
        turns_back: parameters.flag("turns_back"),
        speed_m_per_s: parameters.range("speed"),
        pause_s: parameters.range("pause"),
    }
}

/// Map-based movement (Keränen, Ott and Kärkkäinen 2009): from vertex to vertex, at each one a uniform neighbour; back
/// only at dead ends and as the first step of a journey, if not everywhere. After a number of roads the node rests.
#[derive(Clone, Debug, PartialEq)]
pub struct MapWalk {
    /// The roads.
    pub map: Arc<RoadMap>,
    /// The world that has to hold the map.
    pub area: Area,
    /// Layers that the nodes use: bit n for layer n (The ONE: `okMaps`); all if all bits are set.
    pub layers: u32,
    /// Roads of a journey, both ends included.
    pub roads: Bounds<u32>,
    /// Whether nodes may turn back at every vertex.
    pub turns_back: bool,
    /// Speed of a journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest after each journey in seconds.
    pub pause_s: Bounds<f64>,
}

impl MapWalk {
    /// The ONE's: 10 to 99 roads.
    pub const THE_ONE_ROADS: Bounds<f64> = Bounds::new(10.0, 99.0);
}

impl RoadMap {
    /// Appends the points of a walk of this number of roads from a vertex on, at each one to a uniform neighbour on
    /// `layers`; back only at dead ends and as the first step. The last vertex.
    pub(super) fn wander(
        &self,
        from: u32,
        layers: u32,
        (roads, turns_back): (Bounds<u32>, bool),
        draw: &mut dyn Draw,
        path: &mut Vec<Point>,
    ) -> u32 {
        let (mut at, mut before) = (from, from);
        path.push(self.point(at));
        for _ in 0..roads.low + draw.below(roads.high - roads.low + 1) {
            let fits = |&&v: &&u32| (turns_back || v != before) && self.layers(v) & layers != 0;
            let open = || self.neighbours(at).iter().filter(fits);
            let next = match open().count() as u32 {
                0 => before,
                count => open().nth(draw.below(count) as usize).copied().unwrap_or(before),
            };
            (before, at) = (at, next);
            path.push(self.point(at));
        }
        at
    }
}

impl Model for MapWalk {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        on_map::check(&self.map, self.area, self.layers, self.speed_m_per_s, self.pause_s)
    }
    fn begin(&self, _index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        on_map::begin(&self.map, self.layers, self.pause_s, draw)
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let at = self.map.wander(from.vertex, self.layers, (self.roads, self.turns_back), draw, path);
        Journey { speed_m_per_s, to: Spot::on(&self.map, at) }
    }
    fn pause_s(&self, _at: Spot, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        self.map.bounds()
    }
}

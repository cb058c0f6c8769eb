//! Along the roads of a map, by the shortest path to a random vertex or point of interest.

use super::map::RoadMap;
use super::{AREA, Entry, GroupContext, Input, Interest, PAUSE, SPEED, on_map};
use super::{Area, Begin, Bounds, Draw, Initial, Journey, MobilityError, Model, Point, Spot};
use lightlag_protocols::parameter::{self, Parameters};
use std::sync::Arc;

/// The row of the table. Without `area` the map may lie anywhere.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "shortest_path_map",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[AREA.optional(), SPEED, PAUSE],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, context)),
    },
    inputs: &[Input::Map, Input::PointsOfInterest],
    check: |_| Ok(()),
    pace: on_map::pace,
};

fn build(parameters: &Parameters, context: GroupContext) -> ShortestPathMap {
    let map = on_map::map(context.map);
    ShortestPathMap {
        area: on_map::area(parameters, &map),
        layers: context.layers,
        interest: context.interest,
        map,
        speed_m_per_s: parameters.range("speed"),
        pause_s: parameters.range("pause"),
        initial: Initial::Uniform,
    }
}

/// Shortest-path map-based movement (Keränen, Ott and Kärkkäinen 2009): a uniform vertex of the map
/// or of a set of points of interest as destination, the shortest path there, a pause.
///
/// A node begins between a uniform vertex and one of its neighbours. Draws are in the order of The
/// ONE, which spends one on the choice among points of interest even without any. A destination that the layers of the
/// node do not reach is not visited, but the next path begins there, as in The ONE.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortestPathMap {
    /// The roads.
    pub map: Arc<RoadMap>,
    /// The world that has to hold the map.
    pub area: Area,
    /// Layers that the nodes use: bit n for layer n (The ONE: `okMaps`); all if all bits are set.
    pub layers: u32,
    /// Sets of places that are visited more often (The ONE: `pois`).
    pub interest: Vec<Interest>,
    /// Speed of a journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest after each journey in seconds.
    pub pause_s: Bounds<f64>,
    /// Where nodes begin; [`Initial::Uniform`] only.
    pub initial: Initial,
}

impl ShortestPathMap {
    fn destination(&self, draw: &mut dyn Draw) -> u32 {
        let chosen = draw.unit();
        let mut below = 0.0;
        for Interest { share, vertices } in &self.interest {
            below += share;
            if chosen < below {
                return vertices[draw.below(vertices.len() as u32) as usize];
            }
        }
        self.map.random_vertex(self.layers, draw)
    }
}

impl Model for ShortestPathMap {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        on_map::check(&self.map, self.area, self.layers, self.speed_m_per_s, self.pause_s)?;
        let initial = match self.initial {
            Initial::Uniform => return Ok(()),
            Initial::StationaryDistribution => "stationary_distribution",
            Initial::Points(_) => "points",
        };
        let instead = "use uniform with a warmup";
        Err(MobilityError::Initial { model: "shortest_path_map", initial, instead })
    }
    fn begin(&self, _index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        on_map::begin(&self.map, self.layers, self.pause_s, draw)
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let vertex = self.destination(draw);
        // Without a path the node stays and rests again.
        let _ = self.map.shortest_path(from.vertex, vertex, self.layers, path);
        Journey { speed_m_per_s, to: Spot::on(&self.map, vertex) }
    }
    fn pause_s(&self, _at: Spot, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        self.map.bounds()
    }
}

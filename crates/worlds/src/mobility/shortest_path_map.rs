//! Along the roads of a map, by the shortest path to a random vertex.

use super::map::RoadMap;
use super::{AREA, Entry, GroupContext, PAUSE, Pace, SPEED};
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
    on_map: true,
    check: |_| Ok(()),
    pace: |parameters| Pace {
        // Without an area: a square kilometre.
        area: if parameters.has("area") { parameters.area("area") } else { Area::new(1e3, 1e3) },
        speed_m_per_s: parameters.range("speed").mean(),
        // Roads that bend every metre; pauses are not counted.
        journey_m: 1.0,
        pause_s: 0.0,
        legs: 1.0,
        tries: 1.0,
    },
};

fn build(parameters: &Parameters, context: GroupContext) -> ShortestPathMap {
    let map = context.map.expect("a model with `on_map` has a map");
    let (_, greatest) = map.bounds();
    // A single straight road has no extent to one side.
    let anywhere = Area::new(greatest.x.max(1.0), greatest.y.max(1.0));
    ShortestPathMap {
        area: if parameters.has("area") { parameters.area("area") } else { anywhere },
        layers: context.layers,
        map,
        speed_m_per_s: parameters.range("speed"),
        pause_s: parameters.range("pause"),
        initial: Initial::Uniform,
    }
}

/// Shortest-path map-based movement (Keränen, Ott and Kärkkäinen 2009): a uniform vertex of the map
/// as destination, the shortest path there, a pause.
///
/// A node begins between a uniform vertex and one of its neighbours. Draws are in the order of The
/// ONE, which spends one on the choice among points of interest even without any.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortestPathMap {
    /// The roads.
    pub map: Arc<RoadMap>,
    /// The world that has to hold the map.
    pub area: Area,
    /// Layers that the nodes use: bit n for layer n (The ONE: `okMaps`); all if all bits are set.
    pub layers: u32,
    /// Speed of a journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest after each journey in seconds.
    pub pause_s: Bounds<f64>,
    /// Where nodes begin; [`Initial::Uniform`] only.
    pub initial: Initial,
}

impl ShortestPathMap {
    fn vertex(&self, draw: &mut dyn Draw) -> u32 {
        loop {
            let vertex = draw.below(self.map.vertex_count());
            if self.map.layers(vertex) & self.layers != 0 {
                return vertex;
            }
        }
    }
}

impl Model for ShortestPathMap {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        super::check_moving(self.area, self.speed_m_per_s, self.pause_s)?;
        self.map.check_inside(self.area)?;
        self.map.check_connected(self.layers)?;
        let initial = match self.initial {
            Initial::Uniform => return Ok(()),
            Initial::StationaryDistribution => "stationary_distribution",
            Initial::Points(_) => "points",
        };
        let instead = "use uniform with a warmup";
        Err(MobilityError::Initial { model: "shortest_path_map", initial, instead })
    }
    fn begin(&self, _index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let share = draw.unit();
        let vertex = self.vertex(draw);
        let neighbours = self.map.neighbours(vertex);
        let other = neighbours[draw.below(neighbours.len() as u32) as usize];
        let point = self.map.point(vertex);
        let at = point.toward(self.map.point(other), share);
        let pause_s = draw.within(self.pause_s);
        Begin { at, pause_s, spot: Spot { point, vertex }, under_way: None }
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let _point_of_interest = draw.unit();
        let vertex = self.vertex(draw);
        // `check` has found all vertices to be in one part, so there is a path.
        let _ = self.map.shortest_path(from.vertex, vertex, self.layers, path);
        Journey { speed_m_per_s, to: Spot { point: self.map.point(vertex), vertex } }
    }
    fn pause_s(&self, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        self.map.bounds()
    }
}

//! Along the roads of a map, by the shortest path to a random vertex.

use super::map::RoadMap;
use super::{Area, Begin, Draw, Initial, Journey, MobilityError, Model, Point, Span, Spot};
use std::sync::Arc;

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
    pub speed_m_per_s: Span,
    /// Rest after each journey in seconds.
    pub pause_s: Span,
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
        self.area.check()?;
        self.speed_m_per_s.check("speed in m/s")?;
        self.pause_s.check("pause in s")?;
        super::random_waypoint::check_speed(self.speed_m_per_s)?;
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
        let pause_s = self.pause_s.draw(draw);
        Begin { at, pause_s, spot: Spot { point, vertex }, under_way: None }
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = self.speed_m_per_s.draw(draw);
        let _point_of_interest = draw.unit();
        let vertex = self.vertex(draw);
        // `check` has found all vertices to be in one part, so there is a path.
        let _ = self.map.shortest_path(from.vertex, vertex, self.layers, path);
        Journey { speed_m_per_s, to: Spot { point: self.map.point(vertex), vertex } }
    }
    fn pause_s(&self, draw: &mut dyn Draw) -> f64 {
        self.pause_s.draw(draw)
    }
    fn bounds(&self) -> (Point, Point) {
        self.map.bounds()
    }
}

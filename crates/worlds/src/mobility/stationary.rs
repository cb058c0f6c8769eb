//! Nodes that stay where they are.

use super::{Area, Begin, Draw, Initial, Journey, MobilityError, Model, Point, Spot};

/// Nodes that never move.
#[derive(Clone, Debug, PartialEq)]
pub struct Stationary {
    /// Where they can be.
    pub area: Area,
    /// Where they are: uniform over the area, or at given points.
    pub initial: Initial,
}

impl Model for Stationary {
    fn check(&self, count: u32) -> Result<(), MobilityError> {
        self.area.check()?;
        self.initial.check_points(count, self.area)
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let at = self.initial.place(index, self.area, draw);
        Begin { at, pause_s: f64::INFINITY, spot: Spot { point: at, vertex: 0 }, under_way: None }
    }
    fn depart(&self, from: Spot, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Journey {
        Journey { speed_m_per_s: 0.0, to: from }
    }
    fn pause_s(&self, _draw: &mut dyn Draw) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> (Point, Point) {
        self.area.corners()
    }
}

impl Area {
    pub(super) fn corners(self) -> (Point, Point) {
        (Point::default(), Point::new(self.width_m, self.height_m))
    }
}

impl Initial {
    /// The place of a node that begins at rest.
    pub(super) fn place(&self, index: u32, area: Area, draw: &mut dyn Draw) -> Point {
        match self {
            Self::Points(points) => points[index as usize],
            Self::Uniform | Self::StationaryDistribution => area.uniform(draw),
        }
    }
    pub(super) fn check_points(&self, nodes: u32, area: Area) -> Result<(), MobilityError> {
        let Self::Points(points) = self else { return Ok(()) };
        if points.len() < nodes as usize {
            return Err(MobilityError::Points { points: points.len(), nodes });
        }
        match points.iter().find(|p| !area.contains(**p)) {
            None => Ok(()),
            Some(&Point { x, y }) => {
                let Area { width_m, height_m } = area;
                Err(MobilityError::PointOutside { x, y, width_m, height_m })
            }
        }
    }
}

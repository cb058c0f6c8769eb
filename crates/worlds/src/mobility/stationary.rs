//! Nodes that stay where they are.

use super::{Area, Begin, Draw, Initial, Journey, MobilityError, Model, Point, Spot};
use super::{Entry, GroupContext, Pace};
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use lightlag_protocols::units::parse::Wrong;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "stationary",
        paper: "",
        parameters: &[
            Parameter::position("at", "Position of all nodes, in place of `area`.").optional(),
            Parameter::area("area", "Rectangle over which the nodes are placed at random.").optional(),
        ],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, &context)),
    },
    inputs: &[],
    check,
    pace: |parameters| {
        Pace::still(if parameters.has("area") { parameters.area("area") } else { Area::new(1e-6, 1e-6) })
    },
};

fn check(parameters: &Parameters) -> Result<(), Wrong> {
    if parameters.has("at") != parameters.has("area") {
        return Ok(());
    }
    Err(Wrong::new(
        "needs either `at` or `area`",
        "write at = \"100 m, 200 m\" for one place, area = \"1 km x 1 km\" for random ones",
    ))
}

fn build(parameters: &Parameters, context: &GroupContext) -> Stationary {
    if parameters.has("area") {
        return Stationary { area: parameters.area("area"), initial: Initial::Uniform };
    }
    let at = parameters.position("at");
    let at = Point::new(at.x_m, at.y_m);
    // The area only has to hold the point.
    let area = Area::new(at.x + 1.0, at.y + 1.0);
    Stationary { area, initial: Initial::Points(vec![at; context.nodes as usize]) }
}

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
        super::check_area(self.area)?;
        self.initial.check_points(count, self.area)
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let at = self.initial.place(index, self.area, draw);
        Begin::at_rest(at, f64::INFINITY)
    }
    fn depart(&self, from: Spot, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Journey {
        Journey { speed_m_per_s: 0.0, to: from }
    }
    fn pause_s(&self, _at: Spot, _draw: &mut dyn Draw) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> (Point, Point) {
        super::corners(self.area)
    }
}

impl Initial {
    /// The place of a node that begins at rest.
    pub(super) fn place(&self, index: u32, area: Area, draw: &mut dyn Draw) -> Point {
        match self {
            Self::Points(points) => points[index as usize],
            Self::Uniform | Self::StationaryDistribution => draw.place(area),
        }
    }
    pub(super) fn check_points(&self, nodes: u32, area: Area) -> Result<(), MobilityError> {
        let Self::Points(points) = self else { return Ok(()) };
        if points.len() < nodes as usize {
            return Err(MobilityError::Points { points: points.len(), nodes });
        }
        match points.iter().find(|p| !p.is_in(area)) {
            None => Ok(()),
            Some(&Point { x, y }) => {
                let Area { width_m, height_m } = area;
                Err(MobilityError::PointOutside { x, y, width_m, height_m })
            }
        }
    }
}

//! Nodes that stand in a grid.

use super::{Area, Begin, Draw, Journey, MobilityError, Model, Point, Spot};
use super::{Entry, GroupContext, Pace};
use lightlag_protocols::parameter::{self, Parameter, Parameters};

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "grid",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[
            Parameter::position("at", "Position of the first node, the corner of the grid."),
            Parameter::needed("spacing", "m", (0.0, 1e9), "Distance of neighbours in a row and in a column."),
            Parameter::integer(
                "rows",
                1.0,
                (1.0, 1e6),
                "Rows of the grid; nodes fill them one after the other.",
            ),
            Parameter::number(
                "offset",
                "m",
                0.0,
                (0.0, 1e9),
                "Most that a node is moved at random along each axis.",
            ),
        ],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, &context)),
    },
    inputs: &[],
    check: |_| Ok(()),
    pace: |parameters| {
        // How many columns there are is not known here.
        let side_m = parameters.number("rows") * parameters.number("spacing") + parameters.number("offset");
        Pace::still(Area::new(side_m.max(1.0), side_m.max(1.0)))
    },
};

fn build(parameters: &Parameters, context: &GroupContext) -> Grid {
    let at = parameters.position("at");
    Grid {
        at: Point::new(at.x_m, at.y_m),
        columns: (context.nodes / parameters.number("rows") as u32).max(1),
        nodes: context.nodes,
        spacing_m: parameters.number("spacing"),
        offset_m: parameters.number("offset"),
    }
}

/// Nodes at the crossings of a grid. A row has as many as all nodes divided by the rows, cut off to a whole number: what
/// is left begins further rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Place of the first node.
    pub at: Point,
    /// Nodes in a row; at least one.
    pub columns: u32,
    /// Nodes of the group.
    pub nodes: u32,
    /// Distance of neighbours in metres.
    pub spacing_m: f64,
    /// Most that a node is moved along each axis, in metres.
    pub offset_m: f64,
}

impl Grid {
    fn crossing(&self, index: u32) -> Point {
        let step = |n: u32| f64::from(n) * self.spacing_m;
        Point::new(self.at.x + step(index % self.columns), self.at.y + step(index / self.columns))
    }
}

impl Model for Grid {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        let (Point { x, y }, greatest) = self.bounds();
        super::check_area(Area::new((greatest.x - x).max(1.0), (greatest.y - y).max(1.0)))
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let Point { x, y } = self.crossing(index);
        let x = x + draw.unit() * self.offset_m;
        Begin::at_rest(Point::new(x, y + draw.unit() * self.offset_m), f64::INFINITY)
    }
    fn depart(&self, from: Spot, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Journey {
        Journey { speed_m_per_s: 0.0, to: from }
    }
    fn pause_s(&self, _at: Spot, _draw: &mut dyn Draw) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> (Point, Point) {
        let last = self.nodes.saturating_sub(1);
        let x = self.at.x + f64::from(last.min(self.columns - 1)) * self.spacing_m + self.offset_m;
        (self.at, Point::new(x, self.crossing(last).y + self.offset_m))
    }
}

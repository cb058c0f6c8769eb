//! Nodes that stand in a line.

use super::{Area, Begin, Draw, Journey, MobilityError, Model, Point, Spot};
use super::{Entry, GroupContext, Pace};
use lightlag_protocols::parameter::{self, Parameter, Parameters};

/// The parameter `from`: the beginning of a line.
pub const FROM: Parameter = Parameter::position("from", "Beginning of the line.");
/// The parameter `to`: the end of a line.
pub const TO: Parameter = Parameter::position("to", "End of the line.");

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "line_formation",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[FROM, TO],
        only_with: &[],
        build: |parameters, context: GroupContext| {
            Box::new(LineFormation { line: Line::of(parameters), nodes: context.nodes })
        },
    },
    inputs: &[],
    check: |_| Ok(()),
    pace: |parameters| Pace::still(Line::of(parameters).area()),
};

/// A line from a point to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its beginning.
    pub from: Point,
    /// Its end.
    pub to: Point,
}

impl Line {
    /// By the parameters [`FROM`] and [`TO`].
    pub(super) fn of(parameters: &Parameters) -> Self {
        let [from, to] = ["from", "to"].map(|name| parameters.position(name));
        Self { from: Point::new(from.x_m, from.y_m), to: Point::new(to.x_m, to.y_m) }
    }
    /// The place of the `index`-th of `count` nodes: at that share of the line, so that the end stays empty.
    pub(super) fn even(self, index: u32, count: u32) -> Point {
        self.from.toward(self.to, f64::from(index) / f64::from(count.max(1)))
    }
    /// The rectangle around it; never without extent.
    pub(super) fn area(self) -> Area {
        let (least, greatest) = self.corners();
        Area::new((greatest.x - least.x).max(1.0), (greatest.y - least.y).max(1.0))
    }
    /// Least and greatest corner of the rectangle around it.
    pub(super) fn corners(self) -> (Point, Point) {
        let Self { from: a, to: b } = self;
        (Point::new(a.x.min(b.x), a.y.min(b.y)), Point::new(a.x.max(b.x), a.y.max(b.y)))
    }
}

/// Nodes at equal distances on a line, the first one at its beginning, none at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFormation {
    /// The line.
    pub line: Line,
    /// Nodes of the group.
    pub nodes: u32,
}

impl Model for LineFormation {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        super::check_area(self.line.area())
    }
    fn begin(&self, index: u32, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        Begin::at_rest(self.line.even(index, self.nodes), f64::INFINITY)
    }
    fn depart(&self, from: Spot, _draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Journey {
        Journey { speed_m_per_s: 0.0, to: from }
    }
    fn pause_s(&self, _at: Spot, _draw: &mut dyn Draw) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> (Point, Point) {
        self.line.corners()
    }
}

//! One journey along a line.

use super::line_formation::{FROM, Line, TO};
use super::{Begin, Bounds, Draw, Journey, MobilityError, Model, Point, Spot};
use super::{Entry, GroupContext, Pace, SPEED};
use lightlag_protocols::parameter::{self, Parameter, Parameters};

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "line_walk",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[
            FROM,
            TO,
            SPEED,
            Parameter::word(
                "initial",
                &["even", "random", "box"],
                "Where nodes begin: at equal distances on the line, at random on it, or at random in the rectangle around it.",
            ),
            Parameter::word(
                "target",
                &["far_end", "even"],
                "Where they go: to the end of the line that is farther, or to the place in equal distances.",
            ),
        ],
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(build(parameters, &context)),
    },
    inputs: &[],
    check: |_| Ok(()),
    pace: |parameters| {
        let line = Line::of(parameters);
        let journey_m = line.from.distance(line.to);
        Pace {
            area: line.area(),
            speed_m_per_s: parameters.range("speed").mean(),
            journey_m: journey_m.max(1.0),
            pause_s: 0.0,
            legs: 2.0,
            tries: 1.0,
            crowding: 1.0,
        }
    },
};

fn build(parameters: &Parameters, context: &GroupContext) -> LineWalk {
    LineWalk {
        line: Line::of(parameters),
        nodes: context.nodes,
        departs_s: context.warmup_s,
        speed_m_per_s: parameters.range("speed"),
        initial: match parameters.word("initial") {
            "even" => LineStart::Even,
            "random" => LineStart::Random,
            _ => LineStart::Box,
        },
        to_far_end: parameters.word("target") == "far_end",
    }
}

/// Where the nodes of a [`LineWalk`] begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStart {
    /// At equal distances, the first one at the beginning of the line.
    Even,
    /// Uniformly on the line.
    Random,
    /// Uniformly in the rectangle around the line, as in The ONE.
    Box,
}

/// Nodes that make one journey and then rest for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct LineWalk {
    /// The line.
    pub line: Line,
    /// Nodes of the group.
    pub nodes: u32,
    /// Rest before the journey in seconds: that of a warm-up, during which no node moves.
    pub departs_s: f64,
    /// Speed of the journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Where nodes begin.
    pub initial: LineStart,
    /// Whether they go to the farther end of the line; else to the place that they would have in equal distances.
    pub to_far_end: bool,
}

impl LineWalk {
    fn start(&self, index: u32, draw: &mut dyn Draw) -> Point {
        let Line { from, to } = self.line;
        match self.initial {
            LineStart::Even => self.line.even(index, self.nodes),
            LineStart::Random => from.toward(to, draw.unit()),
            LineStart::Box => {
                let x = from.x + draw.unit() * (to.x - from.x);
                Point::new(x, from.y + draw.unit() * (to.y - from.y))
            }
        }
    }
    fn target(&self, index: u32, start: Point) -> Point {
        let Line { from, to } = self.line;
        if !self.to_far_end {
            return self.line.even(index, self.nodes);
        }
        if from.distance(start) > to.distance(start) { from } else { to }
    }
}

impl Model for LineWalk {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        super::check_moving(self.line.area(), self.speed_m_per_s, Bounds::single(0.0))
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let at = self.start(index, draw);
        // The ONE draws the speed at once.
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let target = Spot { state: speed_m_per_s.to_bits(), ..Spot::at(self.target(index, at)) };
        Begin { at, pause_s: self.departs_s, spot: target, under_way: None }
    }
    fn depart(&self, target: Spot, _draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        path.push(target.point);
        Journey { speed_m_per_s: f64::from_bits(target.state), to: target }
    }
    fn pause_s(&self, _at: Spot, _draw: &mut dyn Draw) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> (Point, Point) {
        self.line.corners()
    }
}

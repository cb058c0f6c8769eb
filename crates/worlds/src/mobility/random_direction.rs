//! Random direction: straight ahead to the border of the area, then another direction.

use super::{AREA, Entry, GroupContext, PAUSE, Pace, SPEED};
use super::{Area, Begin, Bounds, Draw, Initial, Journey, MobilityError, Model, Point, Spot};
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use std::f64::consts::PI;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "random_direction",
        paper: "Royer, Melliar-Smith and Moser, An analysis of the optimum node density for ad hoc mobile networks (2001)",
        parameters: &[
            AREA,
            SPEED,
            PAUSE,
            Parameter::word(
                "stop",
                &["border", "anywhere"],
                "Where journeys end: at the border, or at a uniform point before it.",
            ),
            Parameter::needed(
                "right_border",
                "m",
                (1e-3, 1e9),
                "Where journeys to the east end, if not at the width of the area: The ONE takes its height.",
            )
            .optional(),
        ],
        only_with: &[],
        build: |parameters, _: GroupContext| Box::new(build(parameters)),
    },
    inputs: &[],
    check: |_| Ok(()),
    pace: |parameters| {
        let RandomDirection { area, right_m, .. } = build(parameters);
        Pace::straight(parameters, area.width_m.min(area.height_m).min(right_m) / 6.0)
    },
};

fn build(parameters: &Parameters) -> RandomDirection {
    let area = parameters.area("area");
    let has = parameters.has("right_border");
    RandomDirection {
        area,
        right_m: if has { parameters.number("right_border") } else { area.width_m },
        speed_m_per_s: parameters.range("speed"),
        pause_s: parameters.range("pause"),
        stops_anywhere: parameters.word("stop") == "anywhere",
    }
}

/// Random direction (Royer, Melliar-Smith and Moser 2001): a uniform direction up to the border, a pause, over and over.
/// With `stops_anywhere` it is their modified model: a uniform part of that distance.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomDirection {
    /// Where nodes move.
    pub area: Area,
    /// Where journeys to the east end, in metres: the width of the area, if it is not to be as in The ONE.
    pub right_m: f64,
    /// Speed of a journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest after each journey in seconds.
    pub pause_s: Bounds<f64>,
    /// Whether journeys end before the border.
    pub stops_anywhere: bool,
}

impl RandomDirection {
    /// Metres from a place to the border that lies in a direction; `None` on a border that it leads away from. The
    /// borders are tried in the order of The ONE: bottom, left, top, right.
    fn to_border_m(&self, from: Point, east: f64, north: f64) -> Option<f64> {
        let Area { width_m, height_m } = self.area;
        let across = |far_m: f64, at: f64, length_m: f64| {
            (far_m > 0.0 && (0.0..=length_m).contains(&at)).then_some(far_m)
        };
        let level = |y: f64| across((y - from.y) / north, from.x + (y - from.y) * east / north, width_m);
        let upright = |x: f64| across((x - from.x) / east, from.y + (x - from.x) * north / east, height_m);
        level(0.0).or_else(|| upright(0.0)).or_else(|| level(height_m)).or_else(|| upright(self.right_m))
    }
}

impl Model for RandomDirection {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        super::check_area(Area::new(self.right_m, self.area.height_m))?;
        super::check_moving(self.area, self.speed_m_per_s, self.pause_s)
    }
    fn begin(&self, _index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let at = Initial::Uniform.place(0, self.area, draw);
        Begin::at_rest(at, draw.within(self.pause_s))
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let (east, north, far_m) = loop {
            let angle = draw.unit() * 2.0 * PI - PI;
            let (east, north) = draw.cos_sin(angle);
            if let Some(far_m) = self.to_border_m(from.point, east, north) {
                break (east, north, far_m);
            }
        };
        let share = if self.stops_anywhere { draw.unit() } else { 1.0 };
        let to = Point::new(from.point.x + share * far_m * east, from.point.y + share * far_m * north);
        path.push(to);
        Journey { speed_m_per_s, to: Spot::at(to) }
    }
    fn pause_s(&self, _at: Spot, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        (Point::default(), Point::new(self.area.width_m.max(self.right_m), self.area.height_m))
    }
}

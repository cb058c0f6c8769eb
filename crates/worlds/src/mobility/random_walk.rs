//! Random walk: short steps in random directions.

use super::{AREA, Entry, GroupContext, PAUSE, Pace, SPEED};
use super::{Area, Begin, Bounds, Draw, Initial, Journey, MobilityError, Model, Point, Spot};
use lightlag_protocols::math::log;
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use std::f64::consts::PI;

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "random_walk",
        paper: "Camp, Boleng and Davies, A survey of mobility models for ad hoc network research (2002)",
        parameters: &[
            AREA,
            SPEED,
            PAUSE,
            Parameter::range(
                "leg",
                "m",
                Some(RandomWalk::THE_ONE_STEP_M),
                (0.0, 1e12),
                "Length of each journey.",
            ),
        ],
        only_with: &[],
        build: |parameters, _: GroupContext| {
            Box::new(RandomWalk {
                area: parameters.area("area"),
                step_m: parameters.range("leg"),
                speed_m_per_s: parameters.range("speed"),
                pause_s: parameters.range("pause"),
                initial: Initial::Uniform,
            })
        },
    },
    inputs: &[],
    check: |_| Ok(()),
    pace,
};

fn pace(parameters: &Parameters) -> Pace {
    let (area, leg_m) = (parameters.area("area"), parameters.range("leg"));
    // Of the legs that are drawn those stay inside which are short.
    let high = leg_m.high.min(area.width_m.hypot(area.height_m)).max(leg_m.low);
    let tries = 1.0 / inside(leg_m, area).max(1e-300);
    Pace { tries, ..Pace::straight(parameters, (leg_m.low + high) / 4.0) }
}

/// Share of random legs that stay inside of a rectangle, about, and rather less.
fn inside(Bounds { low, high }: Bounds<f64>, Area { width_m, height_m }: Area) -> f64 {
    let (narrow, wide) = (width_m.min(height_m) / 2.0, width_m.max(height_m) / 2.0);
    if high <= low {
        return if low <= narrow { 0.25 } else { narrow / (4.0 * PI * low) };
    }
    let short = (high.min(narrow) - low).max(0.0) / 4.0;
    let (from, to) = (low.max(narrow), high.min(wide));
    let long = if to > from { log(to / from) * narrow / (4.0 * PI) } else { 0.0 };
    ((short + long) / (high - low)).min(1.0)
}

/// Random walk (Camp, Boleng and Davies 2002), as The ONE reads it: each step has its own speed,
/// a uniform direction, a uniform length and its own pause; a step that would leave the area is
/// drawn again, which thins the nodes out along the border.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWalk {
    /// Where nodes walk.
    pub area: Area,
    /// Length of a step in metres; The ONE's is [`RandomWalk::THE_ONE_STEP_M`].
    pub step_m: Bounds<f64>,
    /// Speed of a step in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest after each step in seconds.
    pub pause_s: Bounds<f64>,
    /// Where nodes begin.
    pub initial: Initial,
}

impl RandomWalk {
    /// The ONE's step: 0 to 50 m.
    pub const THE_ONE_STEP_M: Bounds<f64> = Bounds::new(0.0, 50.0);

    fn check_step(&self) -> Result<(), MobilityError> {
        let Bounds { low, high } = self.step_m;
        // From every point of the area a circle of this radius has an arc inside.
        let most = self.area.width_m.min(self.area.height_m) / 2.0;
        if high > 0.0 && low <= most { Ok(()) } else { Err(MobilityError::Step { low, high, most }) }
    }
    fn inside(&self, p: Point) -> bool {
        p.x > 0.0 && p.y > 0.0 && p.x < self.area.width_m && p.y < self.area.height_m
    }
}

impl Model for RandomWalk {
    fn check(&self, count: u32) -> Result<(), MobilityError> {
        super::check_range("step length in m", self.step_m)?;
        super::check_moving(self.area, self.speed_m_per_s, self.pause_s)?;
        self.check_step()?;
        if self.initial == Initial::StationaryDistribution {
            return Err(MobilityError::Initial {
                model: "random_walk",
                initial: "stationary_distribution",
                instead: "use uniform with a warmup",
            });
        }
        self.initial.check_points(count, self.area)
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let at = self.initial.place(index, self.area, draw);
        Begin::at_rest(at, draw.within(self.pause_s))
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let to = loop {
            let angle = draw.unit() * 2.0 * std::f64::consts::PI;
            let length_m = draw.within(self.step_m);
            let (east, north) = draw.cos_sin(angle);
            let to = Point::new(from.point.x + length_m * east, from.point.y + length_m * north);
            if self.inside(to) {
                break to;
            }
        };
        path.push(to);
        Journey { speed_m_per_s, to: Spot::at(to) }
    }
    fn pause_s(&self, _at: Spot, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        super::corners(self.area)
    }
}

//! Random walk: short steps in random directions.

use super::{Area, Begin, Draw, Initial, Journey, MobilityError, Model, Point, Span, Spot};
use lightlag_protocols::math::{cos, sin};

/// Random walk (Camp, Boleng and Davies 2002), as The ONE reads it: each step has its own speed,
/// a uniform direction, a uniform length and its own pause; a step that would leave the area is
/// drawn again, which thins the nodes out along the border.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWalk {
    /// Where nodes walk.
    pub area: Area,
    /// Length of a step in metres; The ONE's is [`RandomWalk::THE_ONE_STEP_M`].
    pub step_m: Span,
    /// Speed of a step in m/s.
    pub speed_m_per_s: Span,
    /// Rest after each step in seconds.
    pub pause_s: Span,
    /// Where nodes begin.
    pub initial: Initial,
}

impl RandomWalk {
    /// The ONE's step: 0 to 50 m.
    pub const THE_ONE_STEP_M: Span = Span::new(0.0, 50.0);

    fn check_step(&self) -> Result<(), MobilityError> {
        let Span { low, high } = self.step_m;
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
        self.area.check()?;
        self.step_m.check("step length in m")?;
        self.speed_m_per_s.check("speed in m/s")?;
        self.pause_s.check("pause in s")?;
        self.check_step()?;
        super::random_waypoint::check_speed(self.speed_m_per_s)?;
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
        let pause_s = self.pause_s.draw(draw);
        Begin { at, pause_s, spot: Spot { point: at, vertex: 0 }, under_way: None }
    }
    fn depart(&self, from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = self.speed_m_per_s.draw(draw);
        let to = loop {
            let angle = draw.unit() * 2.0 * std::f64::consts::PI;
            let length_m = self.step_m.draw(draw);
            let to = Point::new(from.point.x + length_m * cos(angle), from.point.y + length_m * sin(angle));
            if self.inside(to) {
                break to;
            }
        };
        path.push(to);
        Journey { speed_m_per_s, to: Spot { point: to, vertex: 0 } }
    }
    fn pause_s(&self, draw: &mut dyn Draw) -> f64 {
        self.pause_s.draw(draw)
    }
    fn bounds(&self) -> (Point, Point) {
        self.area.corners()
    }
}

//! Random waypoint: from one uniform point straight to the next.

use super::{AREA, Entry, GroupContext, PAUSE, Pace, SPEED};
use super::{Area, Begin, Bounds, Draw, Initial, Journey, MobilityError, Model, Point, Spot};
use lightlag_protocols::math::{exp, log};
use lightlag_protocols::parameter::{self, Parameter};

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "random_waypoint",
        paper: "Johnson and Maltz, Dynamic source routing in ad hoc wireless networks (1996)",
        parameters: &[
            AREA,
            SPEED,
            PAUSE,
            Parameter::word(
                "initial",
                &["uniform", "stationary_distribution"],
                "Where nodes begin: pausing at random places, or as after an endless time.",
            ),
        ],
        only_with: &[],
        build: |parameters, _: GroupContext| {
            Box::new(RandomWaypoint {
                area: parameters.area("area"),
                speed_m_per_s: parameters.range("speed"),
                pause_s: parameters.range("pause"),
                initial: match parameters.word("initial") {
                    "uniform" => Initial::Uniform,
                    _ => Initial::StationaryDistribution,
                },
            })
        },
    },
    inputs: &[],
    check: |_| Ok(()),
    pace: |parameters| {
        let area = parameters.area("area");
        Pace::straight(parameters, area.width_m.max(area.height_m) / 3.0)
    },
};

/// Random waypoint (Johnson and Maltz 1996): a uniform speed, a uniform destination, a uniform
/// pause, over and over. With a pause of zero it is also what some papers call a random walk.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWaypoint {
    /// Where the waypoints are.
    pub area: Area,
    /// Speed of a journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest at each waypoint in seconds.
    pub pause_s: Bounds<f64>,
    /// Where nodes begin.
    pub initial: Initial,
}

impl RandomWaypoint {
    /// Mean duration of a journey in seconds: mean distance times the mean of 1/speed.
    pub fn mean_journey_s(&self) -> f64 {
        let Bounds { low, high } = self.speed_m_per_s;
        let slowness = if low == high { 1.0 / low } else { log(high / low) / (high - low) };
        mean_distance_m(self.area) * slowness
    }
    /// Share of time that a node rests in the long run.
    pub fn share_paused(&self) -> f64 {
        let pause_s = self.pause_s.mean();
        pause_s / (pause_s + self.mean_journey_s())
    }

    fn begin_at_rest(&self, index: u32, draw: &mut dyn Draw) -> Begin {
        let at = self.initial.place(index, self.area, draw);
        Begin::at_rest(at, draw.within(self.pause_s))
    }

    /// A moment of an endless run: Le Boudec and Vojnovic 2005, section VI.
    fn begin_stationary(&self, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Begin {
        if draw.unit() < self.share_paused() {
            let at = draw.place(self.area);
            return Begin::at_rest(at, residual(self.pause_s, draw.unit()));
        }
        let (from, to) = self.length_biased_journey(draw);
        let at = from.toward(to, draw.unit());
        let Bounds { low, high } = self.speed_m_per_s;
        // Slow journeys last longer: density proportional to 1/speed.
        let speed = low * exp(draw.unit() * log(high / low));
        path.push(to);
        let pause_s = draw.within(self.pause_s);
        Begin { at, pause_s, spot: Spot::at(to), under_way: Some(speed) }
    }

    /// Long journeys last longer: density proportional to the distance, by rejection.
    fn length_biased_journey(&self, draw: &mut dyn Draw) -> (Point, Point) {
        let most = Point::default().distance(super::corners(self.area).1);
        loop {
            let (from, to) = (draw.place(self.area), draw.place(self.area));
            if draw.unit() * most < from.distance(to) {
                return (from, to);
            }
        }
    }
}

/// Mean distance of two uniform points of a rectangle (Ghosh 1951), in metres.
fn mean_distance_m(Area { width_m: a, height_m: b }: Area) -> f64 {
    let d = (a * a + b * b).sqrt();
    let (aa, bb) = (a * a, b * b);
    (aa * a / bb + bb * b / aa + d * (3.0 - aa / bb - bb / aa)) / 15.0
        + (bb / a * log((a + d) / b) + aa / b * log((b + d) / a)) / 6.0
}

/// What is left of a pause that is seen at a random moment; `u` is uniform in [0, 1).
/// Density proportional to P(pause > rest), inverted.
fn residual(Bounds { low, high }: Bounds<f64>, u: f64) -> f64 {
    let mean = low + (high - low) / 2.0;
    if u * mean <= low {
        return u * mean;
    }
    high - (2.0 * (high - low) * mean * (1.0 - u)).sqrt()
}

impl Model for RandomWaypoint {
    fn check(&self, count: u32) -> Result<(), MobilityError> {
        super::check_moving(self.area, self.speed_m_per_s, self.pause_s)?;
        if self.initial == Initial::StationaryDistribution && self.speed_m_per_s.low <= 0.0 {
            let Bounds { low, high } = self.speed_m_per_s;
            let why = "without a least speed above 0 there is no stationary distribution (Yoon, Liu and Noble 2003)";
            return Err(MobilityError::Speed { low, high, why });
        }
        self.initial.check_points(count, self.area)
    }
    fn begin(&self, index: u32, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Begin {
        match self.initial {
            Initial::StationaryDistribution => self.begin_stationary(draw, path),
            Initial::Uniform | Initial::Points(_) => self.begin_at_rest(index, draw),
        }
    }
    fn depart(&self, _from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let to = draw.place(self.area);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn pedestrians() -> RandomWaypoint {
        RandomWaypoint {
            area: Area::new(1000.0, 1000.0),
            speed_m_per_s: Bounds::new(0.5, 1.5),
            pause_s: Bounds::new(0.0, 120.0),
            initial: Initial::StationaryDistribution,
        }
    }

    #[test]
    fn mean_journey_and_share_of_rest_are_those_of_theory() {
        let model = pedestrians();
        assert!((mean_distance_m(Area::new(1.0, 1.0)) - 0.521_405_433).abs() < 1e-9);
        assert!((model.mean_journey_s() - 572.8).abs() < 0.05, "{}", model.mean_journey_s());
        assert!((model.share_paused() - 0.0948).abs() < 5e-5);
    }

    #[test]
    fn the_rest_of_a_pause_has_the_inverse_of_theory() {
        assert!((residual(Bounds::new(0.0, 120.0), 0.5) - 120.0 * (1.0 - 0.5_f64.sqrt())).abs() < 1e-9);
        assert_eq!(residual(Bounds::new(60.0, 60.0), 0.25), 15.0);
        assert_eq!(residual(Bounds::new(0.0, 0.0), 0.5), 0.0);
    }

    #[test]
    fn a_least_speed_of_zero_has_no_stationary_start() {
        let model = RandomWaypoint { speed_m_per_s: Bounds::new(0.0, 1.0), ..pedestrians() };
        let error = model.check(1).expect_err("no stationary distribution").to_string();
        assert!(error.starts_with("speed 0 to 1 m/s: without a least speed"), "{error}");
    }
}

//! Random waypoint in a disc.

use super::{Area, Begin, Bounds, Draw, Journey, MobilityError, Model, Point, Spot};
use super::{Entry, GroupContext, PAUSE, Pace, SPEED};
use lightlag_protocols::parameter::{self, Parameter, Parameters};

/// The row of the table.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "cluster",
        paper: "Keränen, Ott and Kärkkäinen, The ONE simulator for DTN protocol evaluation (2009)",
        parameters: &[
            Parameter::position("center", "Centre of the disc in which the nodes move."),
            Parameter::needed("radius", "m", (1e-3, 1e9), "Radius of the disc."),
            SPEED,
            PAUSE,
        ],
        only_with: &[],
        build: |parameters, _: GroupContext| {
            let center = parameters.position("center");
            Box::new(Cluster {
                center: Point::new(center.x_m, center.y_m),
                radius_m: parameters.number("radius"),
                speed_m_per_s: parameters.range("speed"),
                pause_s: parameters.range("pause"),
            })
        },
    },
    inputs: &[],
    check: |_| Ok(()),
    pace,
};

fn pace(parameters: &Parameters) -> Pace {
    let radius_m = parameters.number("radius");
    Pace {
        area: Area::new(2.0 * radius_m, 2.0 * radius_m),
        speed_m_per_s: parameters.range("speed").mean(),
        // Mean distance of two points of a disc: 128 / 45 pi.
        journey_m: 0.905 * radius_m,
        pause_s: parameters.range("pause").mean(),
        legs: 2.0,
        // Points of the square around the disc for each one in it.
        tries: 1.3,
        crowding: 1.0,
    }
}

/// Random waypoint whose waypoints are uniform over a disc. It does not know the borders of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Centre of the disc.
    pub center: Point,
    /// Radius of the disc in metres.
    pub radius_m: f64,
    /// Speed of a journey in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// Rest at each waypoint in seconds.
    pub pause_s: Bounds<f64>,
}

impl Cluster {
    fn place(&self, draw: &mut dyn Draw) -> Point {
        loop {
            let x = (draw.unit() * 2.0 - 1.0) * self.radius_m;
            let y = (draw.unit() * 2.0 - 1.0) * self.radius_m;
            if x * x + y * y <= self.radius_m * self.radius_m {
                return Point::new(x + self.center.x, y + self.center.y);
            }
        }
    }
}

impl Model for Cluster {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        super::check_moving(Area::new(self.radius_m, self.radius_m), self.speed_m_per_s, self.pause_s)
    }
    fn begin(&self, _index: u32, draw: &mut dyn Draw, _path: &mut Vec<Point>) -> Begin {
        let at = self.place(draw);
        Begin::at_rest(at, draw.within(self.pause_s))
    }
    fn depart(&self, _from: Spot, draw: &mut dyn Draw, path: &mut Vec<Point>) -> Journey {
        let speed_m_per_s = draw.within(self.speed_m_per_s);
        let to = self.place(draw);
        path.push(to);
        Journey { speed_m_per_s, to: Spot::at(to) }
    }
    fn pause_s(&self, _at: Spot, draw: &mut dyn Draw) -> f64 {
        draw.within(self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        let Point { x, y } = self.center;
        let r = self.radius_m;
        (Point::new(x - r, y - r), Point::new(x + r, y + r))
    }
}

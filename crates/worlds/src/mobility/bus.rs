//! Buses: along a route, with passengers.

use super::together::{Going, Member, Ride, Shared, Systems, Turn};
use super::{AREA, Entry, GroupContext, Input, PAUSE, SPEED, map_route, on_map};
use super::{Begin, Draw, MapRoute, MobilityError, Model, Point, Spot};
use lightlag_protocols::parameter::{self, Parameter};
use std::sync::Arc;

/// The parameter `system` of buses and of passengers.
pub const SYSTEM: Parameter = Parameter::integer(
    "system",
    0.0,
    (0.0, 2_147_483_647.0),
    "Number of the bus system: passengers use the buses of their own.",
);

/// The row of the table. Without `area` the map may lie anywhere.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "bus",
        paper: "Ekman, Keränen, Karvo and Ott, Working day movement model (2008)",
        parameters: &[AREA.optional(), SPEED, PAUSE, map_route::ORDER, map_route::FIRST_STOP, SYSTEM],
        only_with: &[],
        build: |parameters, context: GroupContext| {
            let system = parameters.number("system") as u32;
            Box::new(Bus { route: Arc::new(map_route::build(parameters, context)), system })
        },
    },
    inputs: &[Input::Map, Input::Routes],
    check: |_| Ok(()),
    pace: on_map::pace,
};

/// A bus drives along its route as [`MapRoute`] has it, and takes along who waits at its stops. The stops of a system are
/// those of the first route of its last group of buses, as in The ONE.
#[derive(Clone, Debug)]
pub struct Bus {
    /// How its buses move.
    pub route: Arc<MapRoute>,
    /// The number of its bus system.
    pub system: u32,
}

impl Model for Bus {
    fn check(&self, count: u32) -> Result<(), MobilityError> {
        self.route.check(count)
    }
    fn bounds(&self) -> (Point, Point) {
        self.route.bounds()
    }
    fn shared(&self) -> Option<&dyn Shared> {
        Some(self)
    }
}

impl Shared for Bus {
    fn announce(&self, systems: &mut Systems) {
        if let [first, ..] = self.route.routes.tours() {
            systems.set_stops(self.system, &first.stops);
        }
    }
    fn join(
        &self,
        _node: u32,
        index: u32,
        _systems: &mut Systems,
        draw: &mut dyn Draw,
    ) -> (Box<dyn Member>, Begin) {
        let begin = self.route.begin(index, draw, &mut Vec::new());
        (Box::new(Driver { bus: self.clone(), spot: begin.spot, has_begun: false }), begin)
    }
}

#[derive(Debug)]
struct Driver {
    bus: Bus,
    spot: Spot,
    has_begun: bool,
}

impl Member for Driver {
    fn depart(&mut self, turn: &mut Turn, path: &mut Vec<Point>) -> Going {
        let stop = self.spot.vertex;
        let journey = self.bus.route.depart(self.spot, turn.draw, path);
        self.spot = journey.to;
        // At its first stop a bus takes along no passengers, as in The ONE.
        if std::mem::replace(&mut self.has_begun, true) {
            let (speed_m_per_s, to) = (journey.speed_m_per_s, self.spot.vertex);
            let ride = || Arc::new(Ride { points: path.clone(), speed_m_per_s, to });
            turn.systems.bus_leaves(self.bus.system, stop, ride, turn.draw);
        }
        Going::Go(journey.speed_m_per_s)
    }
    fn pause_s(&mut self, turn: &mut Turn) -> f64 {
        self.bus.route.pause_s(self.spot, turn.draw)
    }
}

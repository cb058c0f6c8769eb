//! Passengers that ride buses without a destination.

use super::map::RoadMap;
use super::together::{Going, Member, RidePolicy, Shared, Systems, Turn};
use super::{AREA, Entry, GroupContext, Input, SPEED, bus, on_map};
use super::{Area, Begin, Bounds, Draw, MobilityError, Model, Point};
use lightlag_protocols::parameter::{self, Parameter};
use std::sync::Arc;

/// The row of the table. Without `area` the map may lie anywhere.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "bus_passenger",
        paper: "Ekman, Keränen, Karvo and Ott, Working day movement model (2008)",
        parameters: &[
            AREA.optional(),
            SPEED,
            bus::SYSTEM,
            Parameter::number(
                "next_bus",
                "",
                0.0,
                (0.0, 1.0),
                "Probability to wait for another bus where a trip ends, instead of walking.",
            ),
        ],
        only_with: &[],
        build: |parameters, context: GroupContext| {
            let map = on_map::map(context.map);
            let (chances, next_bus) = (context.chances, parameters.number("next_bus"));
            Box::new(BusPassenger {
                area: on_map::area(parameters, &map),
                map,
                speed_m_per_s: parameters.range("speed"),
                system: parameters.number("system") as u32,
                policy: Arc::new(RidePolicy { chances, next_bus }),
            })
        },
    },
    inputs: &[Input::Map, Input::Chances],
    check: |_| Ok(()),
    pace: on_map::pace,
};

/// Passengers of buses (Ekman, Keränen, Karvo and Ott 2008): from a uniform vertex to the nearest stop, then by bus from
/// stop to stop as long as chance has it.
#[derive(Clone, Debug)]
pub struct BusPassenger {
    /// The roads.
    pub map: Arc<RoadMap>,
    /// The world that has to hold the map.
    pub area: Area,
    /// Walking speed in m/s.
    pub speed_m_per_s: Bounds<f64>,
    /// The number of its bus system.
    pub system: u32,
    /// How they decide.
    pub policy: Arc<RidePolicy>,
}

impl Model for BusPassenger {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        on_map::check(&self.map, self.area, u32::MAX, self.speed_m_per_s, Bounds::single(0.0))
    }
    fn bounds(&self) -> (Point, Point) {
        self.map.bounds()
    }
    fn shared(&self) -> Option<&dyn Shared> {
        Some(self)
    }
}

impl Shared for BusPassenger {
    fn announce(&self, _systems: &mut Systems) {}
    fn join(
        &self,
        node: u32,
        _index: u32,
        systems: &mut Systems,
        draw: &mut dyn Draw,
    ) -> (Box<dyn Member>, Begin) {
        let number = systems.add_passenger(self.system, node, self.policy.clone());
        let vertex = draw.below(self.map.vertex_count() - 1);
        systems.place_passenger(self.system, number, vertex, &self.map);
        systems.passenger_arrives(self.system, number);
        (Box::new(Rider { model: self.clone(), number }), Begin::at_rest(self.map.point(vertex), 0.0))
    }
}

#[derive(Debug)]
struct Rider {
    model: BusPassenger,
    /// Its number in the bus system.
    number: u32,
}

impl Member for Rider {
    fn depart(&mut self, turn: &mut Turn, path: &mut Vec<Point>) -> Going {
        let BusPassenger { system, speed_m_per_s, map, .. } = &self.model;
        Systems::passenger_departs(*system, self.number, *speed_m_per_s, map, turn, path)
    }
    fn pause_s(&mut self, turn: &mut Turn) -> f64 {
        turn.systems.passenger_arrives(self.model.system, self.number);
        0.0
    }
}

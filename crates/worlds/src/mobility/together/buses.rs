//! Bus systems: stops, and the passengers that wait at them.
//!
//! A passenger walks to a stop and waits. When a bus leaves that stop, every passenger that waits there decides
//! whether to ride along to the next one; at each stop it decides again. A passenger with a destination leaves at the
//! stop that is nearest to it; one without rides at random, with a probability for each further stop.

use super::{Going, Systems, Turn};
use crate::mobility::map::RoadMap;
use crate::mobility::{Bounds, Draw, Point};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Buses and passengers of one number.
#[derive(Debug, Default)]
pub(super) struct BusSystem {
    /// Vertices of the map.
    stops: Arc<[u32]>,
    passengers: Vec<Passenger>,
    /// Who waits at which vertex.
    waiting: BTreeMap<u32, BTreeSet<u32>>,
}

/// The path of a bus from one stop to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Ride {
    /// Its points, from stop to stop.
    pub points: Vec<Point>,
    /// Speed in m/s.
    pub speed_m_per_s: f64,
    /// The vertex of the next stop.
    pub to: u32,
}

/// How passengers without a destination decide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RidePolicy {
    /// Probability to ride on, by the number of stops that are passed; the last one holds for all further stops.
    pub chances: Vec<f64>,
    /// Probability to wait for another bus where a trip ends, instead of walking.
    pub next_bus: f64,
}

#[derive(Debug)]
struct Passenger {
    node: u32,
    state: State,
    /// The vertex where its last journey ends; none before it is placed.
    at: Option<u32>,
    /// The stop to which it walks.
    stop: u32,
    /// The last stop of its trip; none: it rides by its policy.
    exit: Option<u32>,
    policy: Arc<RidePolicy>,
    /// Stops passed, as far as its policy counts.
    passed: usize,
    /// Whether it prefers the bus to walking the whole distance.
    rides: bool,
    /// What the bus does that it boards.
    ride: Option<Arc<Ride>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Walking to a stop, or away from the bus altogether.
    Walking,
    /// At a stop.
    Waiting,
    /// A bus is at its stop and it enters.
    Boarding,
    Riding,
}

impl Passenger {
    /// A bus is about to leave the stop where it waits.
    fn meet_bus(&mut self, ride: &Arc<Ride>, draw: &mut dyn Draw) {
        let leaves = match self.exit {
            Some(exit) => self.at == Some(exit),
            None => !self.rides_on(draw),
        };
        if !leaves {
            self.state = State::Boarding;
            self.ride = Some(ride.clone());
        } else if self.exit.is_some() || draw.unit() > self.policy.next_bus {
            self.state = State::Walking;
            self.stop = self.at.unwrap_or(self.stop);
        }
    }
    fn rides_on(&mut self, draw: &mut dyn Draw) -> bool {
        let last = self.policy.chances.len().saturating_sub(1);
        let chance = self.policy.chances.get(self.passed).copied().unwrap_or(0.0);
        let rides = draw.unit() < chance;
        self.passed = if rides { (self.passed + 1).min(last) } else { 0 };
        rides
    }
}

impl BusSystem {
    fn passenger(&mut self, number: u32) -> &mut Passenger {
        &mut self.passengers[number as usize]
    }
    /// Sets a state and keeps the lists of stops.
    fn enter(&mut self, number: u32, state: State) {
        let passenger = self.passenger(number);
        passenger.state = state;
        if let (State::Waiting, Some(at)) = (state, passenger.at) {
            self.waiting.entry(at).or_default().insert(number);
        }
    }
}

impl Systems {
    fn bus_system(&mut self, system: u32) -> &mut BusSystem {
        self.buses.entry(system).or_default()
    }
    /// Sets the stops of a bus system, as vertices; those of the group founded last count.
    pub fn set_stops(&mut self, system: u32, stops: &[u32]) {
        self.bus_system(system).stops = stops.into();
    }
    /// Adds a passenger that has no place yet; its number in the system.
    pub fn add_passenger(&mut self, system: u32, node: u32, policy: Arc<RidePolicy>) -> u32 {
        let buses = self.bus_system(system);
        let (state, at, stop, exit) = (State::Walking, None, 0, None);
        let (passed, rides, ride) = (0, true, None);
        buses.passengers.push(Passenger { node, state, at, stop, exit, policy, passed, rides, ride });
        buses.passengers.len() as u32 - 1
    }
    /// Puts a passenger without a destination at a vertex; it will walk to the nearest stop.
    pub fn place_passenger(&mut self, system: u32, number: u32, at: u32, map: &RoadMap) {
        let buses = self.bus_system(system);
        let stop = nearest(&buses.stops, map.point(at), map).unwrap_or(at);
        let passenger = buses.passenger(number);
        (passenger.at, passenger.stop) = (Some(at), stop);
    }
    /// Where a passenger's last journey ends.
    pub fn passenger_at(&mut self, system: u32, number: u32) -> Option<u32> {
        self.bus_system(system).passenger(number).at
    }
    /// Whether a passenger is done with the bus, or has not begun.
    pub fn passenger_is_free(&mut self, system: u32, number: u32) -> bool {
        self.bus_system(system).passenger(number).state == State::Walking
    }
    /// Sends a passenger at vertex `at` from one vertex to another. It takes the bus unless the straight line is shorter
    /// than both walks to and from the nearest stops together.
    pub fn send_passenger(&mut self, system: u32, number: u32, at: u32, [from, to]: [u32; 2], map: &RoadMap) {
        let buses = self.bus_system(system);
        let [a, b] = [from, to].map(|vertex| map.point(vertex));
        let (enter, exit) = (nearest(&buses.stops, a, map), nearest(&buses.stops, b, map));
        let walk_m = |point: Point, stop: Option<u32>| {
            stop.map_or(f64::INFINITY, |stop| point.distance(map.point(stop)))
        };
        let rides = a.distance(b) >= walk_m(a, enter) + walk_m(b, exit);
        let passenger = buses.passenger(number);
        passenger.at = Some(at);
        passenger.rides = rides;
        passenger.stop = enter.unwrap_or(at);
        passenger.exit = Some(exit.unwrap_or(to));
    }
    /// What a passenger does next.
    pub fn passenger_departs(
        system: u32,
        number: u32,
        speed: Bounds<f64>,
        map: &RoadMap,
        turn: &mut Turn,
        path: &mut Vec<Point>,
    ) -> Going {
        let passenger = turn.systems.bus_system(system).passenger(number);
        match (passenger.state, passenger.rides) {
            (State::Walking, false) => Going::Stay,
            (State::Walking, true) => {
                let at = passenger.at.unwrap_or(passenger.stop);
                let _ = map.shortest_path(at, passenger.stop, u32::MAX, path);
                passenger.at = Some(passenger.stop);
                Going::Go(turn.draw.within(speed))
            }
            (State::Boarding, true) => {
                let Some(ride) = passenger.ride.take() else { return Going::Wait };
                passenger.state = State::Riding;
                passenger.at = Some(ride.to);
                path.extend_from_slice(&ride.points);
                Going::Go(ride.speed_m_per_s)
            }
            _ => Going::Wait,
        }
    }
    /// A journey of a passenger is over, or it has found nothing to do.
    pub fn passenger_arrives(&mut self, system: u32, number: u32) {
        let buses = self.bus_system(system);
        let passenger = buses.passenger(number);
        let is_bound = passenger.state == State::Walking && passenger.rides;
        let is_at_stop = is_bound && passenger.at == Some(passenger.stop);
        if is_at_stop || passenger.state == State::Riding {
            buses.enter(number, State::Waiting);
        }
    }
    /// A bus leaves a stop: all who wait there may board.
    pub fn bus_leaves(
        &mut self,
        system: u32,
        stop: u32,
        ride: impl FnOnce() -> Arc<Ride>,
        draw: &mut dyn Draw,
    ) {
        let Some(buses) = self.buses.get_mut(&system) else { return };
        let Some(waiting) = buses.waiting.remove(&stop) else { return };
        let ride = ride();
        let mut stay = BTreeSet::new();
        for number in waiting {
            let passenger = &mut buses.passengers[number as usize];
            passenger.meet_bus(&ride, draw);
            if passenger.state == State::Waiting {
                stay.insert(number);
            } else {
                self.woken.push(passenger.node);
            }
        }
        if !stay.is_empty() {
            buses.waiting.insert(stop, stay);
        }
    }
}

/// The stop nearest to a point, the first of several.
fn nearest(stops: &[u32], to: Point, map: &RoadMap) -> Option<u32> {
    let near = |best: Option<(f64, u32)>, &stop: &u32| {
        let far_m = map.point(stop).distance(to);
        match best {
            Some((best_m, _)) if best_m <= far_m => best,
            _ => Some((far_m, stop)),
        }
    };
    stops.iter().fold(None, near).map(|(_, stop)| stop)
}

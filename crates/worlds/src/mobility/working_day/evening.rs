//! The evening: to the meeting spot, a walk with friends, a rest at its end.

use super::{Turn, WorkingDay};
use crate::mobility::map::RoadMap;
use crate::mobility::together::{Going, Walked};
use crate::mobility::{Bounds, Point};
use lightlag_protocols::parameter::Parameters;
use std::sync::Arc;

/// Roads of a walk with friends; hard-coded in The ONE.
const ROADS: Bounds<u32> = Bounds::new(10, 99);

#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) system: u32,
    /// Vertices of the meeting spots.
    pub(super) spots: Vec<u32>,
    party: Bounds<f64>,
    pause_s: Bounds<f64>,
}

impl Rules {
    pub(super) fn new(parameters: &Parameters, mut spots: Vec<u32>, map: &RoadMap) -> Self {
        if spots.is_empty() {
            // Every n-th vertex.
            let every = (map.vertex_count() / parameters.number("meeting_spots") as u32).max(1);
            spots = (0..map.vertex_count()).step_by(every as usize).collect();
        }
        Self {
            system: parameters.number("evening_system") as u32,
            spots,
            party: parameters.range("party"),
            pause_s: parameters.range("evening_pause"),
        }
    }
}

#[derive(Debug)]
pub(super) struct Evening {
    node: u32,
    /// Its number among all evening members.
    member: u32,
    /// Where the last journey ended.
    pub(super) at: u32,
    spot: u32,
    party: u64,
    state: State,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Arriving,
    /// At the meeting spot, before it has looked for its friends.
    There,
    Waiting,
    Walking(Arc<Walked>),
}

impl Evening {
    pub(super) fn new(node: u32, member: u32) -> Self {
        Self { node, member, at: 0, spot: 0, party: 0, state: State::Arriving }
    }
    /// Joins a party; the vertex where it meets.
    pub(super) fn plan(&mut self, rules: &Rules, turn: &mut Turn) -> Option<u32> {
        let (system, size) = (rules.system, rules.party);
        let (spot, party) = turn.systems.join_party(system, self.member, self.node, size, turn.draw)?;
        (self.spot, self.party) = (spot, party);
        Some(spot)
    }
    pub(super) fn enter(&mut self, at: u32) {
        (self.at, self.state) = (at, State::Arriving);
    }
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, State::Walking(_))
    }
    pub(super) fn depart(&mut self, day: &WorkingDay, turn: &mut Turn, path: &mut Vec<Point>) -> Going {
        if self.state == State::Arriving {
            let speed = turn.draw.within(day.speed_m_per_s);
            day.walk(self.at, self.spot, path);
            self.at = self.spot;
            self.state = State::There;
            return Going::Go(speed);
        }
        let system = day.evening.system;
        if self.state == State::There {
            turn.systems.reach_party(system, self.party);
            self.state = State::Waiting;
        }
        let (draw, from) = (&mut *turn.draw, self.at);
        let choose = || {
            let speed_m_per_s = draw.within(day.speed_m_per_s);
            let mut points = Vec::new();
            let to = day.map.wander(from, day.layers, (ROADS, false), draw, &mut points);
            Walked { points, speed_m_per_s, to, pause_s: draw.within(day.evening.pause_s) }
        };
        let Some(walk) = turn.systems.leave_party(system, self.party, choose) else { return Going::Wait };
        path.extend_from_slice(&walk.points);
        self.at = walk.to;
        let speed_m_per_s = walk.speed_m_per_s;
        self.state = State::Walking(walk);
        Going::Go(speed_m_per_s)
    }
    pub(super) fn pause_s(&self) -> f64 {
        if let State::Walking(walk) = &self.state { walk.pause_s } else { 0.0 }
    }
}

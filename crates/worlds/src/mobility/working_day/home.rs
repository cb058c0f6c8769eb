//! At home: until the time of the day at which the node leaves for work.

use super::{Turn, WorkingDay};
use crate::mobility::together::Going;
use crate::mobility::{Draw, Point};
use lightlag_protocols::parameter::Parameters;

/// Side of the square around a home in which its node spends the night, in metres; hard-coded in The ONE.
const SIZE_M: f64 = 100.0;
/// Speed between the place in the house and the door, in m/s.
const INDOORS_M_PER_S: f64 = 1.0;

#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Vertices to choose from; empty: all but the last.
    homes: Vec<u32>,
    day_s: i64,
    deviation_s: f64,
    uniform: bool,
}

impl Rules {
    pub(super) fn new(parameters: &Parameters, homes: Vec<u32>) -> Self {
        Self {
            homes,
            day_s: parameters.number("day") as i64,
            deviation_s: parameters.number("departure_deviation"),
            uniform: parameters.flag("departure_uniform"),
        }
    }
    /// By how much a node leaves before the start of a day, in seconds.
    fn draw_advance_s(&self, draw: &mut dyn Draw) -> i64 {
        let half = self.day_s / 2;
        if self.uniform {
            i64::from(draw.below(self.day_s as u32)) - half
        } else if self.deviation_s == 0.0 {
            0
        } else {
            (draw.normal() * self.deviation_s).clamp(-half as f64, half as f64) as i64
        }
    }
}

#[derive(Debug)]
pub(super) struct Home {
    pub(super) vertex: u32,
    advance_s: i64,
    /// Where the last journey ended.
    at: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Arriving,
    Inside,
    /// At the door.
    Leaving,
}

impl Home {
    pub(super) fn new(rules: &Rules, day: &WorkingDay, draw: &mut dyn Draw) -> Self {
        let vertex = match &rules.homes[..] {
            [] => draw.below(day.map.vertex_count() - 1),
            homes => homes[draw.below(homes.len() as u32) as usize],
        };
        Self { vertex, advance_s: rules.draw_advance_s(draw), at: vertex, state: State::Arriving }
    }
    pub(super) fn enter(&mut self, at: u32) {
        (self.at, self.state) = (at, State::Arriving);
    }
    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Leaving
    }
    pub(super) fn depart(&mut self, day: &WorkingDay, turn: &mut Turn, path: &mut Vec<Point>) -> Going {
        let door = day.map.point(self.vertex);
        if self.state != State::Arriving {
            self.state = State::Leaving;
            path.push(door);
            return Going::Go(INDOORS_M_PER_S);
        }
        let speed = turn.draw.within(day.speed_m_per_s);
        day.walk(self.at, self.vertex, path);
        self.at = self.vertex;
        self.state = State::Inside;
        let offset = [(); 2].map(|()| (turn.draw.unit() - 0.5) * SIZE_M);
        path.push(day.within_square(door, offset));
        Going::Go(speed)
    }
    pub(super) fn pause_s(&self, rules: &Rules, turn: &Turn) -> f64 {
        match self.state {
            State::Inside => {
                (rules.day_s - (turn.second() + rules.day_s + self.advance_s) % rules.day_s) as f64
            }
            State::Arriving | State::Leaving => 0.0,
        }
    }
}

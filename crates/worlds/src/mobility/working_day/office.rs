//! At the office: between the desk and other places there, until the working time is over.

use super::{ENDLESS_S, Turn, WorkingDay};
use crate::mobility::together::Going;
use crate::mobility::{Bounds, Draw, Point};
use lightlag_protocols::math::pow;
use lightlag_protocols::parameter::Parameters;

/// Speed in the office, in m/s.
const INDOORS_M_PER_S: f64 = 1.0;
/// Draws after which a pause is cut to its upper bound: so narrow bounds are nearly never met.
const DRAWS_MAX: u32 = 10_000;

#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Vertices to choose from; empty: the first `count` or so.
    offices: Vec<u32>,
    count: u32,
    work_s: i64,
    size_m: f64,
    pause_s: Bounds<f64>,
    exponent: f64,
}

impl Rules {
    pub(super) fn new(parameters: &Parameters, offices: Vec<u32>) -> Self {
        Self {
            offices,
            count: parameters.number("offices") as u32,
            work_s: parameters.number("work") as i64,
            size_m: parameters.number("office_size"),
            pause_s: parameters.range("office_pause"),
            exponent: parameters.number("office_pareto"),
        }
    }
    fn place(&self, day: &WorkingDay, vertex: u32, draw: &mut dyn Draw) -> Point {
        let offset = [(); 2].map(|()| (0.5 - draw.unit()) * self.size_m);
        day.within_square(day.map.point(vertex), offset)
    }
    /// Pareto distributed, drawn again while it is above the upper bound; in whole seconds.
    fn draw_pause_s(&self, draw: &mut dyn Draw) -> i64 {
        let Bounds { low, high } = self.pause_s;
        if low > 0.0 && low >= high {
            return low as i64;
        }
        let drawn = (0..DRAWS_MAX).map(|_| low * pow(1.0 - draw.unit(), -1.0 / self.exponent));
        let mut fitting = drawn.filter(|pause_s| high >= ENDLESS_S || *pause_s <= high);
        fitting.next().unwrap_or(high) as i64
    }
}

#[derive(Debug)]
pub(super) struct Office {
    pub(super) vertex: u32,
    desk: Point,
    /// Where the last journey ended.
    at: u32,
    is_inside: bool,
    is_at_desk: bool,
    is_ready: bool,
    /// When work began, in seconds.
    since: Option<i64>,
}

impl Office {
    pub(super) fn new(rules: &Rules, day: &WorkingDay, draw: &mut dyn Draw) -> Self {
        let vertex = match &rules.offices[..] {
            [] => {
                let vertices = day.map.vertex_count();
                draw.below(vertices - 1) / (vertices / rules.count.min(vertices))
            }
            offices => offices[draw.below(offices.len() as u32) as usize],
        };
        let desk = rules.place(day, vertex, draw);
        let (is_inside, is_at_desk, is_ready, since) = (false, false, false, None);
        Self { vertex, desk, at: vertex, is_inside, is_at_desk, is_ready, since }
    }
    pub(super) fn enter(&mut self, at: u32) {
        (self.at, self.since) = (at, None);
        (self.is_inside, self.is_ready) = (false, false);
    }
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }
    pub(super) fn depart(&mut self, day: &WorkingDay, turn: &mut Turn, path: &mut Vec<Point>) -> Going {
        if !self.is_inside {
            let speed = turn.draw.within(day.speed_m_per_s);
            day.walk(self.at, self.vertex, path);
            self.at = self.vertex;
            self.is_inside = true;
            return Going::Go(speed);
        }
        let now = turn.second();
        let since = *self.since.get_or_insert(now);
        path.push(if now - since >= day.office.work_s {
            self.is_ready = true;
            day.map.point(self.vertex)
        } else {
            self.is_at_desk = !self.is_at_desk;
            if self.is_at_desk { self.desk } else { day.office.place(day, self.vertex, turn.draw) }
        });
        Going::Go(INDOORS_M_PER_S)
    }
    /// Before work has begun, The ONE takes it to have begun a second before the start of the run: the pause at the door
    /// has length zero on most days.
    pub(super) fn pause_s(&self, rules: &Rules, turn: &mut Turn) -> f64 {
        let left = rules.work_s - (turn.second() - self.since.unwrap_or(-1));
        let pause_s = rules.draw_pause_s(turn.draw).min(left).max(0) as f64;
        // Time must pass: in so small an office moving takes none.
        if rules.size_m < 1.0 { pause_s.max(1.0) } else { pause_s }
    }
}

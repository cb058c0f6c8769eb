//! A fleet in motion: legs made one at a time.

use super::clock::Clock;
use super::draws::Sources;
use super::{Fleet, Leg, MobilityError, Model, Motion, Point, Spot};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A [`Fleet`] in motion.
#[derive(Debug)]
pub struct Walk {
    models: Vec<Arc<dyn Model>>,
    sources: Sources,
    clock: Option<Clock>,
    nodes: Vec<Node>,
}

/// What one node is doing.
#[derive(Debug)]
struct Node {
    model: u32,
    /// When the next leg starts; exact motion only.
    now: Instant,
    /// The step with which the next leg starts; motion in ticks only.
    step: i64,
    at: Point,
    spot: Spot,
    /// Points still ahead, the next one last.
    path: Vec<Point>,
    speed_m_per_s: f64,
    rest: Rest,
    /// A leg that the warm-up has made already.
    ready: Option<Leg>,
}

/// How far a node is with its pause.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    /// Not at rest: it has a path.
    None,
    /// It will rest for this number of seconds, known since the start.
    Known(f64),
    /// It rests until the clock shows this time in seconds; motion in ticks only.
    Until(f64),
    /// The pause is over: it departs next.
    Over,
}

impl Walk {
    pub(super) fn new(fleet: &Fleet) -> Result<Self, MobilityError> {
        let count = fleet.node_count()?;
        if fleet.warmup < Duration::ZERO {
            let seconds = fleet.warmup.as_secs_f64();
            return Err(MobilityError::Time { what: "warmup", seconds, right: "0 or more" });
        }
        for group in &fleet.groups {
            group.model.check(group.count)?;
        }
        let clock = fleet.tick.map(|tick| Clock::new(tick, fleet.warmup, &fleet.clock_stops)).transpose()?;
        let models = fleet.groups.iter().map(|group| Arc::clone(&group.model)).collect();
        let nodes = Vec::with_capacity(count as usize);
        let mut walk = Self { models, sources: Sources::new(fleet.draws, count), clock, nodes };
        for (model, group) in fleet.groups.iter().enumerate() {
            for index in 0..group.count {
                walk.begin(model as u32, index, fleet.warmup);
            }
        }
        walk.warm_up();
        Ok(walk)
    }

    fn begin(&mut self, model: u32, index: u32, warmup: Duration) {
        let mut path = Vec::new();
        let draw = self.sources.of(self.nodes.len());
        let begin = self.models[model as usize].begin(index, draw, &mut path);
        path.reverse();
        self.nodes.push(Node {
            model,
            now: Instant::ZERO - warmup,
            step: self.clock.as_ref().map_or(0, Clock::first_step),
            at: begin.at,
            spot: begin.spot,
            path,
            speed_m_per_s: begin.under_way.unwrap_or(0.0),
            rest: Rest::Known(begin.pause_s),
            ready: None,
        });
        if let (Some(clock), None, Some(node)) = (&mut self.clock, begin.under_way, self.nodes.last_mut()) {
            node.rest = Rest::Until(clock.reading(node.step) + begin.pause_s);
        }
    }

    /// Runs all nodes up to zero, and keeps of each the leg that reaches beyond.
    fn warm_up(&mut self) {
        let start = |node: &Node, clock: &Option<Clock>| match clock {
            Some(clock) => clock.tick(node.step),
            None => node.now,
        };
        let mut due: BinaryHeap<_> =
            self.nodes.iter().enumerate().map(|(n, node)| Reverse((start(node, &self.clock), n))).collect();
        while let Some(Reverse((_, n))) = due.pop() {
            let leg = self.make_leg(n);
            if leg.end > Instant::ZERO {
                let from = leg.at(Instant::ZERO);
                self.nodes[n].ready = Some(Leg { start: Instant::ZERO, from, ..leg });
            } else {
                due.push(Reverse((leg.end, n)));
            }
        }
    }

    fn make_leg(&mut self, n: usize) -> Leg {
        let node = &mut self.nodes[n];
        let model = &*self.models[node.model as usize];
        let draw = self.sources.of(n);
        match &mut self.clock {
            None => node.exact_leg(model, draw),
            Some(clock) => node.ticked_leg(model, draw, clock),
        }
    }
}

impl Motion for Walk {
    fn node_count(&self) -> u32 {
        self.nodes.len() as u32
    }
    fn bounds(&self) -> (Point, Point) {
        let all = self.models.iter().map(|model| model.bounds());
        all.reduce(|(a, b), (c, d)| {
            (Point::new(a.x.min(c.x), a.y.min(c.y)), Point::new(b.x.max(d.x), b.y.max(d.y)))
        })
        .unwrap_or_default()
    }
    fn next_leg(&mut self, node: NodeId) -> Leg {
        let n = node.0 as usize;
        match self.nodes[n].ready.take() {
            Some(leg) => leg,
            None => self.make_leg(n),
        }
    }
}

impl Node {
    fn depart(&mut self, model: &dyn Model, draw: &mut dyn super::Draw) {
        let journey = model.depart(self.spot, draw, &mut self.path);
        self.path.reverse();
        self.speed_m_per_s = journey.speed_m_per_s;
        self.spot = journey.to;
        self.rest = Rest::None;
    }

    fn exact_leg(&mut self, model: &dyn Model, draw: &mut dyn super::Draw) -> Leg {
        loop {
            let (from, start) = (self.at, self.now);
            let seconds = if let Some(to) = self.path.pop() {
                self.at = to;
                from.distance(to) / self.speed_m_per_s
            } else {
                match self.rest {
                    Rest::None => {
                        self.rest = Rest::Over;
                        model.pause_s(self.spot, draw)
                    }
                    Rest::Known(pause_s) => {
                        self.rest = Rest::Over;
                        pause_s
                    }
                    Rest::Over | Rest::Until(_) => {
                        self.depart(model, draw);
                        continue;
                    }
                }
            };
            self.now = start.saturating_add(Duration::from_secs_f64(seconds));
            if self.now > start {
                return Leg { start, end: self.now, from, to: self.at };
            }
            // Shorter than a nanosecond: the next leg begins where the last one ended.
            self.at = from;
        }
    }

    fn ticked_leg(&mut self, model: &dyn Model, draw: &mut dyn super::Draw, clock: &mut Clock) -> Leg {
        loop {
            if !self.path.is_empty() {
                return self.ticked_motion(model, draw, clock);
            }
            match self.rest {
                Rest::Until(until_s) => {
                    self.rest = Rest::Over;
                    let start = clock.tick(self.step);
                    let Some(step) = clock.first_step_at(self.step, until_s) else {
                        return Leg { start, end: Instant::MAX, from: self.at, to: self.at };
                    };
                    if step > self.step {
                        self.step = step;
                        return Leg { start, end: clock.tick(step), from: self.at, to: self.at };
                    }
                }
                _ => {
                    self.depart(model, draw);
                    // A journey to where the node stands: it has arrived within this step.
                    if self.path.is_empty() {
                        self.path.push(self.at);
                    }
                }
            }
        }
    }

    /// One leg of motion: all steps that end before the next point, or the one that reaches it.
    fn ticked_motion(&mut self, model: &dyn Model, draw: &mut dyn super::Draw, clock: &mut Clock) -> Leg {
        let (from, step) = (self.at, self.step);
        let ahead_m = self.path.last().map_or(0.0, |next| from.distance(*next));
        let per_step_m = self.speed_m_per_s * clock.length_s(step);
        // An `f64` too large for the cast saturates; a speed of zero never arrives.
        let whole = ((ahead_m / per_step_m).ceil() as i64).saturating_sub(1).min(clock.full_steps(step));
        let steps = whole.max(1);
        let mut left_m = per_step_m * steps as f64;
        self.step = step.saturating_add(steps);
        let arrived = self.advance(&mut left_m);
        if arrived {
            let pause_s = match self.rest {
                Rest::Known(pause_s) => pause_s,
                _ => model.pause_s(self.spot, draw),
            };
            self.rest = Rest::Until(clock.reading_in_motion(step) + pause_s);
        }
        Leg { start: clock.tick(step), end: clock.tick(self.step), from, to: self.at }
    }

    /// Moves along the path; true if its end is reached, and what is left of the motion is lost.
    fn advance(&mut self, left_m: &mut f64) -> bool {
        while let Some(&next) = self.path.last() {
            let ahead_m = self.at.distance(next);
            if *left_m < ahead_m {
                self.at = self.at.toward(next, *left_m / ahead_m);
                return false;
            }
            *left_m -= ahead_m;
            self.at = next;
            self.path.pop();
        }
        true
    }
}

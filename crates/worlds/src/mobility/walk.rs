//! A fleet in motion: legs made one at a time.
//!
//! Where nodes depend on each other, when a node stops waiting is decided by what another one does later. All nodes are
//! then moved in the order of time up to that moment, at most [`AHEAD`] beyond the leg that is asked for, and the legs
//! that they make are kept.

use super::clock::Clock;
use super::draws::Sources;
use super::guide::Guide;
use super::node::{Node, Rules};
use super::together::{Member, Systems};
use super::{Fleet, Leg, MobilityError, Model, Motion, MoveTimes, Point, Track};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// How far nodes are moved ahead to see whether one of them still waits. Waiting takes a leg each time.
const AHEAD: Duration = Duration::from_secs(60);

/// A [`Fleet`] in motion.
#[derive(Debug)]
pub struct Walk {
    groups: Vec<(Arc<dyn Model>, MoveTimes)>,
    sources: Sources,
    clock: Option<Clock>,
    nodes: Vec<Node>,
    /// All the motion of those nodes whose motion is recorded.
    tracks: Vec<Option<Track>>,
    together: Option<Together>,
}

/// Nodes that depend on each other.
#[derive(Debug, Default)]
struct Together {
    /// The state machines of the nodes that have one.
    members: Vec<Option<Box<dyn Member>>>,
    systems: Systems,
    /// When the next leg of each node starts, unless it waits for others.
    due: BinaryHeap<Reverse<(Instant, u32)>>,
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
        let groups = fleet.groups.iter().map(|group| (group.model.clone(), group.times.clone())).collect();
        let nodes = Vec::with_capacity(count as usize);
        let depend = fleet.groups.iter().any(|group| group.model.shared().is_some());
        let together = depend.then(Together::default);
        let (sources, tracks) = (Sources::new(fleet.draws, count), Vec::with_capacity(count as usize));
        let mut walk = Self { groups, sources, clock, nodes, tracks, together };
        walk.begin(fleet);
        if walk.together.is_none() {
            walk.warm_up();
        }
        Ok(walk)
    }

    fn begin(&mut self, fleet: &Fleet) {
        let start = Instant::ZERO - fleet.warmup;
        if let Some(Together { systems, .. }) = &mut self.together {
            fleet.groups.iter().filter_map(|group| group.model.shared()).for_each(|s| s.announce(systems));
        }
        for (number, group) in fleet.groups.iter().enumerate() {
            if let (Some(together), Some(shared)) = (&mut self.together, group.model.shared()) {
                shared.prototype(&mut together.systems, self.sources.of_prototype());
            }
            for index in 0..group.count {
                let (n, mut path) = (self.nodes.len(), Vec::new());
                let draw = self.sources.of(n);
                let mut own = None;
                let begin = match (&mut self.together, group.model.shared()) {
                    (Some(Together { systems, .. }), Some(shared)) => {
                        let (member, begin) = shared.join(n as u32, index, systems, draw);
                        own = Some(member);
                        begin
                    }
                    _ => group.model.begin(index, draw, &mut path),
                };
                self.nodes.push(Node::new(number as u32, start, self.clock.as_mut(), &begin, path));
                self.tracks.push(group.model.track(index));
                if let Some(together) = &mut self.together {
                    together.members.push(own);
                }
            }
        }
        let due: Vec<_> = self.moving().map(|n| Reverse((self.next_start(n), n as u32))).collect();
        if let Some(together) = &mut self.together {
            together.due = due.into();
        }
    }

    /// The nodes that decide where they go. What is recorded begins at zero.
    fn moving(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&n| self.tracks[n].is_none())
    }

    /// When the next leg of a node starts that is not at rest for others.
    fn next_start(&self, n: usize) -> Instant {
        let node = &self.nodes[n];
        self.clock.as_ref().map_or(node.now, |clock| clock.tick(node.step))
    }

    /// Runs all nodes up to zero, and keeps of each the leg that reaches beyond.
    fn warm_up(&mut self) {
        let mut due: BinaryHeap<_> = self.moving().map(|n| Reverse((self.next_start(n), n))).collect();
        while let Some(Reverse((_, n))) = due.pop() {
            let leg = self.make_leg(n).unwrap_or_else(|| unreachable!("nodes on their own never wait"));
            if leg.end > Instant::ZERO {
                self.nodes[n].keep(leg);
            } else {
                due.push(Reverse((leg.end, n)));
            }
        }
    }

    /// The next leg of a node; `None` if it rests until another node wakes it.
    fn make_leg(&mut self, n: usize) -> Option<Leg> {
        let node = &mut self.nodes[n];
        let (model, times) = &self.groups[node.group as usize];
        let guide = match &mut self.together {
            Some(Together { members, systems, .. }) => match &mut members[n] {
                Some(member) => Guide::Member(&mut **member, systems),
                None => Guide::Model(&**model),
            },
            None => Guide::Model(&**model),
        };
        node.make_leg(&mut Rules { guide, times, draw: self.sources.of(n) }, self.clock.as_mut())
    }

    /// Moves the node whose turn it is, and wakes those that need not wait any longer.
    fn advance(&mut self) {
        let Some(Reverse((now, turn))) = self.together.as_mut().and_then(|together| together.due.pop())
        else {
            return;
        };
        let n = turn as usize;
        let step = self.nodes[n].step;
        let leg = self.make_leg(n);
        let Some(together) = &mut self.together else { return };
        match leg {
            Some(leg) => {
                self.nodes[n].keep(leg);
                if leg.end < Instant::MAX {
                    together.due.push(Reverse((leg.end, turn)));
                }
            }
            None => self.nodes[n].waits = Some(now),
        }
        for woken in together.systems.take_woken() {
            let node = &mut self.nodes[woken as usize];
            let Some(since) = node.waits.take() else { continue };
            // In a tick nodes move by number: a node that has moved in this one already moves again in the next.
            let at = match &self.clock {
                Some(clock) => {
                    node.step = step + i64::from(woken < turn);
                    clock.tick(node.step)
                }
                None => {
                    node.now = now;
                    now
                }
            };
            node.keep_rest(since, at);
            together.due.push(Reverse((at, woken)));
        }
    }

    /// Moves nodes until the next leg of this one is known. One that waits for others rests at least until the next of
    /// them moves; that is a leg if it is long enough.
    fn prepare(&mut self, n: usize) {
        let Some(together) = &self.together else {
            if let Some(leg) = self.make_leg(n) {
                self.nodes[n].ready.push_back(leg);
            }
            return;
        };
        let next = together.due.peek().map_or(Instant::MAX, |Reverse((next, _))| *next);
        let node = &mut self.nodes[n];
        match node.waits {
            Some(since) if next >= since.saturating_add(AHEAD) => {
                node.keep_rest(since, next);
                node.waits = Some(next);
            }
            _ => self.advance(),
        }
    }
}

impl Motion for Walk {
    fn node_count(&self) -> u32 {
        self.nodes.len() as u32
    }
    fn bounds(&self) -> (Point, Point) {
        let all = self.groups.iter().map(|(model, _)| model.bounds());
        all.reduce(|(a, b), (c, d)| {
            (Point::new(a.x.min(c.x), a.y.min(c.y)), Point::new(b.x.max(d.x), b.y.max(d.y)))
        })
        .unwrap_or_default()
    }
    fn next_leg(&mut self, node: NodeId) -> Leg {
        let n = node.0 as usize;
        if let Some(track) = &mut self.tracks[n] {
            return track.next_leg();
        }
        loop {
            if let Some(leg) = self.nodes[n].ready.pop_front() {
                return leg;
            }
            self.prepare(n);
        }
    }
}

//! Where nodes are, at regular instants of a run.

use crate::metrics::the_one::Places;
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::BundleNetwork;
use lightlag_worlds::mobility::{Leg, Motion, Point, Walk};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The motion of a run, computed a second time: the contacts of the run may come from a cache.
pub struct Positions {
    walk: Walk,
    legs: Vec<Leg>,
    /// Ends of legs, the earliest first, as sources of legs demand.
    due: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Whether each node moves, or at least has a place.
    placed: Vec<bool>,
    every: Duration,
    next: Instant,
}

impl Positions {
    /// From the start of the run on, every `every`.
    pub fn new(network: &BundleNetwork, mut walk: Walk, every: Duration) -> Self {
        let groups = network.groups.iter();
        let placed =
            groups.flat_map(|group| std::iter::repeat_n(group.mobility.is_some(), group.nodes.len()));
        let legs: Vec<Leg> = (0..walk.node_count()).map(|node| walk.next_leg(NodeId(node))).collect();
        let due = legs.iter().zip(0..).map(|(leg, node)| Reverse((leg.end, node))).collect();
        Self { walk, legs, due, placed: placed.collect(), every, next: Instant::ZERO }
    }
    /// Gives `put` the positions up to and including `now` that it has not been given.
    pub fn until(&mut self, now: Instant, mut put: impl FnMut(Instant, &Record)) {
        while self.next <= now {
            let at = self.next;
            self.advance(at);
            let legs = self.legs.iter().zip(&self.placed).zip(0..);
            for ((leg, _), node) in legs.filter(|((_, placed), _)| **placed) {
                let point = leg.at(at);
                put(at, &Record::Position { node: NodeId(node), x_m: point.x, y_m: point.y });
            }
            self.next = at.saturating_add(self.every);
        }
    }
    /// Takes all nodes to the legs on which they are at `at`.
    fn advance(&mut self, at: Instant) {
        while let Some(&Reverse((end, node))) = self.due.peek()
            && end <= at
        {
            let leg = self.walk.next_leg(NodeId(node));
            self.due.pop();
            self.due.push(Reverse((leg.end, node)));
            self.legs[node as usize] = leg;
        }
    }
}

impl Places for Positions {
    fn place(&mut self, now: Instant, node: NodeId) -> Point {
        self.advance(now);
        self.legs.get(node.0 as usize).map(|leg| leg.at(now)).unwrap_or_default()
    }
}

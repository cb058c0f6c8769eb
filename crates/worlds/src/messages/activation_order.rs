//! In which order the nodes that can act at an instant do so: a random order, drawn for each instant, or that of their numbers.
//!
//! The ONE updates all hosts in a shuffled order at every tick. Here only nodes whose situation has changed
//! are activated. A node that has acted and could act again waits for the next tick if the world has ticks;
//! otherwise it is activated again at the same instant.

use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::rng::mix;
use lightlag_protocols::time::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes that act at this instant, and those that wait for the next tick.
pub(super) struct ActivationOrder {
    seed: u64,
    tick: Option<Duration>,
    by_number: bool,
    now: Instant,
    /// The node that acted last at this instant.
    last: Option<NodeId>,
    /// By priority of this instant.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    state: Vec<State>,
    /// Woken after their activation: they act at the next tick.
    next: Vec<u32>,
}

#[derive(Clone, Copy)]
struct State {
    queued: bool,
    queued_next: bool,
    acted: Instant,
}

impl ActivationOrder {
    pub fn new(seed: u64, nodes: usize, tick: Option<Duration>, by_number: bool) -> Self {
        let fresh = State { queued: false, queued_next: false, acted: Instant::from_nanos(-1) };
        Self {
            seed: mix(seed ^ 0x7475_726e),
            tick,
            by_number,
            now: Instant::ZERO,
            last: None,
            queue: BinaryHeap::new(),
            state: vec![fresh; nodes],
            next: Vec::new(),
        }
    }
    /// When the nodes that wait for the next tick want to act.
    pub fn next_at(&self) -> Instant {
        match self.tick {
            Some(tick) if !self.next.is_empty() => (self.now + Duration::from_nanos(1)).round_up(tick),
            _ => Instant::MAX,
        }
    }
    /// A new instant begins.
    pub fn begin(&mut self, now: Instant) {
        self.now = now;
        self.last = None;
        for node in std::mem::take(&mut self.next) {
            self.state[node as usize].queued_next = false;
            self.wake(NodeId(node));
        }
    }
    /// `node` may be able to do something.
    #[inline]
    pub fn wake(&mut self, node: NodeId) {
        let state = &mut self.state[node.0 as usize];
        if state.queued {
            return;
        }
        // In the order of numbers a node whose turn is over waits as well.
        let is_over =
            state.acted == self.now || (self.by_number && self.last.is_some_and(|last| node < last));
        if self.tick.is_some() && is_over {
            if !state.queued_next {
                state.queued_next = true;
                self.next.push(node.0);
            }
            return;
        }
        state.queued = true;
        let drawn = mix(self.seed ^ (self.now.as_nanos() as u64) ^ (u64::from(node.0) << 40));
        let priority = if self.by_number { 0 } else { drawn };
        self.queue.push(Reverse((priority, node.0)));
    }
    /// The node that acts next at this instant.
    #[inline]
    pub fn take(&mut self) -> Option<NodeId> {
        let Reverse((_, node)) = self.queue.pop()?;
        let state = &mut self.state[node as usize];
        state.queued = false;
        state.acted = self.now;
        self.last = Some(NodeId(node));
        Some(NodeId(node))
    }
}

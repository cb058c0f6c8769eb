//! All nodes of a world and the rules by which they move.

use super::{Draws, Leg, MobilityError, Model, Motion, MoveTimes, Walk};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::time::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Nodes that move by the same model. They are numbered on from the group before.
#[derive(Clone, Debug)]
pub struct Group {
    /// How many nodes.
    pub count: u32,
    /// How they move.
    pub model: Arc<dyn Model>,
    /// When they move.
    pub times: MoveTimes,
}

/// A description of the motion of all nodes; [`Fleet::walk`] sets them in motion.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The groups, in the order in which nodes are numbered.
    pub groups: Vec<Group>,
    /// Where chance comes from.
    pub draws: Draws,
    /// With a tick, nodes move as in The ONE (since its change of 2018 that starts every journey with
    /// its own speed): journeys and pauses begin at ticks, what is left of a tick at the end of a
    /// journey is lost, and a pause counts from the start of the tick in which the node arrives. Only
    /// positions at ticks are meant: in a tick in which a road bends the leg cuts the corner. Without
    /// a tick, motion is exact to the nanosecond.
    pub tick: Option<Duration>,
    /// How long nodes move before t = 0.
    pub warmup: Duration,
    /// With a tick: moments of other events (in The ONE, the creation of messages). Its clock stands
    /// at the last of them while the nodes move in that tick, which can end a pause one tick
    /// earlier. Empty is right for everything but a replay of The ONE.
    pub clock_stops: Vec<Instant>,
}

impl Group {
    /// Nodes that move all the time.
    pub fn new(count: u32, model: Arc<dyn Model>) -> Self {
        Self { count, model, times: MoveTimes::Always }
    }
}

impl Fleet {
    /// Exact motion without warm-up, each node with its own stream.
    pub fn new(groups: Vec<Group>, seed: u64) -> Self {
        let draws = Draws::PerNode { seed };
        Self { groups, draws, tick: None, warmup: Duration::ZERO, clock_stops: Vec::new() }
    }
    /// How many nodes there are.
    ///
    /// # Errors
    /// If they are too many to be numbered.
    pub fn node_count(&self) -> Result<u32, MobilityError> {
        let count: u64 = self.groups.iter().map(|group| u64::from(group.count)).sum();
        u32::try_from(count).map_err(|_| MobilityError::TooManyNodes(count))
    }
    /// Sets the nodes in motion, at t = 0 after the warm-up.
    ///
    /// # Errors
    /// If a parameter is not sound.
    pub fn walk(&self) -> Result<Walk, MobilityError> {
        Walk::new(self)
    }
    /// All legs of each node from zero to `until`; the last one is not cut off.
    ///
    /// # Errors
    /// If a parameter is not sound.
    pub fn legs(&self, until: Instant) -> Result<Vec<Vec<Leg>>, MobilityError> {
        let mut walk = self.walk()?;
        let mut legs = vec![Vec::new(); walk.node_count() as usize];
        let mut due: BinaryHeap<_> = (0..walk.node_count()).map(|n| Reverse((Instant::ZERO, n))).collect();
        while let Some(Reverse((start, node))) = due.pop() {
            if start >= until {
                break;
            }
            let leg = walk.next_leg(NodeId(node));
            legs[node as usize].push(leg);
            due.push(Reverse((leg.end, node)));
        }
        Ok(legs)
    }
}

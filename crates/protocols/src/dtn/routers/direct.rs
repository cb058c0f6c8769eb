//! Direct delivery: the source keeps its bundle until it meets the destination.

use crate::dtn::{Entry, Local, NodeId, Replica, Router};

/// Never gives a copy away; the agent delivers to destinations by itself.
pub struct Direct;

/// How the rest of the system knows it.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "direct",
    paper: "Spyropoulos, Psounis, Raghavendra: Single-copy routing in intermittently connected mobile networks, 2004",
    parameters: &[],
    only_with: &[],
    build: |_, _| Box::new(Direct),
};

impl Router for Direct {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        None
    }
    fn single_copy_phase(&self) -> bool {
        true
    }
}

//! Direct delivery: the source keeps its bundle until it meets the destination.

use crate::dtn::{Entry, Local, NodeId, Replica, Router, RouterProperties};

/// Never gives a copy away; the agent delivers to destinations by itself.
pub struct Direct;

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "direct",
    paper: "Spyropoulos, Psounis, Raghavendra: Single-copy routing in intermittently connected mobile networks, 2004",
    parameters: &[],
    only_with: &[],
    properties: |_, _| RouterProperties { single_copy_phase: true, ..RouterProperties::NONE },
    build: |_, _| Box::new(Direct),
};

impl Router for Direct {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        None
    }
}

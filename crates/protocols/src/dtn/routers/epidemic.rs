//! Epidemic routing: every encounter gets a copy of everything that it does not hold.

use crate::dtn::{Entry, Local, NodeId, Replica, Router, RouterProperties};

/// Gives a copy to every peer without one.
pub struct Epidemic;

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "epidemic",
    paper: "Vahdat, Becker: Epidemic routing for partially-connected ad hoc networks, Duke CS-2000-06, 2000",
    parameters: &[],
    only_with: &[],
    properties: |_, _| RouterProperties::NONE,
    build: |_, _| Box::new(Epidemic),
};

impl Router for Epidemic {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        Some(0.0)
    }
}

//! Passive: stores what it is given and sends nothing, not even to the destination.

use crate::dtn::{Entry, Local, NodeId, Replica, Router, RouterProperties};

/// Never offers a copy, and gives up none.
pub struct Passive;

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "passive",
    paper: "Keränen, Ott, Kärkkäinen: The ONE simulator for DTN protocol evaluation, SIMUTools 2009",
    parameters: &[],
    only_with: &[],
    properties: |_, _| RouterProperties { keeps_expired: true, picks_victim: true, ..RouterProperties::NONE },
    build: |_, _| Box::new(Passive),
};

impl Router for Passive {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        None
    }
    fn delivers(&self, _: &Local, _: &Replica, _: NodeId) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place, store_of};

    #[test]
    fn nothing_leaves_and_nothing_is_dropped() {
        let store = store_of([copy(1, 100)]);
        let (at, replica) = (place(&store, 0, 1.0), copy(1, 100));
        assert_eq!(Passive.score(&at, &replica, NodeId(1)), None);
        assert!(!Passive.delivers(&at, &replica, replica.bundle.destination));
        assert_eq!(Passive.victim(&at), None);
    }
}

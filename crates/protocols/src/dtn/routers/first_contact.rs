//! First contact: one copy, handed to the first peer that has not had it.

use crate::dtn::{AfterTransfer, Entry, Local, NodeId, Offer, Refusal, Replica, Router, RouterProperties};

/// Hands its only copy on; a node where the bundle has been refuses it.
pub struct FirstContact;

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "first_contact",
    paper: "Jain, Fall, Patra: Routing in a delay tolerant network, SIGCOMM 2004",
    parameters: &[],
    only_with: &[],
    properties: |_, _| RouterProperties { counts_copies: true, records_path: true, ..RouterProperties::NONE },
    build: |_, _| Box::new(FirstContact),
};

impl Router for FirstContact {
    fn score(&self, _: &Local, _: &Replica, _: NodeId) -> Option<f64> {
        Some(0.0)
    }
    /// Without this rule two neighbours would pass a bundle to and fro for as long as they meet.
    fn accept(&mut self, at: &Local, offer: &Offer) -> Result<(), Refusal> {
        if offer.replica.path.contains(at.node) { Err(Refusal::Routing) } else { Ok(()) }
    }
    fn on_sent(&mut self, _: &Local, _: &mut Replica, _: NodeId, _: bool) -> AfterTransfer {
        AfterTransfer::GiveUp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place};
    use crate::dtn::{Path, Store};
    use crate::units::Bytes;

    #[test]
    fn a_node_refuses_what_has_been_there_and_the_giver_keeps_nothing() {
        let store = Store::new(Bytes(1000));
        let mut replica = Replica { path: Path::default().then(NodeId(1)).then(NodeId(2)), ..copy(7, 100) };
        let mut router = FirstContact;
        for (node, expected) in [(1, Err(Refusal::Routing)), (2, Err(Refusal::Routing)), (3, Ok(()))] {
            let offer = Offer { replica: &replica, from: NodeId(2) };
            assert_eq!(router.accept(&place(&store, node, 0.0), &offer), expected);
        }
        let after = router.on_sent(&place(&store, 2, 0.0), &mut replica, NodeId(3), false);
        assert_eq!(after, AfterTransfer::GiveUp);
    }
}

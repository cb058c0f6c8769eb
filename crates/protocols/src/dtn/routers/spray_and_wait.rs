//! Spray and wait: a bounded number of copies, then each waits for the destination.

use crate::dtn::{AfterTransfer, Entry, Local, NodeId, Parameter, Replica, Router, RouterProperties};

/// The copies that a replica may still hand out are its router mark, itself included.
pub struct SprayAndWait {
    copies: u64,
    binary: bool,
}

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "spray_and_wait",
    paper: "Spyropoulos, Psounis, Raghavendra: Spray and wait, WDTN 2005",
    parameters: &[
        Parameter::integer(
            "copies",
            10.0,
            (1.0, 1e6),
            "copies of a bundle in the network, the source's included",
        ),
        Parameter::word(
            "mode",
            &["binary", "source"],
            "binary: half of the copies go to each peer; source: the source alone hands out, one each",
        ),
    ],
    only_with: &[],
    properties: |_, _| RouterProperties {
        counts_copies: true,
        single_copy_phase: true,
        ..RouterProperties::NONE
    },
    build: |given, _| {
        Box::new(SprayAndWait {
            copies: given.number("copies") as u64,
            binary: given.word("mode") == "binary",
        })
    },
};

impl SprayAndWait {
    fn share(&self, mark: u64) -> u64 {
        // Deliveries are halved as well; a last copy is handed over whole.
        if self.binary { (mark / 2).max(1) } else { 1 }
    }
}

impl Router for SprayAndWait {
    fn score(&self, _: &Local, replica: &Replica, _: NodeId) -> Option<f64> {
        (replica.router_mark > 1).then_some(0.0)
    }
    fn on_created(&mut self, _: &Local, replica: &mut Replica) {
        replica.router_mark = self.copies;
    }
    fn mark_for_peer(&self, replica: &Replica) -> u64 {
        self.share(replica.router_mark)
    }
    fn on_sent(&mut self, _: &Local, replica: &mut Replica, _: NodeId, _: bool) -> AfterTransfer {
        replica.router_mark = replica.router_mark.saturating_sub(self.share(replica.router_mark)).max(1);
        AfterTransfer::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{built, copy, place, store_of};

    /// The peer's and the sender's copies after one transfer.
    fn shared(mode: &str, copies: u64, delivered: bool) -> (u64, u64) {
        let store = store_of([]);
        let mut router = built(&ENTRY, &[("mode", mode.into())]);
        let mut replica = Replica { router_mark: copies, ..copy(1, 100) };
        let given = router.mark_for_peer(&replica);
        router.on_sent(&place(&store, 0, 0.0), &mut replica, NodeId(1), delivered);
        (given, replica.router_mark)
    }

    #[test]
    fn the_peer_gets_the_lesser_half_or_one_and_nothing_is_lost() {
        assert_eq!(shared("binary", 10, false), (5, 5));
        assert_eq!(shared("binary", 7, false), (3, 4));
        assert_eq!(shared("binary", 2, false), (1, 1));
        assert_eq!(shared("source", 10, false), (1, 9));
        assert_eq!(shared("binary", 10, true), (5, 5), "a delivery is shared as well");
    }

    #[test]
    fn a_last_copy_waits_for_the_destination() {
        let store = store_of([]);
        let router = built(&ENTRY, &[]);
        let at = place(&store, 0, 0.0);
        let score = |mark| router.score(&at, &Replica { router_mark: mark, ..copy(1, 100) }, NodeId(1));
        assert_eq!((score(1), score(2)), (None, Some(0.0)));
    }

    #[test]
    fn a_new_bundle_has_all_copies() {
        let store = store_of([]);
        let mut replica = copy(1, 100);
        built(&ENTRY, &[("copies", 4.0.into())]).on_created(&place(&store, 0, 0.0), &mut replica);
        assert_eq!(replica.router_mark, 4);
    }
}

//! Spray and wait: a bounded number of copies, then each waits for the destination.

use crate::dtn::{Entry, Fate, Local, NodeId, Parameter, Replica, Router};

/// The copies that a replica may still hand out are its router mark, itself included.
pub struct SprayAndWait {
    copies: u64,
    binary: bool,
}

/// How the rest of the system knows it.
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
    fn exclusive(&self) -> bool {
        true
    }
    fn on_created(&mut self, _: &Local, replica: &mut Replica) {
        replica.router_mark = self.copies;
    }
    fn mark_for_peer(&self, replica: &Replica) -> u64 {
        self.share(replica.router_mark)
    }
    fn on_sent(&mut self, _: &Local, replica: &mut Replica, _: NodeId, _: bool) -> Fate {
        replica.router_mark = replica.router_mark.saturating_sub(self.share(replica.router_mark)).max(1);
        Fate::Keep
    }
}

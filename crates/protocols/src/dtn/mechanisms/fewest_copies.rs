//! Keeps the bundles of which there are fewest copies around: the most copied one makes room, and nothing does for one
//! that has been copied more.
//!
//! Nobody can count the copies of a bundle in a network that is never connected. But who gives a copy away knows of one
//! more, and so does who gets it: a copy's mark is how often it was given away here, and `share` of what its giver knew.
//! With a share of 1 all copies would look alike after some hops, with 0 a copy would not know how many were made before
//! it came. What the node itself has to send counts `own` less: nobody else may have it.

use crate::dtn::{
    Bundle, BundleId, DropReason, Entry, IdSet, Local, Mechanism, NodeId, Observation, Offer, Parameter,
    Refusal, Replica, Room,
};
use std::collections::VecDeque;

/// A copy's mark is how often its bundle is known to have been copied.
pub struct FewestCopies {
    share: f64,
    own: f64,
    memory: usize,
    /// What was offered last, and its mark if it is taken.
    offered: Option<(BundleId, f64)>,
    dropped: IdSet,
    /// The dropped ones in order.
    order: VecDeque<BundleId>,
}

/// How the rest of the system knows it.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "fewest_copies",
    paper: "",
    parameters: &[
        Parameter::number(
            "share",
            "",
            0.3,
            (0.0, 1.0),
            "of the copies that the giver knows of, its own gift included, the new copy knows this share",
        ),
        Parameter::number(
            "own",
            "",
            1.0,
            (0.0, 1e9),
            "a bundle that was created here counts so many copies less",
        ),
        Parameter::integer(
            "memory",
            65_536.0,
            (0.0, 1e9),
            "bundles dropped here to make room that are not taken again, the newest",
        ),
    ],
    only_with: &[],
    build: |given, _| {
        Box::new(FewestCopies {
            share: given.number("share"),
            own: given.number("own"),
            memory: given.number("memory") as usize,
            offered: None,
            dropped: IdSet::default(),
            order: VecDeque::new(),
        })
    },
};

/// How often it is known to have been copied.
fn known(replica: &Replica) -> f64 {
    f64::from_bits(replica.mechanism_mark)
}

impl FewestCopies {
    /// What a copy knows that is given away now.
    fn told(&self, replica: &Replica) -> f64 {
        (known(replica) + 1.0) * self.share
    }
    fn copies(&self, at: &Local, bundle: &Bundle, known: f64) -> f64 {
        if bundle.source == at.node { known - self.own } else { known }
    }
    /// The idle copy of which there are most; of equals, the one that came first.
    fn most_copied(&self, at: &Local) -> Option<(f64, BundleId)> {
        let mut most: Option<(f64, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|replica| replica.sending == 0) {
            let copies = self.copies(at, &replica.bundle, known(replica));
            if most.is_none_or(|(other, _)| copies > other) {
                most = Some((copies, replica.bundle.id));
            }
        }
        most
    }
    /// How many copies there are of a bundle for which room is to be made.
    fn copies_of_incoming(&self, at: &Local, incoming: &Bundle) -> f64 {
        if incoming.destination == at.node {
            return f64::NEG_INFINITY;
        }
        let offered = self.offered.filter(|(id, _)| *id == incoming.id);
        self.copies(at, incoming, offered.map_or(0.0, |(_, known)| known))
    }
}

impl Mechanism for FewestCopies {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, _: Option<BundleId>) -> Room {
        let bound = self.copies_of_incoming(at, incoming);
        let victim = self.most_copied(at).filter(|(copies, _)| *copies > bound);
        victim.map_or(Room::Refuse, |(_, id)| Room::Drop(id))
    }
    fn admit(&mut self, at: &Local, offer: &Offer) -> Result<(), Refusal> {
        let bundle = offer.bundle();
        if self.dropped.contains(bundle.id.0) && bundle.destination != at.node {
            return Err(Refusal::DroppedBefore);
        }
        self.offered = Some((bundle.id, self.told(offer.replica)));
        Ok(())
    }
    fn mark_for_peer(&self, _: &Local, replica: &Replica) -> u64 {
        self.told(replica).to_bits()
    }
    fn on_created(&mut self, _: &Local, replica: &mut Replica) {
        replica.mechanism_mark = 0.0_f64.to_bits();
    }
    fn on_sent(&mut self, _: &Local, replica: &mut Replica, _: NodeId, _: bool) {
        replica.mechanism_mark = (known(replica) + 1.0).to_bits();
    }
    fn on_dropped(&mut self, _: &Local, bundle: &Bundle, reason: DropReason) {
        if reason != DropReason::Overflow || self.memory == 0 || !self.dropped.insert(bundle.id.0) {
            return;
        }
        self.order.push_back(bundle.id);
        if self.order.len() > self.memory {
            self.order.pop_front().map(|oldest| self.dropped.remove(oldest.0));
        }
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        let copies = at.store.replicas();
        let sum: f64 = copies.iter().map(known).sum();
        seen.push(("mean_known_copies", if copies.is_empty() { 0.0 } else { sum / copies.len() as f64 }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{built, copy, place, store_of};
    use proptest::prelude::*;

    fn copied(id: u32, times: f64) -> Replica {
        Replica { mechanism_mark: times.to_bits(), ..copy(id, 300) }
    }
    /// A node that is neither the source nor the destination of anything.
    const RELAY: u32 = 5;

    #[test]
    fn the_most_copied_bundle_makes_room_and_the_first_of_equals() {
        let store = store_of([copied(1, 1.0), copied(2, 4.0), copied(3, 4.0)]);
        let room = built(&ENTRY, &[]).make_room(&place(&store, RELAY, 0.0), &copy(9, 1).bundle, None);
        assert_eq!(room, Room::Drop(BundleId(2)));
    }

    #[test]
    fn nothing_makes_room_for_what_was_copied_as_often_but_at_its_destination() {
        let store = store_of([copied(1, 0.6), copied(2, 0.3)]);
        let mut mechanism = built(&ENTRY, &[]);
        let mut answer = |times: f64, node| {
            let (replica, at) = (copied(8, times), place(&store, node, 0.0));
            mechanism.admit(&at, &Offer { replica: &replica, from: NodeId(1) }).unwrap();
            mechanism.make_room(&at, &replica.bundle, None)
        };
        assert_eq!(answer(0.0, RELAY), Room::Drop(BundleId(1)), "it comes with 0.3");
        assert_eq!(answer(1.0, RELAY), Room::Refuse, "it comes with 0.6");
        assert_eq!(answer(1.0, 9), Room::Drop(BundleId(1)), "what has come to its destination is taken");
    }

    #[test]
    fn giver_and_taker_know_of_one_more_copy() {
        let store = store_of([]);
        let at = place(&store, 0, 0.0);
        let mut mechanism = built(&ENTRY, &[("share", 0.5.into())]);
        let mut replica = copied(1, 3.0);
        assert_eq!(f64::from_bits(mechanism.mark_for_peer(&at, &replica)), 2.0);
        mechanism.on_sent(&at, &mut replica, NodeId(1), false);
        assert_eq!(known(&replica), 4.0);
    }

    #[test]
    fn what_was_created_here_counts_less() {
        let store = store_of([copied(1, 1.5), Replica { received: copy(2, 1).received, ..copied(2, 1.0) }]);
        // Node 0 is the source of both; a new bundle of its own counts one less as well.
        let mut mechanism = built(&ENTRY, &[]);
        assert_eq!(
            mechanism.make_room(&place(&store, 0, 0.0), &copy(9, 1).bundle, None),
            Room::Drop(BundleId(1))
        );
        let untouched = store_of([copied(1, 0.0)]);
        assert_eq!(mechanism.make_room(&place(&untouched, 0, 0.0), &copy(9, 1).bundle, None), Room::Refuse);
    }

    #[test]
    fn what_was_dropped_to_make_room_is_not_taken_again_as_far_as_it_remembers() {
        let store = store_of([]);
        let mut mechanism = built(&ENTRY, &[("memory", 2.0.into())]);
        let at = place(&store, RELAY, 0.0);
        (1..4).for_each(|id| mechanism.on_dropped(&at, &copy(id, 1).bundle, DropReason::Overflow));
        let mut answer = |id| {
            let replica = copy(id, 1);
            mechanism.admit(&at, &Offer { replica: &replica, from: NodeId(0) })
        };
        assert_eq!((answer(1), answer(3)), (Ok(()), Err(Refusal::DroppedBefore)));
    }

    proptest! {
        #[test]
        fn a_full_buffer_always_has_an_answer(
            marks in prop::collection::vec((any::<u64>(), 0_u32..2), 1..20),
            offered: u64,
        ) {
            let copies = marks.iter().enumerate().map(|(id, (mark, sending))| Replica {
                mechanism_mark: *mark, sending: *sending, ..copy(id as u32, 50)
            });
            let store = store_of(copies);
            let at = place(&store, RELAY, 0.0);
            let mut mechanism = built(&ENTRY, &[]);
            let replica = Replica { mechanism_mark: offered, ..copy(99, 50) };
            mechanism.admit(&at, &Offer { replica: &replica, from: NodeId(0) }).unwrap();
            if let Room::Drop(id) = mechanism.make_room(&at, &replica.bundle, None) {
                prop_assert_eq!(store.get(id).map(|replica| replica.sending), Some(0));
            }
        }
    }
}

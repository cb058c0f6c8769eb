//! MaxProp: epidemic in an order of merit, with acknowledgements and its own order of dropping.

use crate::dtn::{
    AfterTransfer, BuildContext, Bundle, BundleId, Entry, IdSet, Local, NodeId, Parameter, Replica, Router,
    RouterEvent, RouterProperties, Table,
};
use crate::dtn::{Observation, Store};
use crate::time::Instant;
use estimates::Encounters;
use meetings::Meetings;
use std::cell::RefCell;

pub(super) mod estimates;
mod meetings;

/// Young copies go first, the others by the cost of the path from the peer to their destination.
pub struct MaxProp {
    meetings: RefCell<Meetings>,
    /// By peer: what was sent to it; it does not get that again.
    sent: Vec<IdSet>,
    acknowledged: IdSet,
    /// Acknowledged copies that are here and must be removed.
    to_remove: Vec<BundleId>,
    /// Peers in contact, and whether their state after the exchange has still to come.
    contacts: Vec<Contact>,
    samples: Vec<u64>,
    next_sample: usize,
    mean_contact_bytes: u64,
    threshold: RefCell<Threshold>,
    /// Estimates the weight of a meeting. A peer may then get again what was sent to it and is gone there.
    encounters: Option<Encounters>,
}

struct Contact {
    peer: NodeId,
    bytes: u64,
    exchanging: bool,
}

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "max_prop",
    paper: "Burgess, Gallagher, Jensen, Levine: MaxProp: routing for vehicle-based disruption-tolerant networks, INFOCOM 2006",
    parameters: &[
        Parameter::number(
            "alpha",
            "",
            1.0,
            (0.0, 1e6),
            "weight of a meeting against all earlier ones (Karvo, Ott 2008)",
        ),
        Parameter::integer(
            "probabilities",
            50.0,
            (2.0, 1e6),
            "size at which a node's set of meeting probabilities loses its least",
        ),
        SAMPLES,
    ],
    only_with: &[],
    properties: |_, _| PROPERTIES,
    build: |given, context| {
        let most = given.number("probabilities") as usize;
        Box::new(MaxProp::new(&context, given.number("alpha"), most, given.number("samples") as usize))
    },
};

pub(super) const SAMPLES: Parameter =
    Parameter::integer("samples", 10.0, (1.0, 1e6), "contacts over which transferred bytes are averaged");

pub(super) const PROPERTIES: RouterProperties =
    RouterProperties { ranked: true, records_path: true, fixed_state: true, ..RouterProperties::NONE };

// Scores order three classes of copies: those of few hops, those with a known path, the others.
const CLASS: f64 = 1e9;
/// Breaks ties between paths of equal cost: above the rounding of a sum of costs, below any difference
/// that means something.
const HOP: f64 = 1.0 / (1_u64 << 40) as f64;
/// The largest bundle number that a peer's acknowledgements are heard of: bounds the memory that a
/// peer can make us spend.
const LAST_ID: u64 = 1 << 24;

impl MaxProp {
    /// With the weight of a meeting, the size of its set of probabilities, and the contacts over which bytes are averaged.
    pub(super) fn new(context: &BuildContext, alpha: f64, most: usize, samples: usize) -> Self {
        Self {
            meetings: RefCell::new(Meetings::new(context.node, context.nodes, alpha, most)),
            sent: vec![IdSet::default(); context.nodes as usize],
            acknowledged: IdSet::default(),
            to_remove: Vec::new(),
            contacts: Vec::new(),
            samples: vec![0; samples],
            next_sample: 0,
            mean_contact_bytes: 0,
            threshold: RefCell::default(),
            encounters: None,
        }
    }
    /// The same, with an estimated weight of a meeting.
    pub(super) fn estimating(self, encounters: Encounters) -> Self {
        Self { encounters: Some(encounters), ..self }
    }
    fn merit(&self, store: &Store, replica: &Replica, from: NodeId) -> f64 {
        let hops = f64::from(replica.hops);
        if replica.hops < self.hop_threshold(store) {
            return CLASS - hops;
        }
        match self.meetings.borrow_mut().cost(from, replica.bundle.destination) {
            Some(cost) => -(cost + hops * HOP),
            None => -(CLASS + hops),
        }
    }
    fn hop_threshold(&self, store: &Store) -> u32 {
        self.threshold.borrow_mut().get(store, self.mean_contact_bytes)
    }
    /// Adopts the state of `peer`: acknowledgements, then meeting probabilities.
    fn learn(&mut self, at: &Local, peer: NodeId, told: &Table) {
        let meetings = self.meetings.get_mut();
        for (key, number) in told.iter() {
            match key >> 32 {
                0 if key < LAST_ID => {
                    self.acknowledged.insert(key as u32);
                }
                0 => {}
                owner => meetings.hear(owner - 1, key & 0xffff_ffff, number, peer),
            }
        }
        meetings.end_of_hearing();
        let known = &self.acknowledged;
        let here = at.store.replicas().iter().map(|r| r.bundle.id);
        self.to_remove.extend(here.filter(|id| known.contains(id.0)));
    }
    fn count_bytes(&mut self, peer: NodeId, bundle: &Bundle) {
        if let Some(contact) = self.contacts.iter_mut().find(|contact| contact.peer == peer) {
            contact.bytes = contact.bytes.saturating_add(bundle.size.get());
        }
    }
    fn sample(&mut self, bytes: u64) {
        self.samples[self.next_sample] = bytes;
        self.next_sample = (self.next_sample + 1) % self.samples.len();
        // Contacts in which nothing was sent say nothing of what could have been.
        let used = self.samples.iter().filter(|&&sample| sample > 0);
        let (sum, count) = used.fold((0_u64, 0), |(sum, count), &s| (sum.saturating_add(s), count + 1));
        self.mean_contact_bytes = sum.checked_div(count).unwrap_or(0);
    }
    fn on_contact_up(&mut self, at: &Local, peer: NodeId, state: Option<&Table>) {
        self.contacts.push(Contact { peer, bytes: 0, exchanging: true });
        if let Some(encounters) = &mut self.encounters
            && encounters.met(at.now, peer)
            && let Some(alpha) = encounters.max_prop(self.meetings.get_mut().alpha())
        {
            self.meetings.get_mut().set_alpha(alpha);
        }
        self.meetings.get_mut().met(peer, at.now);
        if let Some(state) = state {
            self.learn(at, peer, state);
        }
    }
    fn on_peer_state(&mut self, at: &Local, peer: NodeId, state: &Table) {
        // The initiator hears once more, of what the other end has become by the exchange.
        let Some(contact) = self.contacts.iter_mut().find(|contact| contact.peer == peer) else { return };
        if std::mem::take(&mut contact.exchanging) {
            self.learn(at, peer, state);
        }
    }
    fn on_contact_down(&mut self, peer: NodeId) {
        if let Some(at) = self.contacts.iter().position(|contact| contact.peer == peer) {
            let bytes = self.contacts.remove(at).bytes;
            self.sample(bytes);
        }
    }
    fn on_delivered(&mut self, bundle: &Bundle, from: NodeId) {
        self.count_bytes(from, bundle);
        self.acknowledged.insert(bundle.id.0);
    }
}

impl Router for MaxProp {
    fn score(&self, at: &Local, replica: &Replica, peer: NodeId) -> Option<f64> {
        let sent = self.sent.get(peer.0 as usize).is_some_and(|ids| ids.contains(replica.bundle.id.0));
        if sent || replica.path.contains(peer) {
            return None;
        }
        Some(self.merit(at.store, replica, peer))
    }
    /// Acknowledgements in rows 0.., then for each owner its time and its meeting probabilities. Exchanged
    /// at the start of a contact only, as in The ONE.
    fn state(&mut self, _: &Local) -> Option<Table> {
        let acknowledged = self.acknowledged.iter().map(|id| (u64::from(id), 1.0));
        Some(acknowledged.chain(self.meetings.get_mut().rows()).collect())
    }
    fn on_sent(&mut self, _: &Local, replica: &mut Replica, peer: NodeId, delivered: bool) -> AfterTransfer {
        let id = replica.bundle.id;
        self.count_bytes(peer, &replica.bundle);
        if let (Some(sent), None) = (self.sent.get_mut(peer.0 as usize), &self.encounters) {
            sent.insert(id.0);
        }
        if delivered {
            self.acknowledged.insert(id.0);
            self.to_remove.push(id);
        }
        AfterTransfer::Keep
    }
    fn on_received(&mut self, _: &Local, replica: &mut Replica, from: NodeId) {
        self.count_bytes(from, &replica.bundle);
    }
    fn on_event(&mut self, at: &Local, event: &RouterEvent) -> bool {
        match *event {
            RouterEvent::ContactUp { peer, state } => self.on_contact_up(at, peer, state),
            RouterEvent::PeerState { peer, state } => self.on_peer_state(at, peer, state),
            RouterEvent::ContactDown { peer } => self.on_contact_down(peer),
            RouterEvent::Delivered { bundle, from } => self.on_delivered(bundle, from),
            RouterEvent::Offering | RouterEvent::Refused { .. } | RouterEvent::PlanRevised { .. } => {}
        }
        false
    }
    fn take_acknowledged(&mut self) -> Vec<BundleId> {
        std::mem::take(&mut self.to_remove)
    }
    /// The last in the order of merit as seen from here; of equals, the one that came first.
    fn victim(&self, at: &Local) -> Option<BundleId> {
        let idle = at.store.replicas().iter().filter(|r| r.sending == 0);
        let merits = idle.map(|r| (self.merit(at.store, r, at.node), r.bundle.id));
        merits.min_by(|x, y| x.0.total_cmp(&y.0)).map(|(_, id)| id)
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        seen.push(("hop_threshold", f64::from(self.hop_threshold(at.store))));
        seen.push(("mean_contact_bytes", self.mean_contact_bytes as f64));
    }
}

/// The hop count below which copies are young, kept until the store changes.
#[derive(Default)]
struct Threshold {
    hops: u32,
    /// Copies are stored in order of reception, so that count and newest copy show whether the store
    /// is the same.
    seen: Option<(usize, BundleId, Instant, u64)>,
    scratch: Vec<(u32, u64)>,
}

impl Threshold {
    fn get(&mut self, store: &Store, mean_contact_bytes: u64) -> u32 {
        let Some(newest) = store.replicas().last() else { return 0 };
        let seen = Some((store.replicas().len(), newest.bundle.id, newest.received, mean_contact_bytes));
        if self.seen != seen {
            self.seen = seen;
            self.hops = self.compute(store, mean_contact_bytes);
        }
        self.hops
    }
    /// Section IV-C of the paper: with x bytes per contact and a buffer of b, copies of few hops take
    /// p = x of the buffer if x < b/2, min(x, b - x) if x < b, else nothing.
    fn compute(&mut self, store: &Store, x: u64) -> u32 {
        let b = store.capacity().get();
        let mut portion = match x {
            x if x < b / 2 => x,
            x if x < b => x.min(b - x),
            _ => 0,
        };
        if portion == 0 {
            return 0;
        }
        self.scratch.clear();
        self.scratch.extend(store.replicas().iter().map(|r| (r.hops, r.bundle.size.get())));
        self.scratch.sort_unstable();
        for &(hops, size) in &self.scratch {
            portion = portion.saturating_sub(size);
            if portion == 0 {
                return hops.saturating_add(1);
            }
        }
        self.scratch.last().map_or(0, |&(hops, _)| hops.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{copy, place, store_of};
    use crate::dtn::{Parameters, Path};
    use std::collections::BTreeMap;

    fn router(node: u32) -> Box<dyn Router> {
        let given = Parameters::resolve("max_prop", ENTRY.parameters, &BTreeMap::new()).unwrap();
        (ENTRY.build)(
            &given,
            BuildContext { node: NodeId(node), nodes: 10, seed: 1, ..BuildContext::default() },
        )
    }
    fn row(owner: u64, met: u64) -> u64 {
        (owner + 1) << 32 | (met + 1)
    }
    /// Owner 1 as of 5 s: meets 9 with 0.25, 2 with 0.75; owner 2 meets 9 with 0.9.
    fn told() -> Table {
        let rows = [(2 << 32, 5.0), (row(1, 2), 0.75), (row(1, 9), 0.25), (3 << 32, 5.0), (row(2, 9), 0.9)];
        rows.into_iter().collect()
    }

    #[test]
    fn the_cost_is_the_least_sum_of_the_chances_that_each_link_is_not_the_next() {
        let store = store_of([]);
        let mut router = router(0);
        let at = place(&store, 0, 10.0);
        router.on_event(&at, &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&told()) });
        // From 1 over 2: (1 - 0.75) + (1 - 0.9) = 0.35, better than 1 - 0.25.
        let score = router.score(&at, &copy(1, 100), NodeId(1)).unwrap();
        assert!((score + 0.35).abs() < 1e-12, "{score}");
        let unknown = router.score(&at, &copy(1, 100), NodeId(5)).unwrap();
        assert!(unknown < -1e8, "no path is known: last");
    }

    #[test]
    fn meetings_are_averaged_incrementally() {
        let store = store_of([]);
        let mut router = router(0);
        for (seconds, peer) in [(1.0, 1), (2.0, 2), (3.0, 1)] {
            router.on_event(
                &place(&store, 0, seconds),
                &RouterEvent::ContactUp { peer: NodeId(peer), state: None },
            );
        }
        // 1; then (1/2, 1/2); then ((1/2 + 1)/2, 1/4).
        let state = router.state(&place(&store, 0, 3.0)).unwrap();
        assert_eq!(state, [(1 << 32, 3.0), (row(0, 1), 0.75), (row(0, 2), 0.25)].into_iter().collect());
    }

    #[test]
    fn an_acknowledgement_travels_by_state_and_removes_the_copy() {
        let store = store_of([copy(4, 100), copy(5, 100)]);
        let mut giver = router(1);
        giver.on_sent(&place(&store, 1, 1.0), &mut copy(4, 100), NodeId(9), true);
        assert_eq!(giver.take_acknowledged(), [BundleId(4)]);
        let state = giver.state(&place(&store, 1, 2.0)).unwrap();
        let mut other = router(2);
        other.on_event(
            &place(&store, 2, 2.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&state) },
        );
        assert_eq!(other.take_acknowledged(), [BundleId(4)]);
        assert_eq!(other.state(&place(&store, 2, 2.0)).unwrap().get(4), Some(1.0));
    }

    #[test]
    fn neither_the_way_that_a_copy_came_nor_a_peer_that_had_it_gets_it_again() {
        let store = store_of([]);
        let mut router = router(0);
        let at = place(&store, 0, 1.0);
        let replica = Replica { path: Path::default().then(NodeId(3)).then(NodeId(0)), ..copy(1, 100) };
        assert_eq!(router.score(&at, &replica, NodeId(3)), None);
        assert!(router.score(&at, &replica, NodeId(2)).is_some());
        router.on_sent(&at, &mut copy(1, 100), NodeId(2), false);
        assert_eq!(router.score(&at, &replica, NodeId(2)), None);
    }

    #[test]
    fn young_copies_fill_as_much_of_the_buffer_as_a_contact_carries() {
        let with_hops = |id, hops| Replica { hops, ..copy(id, 100) };
        let store = store_of((0..6).map(|id| with_hops(id, id)));
        let mut threshold = Threshold::default();
        // 250 bytes reach into the third copy, which has two hops.
        assert_eq!(threshold.compute(&store, 250), 3);
        // min(x, b - x) = 200 bytes.
        assert_eq!(threshold.compute(&store, 800), 2);
        assert_eq!(threshold.compute(&store, 1000), 0);
        assert_eq!(threshold.compute(&store, 0), 0);
        assert_eq!(Threshold::default().compute(&store_of([with_hops(1, 4)]), 499), 5);
    }

    #[test]
    fn the_copy_with_the_costliest_path_is_dropped_first_and_young_copies_last() {
        let to = |id, destination, hops| {
            let mut replica = Replica { hops, ..copy(id, 100) };
            replica.bundle.destination = NodeId(destination);
            replica
        };
        let store = store_of([to(1, 9, 2), to(2, 2, 2), to(3, 7, 0), to(4, 9, 3)]);
        let mut router = router(0);
        router.on_event(
            &place(&store, 0, 10.0),
            &RouterEvent::ContactUp { peer: NodeId(1), state: Some(&told()) },
        );
        let at = place(&store, 0, 10.0);
        assert_eq!(router.victim(&at), Some(BundleId(3)), "no path is known to node 7");
        // After a contact of 100 bytes a copy without hops is young.
        router.on_sent(&at, &mut copy(6, 100), NodeId(1), false);
        router.on_event(&at, &RouterEvent::ContactDown { peer: NodeId(1) });
        assert_eq!(router.victim(&at), Some(BundleId(4)), "equal costs: the one that has come farther");
    }
}

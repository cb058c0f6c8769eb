//! Storage routing: what does not fit is moved to a neighbour with room, an alternate custodian, and
//! asked back later.

use crate::dtn::{
    BufferDecision, Bundle, BundleId, CopyEvent, Entry, Incoming, Link, Local, Mechanism, MechanismEvent,
    Needs, NodeId, Observation, Parameter, Parameters, Refusal, Replica,
};
use crate::math;
use crate::units::Bytes;
use std::cmp::Reverse;

/// Moves copies away before it drops any.
pub struct StorageRouting {
    rules: Rules,
    /// Copies on their way to a custodian: room is coming.
    leaving: Vec<(Bundle, NodeId)>,
    /// Copies at custodians, longest away first.
    away: Vec<(Bundle, NodeId)>,
    /// Copies asked back that have not come yet.
    asked: Vec<(Bundle, NodeId)>,
    /// The last offer and its sender, which is no custodian for copies that make room for it.
    offered: Option<(BundleId, NodeId)>,
}

struct Rules {
    push: Push,
    transmission_weight: f64,
    storage_weight: f64,
    prefer_free: bool,
    log_base: f64,
    retrieval: bool,
    guard: f64,
}

#[derive(Clone, Copy)]
enum Push {
    Oldest,
    Youngest,
    Largest,
    LeastLifetime,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "storage_routing",
    paper: "Seligman, Fall, Mundur: Alternative custodians for congestion control in delay tolerant networks, CHANTS 2006",
    parameters: &[
        Parameter::word(
            "push",
            &["oldest", "youngest", "largest", "least_lifetime"],
            "which copy is moved (or, without a custodian, dropped): by time of reception, size or remaining lifetime",
        ),
        Parameter::number("transmission_weight", "", 0.5, (0.0, 1e3), "w_t of Eq. 2"),
        Parameter::number("storage_weight", "", 0.5, (0.0, 1e3), "w_s of Eq. 2; with w_t it should sum to 1"),
        Parameter::word(
            "storage_cost",
            &["one_minus", "paper"],
            "Eq. 4: 1 - A/Max, which prefers the emptiest neighbour, or A/Max as printed, which prefers the fullest",
        ),
        Parameter::number(
            "log_base",
            "",
            10.0,
            (1.01, 1e3),
            "base of the logarithm in Eq. 3; 10 keeps costs between 0 and 1",
        ),
        Parameter::flag("retrieval", true, "copies are asked back when there is room again"),
        Parameter::number("guard", "", 0.1, (0.0, 1.0), "share of the buffer that retrieval leaves free"),
    ],
    only_with: &[],
    properties: |_, _| Needs { neighbours: true, ..Needs::NONE },
    build: |given, _| {
        Box::new(StorageRouting {
            rules: rules(given),
            leaving: Vec::new(),
            away: Vec::new(),
            asked: Vec::new(),
            offered: None,
        })
    },
};

fn rules(given: &Parameters) -> Rules {
    Rules {
        push: match given.word("push") {
            "youngest" => Push::Youngest,
            "largest" => Push::Largest,
            "least_lifetime" => Push::LeastLifetime,
            _ => Push::Oldest,
        },
        transmission_weight: given.number("transmission_weight"),
        storage_weight: given.number("storage_weight"),
        prefer_free: given.word("storage_cost") == "one_minus",
        log_base: given.number("log_base"),
        retrieval: given.flag("retrieval"),
        guard: given.number("guard"),
    }
}

impl Rules {
    /// Eq. 3: T = log((L + l/B) / 1 us) / 10. Below a microsecond, where it would be negative, it is 0.
    fn transmission_cost(&self, link: &Link, size: Bytes) -> f64 {
        let seconds = link.delay.saturating_add(link.rate.time_for(size)).as_secs_f64();
        math::log((seconds / 1e-6).max(1.0)) / math::log(self.log_base) / 10.0
    }
    /// Eq. 4; `None`: infinite.
    fn storage_cost(&self, link: &Link, size: Bytes) -> Option<f64> {
        if size > link.peer_space.free || link.peer_space.capacity == Bytes(0) {
            return None;
        }
        let free = link.peer_space.free.get() as f64 / link.peer_space.capacity.get() as f64;
        Some(if self.prefer_free { 1.0 - free } else { free })
    }
    /// Eq. 2: C = w_t T + w_s S.
    fn cost(&self, link: &Link, size: Bytes) -> Option<f64> {
        let storage = self.storage_cost(link, size)?;
        Some(self.transmission_weight * self.transmission_cost(link, size) + self.storage_weight * storage)
    }
    /// The cheapest neighbour with room whose radio is free; of equals, the oldest link.
    fn custodian(&self, at: &Local, size: Bytes, sender: Option<NodeId>) -> Option<NodeId> {
        let mut cheapest: Option<(f64, NodeId)> = None;
        for link in at.links.iter().filter(|link| link.peer_space.idle && Some(link.peer) != sender) {
            if let Some(cost) = self.cost(link, size)
                && cheapest.is_none_or(|(least, _)| cost < least)
            {
                cheapest = Some((cost, link.peer));
            }
        }
        cheapest.map(|(_, peer)| peer)
    }
}

/// Whether `id` is among `bundles`.
fn among(bundles: &[(Bundle, NodeId)], id: BundleId) -> bool {
    bundles.iter().any(|(bundle, _)| bundle.id == id)
}
/// Takes `id` out of `bundles`.
fn take(bundles: &mut Vec<(Bundle, NodeId)>, id: BundleId) -> Option<(Bundle, NodeId)> {
    bundles.iter().position(|(bundle, _)| bundle.id == id).map(|at| bundles.remove(at))
}
fn sizes(bundles: &[(Bundle, NodeId)]) -> u64 {
    bundles.iter().map(|(bundle, _)| bundle.size.get()).sum()
}

impl StorageRouting {
    /// Message selection: the copy to move, among those that stay so far.
    fn selected<'a>(&self, at: &Local<'a>) -> Option<&'a Replica> {
        let mut staying =
            at.store.replicas().iter().filter(|r| r.sending == 0 && !among(&self.leaving, r.bundle.id));
        match self.rules.push {
            Push::Oldest => staying.next(),
            Push::Youngest => staying.next_back(),
            Push::Largest => staying.min_by_key(|r| Reverse(r.bundle.size)),
            Push::LeastLifetime => staying.min_by_key(|r| r.bundle.expires),
        }
    }
    fn wait(&self) -> BufferDecision {
        self.leaving
            .first()
            .map_or(BufferDecision::Refuse, |&(bundle, to)| BufferDecision::Move { id: bundle.id, to })
    }
    fn on_contact_down(&mut self, peer: NodeId) {
        self.leaving.retain(|&(_, to)| to != peer);
        // What was asked back and has not come is still there, and has been away longest.
        let unanswered = self.asked.extract_if(.., |&mut (_, custodian)| custodian == peer);
        self.away.splice(0..0, unanswered);
    }
    fn on_moved(&mut self, bundle: &Bundle, to: NodeId, already_had: bool) {
        // What goes back to a node that had asked us to keep it is not ours to ask back, nor is what
        // the custodian had on its own account.
        let ours = take(&mut self.leaving, bundle.id).is_some();
        if ours && !already_had && self.rules.retrieval {
            take(&mut self.away, bundle.id);
            self.away.push((*bundle, to));
        }
    }
}

impl Mechanism for StorageRouting {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, _: Option<BundleId>) -> BufferDecision {
        let coming = at.store.free().get() + sizes(&self.leaving);
        if !self.leaving.is_empty() && coming >= incoming.size.get() {
            return self.wait();
        }
        let Some(replica) = self.selected(at) else { return self.wait() };
        let sender = self.offered.filter(|&(id, _)| id == incoming.id).map(|(_, from)| from);
        let bundle = replica.bundle;
        match self.rules.custodian(at, bundle.size, sender) {
            Some(to) => {
                self.leaving.push((bundle, to));
                BufferDecision::Move { id: bundle.id, to }
            }
            None => BufferDecision::Drop(bundle.id),
        }
    }
    fn admit(&mut self, _: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        if let Incoming::Offered(offer) = incoming {
            self.offered = Some((offer.bundle().id, offer.from));
        }
        Ok(())
    }
    fn reclaim(&mut self, at: &Local, peer: NodeId) -> Option<BundleId> {
        if self.away.is_empty() {
            return None;
        }
        self.away.retain(|(bundle, _)| bundle.expires > at.now);
        let guard = (self.rules.guard * at.store.capacity().get() as f64) as u64;
        let room = at.store.free().get().saturating_sub(guard.saturating_add(sizes(&self.asked)));
        let next = self.away.iter().position(|&(_, custodian)| custodian == peer)?;
        // Strictly more than the copy, so that a full return does not congest the node at once.
        if self.away[next].0.size.get() >= room {
            return None;
        }
        let back = self.away.remove(next);
        self.asked.push(back);
        Some(back.0.id)
    }
    fn on_copy(&mut self, _: &Local, replica: &mut Replica, event: CopyEvent) {
        if let CopyEvent::Received { .. } = event {
            take(&mut self.asked, replica.bundle.id);
            take(&mut self.away, replica.bundle.id);
        }
    }
    fn on_event(&mut self, _: &Local, event: &MechanismEvent) {
        match *event {
            MechanismEvent::ContactDown { peer } => self.on_contact_down(peer),
            MechanismEvent::Dropped { bundle, .. } => drop(take(&mut self.leaving, bundle.id)),
            MechanismEvent::Moved { bundle, to, already_had } => self.on_moved(bundle, to, already_had),
            MechanismEvent::ReclaimRefused { id, .. } => drop(take(&mut self.asked, id)),
            MechanismEvent::ContactUp { .. }
            | MechanismEvent::Receipt { .. }
            | MechanismEvent::PlanRevised { .. } => {}
        }
    }
    fn observe(&self, _: &Local, seen: &mut Observation) {
        seen.push(("copies_away", (self.away.len() + self.asked.len()) as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::testing::{built, copy, place, store_of};
    use crate::dtn::{Offer, PeerSpace, Store, Value};
    use crate::time::{Duration, Instant};
    use crate::units::BitRate;

    fn link(peer: u32, delay_s: i64, free: u64) -> Link {
        let peer_space = PeerSpace { free: Bytes(free), capacity: Bytes(1000), idle: true };
        Link {
            peer: NodeId(peer),
            rate: BitRate::from_bit_per_s(u64::MAX),
            delay: Duration::from_secs(delay_s),
            pipelined: true,
            peer_space,
        }
    }
    fn default_rules() -> Rules {
        rules(&Parameters::resolve("storage_routing", ENTRY.parameters, &Default::default()).unwrap())
    }
    fn full() -> Store {
        store_of([copy(1, 300), copy(2, 400), copy(3, 300)])
    }
    fn room(mechanism: &mut dyn Mechanism, store: &Store, links: &[Link], size: u64) -> BufferDecision {
        let at = Local { links, ..place(store, 0, 0.0) };
        mechanism.make_room(&at, &copy(9, size).bundle, None)
    }

    #[test]
    fn transmission_costs_by_equation_3() {
        let rules = default_rules();
        for (delay_s, expected) in [(240, 0.838), (1, 0.600), (0, 0.0)] {
            let cost = rules.transmission_cost(&link(1, delay_s, 0), Bytes(75_000));
            assert!((cost - expected).abs() < 5e-4, "{delay_s} s: {cost}");
        }
        // 75 kB at 2.5 Mbit/s take 0.24 s.
        let slow = Link { rate: BitRate::from_bit_per_s(2_500_000), ..link(1, 0, 0) };
        let expected = math::log10(0.24e6) / 10.0;
        assert!((rules.transmission_cost(&slow, Bytes(75_000)) - expected).abs() < 1e-9);
    }

    #[test]
    fn storage_costs_by_equation_4_and_their_weighted_sum_by_equation_2() {
        let rules = default_rules();
        assert_eq!(rules.storage_cost(&link(1, 1, 750), Bytes(750)), Some(0.25));
        assert_eq!(rules.storage_cost(&link(1, 1, 750), Bytes(751)), None);
        let printed = Rules { prefer_free: false, ..default_rules() };
        assert_eq!(printed.storage_cost(&link(1, 1, 750), Bytes(750)), Some(0.75));
        let sum = rules.cost(&link(1, 1, 750), Bytes(300)).unwrap();
        assert!((sum - (0.5 * 0.6 + 0.5 * 0.25)).abs() < 1e-9);
    }

    #[test]
    fn a_copy_moves_to_the_emptiest_neighbour_or_as_printed_to_the_fullest() {
        let links = [link(4, 1, 500), link(5, 1, 900), link(6, 1, 299)];
        for (word, to) in [("one_minus", 5), ("paper", 4)] {
            let mut mechanism = built(&ENTRY, &[("storage_cost", word.into())]);
            let expected = BufferDecision::Move { id: BundleId(1), to: NodeId(to) };
            assert_eq!(room(&mut *mechanism, &full(), &links, 200), expected);
        }
        let busy = Link { peer_space: PeerSpace { idle: false, ..links[0].peer_space }, ..links[0] };
        assert_eq!(room(&mut *built(&ENTRY, &[]), &full(), &[busy], 200), BufferDecision::Drop(BundleId(1)));
        assert_eq!(room(&mut *built(&ENTRY, &[]), &full(), &[], 200), BufferDecision::Drop(BundleId(1)));
    }

    #[test]
    fn the_push_policy_selects_the_copy() {
        let short = |id| {
            let mut replica = copy(id, 200);
            replica.bundle.expires = Instant::from_secs(9);
            replica
        };
        let store = store_of([copy(1, 300), short(2), copy(3, 400), copy(4, 100)]);
        for (word, id) in [("oldest", 1), ("least_lifetime", 2), ("largest", 3), ("youngest", 4)] {
            let mut mechanism = built(&ENTRY, &[("push", Value::from(word))]);
            assert_eq!(room(&mut *mechanism, &store, &[], 200), BufferDecision::Drop(BundleId(id)));
        }
    }

    #[test]
    fn it_waits_for_a_copy_that_is_leaving_and_moves_a_second_only_if_that_is_not_enough() {
        let links = [link(4, 1, 900)];
        let mut mechanism = built(&ENTRY, &[]);
        let first = BufferDecision::Move { id: BundleId(1), to: NodeId(4) };
        assert_eq!(room(&mut *mechanism, &full(), &links, 200), first);
        assert_eq!(room(&mut *mechanism, &full(), &links, 300), first);
        let second = BufferDecision::Move { id: BundleId(2), to: NodeId(4) };
        assert_eq!(room(&mut *mechanism, &full(), &links, 301), second);
    }

    #[test]
    fn the_sender_of_the_incoming_bundle_is_no_custodian() {
        let (store, incoming) = (full(), copy(9, 200));
        let links = [link(4, 1, 900)];
        let at = Local { links: &links, ..place(&store, 0, 0.0) };
        let mut mechanism = built(&ENTRY, &[]);
        mechanism.admit(&at, &Incoming::Offered(&Offer { replica: &incoming, from: NodeId(4) })).unwrap();
        assert_eq!(mechanism.make_room(&at, &incoming.bundle, None), BufferDecision::Drop(BundleId(1)));
    }

    #[test]
    fn a_copy_is_asked_back_once_there_is_room_beyond_the_guard() {
        let links = [link(4, 1, 900)];
        let mut mechanism = built(&ENTRY, &[]);
        room(&mut *mechanism, &full(), &links, 200);
        let tight = store_of([copy(2, 400), copy(3, 200)]);
        let at = place(&tight, 0, 0.0);
        mechanism.on_event(
            &at,
            &MechanismEvent::Moved { bundle: &copy(1, 300).bundle, to: NodeId(4), already_had: false },
        );
        assert_eq!(mechanism.reclaim(&at, NodeId(4)), None, "400 free, 100 guarded: not more than 300");
        let roomy = store_of([copy(2, 400)]);
        let at = place(&roomy, 0, 1.0);
        assert_eq!(mechanism.reclaim(&at, NodeId(5)), None);
        assert_eq!(mechanism.reclaim(&at, NodeId(4)), Some(BundleId(1)));
        assert_eq!(mechanism.reclaim(&at, NodeId(4)), None, "asked already");
        mechanism.on_event(&at, &MechanismEvent::ContactDown { peer: NodeId(4) });
        assert_eq!(mechanism.reclaim(&at, NodeId(4)), Some(BundleId(1)), "it had not come");
        mechanism.on_event(&at, &MechanismEvent::ReclaimRefused { peer: NodeId(4), id: BundleId(1) });
        mechanism.on_event(&at, &MechanismEvent::ContactDown { peer: NodeId(4) });
        assert_eq!(mechanism.reclaim(&at, NodeId(4)), None, "the custodian no longer has it");
    }

    #[test]
    fn nothing_is_asked_back_that_the_custodian_had_anyway_or_that_was_only_returned() {
        let links = [link(4, 1, 900)];
        let empty = store_of([]);
        let at = place(&empty, 0, 0.0);
        let mut mechanism = built(&ENTRY, &[]);
        room(&mut *mechanism, &full(), &links, 200);
        mechanism.on_event(
            &at,
            &MechanismEvent::Moved { bundle: &copy(1, 300).bundle, to: NodeId(4), already_had: true },
        );
        mechanism.on_event(
            &at,
            &MechanismEvent::Moved { bundle: &copy(7, 300).bundle, to: NodeId(4), already_had: false },
        );
        assert_eq!(mechanism.reclaim(&at, NodeId(4)), None);
    }
}

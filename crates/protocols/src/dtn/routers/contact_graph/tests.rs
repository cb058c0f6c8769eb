//! The router at node A of the tutorial's plan.

use super::ENTRY;
use super::route_tests::{A, B, C, D, E, at, contact, tutorial};
use crate::dtn::testing::{copy, store_of};
use crate::dtn::{
    AfterTransfer, BuildContext, BundleId, ContactPlan, Local, NodeId, Parameters, Refusal, Replica, Router,
    RouterEvent, Store, Value,
};
use crate::time::Instant;
use crate::units::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A router at A and what is in its buffer.
struct Node {
    router: Box<dyn Router>,
    store: Store,
}

fn node(plan: ContactPlan, given: &[(&str, Value)]) -> Node {
    let given: BTreeMap<String, Value> =
        given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let given = Parameters::resolve(ENTRY.name, ENTRY.parameters, &given).unwrap();
    let context =
        BuildContext { node: A, nodes: 5, seed: 1, plan: Arc::new(plan), ..BuildContext::default() };
    Node { router: (ENTRY.build)(&given, context), store: store_of([]) }
}

fn local(store: &Store, now: i64) -> Local<'_> {
    Local { now: at(now), node: A, store, links: &[], application_free: Bytes(u64::MAX), census: None }
}

fn to_e(id: u32, size: u64) -> Replica {
    let mut replica = copy(id, size);
    replica.bundle.destination = E;
    replica
}

/// A router at A that has just learnt of this plan.
fn revised(mut node: Node, now: i64, plan: ContactPlan) -> Node {
    let plan = Arc::new(plan);
    node.router.on_event(&local(&node.store, now), &RouterEvent::PlanRevised { plan: &plan });
    node
}

impl Node {
    fn create(&mut self, now: i64, mut replica: Replica) {
        self.router.on_created(&local(&self.store, now), &mut replica);
        self.store.insert(replica);
    }
    fn receive(&mut self, now: i64, mut replica: Replica, from: NodeId) {
        self.router.on_received(&local(&self.store, now), &mut replica, from);
        self.store.insert(replica);
    }
    /// Whether there is another path.
    fn refuse(&mut self, now: i64, id: u32, peer: NodeId) -> bool {
        let replica = self.store.get(BundleId(id)).unwrap();
        self.router.on_event(
            &local(&self.store, now),
            &RouterEvent::Refused { replica, peer, why: Refusal::NoSpace },
        )
    }
    fn part(&mut self, now: i64, peer: NodeId) {
        self.router.on_event(&local(&self.store, now), &RouterEvent::ContactDown { peer });
    }
    fn send(&mut self, now: i64, id: u32, peer: NodeId) -> AfterTransfer {
        let mut replica = self.store.remove(BundleId(id)).unwrap();
        self.router.on_sent(&local(&self.store, now), &mut replica, peer, false)
    }
    /// Who may have the bundle at `now`.
    fn takers(&self, now: i64, id: u32) -> Vec<NodeId> {
        let replica = self.store.get(BundleId(id)).unwrap();
        let offered = |&peer: &NodeId| self.router.score(&local(&self.store, now), replica, peer).is_some();
        [B, C, D, E].into_iter().filter(offered).collect()
    }
}

#[test]
fn a_bundle_is_for_the_entry_node_of_its_route_during_the_contact_alone() {
    let mut node = node(tutorial(), &[]);
    node.create(0, to_e(1, 2));
    assert_eq!(node.takers(0, 1), [C]);
    node.create(0, to_e(2, 10));
    assert_eq!((node.takers(9, 2), node.takers(10, 2), node.takers(20, 2)), (vec![], vec![E], vec![]));
    assert_eq!(node.send(2, 1, C), AfterTransfer::GiveUp, "there is one copy");
}

#[test]
fn a_destination_in_contact_gets_what_is_planned_for_that_contact_and_what_meets_it_by_chance() {
    let mut node = node(tutorial(), &[]);
    // It would take until 21 s to reach E in the contact that ends at 20 s.
    node.create(0, to_e(1, 2));
    node.create(10, to_e(2, 10));
    node.create(10, to_e(3, 1));
    let delivers = |now, id| {
        let replica = node.store.get(BundleId(id)).unwrap();
        node.router.delivers(&local(&node.store, now), replica, E)
    };
    assert_eq!([1, 2, 3].map(|id| delivers(10, id)), [false, true, false]);
    assert_eq!([1, 2, 3].map(|id| delivers(5, id)), [true; 3], "no contact with E is planned for then");
}

#[test]
fn who_comes_first_leaves_first() {
    let mut node = node(tutorial(), &[]);
    [7, 3, 5].into_iter().for_each(|id| node.create(0, to_e(id, 1)));
    let score = |id| node.router.score(&local(&node.store, 0), node.store.get(BundleId(id)).unwrap(), C);
    assert!(score(7) > score(3) && score(3) > score(5));
}

#[test]
fn bundles_that_do_not_fit_any_more_take_other_routes() {
    let mut node = node(tutorial(), &[]);
    // Of two seconds each, with two hops of light before: D and E part at 10 s.
    (0..8).for_each(|id| node.create(0, to_e(id, 2)));
    // At C by 3 and 5, at D by 6 and 8, at E by 9 and 11; a third would be at D by 10.
    let entries: Vec<Vec<NodeId>> =
        (0..8).map(|id| [node.takers(0, id), node.takers(10, id)].concat()).collect();
    assert_eq!(entries[..3], [vec![C, C], vec![C, C], vec![E]]);
    assert_eq!(entries.iter().filter(|takers| **takers == [E]).count(), 5, "ten seconds of A and E");
    assert_eq!(entries[7], [C, C], "and then by the next contact of D and E");
}

#[test]
fn what_has_been_booked_on_later_contacts_counts_unless_it_is_not_wanted() {
    let ample = |from, to| contact(from, to, 0, 1000);
    // From B to E there is room for one bundle.
    let plan =
        || ContactPlan::new([ample(A, B), contact(B, E, 10, 14), ample(A, C), contact(C, E, 900, 950)]);
    for (reserve, second) in [("all", C), ("first", B)] {
        let mut node = node(plan(), &[("reserve", reserve.into())]);
        node.create(0, to_e(1, 3));
        assert_eq!(node.takers(0, 1), [B]);
        assert_eq!(node.send(3, 1, B), AfterTransfer::GiveUp);
        node.create(3, to_e(2, 3));
        assert_eq!(node.takers(3, 2), [second], "reserve = {reserve}");
    }
}

#[test]
fn a_copy_that_is_gone_gives_its_volume_back() {
    let one = ContactPlan::new([contact(A, E, 0, 10)]);
    let mut node = node(one, &[]);
    node.create(0, to_e(1, 6));
    node.create(0, to_e(2, 6));
    assert!(node.takers(0, 2).is_empty(), "only one fits");
    node.store.remove(BundleId(1));
    node.router.on_event(&local(&node.store, 1), &RouterEvent::ContactUp { peer: C, state: None });
    assert_eq!(node.takers(1, 2), [E]);
}

#[test]
fn a_missed_contact_is_made_up_for_by_the_next_best_route() {
    let mut node = node(tutorial(), &[]);
    node.create(0, to_e(1, 10));
    assert_eq!(node.takers(10, 1), [E]);
    node.part(20, E);
    assert_eq!(node.takers(20, 1), []);
    node.create(0, to_e(2, 4));
    node.part(20, E);
    assert_eq!(node.takers(20, 2), [C]);
}

#[test]
fn nothing_goes_back_to_where_it_came_from() {
    let mut node = node(tutorial(), &[]);
    node.receive(1, to_e(1, 1), C);
    assert_eq!(node.takers(1, 1), [B], "by B to C, D and E");
    node.receive(1, to_e(2, 1), B);
    assert_eq!(node.takers(1, 2), [C]);
}

#[test]
fn who_refuses_is_passed_over_until_the_contact_ends_if_there_is_another_way() {
    let mut node = node(tutorial(), &[]);
    node.create(0, to_e(1, 1));
    assert!(node.refuse(0, 1, C), "the node makes offers again");
    assert_eq!(node.takers(0, 1), [B]);
    assert!(node.refuse(0, 1, B));
    assert_eq!(node.takers(10, 1), [E]);
    assert!(!node.refuse(10, 1, E));
    assert_eq!(node.takers(10, 1), [E], "no other route is left: it is offered again");
    node.part(20, C);
    node.part(20, E);
    assert_eq!(node.takers(20, 1), [C]);
}

#[test]
fn nothing_is_sent_without_a_plan_or_past_the_end_of_a_lifetime() {
    let mut planless = node(ContactPlan::default(), &[]);
    planless.create(0, to_e(1, 1));
    assert_eq!(planless.takers(0, 1), []);
    let mut node = node(tutorial(), &[]);
    let mut brief = to_e(1, 2);
    brief.bundle.expires = Instant::from_secs(8);
    node.create(0, brief);
    assert_eq!(node.takers(0, 1), []);
}

proptest! {
    #[test]
    fn bundles_take_the_routes_of_a_revised_plan_as_if_no_other_had_been_known(
        before in any_plan(), after in any_plan(), sizes in prop::collection::vec(1_u64..60, 1..12),
    ) {
        let [before, after] = [before, after].map(|all| ContactPlan::new(all.into_iter().map(planned)));
        let with = |plan: &ContactPlan| {
            let mut node = node(plan.clone(), &[]);
            sizes.iter().zip(1..).for_each(|(&size, id)| node.create(0, to_e(id, size)));
            node
        };
        let (revised, fresh) = (revised(with(&before), 0, after.clone()), with(&after));
        for now in 0..60 {
            for id in 1..=sizes.len() as u32 {
                prop_assert_eq!(revised.takers(now, id), fresh.takers(now, id));
            }
        }
    }
    #[test]
    fn a_revision_that_changes_nothing_keeps_what_is_booked_for_bundles_that_have_left(
        all in any_plan(), sizes in prop::collection::vec(1_u64..60, 2..12),
    ) {
        let plan = ContactPlan::new(all.into_iter().map(planned));
        let with_one_sent = || {
            let mut node = node(plan.clone(), &[]);
            sizes.iter().zip(1..).for_each(|(&size, id)| node.create(0, to_e(id, size)));
            if let Some(now) = (0..60).find(|&now| !node.takers(now, 1).is_empty()) {
                let peer = node.takers(now, 1)[0];
                node.send(now, 1, peer);
            }
            node
        };
        // Others are routed again around what is booked.
        let (mut once, mut twice) = (with_one_sent(), with_one_sent());
        once = revised(once, 0, plan.clone());
        twice = revised(revised(twice, 0, plan.clone()), 0, plan.clone());
        if once.store.get(BundleId(1)).is_none() {
            once.create(0, to_e(99, 60));
            twice.create(0, to_e(99, 60));
            for now in 0..60 {
                prop_assert_eq!(once.takers(now, 99), twice.takers(now, 99));
            }
        }
    }
}

fn any_plan() -> impl Strategy<Value = Vec<(u32, u32, i64, i64)>> {
    prop::collection::vec((0_u32..5, 0_u32..5, 0_i64..50, 1_i64..30), 0..15)
}

fn planned((from, to, start, lasts): (u32, u32, i64, i64)) -> crate::dtn::PlannedContact {
    crate::dtn::PlannedContact {
        from: NodeId(from),
        to: NodeId(to),
        start: at(start),
        end: at(start + lasts),
        rate: crate::units::BitRate(16),
        delay: crate::time::Duration::ZERO,
    }
}

#[test]
fn a_bundle_without_a_route_gets_one_when_the_plan_is_revised_and_volume_that_was_booked_stays() {
    let mut node = node(ContactPlan::default(), &[]);
    node.create(0, to_e(1, 10));
    assert_eq!(node.takers(3, 1), []);
    // 2 B/s: A to B for 10 s, then B to E for 10 s.
    let plan = || ContactPlan::new([(0, 1, 0, 10), (1, 4, 20, 10)].map(planned));
    node = revised(node, 1, plan());
    assert_eq!(node.takers(3, 1), [B]);
    node.send(6, 1, B);
    node = revised(node, 6, plan());
    node.create(6, to_e(2, 12));
    assert_eq!(node.takers(6, 2), [], "10 of 20 B from B to E are booked");
    node.create(6, to_e(3, 8));
    assert_eq!(node.takers(6, 3), [B]);
}

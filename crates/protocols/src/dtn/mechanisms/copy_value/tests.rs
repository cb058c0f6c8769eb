use super::*;
use crate::dtn::testing::{built, built_with_properties, copy, place, store_of};
use crate::dtn::{
    Agent, BuildContext, Built, ContactPlan, Creation, Link, NodePolicy, Parameters, PeerSpace,
    PlannedContact,
};
use crate::units::{BitRate, Bytes};
use proptest::prelude::*;
use std::sync::Arc;

/// A node that is neither the source nor the destination of anything; bundles go from 0 to 9.
const RELAY: u32 = 5;

/// Of which this number of copies was made here.
fn copied(id: u32, given: u64) -> Replica {
    Replica { mechanism_mark: given, ..copy(id, 300) }
}
fn for_node(node: u32, replica: Replica) -> Replica {
    Replica { bundle: Bundle { destination: NodeId(node), ..replica.bundle }, ..replica }
}
fn since(second: f64, replica: Replica) -> Replica {
    Replica { received: Instant::ZERO + Duration::from_secs_f64(second), ..replica }
}
/// From, to, start and end in seconds: a mechanism that knows these contacts.
fn planned(contacts: &[(u32, u32, i64, i64)]) -> Box<dyn Mechanism> {
    planned_far(0, contacts).algorithm
}
/// With a one-way light time in seconds.
fn planned_far(delay_s: i64, contacts: &[(u32, u32, i64, i64)]) -> Built<dyn Mechanism> {
    let contact = |&(from, to, start, end): &(u32, u32, i64, i64)| PlannedContact {
        from: NodeId(from),
        to: NodeId(to),
        start: Instant::from_secs(start),
        end: Instant::from_secs(end),
        rate: BitRate(1_000_000),
        delay: Duration::from_secs(delay_s),
    };
    let plan = Arc::new(ContactPlan::new(contacts.iter().map(contact)));
    built_in(BuildContext { plan, ..BuildContext::default() })
}
fn built_in(context: BuildContext) -> Built<dyn Mechanism> {
    let given = Parameters::resolve(ENTRY.name, ENTRY.parameters, &Default::default()).unwrap();
    ENTRY.built(&given, BuildContext { node: NodeId(RELAY), nodes: 10, seed: 1, ..context })
}
fn link(peer: u32, delay_s: i64, free: u64) -> Link {
    let peer_space = PeerSpace { free: Bytes(free), capacity: Bytes(1000), idle: true };
    Link {
        peer: NodeId(peer),
        rate: BitRate(1_000_000),
        delay: Duration::from_secs(delay_s),
        pipelined: true,
        peer_space,
    }
}
/// What is answered to an offer from node 1, and how room is made for it.
fn offered(mechanism: &mut dyn Mechanism, at: &Local, replica: &Replica) -> Result<BufferDecision, Refusal> {
    mechanism.admit(at, &Incoming::Offered(&Offer { replica, from: NodeId(1) }))?;
    Ok(mechanism.make_room(at, &replica.bundle, None))
}
/// A copy for `node` was here for this long when it was known to be delivered.
fn delivered(mechanism: &mut dyn Mechanism, at: &Local, node: u32, lasted: f64) {
    let received = at.now - Duration::from_secs_f64(lasted);
    let bundle = for_node(node, copy(99, 300)).bundle;
    let gone = MechanismEvent::Dropped { bundle: &bundle, received, reason: DropReason::Acknowledged };
    mechanism.on_event(at, &gone);
}

#[test]
fn the_most_copied_bundle_makes_room_and_the_first_of_equals() {
    let store = store_of([copied(1, 1), copied(2, 9), copied(3, 9)]);
    let room = built(&ENTRY, &[]).make_room(&place(&store, RELAY, 1.0), &copy(8, 1).bundle, None);
    assert_eq!(room, BufferDecision::Drop(BundleId(2)));
}

#[test]
fn nothing_makes_room_for_its_like_but_at_its_destination() {
    let mut mechanism = built(&ENTRY, &[]);
    let mut answer = |given, node| {
        let store = store_of([copied(1, given), copied(2, given)]);
        offered(&mut *mechanism, &place(&store, node, 1.0), &copied(8, 3)).unwrap()
    };
    assert_eq!(answer(3, RELAY), BufferDecision::Drop(BundleId(1)), "of the new copy none was made yet");
    assert_eq!(answer(0, RELAY), BufferDecision::Wait);
    assert_eq!(answer(0, 9), BufferDecision::Drop(BundleId(1)), "a bundle at its destination is accepted");
}

#[test]
fn where_the_router_ranks_copies_its_last_makes_room_if_it_is_worth_less() {
    let store = store_of([copied(1, 9), copied(2, 1), copied(3, 0)]);
    let at = place(&store, RELAY, 1000.0);
    let answer = |last: u32| {
        let mut mechanism = built(&ENTRY, &[]);
        mechanism.make_room(&at, &copy(8, 300).bundle, Some(BundleId(last)))
    };
    assert_eq!(answer(2), BufferDecision::Drop(BundleId(2)), "not the one that is worth least");
    assert_eq!(answer(3), BufferDecision::Wait, "though another is worth less");
}

#[test]
fn what_has_waited_for_the_usual_wait_makes_room_for_its_like() {
    let store = store_of([since(50.0, copied(1, 0)), since(90.0, copied(2, 0))]);
    let mut mechanism = built(&ENTRY, &[("margin", 1.0.into())]);
    delivered(&mut *mechanism, &place(&store, RELAY, 100.0), 9, 100.0);
    let mut answer = |now| mechanism.make_room(&place(&store, RELAY, now), &copy(8, 300).bundle, None);
    assert_eq!(answer(149.0), BufferDecision::Wait);
    assert_eq!(answer(151.0), BufferDecision::Drop(BundleId(1)));
}

#[test]
fn what_is_for_a_node_that_is_soon_met_displaces_what_is_for_one_that_never_was() {
    let store = store_of([1, 2].map(|id| since(1000.0, for_node(7, copied(id, 0)))));
    let mut mechanism = built(&ENTRY, &[]);
    let at = place(&store, RELAY, 1000.0);
    let stay = |reason, node, mechanism: &mut dyn Mechanism| {
        let bundle = for_node(node, copy(50, 300)).bundle;
        mechanism
            .on_event(&at, &MechanismEvent::Dropped { bundle: &bundle, received: Instant::ZERO, reason });
    };
    (0..5).for_each(|_| stay(DropReason::Expired, 7, &mut *mechanism));
    (0..5).for_each(|_| delivered(&mut *mechanism, &at, 3, 10.0));
    let mut answer = |node| mechanism.make_room(&at, &for_node(node, copy(8, 300)).bundle, None);
    assert_eq!([answer(3), answer(7)], [BufferDecision::Drop(BundleId(1)), BufferDecision::Wait]);
}

#[test]
fn of_two_alike_the_larger_makes_room() {
    let large = copy(2, 700);
    let large = Replica { mechanism_mark: copied(2, 1).mechanism_mark, ..large };
    let store = store_of([copied(1, 1), large]);
    let room = offered(&mut *built(&ENTRY, &[]), &place(&store, RELAY, 1.0), &copied(8, 0));
    assert_eq!(room, Ok(BufferDecision::Drop(BundleId(2))));
}

#[test]
fn the_giver_knows_of_one_more_copy() {
    let store = store_of([]);
    let at = place(&store, 0, 0.0);
    let mut mechanism = built(&ENTRY, &[]);
    let mut replica = copied(1, 3);
    assert_eq!(mechanism.mark_for_peer(&at, &replica), 0);
    mechanism.on_copy(&at, &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: false });
    assert_eq!(replica.mechanism_mark, 4);
}

#[test]
fn what_was_dropped_to_make_room_is_not_taken_again_until_half_of_the_buffer_is_free() {
    let store = store_of([7, 8].map(|id| copied(id, 0)));
    let mut mechanism = built(&ENTRY, &[]);
    let at = place(&store, RELAY, 0.0);
    for (id, reason) in [(1, DropReason::Overflow), (2, DropReason::Expired)] {
        let gone = MechanismEvent::Dropped { bundle: &copy(id, 1).bundle, received: Instant::ZERO, reason };
        mechanism.on_event(&at, &gone);
    }
    let mut answer = |at: &Local, id| {
        mechanism.admit(at, &Incoming::Offered(&Offer { replica: &copied(id, 0), from: NodeId(1) }))
    };
    assert_eq!((answer(&at, 1), answer(&at, 2)), (Err(Refusal::DroppedBefore), Ok(())));
    let relieved = store_of([copied(7, 0)]);
    let later = place(&relieved, RELAY, 1.0);
    assert_eq!((answer(&later, 1), answer(&at, 1)), (Ok(()), Ok(())));
}

#[test]
fn what_a_peer_had_no_room_for_is_not_offered_to_it_again_before_the_next_contact() {
    let store = store_of([]);
    let at = place(&store, RELAY, 0.0);
    let mut mechanism = built(&ENTRY, &[]);
    let mut replica = copied(1, 2);
    mechanism.on_copy(&at, &mut replica, CopyEvent::Returned { peer: NodeId(3) });
    assert_eq!(replica.mechanism_mark, 1, "there is one copy less");
    let offers =
        |mechanism: &dyn Mechanism, id, peer| mechanism.may_replicate(&at, &copied(id, 0), NodeId(peer));
    let all =
        |mechanism: &dyn Mechanism| [(1, 3), (2, 3), (1, 4)].map(|(id, peer)| offers(mechanism, id, peer));
    assert_eq!(all(&*mechanism), [false, true, true]);
    mechanism.on_event(&at, &MechanismEvent::ContactDown { peer: NodeId(4) });
    assert_eq!(all(&*mechanism), [false, true, true]);
    mechanism.on_event(&at, &MechanismEvent::ContactDown { peer: NodeId(3) });
    assert_eq!(all(&*mechanism), [true, true, true]);
}

#[test]
fn by_a_plan_nothing_is_taken_from_where_a_way_leads_on_to_where_none_does() {
    let store = store_of([]);
    let at = place(&store, RELAY, 0.0);
    let new = copied(1, 0);
    let answer = |contacts: &[_]| offered(&mut *planned(contacts), &at, &new);
    assert!(answer(&[(RELAY, 9, 10, 20)]).is_ok());
    assert_eq!(answer(&[(1, 9, 10, 20)]), Err(Refusal::Congestion));
    assert_eq!(answer(&[(RELAY, 1, 10, 20), (1, 9, 30, 40)]), Err(Refusal::Congestion), "only back");
    assert!(answer(&[(3, 4, 10, 20)]).is_ok(), "the plan says nothing of it");
}

#[test]
fn by_a_plan_the_copy_that_was_given_on_makes_room_for_the_one_that_comes() {
    let store = store_of([copied(1, 0), copied(2, 1), copied(3, 0)]);
    let at = place(&store, RELAY, 0.0);
    let mut mechanism = planned(&[(RELAY, 9, 10, 20)]);
    assert_eq!(offered(&mut *mechanism, &at, &copied(8, 0)), Ok(BufferDecision::Drop(BundleId(2))));
    let few = store_of([1, 2, 3].map(|id| copied(id, 0)));
    let at = place(&few, RELAY, 0.0);
    assert_eq!(offered(&mut *mechanism, &at, &copied(8, 9)), Ok(BufferDecision::Wait), "of equals");
}

#[test]
fn by_a_plan_what_was_dropped_is_taken_again_where_it_leads_on() {
    let store = store_of([7, 8].map(|id| copied(id, 0)));
    let at = place(&store, RELAY, 0.0);
    let mut mechanism = planned(&[(RELAY, 9, 10, 20)]);
    for node in [9, 8] {
        let bundle = for_node(node, copy(node, 300)).bundle;
        let reason = DropReason::Overflow;
        mechanism
            .on_event(&at, &MechanismEvent::Dropped { bundle: &bundle, received: Instant::ZERO, reason });
    }
    let mut answer = |node| offered(&mut *mechanism, &at, &for_node(node, copied(node, 0))).err();
    assert_eq!([answer(9), answer(8)], [None, Some(Refusal::DroppedBefore)]);
}

#[test]
fn a_plan_that_is_learnt_later_says_how_long_copies_wait_from_then_on() {
    let store = store_of([1, 2].map(|id| copied(id, 0)));
    let at = place(&store, RELAY, 500.0);
    let mut mechanism = built(&ENTRY, &[]);
    let contact = PlannedContact {
        from: NodeId(RELAY),
        to: NodeId(8),
        start: Instant::from_secs(600),
        end: Instant::from_secs(700),
        rate: BitRate(1_000_000),
        delay: Duration::ZERO,
    };
    let answer =
        |mechanism: &mut dyn Mechanism| mechanism.make_room(&at, &for_node(8, copy(8, 300)).bundle, None);
    assert_eq!(answer(&mut *mechanism), BufferDecision::Wait);
    let plan = Arc::new(ContactPlan::new([contact]));
    mechanism.on_event(&at, &MechanismEvent::PlanRevised { plan: &plan });
    assert_eq!(answer(&mut *mechanism), BufferDecision::Drop(BundleId(1)));
    mechanism.on_event(&at, &MechanismEvent::PlanRevised { plan: &Arc::default() });
    assert_eq!(answer(&mut *mechanism), BufferDecision::Wait);
}

#[test]
fn by_a_plan_what_arrives_late_makes_room_for_what_arrives_in_less_than_half_the_time() {
    let contacts = [(RELAY, 9, 1000, 2000), (RELAY, 8, 100, 200), (RELAY, 7, 600, 700)];
    let store = store_of([1, 2, 3].map(|id| copied(id, 0)));
    let at = place(&store, RELAY, 0.0);
    let answer = |node| offered(&mut *planned(&contacts), &at, &for_node(node, copied(8, 0)));
    assert_eq!(answer(8), Ok(BufferDecision::Drop(BundleId(1))));
    assert_eq!(answer(7), Ok(BufferDecision::Wait));
}

#[test]
fn by_a_plan_a_full_node_moves_a_copy_to_where_it_is_sooner_and_has_room() {
    let store = store_of([1, 2, 3].map(|id| copied(id, 0)));
    let mut mechanism = planned(&[(RELAY, 1, 0, 100), (RELAY, 9, 900, 950), (1, 9, 500, 600)]);
    let room = |mechanism: &mut dyn Mechanism, now, free| {
        let links = [link(1, 0, free)];
        let at = Local { links: &links, ..place(&store, RELAY, now) };
        mechanism.make_room(&at, &Bundle { source: NodeId(RELAY), ..copy(8, 300).bundle }, None)
    };
    assert_eq!(room(&mut *mechanism, 10.0, 300), BufferDecision::Move { id: BundleId(1), to: NodeId(1) });
    assert_eq!(room(&mut *mechanism, 10.0, 299), BufferDecision::Wait);
    assert_eq!(room(&mut *mechanism, 601.0, 300), BufferDecision::Wait, "it is later there");
    let at = place(&store, RELAY, 10.0);
    mechanism.on_copy(&at, &mut copied(1, 0), CopyEvent::Returned { peer: NodeId(1) });
    let next = BufferDecision::Move { id: BundleId(2), to: NodeId(1) };
    assert_eq!(room(&mut *mechanism, 10.0, 300), next, "there was no room for the first");
}

#[test]
fn of_what_waits_at_the_application_the_smallest_is_the_first() {
    let bundle = |id, size| Bundle { source: NodeId(RELAY), size: Bytes(size), ..copy(id, size).bundle };
    let epidemic = crate::dtn::routers::TABLE.iter().find(|entry| entry.name == "epidemic");
    let router = built_with_properties(epidemic.unwrap(), &[]);
    let mechanism = planned_far(0, &[(RELAY, 9, 200, 300)]);
    let mut agent = Agent::new(NodeId(RELAY), Bytes(1200), router, mechanism, NodePolicy::default());
    let at = Instant::from_secs;
    assert_eq!(agent.create(at(0), bundle(0, 900), None), Creation::Stored);
    assert_eq!(agent.create(at(0), bundle(1, 600), None), Creation::Waiting);
    assert_eq!(agent.create(at(1), bundle(2, 500), None), Creation::Waiting);
    assert_eq!(agent.retry_waiting(at(1), None), None, "of equals");
    agent.replace(at(2), BundleId(0));
    let mut entered = || agent.retry_waiting(at(2), None).map(|(bundle, _)| bundle.id.0);
    assert_eq!([entered(), entered(), entered()], [Some(2), Some(1), None]);
}

#[test]
fn what_would_be_lost_is_stored_unless_it_is_worth_less_than_half() {
    let store = store_of([1, 2, 3].map(|id| copied(id, 0)));
    let room = |size, application_free| {
        let own = Bundle { source: NodeId(RELAY), size: Bytes(size), ..copy(8, size).bundle };
        let at = Local { application_free: Bytes(application_free), ..place(&store, RELAY, 0.0) };
        built(&ENTRY, &[]).make_room(&at, &own, None)
    };
    assert_eq!(room(300, 300), BufferDecision::Wait, "it can wait at the application");
    assert_eq!(room(300, 299), BufferDecision::Drop(BundleId(1)));
    assert_eq!(room(599, 0), BufferDecision::Drop(BundleId(1)));
    assert_eq!(room(601, 0), BufferDecision::Wait);
}

proptest! {
    #[test]
    fn a_full_buffer_always_has_an_answer(
        marks in prop::collection::vec((any::<u64>(), 0_u32..2), 1..20),
        offered: u64,
        is_planned: bool,
        now in 0.0..1e9_f64,
    ) {
        let copies = marks.iter().enumerate().map(|(id, (mark, sending))| Replica {
            mechanism_mark: *mark, sending: *sending, ..copy(id as u32, 50)
        });
        let store = store_of(copies);
        let at = place(&store, RELAY, now);
        let mut mechanism = if is_planned { planned(&[(RELAY, 9, 0, 9)]) } else { built(&ENTRY, &[]) };
        let replica = Replica { mechanism_mark: offered, ..copy(99, 50) };
        // Whether it is admitted makes no difference to how room is made.
        let _ = mechanism.admit(&at, &Incoming::Offered(&Offer { replica: &replica, from: NodeId(0) }));
        if let BufferDecision::Drop(id) = mechanism.make_room(&at, &replica.bundle, None) {
            prop_assert_eq!(store.get(id).map(|replica| replica.sending), Some(0));
        }
    }
}

use super::*;
use crate::dtn::testing::{built, built_with_properties, copy, place, store_of};
use crate::dtn::{
    Agent, BuildContext, Built, ContactPlan, Creation, Link, NodePolicy, Parameters, PeerSpace,
    PlannedContact, RouterProperties, Store,
};
use crate::units::BitRate;
use proptest::prelude::*;
use std::sync::Arc;

/// A node that is neither the source nor the destination of anything; bundles go from 0 to 9.
const RELAY: u32 = 5;

fn marked(id: u32, mark: Mark) -> Replica {
    Replica { mechanism_mark: mark.bits(), ..copy(id, 300) }
}
fn copied(id: u32, copies: f32) -> Replica {
    marked(id, Mark { copies, ..Mark::NEW })
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
fn built_for(context: BuildContext) -> Box<dyn Mechanism> {
    built_in(context).algorithm
}
fn built_in(context: BuildContext) -> Built<dyn Mechanism> {
    let given = Parameters::resolve(ENTRY.name, ENTRY.parameters, &Default::default()).unwrap();
    ENTRY.built(&given, BuildContext { node: NodeId(RELAY), nodes: 10, seed: 1, ..context })
}
/// With a router whose copies reach a single-copy phase.
fn in_single_copy_phase() -> BuildContext {
    let router = RouterProperties { single_copy_phase: true, ..RouterProperties::NONE };
    BuildContext { router, ..BuildContext::default() }
}
/// With a router that makes a limited number of copies of a bundle, or as many as it can.
fn counted(counts_copies: bool) -> Box<dyn Mechanism> {
    let router = RouterProperties { counts_copies, ..RouterProperties::NONE };
    built_for(BuildContext { router, ..BuildContext::default() })
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

#[test]
fn the_most_copied_bundle_makes_room_and_the_first_of_equals() {
    let store = store_of([copied(1, 1.0), copied(2, 4.0), copied(3, 4.0)]);
    let room = built(&ENTRY, &[]).make_room(&place(&store, RELAY, 0.0), &copy(8, 1).bundle, None);
    assert_eq!(room, BufferDecision::Drop(BundleId(2)));
}

#[test]
fn nothing_makes_room_for_what_was_copied_nearly_as_often_but_at_its_destination() {
    let store = store_of([copied(1, 1.2), copied(2, 0.3)]);
    let mut mechanism = built(&ENTRY, &[]);
    let mut answer =
        |copies, node| offered(&mut *mechanism, &place(&store, node, 0.0), &copied(8, copies)).unwrap();
    assert_eq!(answer(0.0, RELAY), BufferDecision::Drop(BundleId(1)), "it comes with 0.3");
    assert_eq!(answer(1.0, RELAY), BufferDecision::Wait, "it comes with 0.6");
    assert_eq!(answer(1.0, 9), BufferDecision::Drop(BundleId(1)), "a bundle at its destination is accepted");
}

#[test]
fn what_was_here_for_the_usual_age_of_deliveries_makes_room_for_what_was_copied_as_often() {
    let store = store_of([copied(1, 0.6), copied(2, 0.0)]);
    let mut mechanism = built(&ENTRY, &[]);
    let mut answer = |now| offered(&mut *mechanism, &place(&store, RELAY, now), &copied(8, 0.9)).unwrap();
    assert_eq!(answer(100.0), BufferDecision::Wait, "nothing is known of ages");
    mechanism.on_event(
        &place(&store, RELAY, 100.0),
        &MechanismEvent::Receipt { id: BundleId(7), created: Instant::ZERO },
    );
    let mut answer = |now| offered(&mut *mechanism, &place(&store, RELAY, now), &copied(8, 0.9)).unwrap();
    assert_eq!(answer(90.0), BufferDecision::Wait);
    assert_eq!(answer(101.0), BufferDecision::Drop(BundleId(1)));
}

#[test]
fn of_equals_what_has_had_its_chance_makes_room_unless_the_router_counts_copies() {
    let store = store_of([copied(1, 0.3)]);
    let answer = |now, is_counted, copies| {
        let mut mechanism = counted(is_counted);
        mechanism.on_event(
            &place(&store, RELAY, 100.0),
            &MechanismEvent::Receipt { id: BundleId(7), created: Instant::ZERO },
        );
        offered(&mut *mechanism, &place(&store, RELAY, now), &copied(8, copies)).unwrap()
    };
    assert_eq!(answer(99.0, false, 0.0), BufferDecision::Wait);
    assert_eq!(answer(101.0, false, 0.0), BufferDecision::Drop(BundleId(1)));
    assert_eq!(answer(101.0, false, 0.2), BufferDecision::Wait, "it comes with 0.36");
    assert_eq!(answer(1e6, true, 0.0), BufferDecision::Wait, "none would make good for it");
}

#[test]
fn a_node_keeps_fewer_bundles_of_its_own_the_more_room_they_take_unless_the_router_counts_copies() {
    let own = |count| store_of((0..count).map(|id| copied(id, 1.3)));
    let foreign = copied(8, 0.0);
    let foreign = Replica { bundle: Bundle { source: NodeId(1), ..foreign.bundle }, ..foreign };
    let answer = |store: &Store, is_counted| {
        offered(&mut *counted(is_counted), &place(store, 0, 0.0), &foreign).unwrap()
    };
    assert_eq!(answer(&own(1), false), BufferDecision::Wait, "it counts 0.6");
    assert_eq!(answer(&own(3), false), BufferDecision::Drop(BundleId(0)), "they count 1.2 each");
    assert_eq!(answer(&own(3), true), BufferDecision::Wait, "they count 0.3 each");
}

#[test]
fn a_copy_that_has_come_to_rest_is_moved_to_the_neighbour_with_most_room_before_any_is_dropped() {
    let store = store_of([copied(1, 0.2), copied(2, 0.5)]);
    let answer = |links: &[Link], copies| {
        let mut mechanism = built_for(in_single_copy_phase());
        offered(&mut *mechanism, &Local { links, ..place(&store, RELAY, 0.0) }, &copied(8, copies)).unwrap()
    };
    let busy =
        Link { peer_space: PeerSpace { idle: false, ..link(4, 0, 1000).peer_space }, ..link(4, 0, 1000) };
    let links = [link(1, 0, 900), link(2, 0, 300), link(3, 0, 400), busy, link(6, 0, 400)];
    assert_eq!(
        answer(&links, 0.0),
        BufferDecision::Move { id: BundleId(2), to: NodeId(3) },
        "1 is the giver"
    );
    assert_eq!(answer(&links, 1.0), BufferDecision::Wait, "it comes with 0.6");
    assert_eq!(answer(&[link(2, 0, 299)], 0.0), BufferDecision::Wait, "to drop it would gain too little");
    assert!(built_in(in_single_copy_phase()).properties.neighbours);
}

#[test]
fn a_copy_that_has_moved_often_moves_only_for_one_that_counts_less_by_a_tenth_for_each_hop() {
    let answer = |hops| {
        let moved = |id, copies| Replica { hops, ..copied(id, copies) };
        let store = store_of([moved(1, 0.2), moved(2, 0.5)]);
        let mut mechanism = built_for(in_single_copy_phase());
        let links = [link(2, 0, 300)];
        offered(&mut *mechanism, &Local { links: &links, ..place(&store, RELAY, 0.0) }, &copied(8, 0.0))
    };
    let moves = Ok(BufferDecision::Move { id: BundleId(2), to: NodeId(2) });
    assert_eq!([answer(0), answer(1)], [moves, moves], "it comes with 0.3");
    assert_eq!([answer(3), answer(30)], [Ok(BufferDecision::Wait); 2]);
}

#[test]
fn what_will_soon_be_too_late_makes_room() {
    let soon = |id, lifetime| {
        let copy = copied(id, 0.0);
        Replica { bundle: Bundle { expires: Instant::from_secs(lifetime), ..copy.bundle }, ..copy }
    };
    let store = store_of([soon(1, 100_000), soon(2, 1_000), soon(3, 100_000)]);
    let mut mechanism = built(&ENTRY, &[]);
    let at = place(&store, RELAY, 900.0);
    mechanism.on_event(&at, &MechanismEvent::Receipt { id: BundleId(7), created: Instant::from_secs(500) });
    assert_eq!(offered(&mut *mechanism, &at, &soon(8, 100_000)), Ok(BufferDecision::Drop(BundleId(2))));
}

#[test]
fn giver_and_taker_know_of_one_more_copy() {
    let store = store_of([]);
    let at = place(&store, 0, 0.0);
    let mut mechanism = built(&ENTRY, &[("share", 0.5.into())]);
    let mut replica = copied(1, 3.0);
    assert_eq!(f32::from_bits((mechanism.mark_for_peer(&at, &replica) >> 32) as u32), 2.0);
    mechanism.on_copy(&at, &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: false });
    assert_eq!(Mark::of(&replica).copies, 4.0);
}

#[test]
fn what_was_dropped_to_make_room_is_not_taken_again_until_half_of_the_buffer_is_free() {
    let store = store_of([7, 8].map(|id| copied(id, 0.0)));
    let mut mechanism = built(&ENTRY, &[]);
    let at = place(&store, RELAY, 0.0);
    mechanism.on_event(
        &at,
        &MechanismEvent::Dropped {
            bundle: &copy(1, 1).bundle,
            received: Instant::ZERO,
            reason: DropReason::Overflow,
        },
    );
    mechanism.on_event(
        &at,
        &MechanismEvent::Dropped {
            bundle: &copy(2, 1).bundle,
            received: Instant::ZERO,
            reason: DropReason::Expired,
        },
    );
    let mut answer = |at: &Local, id| {
        mechanism.admit(at, &Incoming::Offered(&Offer { replica: &copied(id, 0.0), from: NodeId(1) }))
    };
    assert_eq!((answer(&at, 1), answer(&at, 2)), (Err(Refusal::DroppedBefore), Ok(())));
    let relieved = store_of([copied(7, 0.0)]);
    let later = place(&relieved, RELAY, 1.0);
    assert_eq!((answer(&later, 1), answer(&at, 1)), (Ok(()), Ok(())));
}

#[test]
fn by_a_plan_nothing_is_taken_from_where_no_way_leads_on() {
    let store = store_of([]);
    let at = place(&store, RELAY, 0.0);
    let new = copied(1, 0.0);
    let answer = |contacts: &[_]| offered(&mut *planned(contacts), &at, &new);
    assert!(answer(&[(RELAY, 9, 10, 20)]).is_ok());
    assert_eq!(answer(&[(1, 9, 10, 20)]), Err(Refusal::Congestion));
    assert_eq!(answer(&[(RELAY, 1, 10, 20), (1, 9, 30, 40)]), Err(Refusal::Congestion), "only back");
    let full = store_of([1, 2, 3].map(|id| copied(id, 0.0)));
    let own = Bundle { source: NodeId(RELAY), ..copy(8, 300).bundle };
    let at = place(&full, RELAY, 0.0);
    let room = |contacts: &[_]| planned(contacts).make_room(&at, &own, None);
    assert_eq!(room(&[(1, 9, 10, 20)]), BufferDecision::Refuse);
    assert_eq!(room(&[(RELAY, 9, 10, 20)]), BufferDecision::Wait);
}

#[test]
fn by_a_plan_the_copy_in_custody_stays_and_extra_ones_make_room() {
    let extra = |id, copies| marked(id, Mark { copies, custody: Mark::EXTRA });
    let store = store_of([copied(1, 9.0), extra(2, 1.0), extra(3, 2.0)]);
    let at = place(&store, RELAY, 0.0);
    let mut mechanism = planned(&[(RELAY, 9, 10, 20)]);
    assert_eq!(offered(&mut *mechanism, &at, &copied(8, 0.0)), Ok(BufferDecision::Drop(BundleId(3))));
    assert_eq!(offered(&mut *mechanism, &at, &extra(8, 9.0)), Ok(BufferDecision::Wait), "with 3 copies");
    let full = store_of([1, 2, 3].map(|id| copied(id, 9.0)));
    assert_eq!(
        offered(&mut *mechanism, &place(&full, RELAY, 0.0), &copied(8, 0.0)),
        Ok(BufferDecision::Wait)
    );
}

#[test]
fn custody_moves_on_with_a_copy_once_it_can_be_known_to_have_come() {
    let store = store_of([]);
    let links = [link(1, 240, 0)];
    let at = |seconds| Local { links: &links, ..place(&store, RELAY, seconds) };
    let mut mechanism = planned(&[(RELAY, 1, 0, 1000), (1, 9, 2000, 3000)]);
    let mut replica = copied(1, 0.0);
    let custody = |bits| Mark::of(&Replica { mechanism_mark: bits, ..copy(1, 1) }).custody;
    assert_eq!(custody(mechanism.mark_for_peer(&at(100.0), &replica)), Mark::FOR_GOOD);
    mechanism.on_copy(&at(100.0), &mut replica, CopyEvent::Sent { peer: NodeId(1), delivered: false });
    assert_eq!(custody(mechanism.mark_for_peer(&at(100.0), &replica)), Mark::EXTRA, "it moves once");
    assert!(Mark::of(&replica).in_custody(at(579.0).now), "the answer may still come");
    assert!(!Mark::of(&replica).in_custody(at(580.0).now));
    mechanism.on_copy(&at(340.0), &mut replica, CopyEvent::Returned { peer: NodeId(1) });
    assert_eq!(Mark::of(&replica), Mark::NEW, "there was no room");
}

#[test]
fn by_a_plan_a_full_node_moves_a_copy_to_where_it_is_sooner_and_has_room() {
    let store = store_of([1, 2, 3].map(|id| copied(id, 0.0)));
    let contacts = [(RELAY, 1, 0, 100), (RELAY, 9, 900, 950), (1, 9, 500, 600)];
    let mut mechanism = planned(&contacts);
    let mut room = |now, free| {
        let links = [link(1, 0, free)];
        let at = Local { links: &links, ..place(&store, RELAY, now) };
        mechanism.make_room(&at, &Bundle { source: NodeId(RELAY), ..copy(8, 300).bundle }, None)
    };
    assert_eq!(room(10.0, 300), BufferDecision::Move { id: BundleId(1), to: NodeId(1) });
    assert_eq!(room(10.0, 299), BufferDecision::Wait);
    assert_eq!(room(601.0, 300), BufferDecision::Wait, "it is later there");
}

#[test]
fn by_a_plan_what_is_created_waits_for_a_link_that_leads_on_and_the_smallest_is_the_first() {
    let bundle = |id, size| Bundle { source: NodeId(RELAY), size: Bytes(size), ..copy(id, size).bundle };
    let contacts = [(RELAY, 1, 0, 100), (RELAY, 2, 200, 300), (2, 9, 400, 500)];
    let epidemic = crate::dtn::routers::TABLE.iter().find(|entry| entry.name == "epidemic");
    let router = built_with_properties(epidemic.unwrap(), &[]);
    let mechanism = planned_far(0, &contacts);
    let mut agent = Agent::new(NodeId(RELAY), Bytes(1000), router, mechanism, NodePolicy::default());
    let at = Instant::from_secs;
    agent.link_up(link(1, 0, 1000));
    assert_eq!(agent.create(at(0), bundle(1, 300), None), Creation::Waiting);
    assert_eq!(agent.create(at(1), bundle(2, 200), None), Creation::Waiting);
    assert_eq!(agent.retry_waiting(at(1), None), None, "node 1 meets no node");
    agent.link_down(at(100), NodeId(1));
    agent.link_up(link(2, 0, 1000));
    let mut entered = || agent.retry_waiting(at(200), None).map(|(bundle, _)| bundle.id.0);
    assert_eq!([entered(), entered(), entered()], [Some(2), Some(1), None]);
}

#[test]
fn by_a_plan_what_fills_its_contact_is_moved_to_where_it_arrives_at_all() {
    let store = store_of([1, 2, 3].map(|id| copied(id, 0.0)));
    let room = |end, pipelined| {
        let mut mechanism =
            planned_far(10, &[(RELAY, 1, 0, 100), (RELAY, 9, 200, end), (1, 9, 500, 600)]).algorithm;
        let links = [Link { pipelined, ..link(1, 10, 300) }];
        let at = Local { links: &links, ..place(&store, RELAY, 0.0) };
        mechanism.make_room(&at, &Bundle { source: NodeId(RELAY), ..copy(8, 300).bundle }, None)
    };
    assert_eq!(room(231, true), BufferDecision::Wait, "all leave one after the other");
    assert_eq!(room(231, false), BufferDecision::Wait, "three wait for each other");
    assert_eq!(room(221, false), BufferDecision::Move { id: BundleId(3), to: NodeId(1) });
}

#[test]
fn by_a_plan_what_is_large_waits_for_the_last_contact_before_the_peer_gains_room() {
    let store = store_of([]);
    let enters = |contacts: &[_], free| {
        let at = Local { links: &[link(1, 0, free)], ..place(&store, RELAY, 10.0) };
        let mut mechanism = planned(contacts);
        let bundle = |second, size| {
            let created = Instant::from_secs(second);
            Bundle { source: NodeId(RELAY), created, ..copy(8, size).bundle }
        };
        let small = mechanism.admit(&at, &Incoming::Created(&bundle(1, 100))).is_ok();
        (small, mechanism.admit(&at, &Incoming::Created(&bundle(2, 300))).is_ok())
    };
    let [now, later, on] = [(RELAY, 1, 0, 100), (RELAY, 1, 200, 300), (1, 9, 400, 500)];
    let (both, the_small) = ((true, true), (true, false));
    assert_eq!(enters(&[now, on], 1000), both);
    assert_eq!(enters(&[now, later, on], 1000), the_small);
    assert_eq!(enters(&[now, later, (1, 9, 120, 500)], 1000), both, "it would arrive later");
    assert_eq!(
        enters(&[now, later, on, (1, 2, 150, 160)], 1000),
        both,
        "there may be room for more until then"
    );
    assert_eq!(
        enters(&[now, later, on], 20_000_000),
        both,
        "the later contact carries less than there is room for"
    );
}

#[test]
fn by_a_plan_no_more_is_sent_than_there_will_be_room_for_and_one_that_asks() {
    let store = store_of([copied(1, 0.0), copied(2, 0.0)]);
    let mut mechanism = planned(&[(RELAY, 1, 0, 1000), (1, 9, 500, 600)]);
    let sends = |mechanism: &dyn Mechanism, free, now| {
        let at = Local { links: &[link(1, 10, free)], ..place(&store, RELAY, now) };
        mechanism.may_replicate(&at, &copied(2, 0.0), NodeId(1))
    };
    let send = |mechanism: &mut dyn Mechanism, now| {
        let at = Local { links: &[link(1, 10, 0)], ..place(&store, RELAY, now) };
        mechanism.on_copy(&at, &mut copied(1, 0.0), CopyEvent::Sent { peer: NodeId(1), delivered: false });
    };
    assert!(sends(&*mechanism, 0, 0.0), "the first one asks");
    send(&mut *mechanism, 0.0);
    assert!(!sends(&*mechanism, 599, 1.0));
    assert!(sends(&*mechanism, 600, 1.0));
    assert!(sends(&*mechanism, 0, 10.0), "nothing is in flight any more");
    send(&mut *mechanism, 495.0);
    assert!(sends(&*mechanism, 0, 495.0), "when it comes much can have left");
}

#[test]
fn by_a_plan_peers_are_told_that_extra_copies_make_room() {
    let extra = marked(2, Mark { copies: 1.0, custody: Mark::EXTRA });
    let store = store_of([copied(1, 0.0), extra]);
    let at = place(&store, RELAY, 0.0);
    assert_eq!(planned(&[(RELAY, 9, 10, 20)]).evictable_bytes(&at), Bytes(300));
    assert_eq!(built(&ENTRY, &[]).evictable_bytes(&at), Bytes(0));
}

proptest! {
    #[test]
    fn a_full_buffer_always_has_an_answer(
        marks in prop::collection::vec((any::<u64>(), 0_u32..2), 1..20),
        offered: u64,
        is_planned: bool,
    ) {
        let copies = marks.iter().enumerate().map(|(id, (mark, sending))| Replica {
            mechanism_mark: *mark, sending: *sending, ..copy(id as u32, 50)
        });
        let store = store_of(copies);
        let at = place(&store, RELAY, 0.0);
        let mut mechanism = if is_planned { planned(&[(RELAY, 9, 0, 9)]) } else { built(&ENTRY, &[]) };
        let replica = Replica { mechanism_mark: offered, ..copy(99, 50) };
        mechanism.admit(&at, &Incoming::Offered(&Offer { replica: &replica, from: NodeId(0) })).unwrap();
        if let BufferDecision::Drop(id) = mechanism.make_room(&at, &replica.bundle, None) {
            prop_assert_eq!(store.get(id).map(|replica| replica.sending), Some(0));
        }
    }
}

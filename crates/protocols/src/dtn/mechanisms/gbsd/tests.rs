use super::*;
use crate::dtn::testing::{built, built_with_properties, copy, place, store_of};
use crate::dtn::{Census, NodeId, Replica, Store, Value};
use crate::time::Instant;
use proptest::prelude::*;

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-9), "{found} is not {expected}");
}
fn spread(seen: f64, alive: f64, remaining_s: f64) -> Spread {
    Spread { seen, alive, remaining_s }
}
/// A copy of bundle `id` that lives until `expires` seconds.
fn until(id: u32, size: u64, expires: i64) -> Replica {
    let mut replica = copy(id, size);
    replica.bundle.expires = Instant::from_secs(expires);
    replica
}
/// A census with the number of nodes at which each bundle is alive, the source among them.
fn alive(counts: &[u32]) -> Census {
    let mut census = Census::default();
    for (id, &count) in counts.iter().enumerate() {
        let id = BundleId(id as u32);
        (0..count).for_each(|node| match node {
            0 => census.on_created(id, NodeId(0)),
            _ => census.on_copied(id, NodeId(node), true),
        });
    }
    census
}
fn answer(given: &[(&str, Value)], store: &Store, census: &Census, incoming: &Bundle) -> BufferDecision {
    let at = Local { census: Some(census), ..place(store, 5, 0.0) };
    built(&ENTRY, given).make_room(&at, incoming, None)
}
/// Two nodes meet every 100 s.
fn delivery() -> [(&'static str, Value); 1] {
    [("meeting_rate", 0.01.into())]
}
fn delay() -> [(&'static str, Value); 1] {
    [("goal", "delay".into())]
}

/// A copy's utility among eleven nodes of which two meet every 100 s.
fn utility(goal: Goal, of: Spread) -> f64 {
    let common = if matches!(goal, Goal::Delivery) { 0.01 } else { 100.0 };
    math::exp(goal.log_utility(11.0, 0.01, of)) * common
}

#[test]
fn the_utility_for_delivery_is_that_of_the_paper() {
    // m = 2, n = 3, R = 100 s: 0.8 x 1 x exp(-3).
    near(utility(Goal::Delivery, spread(2.0, 3.0, 100.0)), 0.039_829_654_694);
    // m = 0, n = 1, R = 50 s: 1 x 0.5 x exp(-0.5).
    near(utility(Goal::Delivery, spread(0.0, 1.0, 50.0)), 0.303_265_329_856);
}

#[test]
fn the_utility_for_delay_is_that_of_the_paper() {
    // 0.8 / (0.01 x 9) s per copy.
    near(utility(Goal::Delay, spread(2.0, 3.0, 100.0)), 8.888_888_888_889);
    near(utility(Goal::Delay, spread(5.0, 1.0, 1.0)), 50.0);
}

#[test]
fn what_every_node_has_seen_and_what_has_expired_is_worth_nothing() {
    assert_eq!(Goal::Delay.log_utility(11.0, 0.01, spread(10.0, 1.0, 100.0)), f64::NEG_INFINITY);
    assert_eq!(Goal::Delivery.log_utility(11.0, 0.01, spread(0.0, 1.0, 0.0)), f64::NEG_INFINITY);
    assert_eq!(Goal::Delivery.log_utility(11.0, 0.01, spread(0.0, 1.0, -1.0)), f64::NEG_INFINITY);
}

#[test]
fn utilities_differ_where_the_formula_itself_would_underflow() {
    let utility = |alive| Goal::Delivery.log_utility(50.0, 5e-4, spread(3.0, alive, 43_200.0));
    assert!(utility(40.0) > utility(41.0), "exp(-864) is 0 in a float");
}

#[test]
fn the_bundle_with_most_copies_goes_first() {
    let store = store_of((0..3).map(|id| until(id, 300, 1000)));
    let census = alive(&[2, 4, 3]);
    for given in [delivery(), delay()] {
        assert_eq!(
            answer(&given, &store, &census, &until(9, 300, 1000).bundle),
            BufferDecision::Drop(BundleId(1))
        );
    }
}

#[test]
fn for_delivery_remaining_lifetime_decides_between_bundles_with_as_many_copies() {
    // R exp(-n R / 100) with n = 2 is largest at R = 50: 30 (16.5) beats 200 (3.7) and 2 (1.9).
    let store = store_of([until(0, 300, 200), until(1, 300, 30), until(2, 300, 2)]);
    let census = alive(&[2, 2, 2]);
    let incoming = until(9, 300, 100).bundle;
    assert_eq!(answer(&delivery(), &store, &census, &incoming), BufferDecision::Drop(BundleId(2)));
    // For the delay they are equal: the one that came first goes.
    assert_eq!(answer(&delay(), &store, &census, &incoming), BufferDecision::Drop(BundleId(0)));
}

#[test]
fn a_bundle_that_more_nodes_have_seen_is_worth_less() {
    let store = store_of([until(0, 400, 1000), until(1, 400, 1000)]);
    let mut census = alive(&[2, 6]);
    (0..4).for_each(|_| census.on_gone(BundleId(1)));
    assert_eq!(
        answer(&delay(), &store, &census, &until(9, 300, 1000).bundle),
        BufferDecision::Drop(BundleId(1))
    );
}

#[test]
fn the_incoming_bundle_is_refused_when_it_is_worth_least() {
    let store = store_of([until(0, 500, 1000), until(1, 500, 1000)]);
    // Node 5 would get the fourth copy of bundle 2: as many as there are of bundle 1.
    for (counts, expected) in
        [([2, 4, 3], BufferDecision::Refuse), ([2, 4, 2], BufferDecision::Drop(BundleId(1)))]
    {
        assert_eq!(answer(&delay(), &store, &alive(&counts), &until(2, 300, 1000).bundle), expected);
    }
}

#[test]
fn nothing_is_dropped_for_a_bundle_that_would_be_refused_in_the_end() {
    let store = store_of([until(0, 500, 1000), until(1, 500, 1000)]);
    let census = alive(&[1, 4, 2]);
    assert_eq!(
        answer(&delay(), &store, &census, &until(2, 500, 1000).bundle),
        BufferDecision::Drop(BundleId(1))
    );
    assert_eq!(answer(&delay(), &store, &census, &until(2, 501, 1000).bundle), BufferDecision::Refuse);
}

#[test]
fn what_has_come_to_its_destination_is_never_refused_for_its_utility() {
    let store = store_of([until(0, 500, 1000), until(1, 500, 1000)]);
    let mut bundle = until(2, 300, 1000).bundle;
    bundle.destination = NodeId(5);
    assert_eq!(answer(&delay(), &store, &alive(&[2, 3, 9]), &bundle), BufferDecision::Drop(BundleId(1)));
}

#[test]
fn copies_that_are_being_sent_stay() {
    let store = store_of([until(0, 500, 1000), Replica { sending: 1, ..until(1, 500, 1000) }]);
    let census = alive(&[2, 9]);
    assert_eq!(
        answer(&delay(), &store, &census, &until(2, 300, 1000).bundle),
        BufferDecision::Drop(BundleId(0))
    );
    assert_eq!(answer(&delay(), &store, &census, &until(2, 600, 1000).bundle), BufferDecision::Refuse);
}

#[test]
fn the_meeting_rate_is_learned_from_contacts_unless_it_is_given() {
    let store = store_of([]);
    let rate = |given: &[(&str, Value)], contacts| {
        let mut gbsd = built(&ENTRY, given);
        (0..contacts).for_each(|peer| {
            gbsd.on_event(
                &place(&store, 0, 1.0),
                &MechanismEvent::ContactUp { peer: NodeId(peer), state: None },
            )
        });
        let mut seen = Vec::new();
        gbsd.observe(&place(&store, 0, 200.0), &mut seen);
        seen[0].1
    };
    // Nine others: 18 contacts in 200 s.
    near(rate(&[], 18), 0.01);
    assert_eq!(rate(&[], 0), 0.0);
    near(rate(&[("meeting_rate", 0.5.into())], 18), 0.5);
}

#[test]
fn it_asks_for_the_oracle() {
    assert_eq!(built_with_properties(&ENTRY, &[]).properties, Needs { census: true, ..Needs::NONE });
}

proptest! {
    #[test]
    fn a_full_buffer_gets_an_answer_that_can_be_followed(
        copies in prop::collection::vec((1..300_u64, 0..5000_i64, 0..2_u32, 1..9_u32), 0..6),
        (size, expires, goal) in (1..1500_u64, 0..5000_i64, any::<bool>()),
        (contacts, seconds) in (0..50_u32, 0.0..9e4_f64),
    ) {
        let counts: Vec<u32> = copies.iter().map(|row| row.3).collect();
        let replicas = copies.iter().enumerate().map(|(id, &(size, expires, sending, _))| {
            Replica { sending, ..until(id as u32, size, expires) }
        });
        let (mut store, census) = (store_of(replicas), alive(&counts));
        let given = [("goal", Value::from(if goal { "delivery" } else { "delay" }))];
        let mut gbsd = built(&ENTRY, &given);
        (0..contacts).for_each(|peer| gbsd.on_event(&place(&store, 1, seconds), &MechanismEvent::ContactUp { peer: NodeId(peer), state: None }));
        let incoming = until(copies.len() as u32, size, expires).bundle;
        let mut dropped = 0;
        while store.free() < incoming.size {
            let at = Local { census: Some(&census), ..place(&store, 1, seconds) };
            match gbsd.make_room(&at, &incoming, None) {
                BufferDecision::Drop(id) => {
                    prop_assert_eq!(store.remove(id).map(|r| r.sending), Some(0));
                    dropped += 1;
                }
                BufferDecision::Refuse => {
                    prop_assert_eq!(dropped, 0, "dropped for nothing");
                    break;
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}

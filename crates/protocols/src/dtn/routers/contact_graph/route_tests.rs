//! Routes beside the tutorial's plan, worked out by hand, and beside all routes that there are.

use super::route::{Request, Route, best_route};
use super::volume::Volumes;
use crate::dtn::{ContactPlan, NodeId, PlannedContact};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use proptest::prelude::*;
use std::cmp::Reverse;

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);
pub const D: NodeId = NodeId(3);
pub const E: NodeId = NodeId(4);

pub fn at(seconds: i64) -> Instant {
    Instant::from_secs(seconds)
}

/// A contact of one byte per second, a second of light long.
pub fn contact(from: NodeId, to: NodeId, start: i64, end: i64) -> PlannedContact {
    let (rate, delay) = (BitRate(8), Duration::from_secs(1));
    PlannedContact { from, to, start: at(start), end: at(end), rate, delay }
}

/// The plan of Fraire, De Jonckère, Burleigh 2021 (pyCGR's `cgr_tutorial.txt`): links of one unit of
/// volume per second, each in both directions.
pub fn tutorial() -> ContactPlan {
    let links = [
        (A, B, 0, 60),
        (B, C, 0, 60),
        (A, C, 0, 60),
        (C, D, 0, 30),
        (A, E, 10, 20),
        (D, E, 0, 10),
        (D, E, 30, 40),
        (D, E, 50, 60),
    ];
    let ways = |(a, b, start, end)| [contact(a, b, start, end), contact(b, a, start, end)];
    ContactPlan::new(links.into_iter().flat_map(ways))
}

fn request(size: u64) -> Request<'static> {
    Request { now: at(0), from: A, to: E, size: Bytes(size), expires: Instant::MAX, excluded: &[] }
}

fn nodes(plan: &ContactPlan, route: &Route) -> Vec<NodeId> {
    route.contacts.iter().map(|&at| plan.contacts()[at].to).collect()
}

/// The nodes of the route and the time of arrival, if there is a route.
fn way(plan: &ContactPlan, volumes: &Volumes, request: &Request) -> Option<(Vec<NodeId>, i64)> {
    let route = best_route(plan, volumes, request)?;
    Some((nodes(plan, &route), route.arrival.as_nanos() / 1_000_000_000))
}

#[test]
fn the_tutorials_bundle_goes_by_c_and_d_unless_it_is_too_large_or_has_no_time() {
    let (plan, free) = (tutorial(), Volumes::default());
    let best = |request: &Request| way(&plan, &free, request);
    // Next to nothing to send: three times a second of light.
    assert_eq!(best(&request(0)), Some((vec![C, D, E], 3)));
    // Two seconds to send and one of light per hop: 3, 6, 9.
    assert_eq!(best(&request(2)), Some((vec![C, D, E], 9)));
    // Four: at D by 10, when D and E part. From A itself to E: 10 + 4 + 1.
    assert_eq!(best(&request(4)), Some((vec![E], 15)));
    // Eleven don't fit into ten seconds, on any route.
    assert_eq!(best(&request(11)), None);
    // Later the first of the contacts of D and E is over, then that of A and E too.
    assert_eq!(best(&Request { now: at(9), ..request(2) }), Some((vec![E], 13)));
    assert_eq!(best(&Request { now: at(19), ..request(2) }), Some((vec![C, D, E], 33)));
    assert_eq!(best(&Request { now: at(29), ..request(2) }), None);
    // Arriving when the lifetime ends is arriving in time.
    assert!(best(&Request { expires: at(9), ..request(2) }).is_some());
    assert_eq!(best(&Request { expires: at(8), ..request(2) }), None);
}

#[test]
fn an_excluded_node_is_no_entry_node_but_may_come_later_on_the_way() {
    let (plan, free) = (tutorial(), Volumes::default());
    let best = |excluded| way(&plan, &free, &Request { excluded, ..request(0) });
    assert_eq!(best(&[C]), Some((vec![B, C, D, E], 4)));
    assert_eq!(best(&[B, C]), Some((vec![E], 11)));
    assert_eq!(best(&[B, C, E]), None);
}

#[test]
fn a_queue_delays_the_own_contact_and_bookings_use_up_those_of_others() {
    let plan = tutorial();
    let number = |from, to, start| {
        let found = plan.contacts().iter().position(|c| (c.from, c.to, c.start) == (from, to, at(start)));
        found.expect("the contact is planned")
    };
    let booked = |contact, seconds| {
        let mut volumes = Volumes::default();
        volumes.book(contact, Duration::from_secs(seconds));
        volumes
    };
    // A's queue for C holds it up for two seconds; then the route by B is as fast, but longer.
    assert_eq!(way(&plan, &booked(number(A, C, 0), 2), &request(1)), Some((vec![C, D, E], 8)));
    assert_eq!(way(&plan, &booked(number(A, C, 0), 3), &request(1)), Some((vec![B, C, D, E], 8)));
    // Nine of the ten seconds of D and E are gone: one is left, but not two.
    let nine = booked(number(D, E, 0), 9);
    assert_eq!(way(&plan, &nine, &request(1)), Some((vec![C, D, E], 6)));
    assert_eq!(way(&plan, &nine, &request(2)), Some((vec![E], 13)));
}

#[test]
fn of_equally_fast_routes_the_shorter_then_the_longer_lived_then_the_lower_entry_wins() {
    let free = Volumes::default();
    let best = |contacts: &[PlannedContact]| {
        let plan = ContactPlan::new(contacts.iter().copied());
        best_route(&plan, &free, &request(1)).map(|route| nodes(&plan, &route))
    };
    let last = contact(D, E, 50, 60);
    // By B and C one is early at D, and waits there as long as one that comes by C alone.
    let long = [contact(A, B, 0, 5), contact(B, C, 0, 9), contact(C, D, 0, 40), last];
    let short = [contact(A, C, 20, 30)];
    assert_eq!(best(&[&long[..], &short].concat()), Some(vec![C, D, E]));
    let by = |node, end| [contact(A, node, 0, end), contact(node, D, 0, end)];
    assert_eq!(best(&[&by(B, 20)[..], &by(C, 30), &[last]].concat()), Some(vec![C, D, E]));
    assert_eq!(best(&[&by(C, 30)[..], &by(B, 30), &[last]].concat()), Some(vec![B, D, E]));
}

/// The merits of a route: the less, the better.
type Merit = (Instant, usize, Reverse<Instant>, NodeId);

/// Tries all paths that visit no node twice; keeps the best.
struct Everywhere<'a> {
    plan: &'a ContactPlan,
    volumes: &'a Volumes,
    request: &'a Request<'a>,
    way: Vec<usize>,
    best: Option<Merit>,
}

impl Everywhere<'_> {
    fn go(&mut self, node: NodeId, time: Instant) {
        let contacts = self.plan.contacts();
        if node == self.request.to {
            let end = self.way.iter().map(|&at| contacts[at].end).min().expect("there was a contact");
            let merit = (time, self.way.len(), Reverse(end), contacts[self.way[0]].to);
            if time <= self.request.expires && self.best.is_none_or(|best| merit < best) {
                self.best = Some(merit);
            }
            return;
        }
        for (at, contact) in contacts.iter().enumerate() {
            let been = |node| node == self.request.from || self.way.iter().any(|&at| contacts[at].to == node);
            let barred = self.way.is_empty() && self.request.excluded.contains(&contact.to);
            if contact.from != node || been(contact.to) || barred {
                continue;
            }
            let sending = contact.rate.time_for(self.request.size);
            let booked = self.volumes.booked(at);
            let queue = if self.way.is_empty() { booked } else { Duration::ZERO };
            let sent = time.max(contact.start) + queue + sending;
            if sent <= contact.end && booked + sending <= contact.end - contact.start {
                self.way.push(at);
                self.go(contact.to, sent + contact.delay);
                self.way.pop();
            }
        }
    }
}

fn any_contact() -> impl Strategy<Value = PlannedContact> {
    (0_u32..5, 0_u32..5, 0_i64..40, 1_i64..30, 1_u64..4, 0_i64..6).prop_map(
        |(from, to, start, lasts, rate, delay)| PlannedContact {
            rate: BitRate(8 * rate),
            delay: Duration::from_secs(delay),
            ..contact(NodeId(from), NodeId(to), start, start + lasts)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_best_route_is_the_best_of_all_that_there_are(
        contacts in prop::collection::vec(any_contact(), 0..24),
        booked in prop::collection::vec((0_usize..24, 0_i64..12), 0..8),
        size in 1_u64..16,
        now in 0_i64..20,
        lasts in prop::option::of(0_i64..80),
        excluded in prop::collection::vec((1_u32..4).prop_map(NodeId), 0..2),
    ) {
        let plan = ContactPlan::new(contacts);
        let mut volumes = Volumes::default();
        booked.iter().for_each(|&(at, seconds)| volumes.book(at, Duration::from_secs(seconds)));
        let expires = lasts.map_or(Instant::MAX, |lasts| at(now + lasts));
        let request = Request { now: at(now), expires, excluded: &excluded, ..request(size) };
        let mut all = Everywhere { plan: &plan, volumes: &volumes, request: &request, way: Vec::new(), best: None };
        all.go(A, at(now));
        let found = best_route(&plan, &volumes, &request);
        let merit = found.map(|r| (r.arrival, r.contacts.len(), Reverse(r.termination), r.entry));
        prop_assert_eq!(merit, all.best);
    }
}

//! Networks whose bounds are known, and runs that must keep to theirs.

mod flows;
mod networks;
mod runs;

use super::*;
use crate::metrics::Metrics;
use lightlag_protocols::dtn::{
    Built, BundleId, Mechanism, Needs, NodeId, NodePolicy, Router, RouterProperties, mechanisms, routers,
};
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::contacts::{Channel, Contact, Contacts, Delay};
use lightlag_worlds::messages::{Builder, Control, Node, Rules, run};
use std::sync::Arc;

/// Eight kbit/s: a byte takes a millisecond.
const RATE: BitRate = BitRate(8_000);

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

/// A run of an hour whose links carry 1,000 B/s.
fn network(nodes: usize, buffer: u64) -> Setup {
    let router: Builder<dyn Router> =
        Arc::new(|_| Built { algorithm: Box::new(routers::Epidemic), properties: RouterProperties::NONE });
    let mechanism: Builder<dyn Mechanism> =
        Arc::new(|_| Built { algorithm: Box::new(mechanisms::None), properties: Needs::NONE });
    let node = Node { buffer: Bytes(buffer), router, mechanism, policy: NodePolicy::default() };
    Setup {
        nodes: vec![node; nodes],
        contacts: Arc::default(),
        plan: Arc::default(),
        revisions: Arc::default(),
        bundles: Arc::default(),
        replies: Arc::default(),
        until: Instant::from_secs(3_600),
        seed: 1,
        rules: Rules::default(),
    }
}

trait With: Sized {
    /// A contact in both directions.
    fn meet(self, a: u32, b: u32, start: f64, end: f64) -> Self {
        self.meet_far(a, b, start, end, 0.0)
    }
    /// A contact over some light seconds.
    fn meet_far(self, a: u32, b: u32, start: f64, end: f64, light: f64) -> Self;
    /// A contact that carries from `a` to `b` only.
    fn one_way(self, a: u32, b: u32, start: f64, end: f64) -> Self;
    /// A bundle that lives for `lifetime` seconds.
    fn bundle(self, from: u32, to: u32, size: u64, created: f64, lifetime: f64) -> Self;
    fn bound(&self) -> Bound;
}

fn contact(setup: &mut Setup, a: u32, b: u32, start: f64, end: f64, ways: [Channel; 2]) {
    let mut all = Contacts::clone(&setup.contacts);
    let forward = all.channels.len() as u32;
    all.channels.extend(ways);
    let (a, b) = (NodeId(a), NodeId(b));
    let contact = Contact { a, b, start: at(start), end: at(end), forward, backward: forward + 1 };
    all.list.push(contact);
    all.list.sort_by_key(|contact| (contact.start, contact.a, contact.b));
    setup.contacts = Arc::new(all);
}

impl With for Setup {
    fn meet_far(mut self, a: u32, b: u32, start: f64, end: f64, light: f64) -> Self {
        let channel = Channel::steady(RATE, Delay::Constant(Duration::from_secs_f64(light)));
        contact(&mut self, a, b, start, end, [channel.clone(), channel]);
        self
    }
    fn one_way(mut self, a: u32, b: u32, start: f64, end: f64) -> Self {
        let channel = |rate| Channel::steady(rate, Delay::Constant(Duration::ZERO));
        contact(&mut self, a, b, start, end, [channel(RATE), channel(BitRate(0))]);
        self
    }
    fn bundle(mut self, from: u32, to: u32, size: u64, created: f64, lifetime: f64) -> Self {
        let mut all = Vec::clone(&self.bundles);
        let id = BundleId(all.len() as u32);
        let (source, destination) = (NodeId(from), NodeId(to));
        let (created, expires) = (at(created), at(created + lifetime));
        all.push(Bundle { id, source, destination, size: Bytes(size), created, expires });
        self.bundles = Arc::new(all);
        self
    }
    fn bound(&self) -> Bound {
        of_setup(self, Instant::ZERO)
    }
}

/// Ten bundles of 100 B at once, from node 0.
fn ten(mut setup: Setup, to: u32) -> Setup {
    for _ in 0..10 {
        setup = setup.bundle(0, to, 100, 0.0, 3_600.0);
    }
    setup
}

#[track_caller]
fn expect(setup: &Setup, reachable: f64, share: f64) {
    let Bound { reachable: known, bound, .. } = setup.bound();
    let bound = bound.expect("the network is small");
    assert!((known - reachable).abs() < 1e-9, "reachable: {known}");
    assert!((bound - share).abs() < 1e-9, "bound: {bound}");
}

#[test]
fn a_relay_carries_no_more_than_its_buffer_from_one_contact_to_the_next() {
    let setup = network(3, 300).meet(0, 1, 10.0, 20.0).meet(1, 2, 30.0, 40.0);
    expect(&ten(setup, 2), 1.0, 0.3);
}

#[test]
fn a_relay_whose_contacts_overlap_passes_on_more_than_its_buffer() {
    let setup = network(3, 300).meet(0, 1, 10.0, 20.0).meet(1, 2, 10.0, 20.0);
    expect(&ten(setup, 2), 1.0, 1.0);
}

#[test]
fn a_source_may_keep_more_than_its_buffer_waiting() {
    expect(&ten(network(2, 300).meet(0, 1, 10.0, 20.0), 1), 1.0, 1.0);
}

#[test]
fn what_is_larger_than_the_buffer_of_its_source_is_never_sent() {
    expect(&ten(network(2, 99).meet(0, 1, 10.0, 20.0), 1), 1.0, 0.0);
}

#[test]
fn a_contact_carries_no_more_than_its_rate() {
    expect(&ten(network(2, 5_000).meet(0, 1, 10.0, 10.25), 1), 1.0, 0.25);
    let twice = network(2, 5_000).meet(0, 1, 10.0, 10.25).meet(0, 1, 20.0, 20.25);
    expect(&ten(twice, 1), 1.0, 0.5);
}

#[test]
fn a_contact_too_short_for_a_bundle_reaches_nobody() {
    let setup = ten(network(2, 5_000).meet(0, 1, 10.0, 10.099), 1);
    expect(&setup, 0.0, 0.0);
    assert_eq!(setup.bound().delay_bound, 3_600.0);
}

#[test]
fn light_that_comes_after_the_end_is_too_late() {
    let light =
        |light| network(2, 5_000).meet_far(0, 1, 3_000.0, 3_010.0, light).bundle(0, 1, 100, 0.0, 7_200.0);
    expect(&light(599.9), 1.0, 1.0);
    assert_eq!(light(599.9).bound().delay_bound, 3_600.0);
    expect(&light(600.0), 0.0, 0.0);
}

#[test]
fn what_would_arrive_after_its_lifetime_reaches_nobody() {
    let direct =
        |lifetime| network(2, 500).meet_far(0, 1, 10.0, 20.0, 100.0).bundle(0, 1, 100, 0.0, lifetime);
    expect(&direct(110.2), 1.0, 1.0);
    expect(&direct(110.1), 0.0, 0.0);
    let relayed = |lifetime| {
        let far = network(3, 500).meet_far(0, 1, 10.0, 20.0, 100.0);
        far.meet(1, 2, 50.0, 200.0).bundle(0, 2, 100, 0.0, lifetime)
    };
    expect(&relayed(110.3), 1.0, 1.0);
    expect(&relayed(110.2), 0.0, 0.0);
}

#[test]
fn a_one_way_contact_carries_nothing_back() {
    let there = network(2, 500).one_way(0, 1, 10.0, 20.0);
    expect(&there.clone().bundle(0, 1, 100, 0.0, 3_600.0), 1.0, 1.0);
    expect(&there.bundle(1, 0, 100, 0.0, 3_600.0), 0.0, 0.0);
}

#[test]
fn bundles_count_and_not_bytes_so_the_smallest_come_first() {
    let setup = network(2, 5_000).meet(0, 1, 10.0, 10.5);
    let setup = setup.bundle(0, 1, 400, 0.0, 3_600.0).bundle(0, 1, 300, 0.0, 3_600.0);
    let setup = setup.bundle(0, 1, 100, 0.0, 3_600.0).bundle(0, 1, 200, 0.0, 3_600.0);
    expect(&setup, 1.0, (1.0 + 1.0 + 200.0 / 300.0) / 4.0);
    assert_eq!(setup.bound().bound_bytes, Some(0.5));
}

#[test]
fn a_destination_takes_no_more_than_was_meant_for_it() {
    // All that node 2 could get is there, but most is for node 3, which hears of it over a short contact.
    let setup = network(4, 5_000).meet(0, 1, 10.0, 20.0).meet(1, 2, 30.0, 40.0).meet(1, 3, 30.0, 30.15);
    let setup = ten(setup, 3).bundle(0, 2, 100, 0.0, 3_600.0);
    expect(&setup, 1.0, 2.5 / 11.0);
}

#[test]
fn to_stop_and_wait_for_light_costs_room_on_the_contact() {
    let waiting = |propagation| {
        let mut setup = ten(network(2, 5_000).meet_far(0, 1, 10.0, 16.0, 1.0), 1);
        setup.rules.propagation = propagation;
        setup
    };
    expect(&waiting(Propagation::Pipelined), 1.0, 1.0);
    // What is sent within five seconds is answered: four cycles of 1.1 s and one more transfer.
    expect(&waiting(Propagation::StopAndWait), 1.0, 0.5);
}

#[test]
fn where_each_bundle_is_waited_for_small_ones_gain_nothing() {
    let waiting = |size| {
        let mut setup = network(2, 5_000).meet_far(0, 1, 10.0, 16.0, 1.0);
        for _ in 0..10 {
            setup = setup.bundle(0, 1, size, 0.0, 3_600.0);
        }
        setup = setup.bundle(0, 1, 400, 0.0, 3_600.0);
        setup.rules.propagation = Propagation::StopAndWait;
        setup
    };
    // Cycles of 1.01 s within the five seconds that are answered: those that begin at 0, 1.01 .. 4.04 s.
    expect(&waiting(10), 1.0, 5.0 / 11.0);
}

#[test]
fn a_flight_may_last_longer_than_the_contact() {
    let setup = network(3, 5_000).meet_far(0, 1, 10.0, 12.0, 500.0).meet(1, 2, 509.0, 511.2);
    let setup = ten(setup, 2);
    // Node 1 has its first bundle at 510.1 s, and 1.1 s from then on to send all ten.
    expect(&setup, 1.0, 1.0);
    let arrival = 510.1 + 0.1;
    assert!((setup.bound().delay_bound - arrival).abs() < 1e-6);
}

#[test]
fn the_delay_of_a_bundle_that_cannot_arrive_is_its_age_at_the_end() {
    let setup = network(3, 500).meet(0, 1, 10.0, 20.0);
    let setup = setup.bundle(0, 1, 100, 4.0, 3_600.0).bundle(0, 2, 100, 600.0, 3_600.0);
    let mean = ((10.1 - 4.0) + 3_000.0) / 2.0;
    assert!((setup.bound().delay_bound - mean).abs() < 1e-6);
}

#[test]
fn a_run_without_bundles_has_no_delay() {
    let bound = network(2, 500).bound();
    assert_eq!((bound.created, bound.reachable, bound.bound), (0, 0.0, Some(0.0)));
    assert!(bound.delay_bound.is_nan());
}

#[test]
fn a_falling_delay_is_worth_waiting_for() {
    let falling =
        Delay::Table(vec![(at(0.0), Duration::from_secs(100)), (at(15.0), Duration::from_secs(10))]);
    let channel = Channel::steady(RATE, falling);
    let mut setup = network(2, 500).bundle(0, 1, 100, 0.0, 3_600.0);
    contact(&mut setup, 0, 1, 10.0, 20.0, [channel.clone(), channel]);
    expect(&setup, 1.0, 1.0);
    assert!((setup.bound().delay_bound - 25.1).abs() < 1e-6);
}

#[test]
fn what_has_arrived_in_part_needs_no_room_yet() {
    let mut setup = network(4, 100).meet(3, 1, 1.0, 2.0).meet(1, 2, 9.95, 10.3);
    setup = setup.bundle(3, 2, 100, 0.0, 3_600.0).bundle(0, 2, 100, 0.0, 3_600.0);
    setup.rules = Rules { radio: Radio::Direction, control: Control::Instant, ..setup.rules };
    // A second for the bundle, most of it while node 1 still holds the other one.
    let slow = Channel::steady(BitRate(800), Delay::Constant(Duration::from_secs_f64(0.001)));
    contact(&mut setup, 0, 1, 9.1, 10.1, [slow.clone(), slow]);
    expect(&setup, 1.0, 1.0);
    let mut metrics = Metrics::new(Instant::ZERO);
    run(&setup, &mut metrics);
    assert_eq!(metrics.summary().delivered, 2);
}

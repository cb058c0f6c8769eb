//! Networks drawn at random, with everything that a world knows: one-way contacts, contacts in the shadow of
//! others, delays that rise and fall, ticks, any radio, buffers too small for some bundles, every node policy.

use super::super::{of_setup, within};
use crate::metrics::Metrics;
use lightlag_protocols::dtn::{
    Built, Bundle, BundleId, Entry, Mechanism, Needs, NodeId, NodePolicy, Parameters, Router,
    RouterProperties, mechanisms, routers,
};
use lightlag_protocols::dtn::{Propagation, Radio};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::contacts::{Channel, Contact, Contacts, Delay};
use lightlag_worlds::messages::{Builder, Control, Node, Rules, Setup, run};
use std::collections::BTreeMap;
use std::sync::Arc;

const UNTIL_S: f64 = 1_000.0;
const TICK: Duration = Duration::from_nanos(100_000_000);

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn one_of<T: Copy>(random: &mut Stream, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

fn rules(random: &mut Stream) -> Rules {
    Rules {
        radio: one_of(random, &[Radio::Node, Radio::Node, Radio::Link, Radio::Direction]),
        propagation: one_of(random, &[Propagation::Pipelined, Propagation::StopAndWait]),
        control: one_of(random, &[Control::Carried, Control::Instant]),
        tick: one_of(random, &[None, None, Some(TICK)]),
        purge_every: one_of(random, &[None, None, Some(Duration::from_secs(60))]),
        ..Rules::default()
    }
}

fn policy(random: &mut Stream) -> NodePolicy {
    let mut coin = || random.below(3) == 0;
    NodePolicy {
        receipts: coin(),
        drop_memory: coin(),
        delete_delivered: coin(),
        overfill: coin(),
        deliver_past_buffer: coin(),
        deliver_late: false,
        application_buffer: one_of(random, &[None, None, Some(Bytes(0)), Some(Bytes(200_000))]),
    }
}

fn delay(random: &mut Stream, far: bool) -> Delay {
    let mut any = || Duration::from_secs_f64(if far { random.uniform(0.0, 30.0) } else { 0.0 });
    if any() > Duration::from_secs(20) {
        return Delay::Table((0..20).map(|row| (at(f64::from(row) * 50.0), any())).collect());
    }
    Delay::Constant(any())
}

fn channels(random: &mut Stream, far: bool) -> Vec<Channel> {
    let same = delay(random, far);
    (0..4)
        .map(|at| {
            let rate = BitRate(if at == 3 { 0 } else { 20_000 + random.below(200_000) });
            Channel::steady(rate, if random.below(2) == 0 { same.clone() } else { delay(random, far) })
        })
        .collect()
}

fn contacts(random: &mut Stream, nodes: u64) -> Contacts {
    let far = random.below(2) == 0;
    let channels = channels(random, far);
    let contact = |_| {
        let a = random.below(nodes);
        let b = (a + 1 + random.below(nodes - 1)) % nodes;
        let start = at(random.uniform(0.0, UNTIL_S)).round_up(TICK);
        let end = start + TICK * (1 + random.below(1_000) as i64);
        let [forward, backward] = [random.below(4) as u32, random.below(4) as u32];
        Contact { a: NodeId(a as u32), b: NodeId(b as u32), start, end, forward, backward }
    };
    let mut list: Vec<Contact> = (0..40).map(contact).collect();
    list.sort_by_key(|contact| (contact.start, contact.a, contact.b));
    Contacts { list, channels }
}

fn bundles(random: &mut Stream, nodes: u64) -> Vec<Bundle> {
    let spacing = random.uniform(1.0, 10.0);
    let bundle = |id| {
        let source = random.below(nodes);
        let destination = (source + 1 + random.below(nodes - 1)) % nodes;
        let created = at(f64::from(id) * spacing);
        let lifetime = Duration::from_secs_f64(random.uniform(0.0, 1_000.0));
        Bundle {
            id: BundleId(id),
            source: NodeId(source as u32),
            destination: NodeId(destination as u32),
            size: Bytes(1 + random.below(100_000)),
            created,
            expires: created + lifetime,
        }
    };
    (0..100).map(bundle).collect()
}

/// All but the algorithms.
fn network(seed: u64) -> Setup {
    let mut random = Stream::new(seed, "network", 0);
    let random = &mut random;
    let nodes = 3 + random.below(5);
    let contacts = contacts(random, nodes);
    let (rules, policy) = (rules(random), policy(random));
    let node = |_| Node {
        buffer: Bytes(20_000 + random.below(150_000)),
        router: Arc::new(|_| Built {
            algorithm: Box::new(routers::Direct),
            properties: RouterProperties::NONE,
        }),
        mechanism: Arc::new(|_| Built { algorithm: Box::new(mechanisms::None), properties: Needs::NONE }),
        policy,
    };
    let spec = (0..nodes).map(node).collect();
    Setup {
        nodes: spec,
        plan: Arc::new(contacts.plan()),
        revisions: Arc::default(),
        contacts: Arc::new(contacts),
        bundles: Arc::new(bundles(random, nodes)),
        replies: Arc::default(),
        until: at(UNTIL_S),
        seed,
        rules,
    }
}

/// A router with a mechanism.
struct Pair {
    name: String,
    router: Builder<dyn Router>,
    mechanism: Builder<dyn Mechanism>,
}

impl Pair {
    fn on(&self, network: &Setup) -> Setup {
        let mut setup = network.clone();
        for node in &mut setup.nodes {
            node.router = self.router.clone();
            node.mechanism = self.mechanism.clone();
        }
        setup
    }
}

/// Every router with every mechanism.
fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    // No network lets an oracle's transfers take no time; `passive` refuses bundles that do not fit.
    let real = |router: &&Entry<dyn Router>| !["epidemic_oracle", "passive"].contains(&router.name);
    for router in routers::TABLE.iter().filter(real) {
        for mechanism in mechanisms::TABLE {
            let own = |name, declared| {
                Parameters::resolve(name, declared, &BTreeMap::new()).expect("defaults are valid")
            };
            let for_router = own(router.name, router.parameters);
            let for_mechanism = own(mechanism.name, mechanism.parameters);
            pairs.push(Pair {
                name: format!("{} with {}", router.name, mechanism.name),
                router: Arc::new(move |context| router.built(&for_router, context)),
                mechanism: Arc::new(move |context| mechanism.built(&for_mechanism, context)),
            });
        }
    }
    pairs
}

#[test]
fn no_run_over_a_random_network_exceeds_its_bound() {
    let pairs = pairs();
    let mut crowded = 0;
    for seed in 0..150 {
        let network = network(seed);
        let known = of_setup(&network, Instant::ZERO);
        let most = known.bound.expect("the network is small");
        // With few moments, where they are few enough for so small a network.
        let loose = within(&network, Instant::ZERO, 800).bound;
        let most = loose.map_or(most, |loose| most.min(loose));
        assert!(most <= known.reachable + 1e-9, "{seed}: {known:?}");
        for pair in &pairs {
            let name = &pair.name;
            let mut metrics = Metrics::new(Instant::ZERO);
            run(&pair.on(&network), &mut metrics);
            let made = metrics.summary();
            let (ratio, delay) = (made.delivery_prob, made.censored_delay_avg);
            assert_eq!(made.created, known.created, "{seed}, {name}");
            assert!(ratio <= most + 1e-9, "{seed}, {name}, {:?}: {ratio}, {known:?}", network.rules);
            assert!(delay >= known.delay_bound - 1e-6, "{seed}, {name}: {delay}, {known:?}");
        }
        crowded += u32::from(most < known.reachable - 0.01);
    }
    assert!(crowded > 50, "buffers and rates bind in {crowded} networks only");
}

#[test]
fn a_network_that_is_too_large_with_any_moments_has_no_flow() {
    let known = within(&network(1), Instant::ZERO, 10);
    assert_eq!((known.bound, known.bound_bytes), (None, None));
    assert!(known.reachable > 0.0);
}

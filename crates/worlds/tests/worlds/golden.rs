//! Whole runs as text tables under version control: a change of behaviour is a visible diff.
//!
//! `UPDATE_GOLDEN=1 cargo test -p lightlag-worlds --test worlds golden::` rewrites them.

use crate::common::golden;
use lightlag_protocols::dtn::{
    Bundle, BundleId, DropReason, Entry, Kind, Mechanism, NodeId, NodePolicy, Parameters, Router, mechanisms,
    routers,
};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::contacts::kinetic::{Radio, encounters};
use lightlag_worlds::contacts::{Channel, Contact, Contacts, Delay};
use lightlag_worlds::messages::{Builder, Control, Node, Rules, Setup, run};
use lightlag_worlds::mobility::{Area, Bounds, Fleet, Group, Initial, RandomWaypoint};
use std::collections::BTreeMap;
use std::fmt::Write;

use std::sync::Arc;

const NODES: u32 = 20;
const UNTIL: Instant = Instant::from_secs(7200);

/// Twenty nodes that walk about 600 m x 600 m for two hours.
fn walkers(tick: Option<Duration>) -> Contacts {
    let model = RandomWaypoint {
        area: Area::new(600.0, 600.0),
        speed_m_per_s: Bounds::new(0.5, 1.5),
        pause_s: Bounds::new(0.0, 120.0),
        initial: Initial::StationaryDistribution,
    };
    let mut fleet = Fleet::new(vec![Group::new(NODES, Arc::new(model))], 7);
    fleet.tick = tick;
    let radios = vec![vec![Radio { class: 0, range_m: 80.0 }]; NODES as usize];
    let met = encounters(&mut fleet.walk().unwrap(), &radios, UNTIL, tick);
    let contact = |e: &lightlag_worlds::contacts::kinetic::Encounter| Contact {
        a: e.a,
        b: e.b,
        start: e.start,
        end: e.end,
        forward: 0,
        backward: 0,
    };
    contacts(met.iter().map(contact).collect(), 0.0)
}

/// A relay with two hops of 240 s in each direction, in contact every other 500 s.
fn relay() -> Contacts {
    let contact = |start: i64, a: u32, b: u32| Contact {
        a: NodeId(a),
        b: NodeId(b),
        start: Instant::from_secs(start),
        end: Instant::from_secs(start + 500),
        forward: 0,
        backward: 0,
    };
    let list = (0..7).flat_map(|k| [contact(k * 1000, 0, 1), contact(k * 1000 + 500, 1, 2)]).collect();
    contacts(list, 240.0)
}

fn contacts(list: Vec<Contact>, delay_s: f64) -> Contacts {
    let delay = Delay::Constant(Duration::from_secs_f64(delay_s));
    Contacts { list, channels: vec![Channel::steady(BitRate(2_500_000), delay)] }
}

fn traffic(nodes: u32) -> Vec<Bundle> {
    let mut stream = Stream::new(7, "golden traffic", 0);
    (0..200)
        .map(|i| {
            let source = stream.below(u64::from(nodes)) as u32;
            let destination = (source + 1 + stream.below(u64::from(nodes) - 1) as u32) % nodes;
            let created = Instant::from_secs(i * 30 + stream.below(30) as i64);
            Bundle {
                id: BundleId(i as u32),
                source: NodeId(source),
                destination: NodeId(destination),
                size: Bytes(50_000 + stream.below(50_000)),
                created,
                expires: created + Duration::from_secs(3600),
            }
        })
        .collect()
}

fn builder<A: ?Sized + Kind>(entry: &'static Entry<A>) -> Builder<A> {
    let parameters = Parameters::resolve(entry.name, entry.parameters, &BTreeMap::new()).unwrap();
    Arc::new(move |context| entry.built(&parameters, context))
}

#[derive(Default)]
struct Row {
    started: u32,
    arrived: u32,
    aborted: u32,
    refused: u32,
    overflow: u32,
    expired: u32,
    other: u32,
    delivered: u32,
    delay: Duration,
    created: BTreeMap<BundleId, Instant>,
}

impl Observer for Row {
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Created(bundle) => {
                self.created.insert(bundle.id, bundle.created);
            }
            Record::Started { .. } => self.started += 1,
            Record::Aborted { .. } => self.aborted += 1,
            Record::Refused { .. } => self.refused += 1,
            Record::Stored { .. } => self.arrived += 1,
            Record::Delivered { id, first, .. } => {
                self.arrived += 1;
                if *first {
                    self.delivered += 1;
                    self.delay = self.delay + (now - self.created[id]);
                }
            }
            Record::Gone { reason: DropReason::Overflow, .. } => self.overflow += 1,
            Record::Gone { reason: DropReason::Expired, .. } => self.expired += 1,
            Record::Gone { .. } => self.other += 1,
            _ => {}
        }
    }
}

fn play(
    contacts: &Arc<Contacts>,
    nodes: u32,
    rules: &Rules,
    router: &'static Entry<dyn Router>,
    mechanism: &'static Entry<dyn Mechanism>,
) -> Row {
    let node = Node {
        buffer: Bytes(500_000),
        router: builder(router),
        mechanism: builder(mechanism),
        policy: NodePolicy::default(),
    };
    let setup = Setup {
        nodes: vec![node; nodes as usize],
        plan: contacts.plan().into(),
        revisions: Arc::default(),
        contacts: contacts.clone(),
        bundles: Arc::new(traffic(nodes)),
        replies: Arc::default(),
        until: UNTIL,
        seed: 7,
        rules: rules.clone(),
    };
    let mut row = Row::default();
    run(&setup, &mut row);
    row
}

fn table(contacts: Contacts, nodes: u32, rules: &Rules) -> String {
    let contacts = Arc::new(contacts);
    let mut text = format!(
        "{:16}{:18}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>20}\n",
        "router",
        "mechanism",
        "started",
        "arrived",
        "aborted",
        "refused",
        "overflow",
        "expired",
        "other",
        "delivered",
        "delay_sum_ns"
    );
    for router in routers::TABLE {
        for mechanism in mechanisms::TABLE {
            if !mechanism.only_with.is_empty() && !mechanism.only_with.contains(&router.name) {
                continue;
            }
            let row = play(&contacts, nodes, rules, router, mechanism);
            writeln!(
                text,
                "{:16}{:18}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>20}",
                router.name,
                mechanism.name,
                row.started,
                row.arrived,
                row.aborted,
                row.refused,
                row.overflow,
                row.expired,
                row.other,
                row.delivered,
                row.delay.as_nanos()
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn walkers_that_meet_give_the_same_table_as_ever() {
    golden::check("walkers.txt", &table(walkers(None), NODES, &Rules::default()));
}

#[test]
fn walkers_seen_at_ticks_give_the_same_table_as_ever() {
    let tick = Some(Duration::from_nanos(100_000_000));
    let rules = Rules {
        tick,
        purge_every: Some(Duration::from_secs(60)),
        control: Control::Instant,
        ..Rules::default()
    };
    golden::check("walkers_at_ticks.txt", &table(walkers(tick), NODES, &rules));
}

#[test]
fn a_relay_under_light_time_gives_the_same_table_as_ever() {
    golden::check("relay.txt", &table(relay(), 3, &Rules::default()));
}

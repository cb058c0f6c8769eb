//! Contact graph routing on the tables of the interplanetary scenario, beside a search of all paths.

use lightlag_protocols::dtn::{Bundle, BundleId, DropReason, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_scenario::{Scenario, ScenarioFile, Seed};
use lightlag_worlds::contacts::Contacts;
use lightlag_worlds::messages::{Setup, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const BASE: u32 = 0;
const ROVERS: [u32; 2] = [3, 4];

/// The scenario of figure 7 under all tables, in room enough.
fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers");
    let tables = |family: &str| {
        let of = |kind: &str, unit: &str| {
            (1..=5).map(|i| format!("\"contacts/{family}_{kind}{i}{unit}.csv\"")).collect::<Vec<_>>()
        };
        [of("Contact", ""), of("Dur", "000")].concat()
    };
    let files = format!("[{}]", [tables("S"), tables("P")].concat().join(", "));
    let mut file = ScenarioFile::read(&[&folder.join("dtn_congestion_figure_7.toml")]).unwrap();
    for (key, value) in [
        ("router", "contact_graph"),
        ("mechanism", "none"),
        ("buffer", "1 GB"),
        ("world.propagation", "pipelined"),
        ("world.control", "instant"),
        ("contacts.plan.file", files.as_str()),
    ] {
        file.set(key, value).unwrap();
    }
    file.points().unwrap().list.into_iter().map(|point| point.scenario).collect()
}

/// When the last byte of a bundle can be at its destination at the earliest if nothing else is sent:
/// all paths are tried.
fn earliest(contacts: &Contacts, bundle: &Bundle, until: Instant) -> Option<Instant> {
    let mut way = Way { contacts, bundle, been: vec![bundle.source], best: None };
    way.go(bundle.source, bundle.created);
    way.best.filter(|&arrival| arrival <= until.min(bundle.expires))
}

struct Way<'a> {
    contacts: &'a Contacts,
    bundle: &'a Bundle,
    been: Vec<NodeId>,
    best: Option<Instant>,
}

impl Way<'_> {
    fn go(&mut self, node: NodeId, time: Instant) {
        if self.best.is_some_and(|best| time >= best) {
            return;
        }
        if node == self.bundle.destination {
            self.best = Some(time);
            return;
        }
        for contact in &self.contacts.list {
            for (from, to, channel) in
                [(contact.a, contact.b, contact.forward), (contact.b, contact.a, contact.backward)]
            {
                let channel = &self.contacts.channels[channel as usize];
                if from != node || self.been.contains(&to) || channel.rate == BitRate(0) {
                    continue;
                }
                let first = time.max(contact.start);
                let sent = first + channel.rate.time_for(self.bundle.size);
                if sent <= contact.end {
                    self.been.push(to);
                    self.go(to, sent + channel.delay.at(first));
                    self.been.pop();
                }
            }
        }
    }
}

/// Where the one copy of each bundle is, and when it was delivered.
#[derive(Default)]
struct Seen {
    holder: BTreeMap<BundleId, NodeId>,
    delivered: BTreeMap<BundleId, Instant>,
    lost: u32,
}

impl Observer for Seen {
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Created(bundle) => {
                self.holder.insert(bundle.id, bundle.source);
            }
            Record::Started { from, id, .. } => {
                assert_eq!(self.holder.get(id), Some(from), "{id:?} has one copy, and it is not here");
            }
            Record::Sent { id, .. } => {
                self.holder.remove(id);
            }
            Record::Stored { to, id, .. } => {
                assert_eq!(self.holder.insert(*id, *to), None, "{id:?} has one copy");
            }
            Record::Delivered { id, .. } => {
                assert_eq!(self.delivered.insert(*id, now), None, "{id:?} is delivered once");
            }
            Record::Gone { reason: DropReason::HandedOver, .. } => {}
            Record::Gone { .. } | Record::Refused { .. } | Record::Rejected(_) => self.lost += 1,
            _ => {}
        }
    }
}

fn play(setup: &Setup) -> Seen {
    let mut seen = Seen::default();
    run(setup, &mut seen);
    seen
}

#[test]
fn a_bundle_alone_arrives_as_early_as_any_way_allows() {
    let (mut delivered, mut hopeless) = (0, 0);
    for scenario in scenarios() {
        let setup = scenario.bundles().unwrap().setup(Seed::Own).unwrap();
        for (source, destination) in ROVERS.iter().flat_map(|&rover| [(BASE, rover), (rover, BASE)]) {
            for created in (0..40_000).step_by(4321).map(Instant::from_secs) {
                let bundle = Bundle {
                    id: BundleId(0),
                    source: NodeId(source),
                    destination: NodeId(destination),
                    size: Bytes(75_000),
                    created,
                    // After the run.
                    expires: created + Duration::from_secs(50_000),
                };
                let alone = Setup { bundles: Arc::new(vec![bundle]), ..setup.clone() };
                let expected = earliest(&alone.contacts, &bundle, alone.until);
                let seen = play(&alone);
                assert_eq!(seen.delivered.get(&BundleId(0)).copied(), expected, "{bundle:?}");
                assert_eq!(seen.lost, 0);
                if expected.is_some() { delivered += 1 } else { hopeless += 1 }
            }
        }
    }
    println!("{delivered} at the earliest time, {hopeless} without any path");
    assert!(delivered > 300 && hopeless > 100, "{delivered} delivered, {hopeless} hopeless");
}

#[test]
fn under_light_load_all_arrives_that_can() {
    for scenario in scenarios() {
        let setup = scenario.bundles().unwrap().setup(Seed::Number(1)).unwrap();
        let mut light: Vec<Bundle> = setup.bundles.iter().step_by(10).copied().collect();
        light.iter_mut().zip(0..).for_each(|(bundle, id)| bundle.id = BundleId(id));
        let can = |bundle: &&Bundle| earliest(&setup.contacts, bundle, setup.until).is_some();
        let expected: Vec<BundleId> = light.iter().filter(can).map(|bundle| bundle.id).collect();
        let seen = play(&Setup { bundles: Arc::new(light), ..setup.clone() });
        assert_eq!(seen.delivered.into_keys().collect::<Vec<_>>(), expected);
        assert_eq!(seen.lost, 0, "there is room");
    }
}

#[test]
fn in_room_enough_nothing_is_lost_under_the_whole_load() {
    for scenario in scenarios() {
        let setup = scenario.bundles().unwrap().setup(Seed::Number(1)).unwrap();
        let seen = play(&setup);
        let able =
            setup.bundles.iter().filter(|b| earliest(&setup.contacts, b, setup.until).is_some()).count();
        assert_eq!(seen.lost, 0, "there is room");
        assert_eq!(seen.delivered.len(), able, "what can arrive alone arrives in company");
    }
}

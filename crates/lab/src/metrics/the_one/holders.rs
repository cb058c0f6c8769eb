//! Reports of the copies that nodes hold at regular instants: `MessageCopyCountReport`, `MessageLocationReport` and
//! `MessageAvailabilityReport`.

use super::clock::Steps;
use super::java::{self, HashOrder, Random};
use super::{Body, Desk};
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// What a report writes of each instant.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// How many copies of each bundle there are.
    Copies,
    /// Where nodes with copies are, and which.
    Locations,
    /// Which bundles some nodes and their peers hold.
    Availability,
}

pub(super) struct Holders {
    kind: Kind,
    steps: Steps,
    /// By node, in The ONE's order.
    held: Vec<HashOrder<()>>,
    peers: Vec<Vec<NodeId>>,
    /// Nodes whose availability is reported, once they are drawn.
    chosen: Option<BTreeSet<usize>>,
    written_at: f64,
}

impl Holders {
    pub(super) fn new(kind: Kind, desk: &Desk) -> Self {
        let steps = Steps::new(&desk.clock, desk.options.granularity);
        Self { kind, steps, held: Vec::new(), peers: Vec::new(), chosen: None, written_at: 0.0 }
    }
    fn catch_up(&mut self, desk: &mut Desk, now: Instant) {
        let granularity_s = desk.options.granularity.as_secs_f64();
        while let Some(step) = self.steps.before(now) {
            let time = desk.time(step);
            if time - self.written_at >= granularity_s {
                self.written_at = time - time % granularity_s;
                desk.text += &format!("[{}]\n", time as i64);
                match self.kind {
                    Kind::Copies => self.count(desk),
                    Kind::Locations => self.locate(desk, step),
                    Kind::Availability => self.list(desk),
                }
            }
        }
    }
    fn count(&self, desk: &mut Desk) {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for name in self.held.iter().flat_map(HashOrder::keys).filter(|name| desk.reports_bundle(name)) {
            *counts.entry(name).or_default() += 1;
        }
        desk.text.extend(counts.into_iter().map(|(name, count)| format!("{name} {count}\n")));
    }
    fn locate(&self, desk: &mut Desk, now: Instant) {
        for (held, node) in self.held.iter().zip(0..) {
            let names: Vec<&str> = held.keys().filter(|name| desk.reports_bundle(name)).collect();
            if !names.is_empty() {
                let place = desk.place(now, NodeId(node));
                let [x, y] = [place.x, place.y].map(|value| java::fixed(value, 2));
                desk.text += &format!("({x},{y}) {}\n", names.join(" "));
            }
        }
    }
    fn list(&mut self, desk: &mut Desk) {
        let (count, wanted) = (self.held.len(), desk.options.hosts);
        let chosen = self.chosen.get_or_insert_with(|| choose(count, wanted));
        for &node in chosen.iter() {
            let mut near = HashOrder::default();
            let peers = self.peers[node].iter().map(|peer| peer.0 as usize);
            let held = std::iter::once(node).chain(peers).flat_map(|node| self.held[node].keys());
            held.filter(|name| desk.reports_bundle(name)).for_each(|name| near.insert(name, ()));
            let names: String = near.keys().map(|name| format!(" {name}")).collect();
            desk.text += &format!("{}{names}\n", desk.node_name(NodeId(node as u32)));
        }
    }
    fn put(&mut self, desk: &Desk, node: NodeId, id: BundleId) {
        if let Some(held) = self.held.get_mut(node.0 as usize) {
            held.insert(&desk.bundle_name(id), ());
        }
    }
    fn link(&mut self, a: NodeId, b: NodeId, up: bool) {
        for (node, peer) in [(a, b), (b, a)] {
            let Some(peers) = self.peers.get_mut(node.0 as usize) else { continue };
            peers.retain(|other| *other != peer);
            peers.extend(up.then_some(peer));
        }
    }
}

/// Nodes drawn at random as The ONE does, with their count as the seed.
fn choose(nodes: usize, wanted: i64) -> BTreeSet<usize> {
    let mut random = Random::with_seed(wanted as u64);
    let mut chosen = BTreeSet::new();
    while (chosen.len() as i64) < wanted.min(nodes as i64) {
        chosen.insert(random.next_int_n(nodes as i32) as usize);
    }
    chosen
}

impl Body for Holders {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        self.catch_up(desk, now);
        match *record {
            Record::Node { .. } => {
                self.held.push(HashOrder::default());
                self.peers.push(Vec::new());
            }
            Record::ContactUp { a, b, .. } => self.link(a, b, true),
            Record::ContactDown { a, b } => self.link(a, b, false),
            Record::Created(ref bundle) => self.put(desk, bundle.source, bundle.id),
            Record::Stored { to, id, .. } => self.put(desk, to, id),
            Record::Gone { node, id, .. } => {
                if let Some(held) = self.held.get_mut(node.0 as usize) {
                    held.remove(&desk.bundle_name(id));
                }
            }
            Record::End => {
                let horizon = Steps::horizon(&mut desk.clock, now);
                self.catch_up(desk, horizon);
            }
            _ => {}
        }
    }
}

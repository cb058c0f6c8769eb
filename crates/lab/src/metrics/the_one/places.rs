//! Reports that say where nodes are: `DistanceDelayReport` and `LocationSnapshotReport`.

use super::clock::Steps;
use super::java::HashOrder;
use super::{Body, Desk};
use lightlag_protocols::dtn::{Bundle, BundleId, NodeId};
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::Instant;
use lightlag_worlds::mobility::Point;
use std::collections::BTreeSet;

/// The positions of the nodes of a run.
pub trait Places: Send {
    /// Where `node` is at `now`; asked of times that never decrease.
    fn place(&mut self, now: Instant, node: NodeId) -> Point;
}

/// `DistanceDelayReport`: how far a bundle's destination was when it was created, and how long it took to get there.
#[derive(Default)]
pub(super) struct DistanceDelay {
    replies: BTreeSet<BundleId>,
    /// Bundles that have not arrived: when they were created, and the distance then.
    waiting: HashOrder<(f64, f64)>,
}

impl DistanceDelay {
    fn created(&mut self, desk: &mut Desk, now: Instant, bundle: &Bundle) {
        if !desk.learn(now, bundle) {
            return;
        }
        // Applications create replies after nodes have moved, other bundles are created before.
        let moved = if self.replies.contains(&bundle.id) { now } else { desk.clock.moved_before(now) };
        let [a, b] = [bundle.source, bundle.destination].map(|node| desk.place(moved, node));
        let waiting = (desk.time(now), a.distance(b));
        self.waiting.insert(&desk.bundle_name(bundle.id), waiting);
    }
    fn line(desk: &Desk, distance: f64, time: f64, hops: i64, name: &str) -> String {
        format!("{} {} {hops} {name}\n", desk.format(distance), desk.format(time))
    }
}

impl Body for DistanceDelay {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match *record {
            Record::Reply { reply, .. } => drop(self.replies.insert(reply)),
            Record::Created(ref bundle) => self.created(desk, now, bundle),
            Record::Delivered { id, first: true, hops, .. } if desk.bundle(id).is_some() => {
                let name = desk.bundle_name(id);
                if let Some((created, distance)) = self.waiting.remove(&name) {
                    let time = desk.time(now) - created;
                    desk.text += &Self::line(desk, distance, time, i64::from(hops), &name);
                }
            }
            Record::End => {
                let rest = self.waiting.iter();
                let lines: String =
                    rest.map(|(name, (_, distance))| Self::line(desk, *distance, -1.0, -1, name)).collect();
                desk.text += &lines;
            }
            _ => {}
        }
    }
}

/// `LocationSnapshotReport`: where nodes are, at regular instants.
pub(super) struct Locations {
    steps: Steps,
    nodes: u32,
    written_at: f64,
}

impl Locations {
    pub(super) fn new(desk: &Desk) -> Self {
        Self { steps: Steps::new(&desk.clock, desk.options.granularity), nodes: 0, written_at: 0.0 }
    }
    fn catch_up(&mut self, desk: &mut Desk, now: Instant) {
        let granularity_s = desk.options.granularity.as_secs_f64();
        while let Some(step) = self.steps.before(now) {
            let time = desk.time(step);
            if desk.is_warmup(step) || time - self.written_at < granularity_s {
                continue;
            }
            self.written_at = time - time % granularity_s;
            desk.text += &format!("[{}]\n", time as i64);
            for node in (0..self.nodes).filter(|node| desk.options.reports_node(*node)).collect::<Vec<_>>() {
                let place = desk.place(step, NodeId(node));
                let [x, y] = [place.x, place.y].map(|value| desk.format(value));
                desk.text += &format!("{} {x} {y}\n", desk.node_name(NodeId(node)));
            }
        }
    }
}

impl Body for Locations {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        self.catch_up(desk, now);
        match *record {
            Record::Node { .. } => self.nodes += 1,
            Record::End => {
                let horizon = Steps::horizon(&mut desk.clock, now);
                self.catch_up(desk, horizon);
            }
            _ => {}
        }
    }
}

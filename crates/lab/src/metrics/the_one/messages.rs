//! Reports about messages.

use super::{Body, Desk, java};
use crate::metrics::{Metrics, Number};
use lightlag_protocols::dtn::{BundleId, NodeId};
use lightlag_protocols::record::bundles::{Observer, Record, ReplyKind};
use lightlag_protocols::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// `MessageStatsReport`: one line per number.
pub(super) struct MessageStats {
    metrics: Metrics,
    ended: f64,
}

impl MessageStats {
    pub(super) fn new(desk: &Desk) -> Self {
        let warmup = Instant::ZERO.saturating_add(desk.options.warmup);
        Self { metrics: Metrics::new(warmup), ended: 0.0 }
    }
}

impl Body for MessageStats {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        self.metrics.on_record(now, record);
        self.ended = match record {
            Record::End => desk.clock.shows_at_end(now),
            _ => desk.time(now),
        };
    }
    fn text(&self, desk: &Desk) -> String {
        let mut text = format!("Message stats for scenario {}\n", desk.options.scenario);
        let mut summary = self.metrics.summary();
        summary.sim_time = self.ended;
        for (name, number) in summary.the_one_numbers() {
            let value = match number {
                Number::Count(count) => count.to_string(),
                Number::Real(real) => desk.format(real),
            };
            text += &format!("{name}: {value}\n");
        }
        text
    }
}

/// `MessageDelayReport`: delays of delivered messages, ascending, and the share delivered so far.
#[derive(Default)]
pub(super) struct MessageDelay {
    created: u64,
    delays: Vec<f64>,
    ended: f64,
}

impl Body for MessageDelay {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match record {
            Record::Created(bundle) => self.created += u64::from(desk.learn(now, bundle)),
            Record::Delivered { id, first: true, .. } => {
                if let Some(bundle) = desk.bundle(*id) {
                    self.delays.push(desk.time(now) - desk.time(bundle.created));
                }
            }
            Record::End => self.ended = desk.clock.shows_at_end(now),
            _ => {}
        }
    }
    fn text(&self, desk: &Desk) -> String {
        let mut text = desk.text.clone();
        if self.delays.is_empty() {
            return text + &format!("# no messages delivered in sim time {}\n", desk.format(self.ended));
        }
        let mut delays = self.delays.clone();
        delays.sort_by(f64::total_cmp);
        // Added up step by step, as The ONE does: the last digit may depend on it.
        let mut share = 0.0;
        for delay in delays {
            share += 1.0 / self.created as f64;
            text += &format!("{} {}\n", desk.format(delay), desk.format(share));
        }
        text
    }
}

/// `MessageDeliveryReport`: a line at each creation and delivery.
#[derive(Default)]
pub(super) struct MessageDelivery {
    created: u64,
    delivered: u64,
}

impl Body for MessageDelivery {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match record {
            Record::Created(bundle) if desk.learn(now, bundle) => self.created += 1,
            Record::Delivered { id, first: true, .. } if desk.bundle(*id).is_some() => self.delivered += 1,
            _ => return,
        }
        let share = self.delivered as f64 / self.created as f64;
        let (time, share) = (desk.formatted_time(now), desk.format(share));
        desk.text += &format!("{time} {} {} {share}\n", self.created, self.delivered);
    }
}

/// `MessageReport`: a line per arrival at a destination, later copies included.
pub(super) struct Messages;

impl Body for Messages {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match *record {
            Record::Created(ref bundle) => desk.remember(bundle),
            Record::Delivered { id, first, .. } => {
                let Some(bundle) = desk.bundle(id) else { return };
                let (created, arrived) = (desk.formatted_time(bundle.created), desk.formatted_time(now));
                let again = if first { "" } else { " duplicate" };
                desk.text += &format!("{} {created} {arrived}{again}\n", desk.bundle_name(id));
            }
            _ => {}
        }
    }
}

/// `MessageGraphvizReport`: the paths of delivered messages.
#[derive(Default)]
pub(super) struct MessageGraph {
    ways: Ways,
    paths: Vec<String>,
    ended: f64,
}

impl Body for MessageGraph {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        if let Record::Created(bundle) = record {
            desk.learn(now, bundle);
        }
        if let Record::End = record {
            self.ended = desk.clock.shows_at_end(now);
        }
        let Some((id, path)) = self.ways.follow(record) else { return };
        if desk.bundle(id).is_some() {
            self.paths.push(named(desk, &path));
        }
    }
    fn text(&self, desk: &Desk) -> String {
        let paths: String = self.paths.iter().map(|path| format!("\t{path};\n")).collect();
        let (scenario, count) = (&desk.options.scenario, self.paths.len());
        let time = java::shortest(self.ended);
        format!(
            "/* scenario {scenario}\n{count} messages delivered at sim time {time} */\ndigraph msggraph {{\n{paths}}}\n"
        )
    }
}

/// `PingAppReporter`: pings and pongs of ping applications, sent and received.
#[derive(Default)]
pub(super) struct PingApp {
    pings: Count,
    pongs: Count,
    ended: f64,
}

/// Messages of a kind, by number, and how many of them were sent and received.
#[derive(Default)]
struct Count {
    ids: BTreeSet<BundleId>,
    sent: u64,
    received: u64,
}

impl Count {
    fn on_record(&mut self, record: &Record) {
        match *record {
            Record::Created(ref bundle) | Record::Rejected(ref bundle) if self.ids.contains(&bundle.id) => {
                self.sent += 1;
            }
            Record::Delivered { id, first: true, .. } if self.ids.contains(&id) => self.received += 1,
            _ => {}
        }
    }
}

impl Body for PingApp {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match *record {
            Record::Reply { request, reply, kind: ReplyKind::Pong } => {
                self.pings.ids.insert(request);
                self.pongs.ids.insert(reply);
            }
            Record::End => self.ended = desk.clock.shows_at_end(now),
            _ => [&mut self.pings, &mut self.pongs].into_iter().for_each(|count| count.on_record(record)),
        }
    }
    fn text(&self, desk: &Desk) -> String {
        let share = |of: u64, all: u64| desk.format(if all == 0 { 0.0 } else { of as f64 / all as f64 });
        let Self { pings, pongs, .. } = self;
        let scenario = &desk.options.scenario;
        let rows = [
            format!("Ping stats for scenario {scenario}"),
            format!("sim_time: {}", desk.format(self.ended)),
            format!("pings sent: {}", pings.sent),
            format!("pings received: {}", pings.received),
            format!("pongs sent: {}", pongs.sent),
            format!("pongs received: {}", pongs.received),
            format!("ping delivery prob: {}", share(pings.received, pings.sent)),
            format!("pong delivery prob: {}", share(pongs.received, pongs.sent)),
            format!("ping/pong success prob: {}", share(pongs.received, pings.sent)),
        ];
        rows.map(|row| row + "\n").concat()
    }
}

/// `CreatedMessagesReport`: a line per message.
pub(super) struct CreatedMessages;

impl Body for CreatedMessages {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        let Record::Created(bundle) = record else { return };
        if desk.is_warmup(now) {
            return;
        }
        let (time, ttl) = (desk.formatted_time(now), desk.ttl(now, bundle));
        let (from, to) = (desk.node_name(bundle.source), desk.node_name(bundle.destination));
        let name = desk.bundle_name(bundle.id);
        // The blank before the end of the line is The ONE's.
        desk.text += &format!("{time} {name} {} {from} {to} {ttl} N \n", bundle.size.get());
    }
}

/// `DeliveredMessagesReport`: a line per delivered message, with its path.
#[derive(Default)]
pub(super) struct DeliveredMessages {
    ways: Ways,
}

impl Body for DeliveredMessages {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        if let Record::Created(bundle) = record {
            desk.learn(now, bundle);
        }
        let hops = if let Record::Delivered { hops, .. } = *record { hops } else { 0 };
        if let Some((id, path)) = self.ways.follow(record) {
            delivered(desk, now, id, hops, &path);
        }
    }
}

fn named(desk: &Desk, path: &[NodeId]) -> String {
    let path: Vec<String> = path.iter().map(|node| desk.node_name(*node)).collect();
    path.join("->")
}

fn delivered(desk: &mut Desk, now: Instant, id: BundleId, hops: u32, path: &[NodeId]) {
    let Some(bundle) = desk.bundle(id) else { return };
    let delay = desk.time(now) - desk.time(bundle.created);
    let (time, delay, ttl) = (desk.formatted_time(now), desk.format(delay), desk.ttl(now, &bundle));
    let (from, to) = (desk.node_name(bundle.source), desk.node_name(bundle.destination));
    let (name, size, path) = (desk.bundle_name(id), bundle.size.get(), named(desk, path));
    desk.text += &format!("{time} {name} {size} {hops} {delay} {from} {to} {ttl} N {path}\n");
}

/// The paths of all copies: each step points at the step before it.
#[derive(Default)]
struct Ways {
    steps: Vec<(NodeId, Option<usize>)>,
    stored: BTreeMap<(NodeId, BundleId), usize>,
    /// In flight, oldest last bit first.
    flying: BTreeMap<(NodeId, NodeId, BundleId), Vec<Option<usize>>>,
}

impl Ways {
    /// Takes a record in; the bundle and its path where one is first delivered.
    fn follow(&mut self, record: &Record) -> Option<(BundleId, Vec<NodeId>)> {
        match *record {
            Record::Created(ref bundle) => self.begin(bundle.source, bundle.id),
            Record::Sent { from, to, id } => self.leave(from, to, id),
            Record::Stored { from, to, id, .. } => self.come(from, to, id),
            Record::Refused { from, to, id, .. } => drop(self.land(from, to, id)),
            Record::Delivered { from, to, id, first, .. } => {
                let way = self.land(from, to, id);
                return first.then_some((id, way));
            }
            Record::Gone { node, id, .. } => self.end(node, id),
            _ => {}
        }
        None
    }
    fn begin(&mut self, source: NodeId, id: BundleId) {
        self.steps.push((source, None));
        self.stored.insert((source, id), self.steps.len() - 1);
    }
    fn leave(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        let step = self.stored.get(&(from, id)).copied();
        self.flying.entry((from, to, id)).or_default().push(step);
    }
    fn take(&mut self, from: NodeId, to: NodeId, id: BundleId) -> Option<usize> {
        let flying = self.flying.get_mut(&(from, to, id))?;
        let step = if flying.is_empty() { None } else { flying.remove(0) };
        if flying.is_empty() {
            self.flying.remove(&(from, to, id));
        }
        step
    }
    fn come(&mut self, from: NodeId, to: NodeId, id: BundleId) {
        let before = self.take(from, to, id);
        self.steps.push((to, before));
        self.stored.insert((to, id), self.steps.len() - 1);
    }
    /// The whole path of a copy that has arrived and is not stored.
    fn land(&mut self, from: NodeId, to: NodeId, id: BundleId) -> Vec<NodeId> {
        let mut way = vec![to];
        let mut at = self.take(from, to, id);
        while let Some((node, before)) = at.and_then(|step| self.steps.get(step)) {
            way.push(*node);
            at = *before;
        }
        way.reverse();
        way
    }
    fn end(&mut self, node: NodeId, id: BundleId) {
        self.stored.remove(&(node, id));
    }
}

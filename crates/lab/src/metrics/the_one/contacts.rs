//! Reports about contacts.

use super::clock::Steps;
use super::{Body, Desk, java};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

type Pair = (NodeId, NodeId);

fn pair(a: NodeId, b: NodeId) -> Pair {
    (a.min(b), a.max(b))
}

/// How often each length of time was seen, in groups of the granularity.
#[derive(Default)]
struct Histogram(Vec<u64>);

impl Histogram {
    fn add(&mut self, length: f64, granularity: Duration) {
        let group = (length / granularity.as_secs_f64()).clamp(0.0, 1e8) as usize;
        if group >= self.0.len() {
            // One group more than needed: the last line always counts nothing.
            self.0.resize(group + 2, 0);
        }
        self.0[group] += 1;
    }
    fn text(&self, granularity: Duration) -> String {
        let start = |group: usize| java::shortest(group as f64 * granularity.as_secs_f64());
        self.0.iter().enumerate().map(|(group, count)| format!("{} {count}\n", start(group))).collect()
    }
}

/// `ContactTimesReport`: how many contacts lasted how long; `InterContactTimesReport`: how many times two nodes were
/// apart for how long.
pub(super) struct ContactTimes {
    is_apart: bool,
    since: BTreeMap<Pair, f64>,
    lengths: Histogram,
}

impl ContactTimes {
    pub(super) fn new(is_apart: bool) -> Self {
        Self { is_apart, since: BTreeMap::new(), lengths: Histogram::default() }
    }
}

impl Body for ContactTimes {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        let (begins, pair) = match *record {
            Record::ContactUp { a, b, .. } => (!self.is_apart, pair(a, b)),
            Record::ContactDown { a, b } => (self.is_apart, pair(a, b)),
            _ => return,
        };
        if begins && !desk.is_warmup(now) {
            self.since.insert(pair, desk.time(now));
        } else if !begins && let Some(since) = self.since.remove(&pair) {
            self.lengths.add(desk.time(now) - since, desk.options.granularity);
        }
    }
    fn text(&self, desk: &Desk) -> String {
        self.lengths.text(desk.options.granularity)
    }
}

/// `TotalContactTimeReport`: the sum of all contacts so far, whenever the granularity has passed and
/// the sum has changed.
pub(super) struct TotalContactTime {
    steps: Steps,
    since: BTreeMap<Pair, f64>,
    over: f64,
    written_at: f64,
    written: f64,
}

impl TotalContactTime {
    pub(super) fn new(desk: &Desk) -> Self {
        let steps = Steps::new(&desk.clock, desk.options.granularity);
        Self { steps, since: BTreeMap::new(), over: 0.0, written_at: 0.0, written: 0.0 }
    }
    fn catch_up(&mut self, desk: &mut Desk, now: Instant) {
        while let Some(step) = self.steps.before(now) {
            self.look(desk, step);
        }
    }
    fn look(&mut self, desk: &mut Desk, step: Instant) {
        let time = desk.time(step);
        let granularity = desk.options.granularity.as_secs_f64();
        if time - self.written_at < granularity || desk.is_warmup(step) {
            return;
        }
        self.written_at = time;
        let total = self.over + self.since.values().map(|since| time - since).sum::<f64>();
        if total != self.written {
            desk.text += &format!("{} {}\n", desk.format(time), desk.format(total));
            self.written = total;
        }
    }
}

impl Body for TotalContactTime {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        self.catch_up(desk, now);
        match *record {
            Record::ContactUp { a, b, .. } if !desk.is_warmup(now) => {
                self.since.insert(pair(a, b), desk.time(now));
            }
            Record::ContactDown { a, b } => {
                if let Some(since) = self.since.remove(&pair(a, b)) {
                    self.over += desk.time(now) - since;
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

/// `ConnectivityONEReport`: contacts as The ONE reads them back; `ConnectivityDtnsim2Report`: as dtnsim2 does. The lower
/// address stands first.
pub(super) struct Connectivity {
    line: fn(&Desk, &str, Pair, &str) -> String,
    ignored: BTreeSet<Pair>,
}

impl Connectivity {
    pub(super) fn the_one() -> Self {
        let line = |_: &Desk, time: &str, pair: Pair, what: &str| {
            format!("{time} CONN {} {} {what}\n", pair.0.0, pair.1.0)
        };
        Self { line, ignored: BTreeSet::new() }
    }
    pub(super) fn dtnsim2() -> Self {
        let line = |desk: &Desk, time: &str, pair: Pair, what: &str| {
            format!("@{time} {} <-> {} {what}\n", desk.node_name(pair.0), desk.node_name(pair.1))
        };
        Self { line, ignored: BTreeSet::new() }
    }
}

/// `AdjacencyGraphvizReport`: a graph of how often nodes met, by who noticed first.
#[derive(Default)]
pub(super) struct Adjacency {
    nodes: u32,
    /// In the order of first meetings, and how many there were.
    pairs: Vec<(Pair, u64)>,
    known: BTreeMap<Pair, usize>,
}

impl Body for Adjacency {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match *record {
            Record::Node { .. } => self.nodes += 1,
            Record::ContactUp { a, b, .. } if !desk.is_warmup(now) => {
                let next = self.pairs.len();
                let at = *self.known.entry((a, b)).or_insert(next);
                if at == next {
                    self.pairs.push(((a, b), 0));
                }
                self.pairs[at].1 += 1;
            }
            _ => {}
        }
    }
    fn text(&self, desk: &Desk) -> String {
        let edge = |((a, b), count): &(Pair, u64)| {
            format!("\t{}--{} [weight={count}];\n", desk.node_name(*a), desk.node_name(*b))
        };
        let edges: String = self.pairs.iter().map(edge).collect();
        let nodes: String =
            (0..self.nodes).map(|node| format!("\t{};\n", desk.node_name(NodeId(node)))).collect();
        format!("graph adjgraph {{\n{edges}{nodes}}}\n")
    }
}

impl Body for Connectivity {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        let (pair, what) = match *record {
            Record::ContactUp { a, b, .. } => (pair(a, b), "up"),
            Record::ContactDown { a, b } => (pair(a, b), "down"),
            _ => return,
        };
        let is_ignored = desk.is_warmup(now);
        if what == "down" && self.ignored.remove(&pair) {
            return;
        }
        if !is_ignored {
            let time = java::fixed(desk.time(now), 2);
            let line = (self.line)(desk, &time, pair, what);
            desk.text += &line;
        } else if what == "up" {
            self.ignored.insert(pair);
        }
    }
}

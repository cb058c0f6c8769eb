//! Reports about contacts.

use super::clock::Steps;
use super::{Body, Desk, java};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::record::bundles::{Observer, Record};
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

/// `ContactTimesReport`: how many contacts lasted how long.
pub(super) struct ContactTimes {
    desk: Desk,
    since: BTreeMap<Pair, f64>,
    lengths: Histogram,
}

impl ContactTimes {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, since: BTreeMap::new(), lengths: Histogram::default() }
    }
}

impl Observer for ContactTimes {
    fn on_record(&mut self, now: Instant, record: &Record) {
        match *record {
            Record::ContactUp { a, b, .. } if !self.desk.is_warmup(now) => {
                self.since.insert(pair(a, b), self.desk.time(now));
            }
            Record::ContactDown { a, b } => {
                if let Some(since) = self.since.remove(&pair(a, b)) {
                    self.lengths.add(self.desk.time(now) - since, self.desk.options.granularity);
                }
            }
            _ => {}
        }
    }
}

impl Body for ContactTimes {
    fn text(&self) -> String {
        self.lengths.text(self.desk.options.granularity)
    }
}

/// `InterContactTimesReport`: how many times two nodes were apart for how long.
pub(super) struct InterContactTimes {
    desk: Desk,
    since: BTreeMap<Pair, f64>,
    lengths: Histogram,
}

impl InterContactTimes {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, since: BTreeMap::new(), lengths: Histogram::default() }
    }
}

impl Observer for InterContactTimes {
    fn on_record(&mut self, now: Instant, record: &Record) {
        match *record {
            Record::ContactUp { a, b, .. } => {
                if let Some(since) = self.since.remove(&pair(a, b)) {
                    self.lengths.add(self.desk.time(now) - since, self.desk.options.granularity);
                }
            }
            Record::ContactDown { a, b } if !self.desk.is_warmup(now) => {
                self.since.insert(pair(a, b), self.desk.time(now));
            }
            _ => {}
        }
    }
}

impl Body for InterContactTimes {
    fn text(&self) -> String {
        self.lengths.text(self.desk.options.granularity)
    }
}

/// `TotalContactTimeReport`: the sum of all contacts so far, whenever the granularity has passed and
/// the sum has changed.
pub(super) struct TotalContactTime {
    desk: Desk,
    steps: Steps,
    since: BTreeMap<Pair, f64>,
    over: f64,
    written_at: f64,
    written: f64,
    text: String,
}

impl TotalContactTime {
    pub(super) fn new(desk: Desk) -> Self {
        let steps = Steps::new(&desk.clock, desk.options.granularity);
        let text = "# time totalContactTime\n".to_owned();
        Self { desk, steps, since: BTreeMap::new(), over: 0.0, written_at: 0.0, written: 0.0, text }
    }
    fn catch_up(&mut self, now: Instant) {
        while let Some(step) = self.steps.before(now) {
            self.look(step);
        }
    }
    fn look(&mut self, step: Instant) {
        let time = self.desk.time(step);
        let granularity = self.desk.options.granularity.as_secs_f64();
        if time - self.written_at < granularity || self.desk.is_warmup(step) {
            return;
        }
        self.written_at = time;
        let total = self.over + self.since.values().map(|since| time - since).sum::<f64>();
        if total != self.written {
            self.text += &format!("{} {}\n", self.desk.format(time), self.desk.format(total));
            self.written = total;
        }
    }
}

impl Observer for TotalContactTime {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.catch_up(now);
        match *record {
            Record::ContactUp { a, b, .. } if !self.desk.is_warmup(now) => {
                self.since.insert(pair(a, b), self.desk.time(now));
            }
            Record::ContactDown { a, b } => {
                if let Some(since) = self.since.remove(&pair(a, b)) {
                    self.over += self.desk.time(now) - since;
                }
            }
            Record::End => {
                let horizon = Steps::horizon(&mut self.desk.clock, now);
                self.catch_up(horizon);
            }
            _ => {}
        }
    }
}

impl Body for TotalContactTime {
    fn text(&self) -> String {
        self.text.clone()
    }
}

/// `ConnectivityONEReport`: contacts as The ONE reads them back; the lower address first.
pub(super) struct ConnectivityOne {
    desk: Desk,
    ignored: BTreeSet<Pair>,
    text: String,
}

impl ConnectivityOne {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, ignored: BTreeSet::new(), text: String::new() }
    }
    fn line(&mut self, now: Instant, (a, b): Pair, what: &str) {
        let time = java::fixed(self.desk.time(now), 2);
        self.text += &format!("{time} CONN {} {} {what}\n", a.0, b.0);
    }
}

impl Observer for ConnectivityOne {
    fn on_record(&mut self, now: Instant, record: &Record) {
        match *record {
            Record::ContactUp { a, b, .. } if self.desk.is_warmup(now) => {
                self.ignored.insert(pair(a, b));
            }
            Record::ContactUp { a, b, .. } => self.line(now, pair(a, b), "up"),
            Record::ContactDown { a, b } => {
                let was_ignored = self.ignored.remove(&pair(a, b));
                if !was_ignored && !self.desk.is_warmup(now) {
                    self.line(now, pair(a, b), "down");
                }
            }
            _ => {}
        }
    }
}

impl Body for ConnectivityOne {
    fn text(&self) -> String {
        self.text.clone()
    }
}

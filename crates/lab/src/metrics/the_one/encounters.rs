//! Reports that count encounters.

use super::{Body, Desk};
use lightlag_protocols::dtn::NodeId;
use lightlag_protocols::record::bundles::Record;
use lightlag_protocols::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// What the counts of encounters amount to in the file.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// `TotalEncountersReport`: how many nodes had how many encounters.
    Total,
    /// `UniqueEncountersReport`: how many nodes met how many thousandths of all nodes.
    Unique,
    /// `EncountersVSUniqueEncountersReport`: encounters and different peers of each node.
    Both,
}

/// Encounters of each node, and the peers that it met.
pub(super) struct Encounters {
    form: Form,
    total: Vec<u64>,
    met: Vec<BTreeSet<NodeId>>,
}

impl Encounters {
    pub(super) fn new(form: Form) -> Self {
        Self { form, total: Vec::new(), met: Vec::new() }
    }
}

/// The ONE begins to count after its first step.
fn is_early(desk: &Desk, now: Instant) -> bool {
    desk.clock.tick().is_some_and(|tick| now <= Instant::ZERO + tick)
}

fn distribution(values: impl Iterator<Item = u64>, groups: u64) -> Vec<u64> {
    let mut counts = vec![0; groups as usize];
    values.for_each(|value| counts[value.min(groups - 1) as usize] += 1);
    counts
}

fn lines<T: std::fmt::Display>(rows: impl IntoIterator<Item = T>, separator: &str) -> String {
    rows.into_iter().enumerate().map(|(at, row)| format!("{at}{separator}{row}\n")).collect()
}

impl Body for Encounters {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match *record {
            Record::Node { .. } => {
                self.total.push(0);
                self.met.push(BTreeSet::new());
            }
            Record::ContactUp { a, b, .. } if !is_early(desk, now) => {
                for (node, peer) in [(a, b), (b, a)] {
                    self.total[node.0 as usize] += 1;
                    self.met[node.0 as usize].insert(peer);
                }
            }
            _ => {}
        }
    }
    fn text(&self, _: &Desk) -> String {
        let nodes = self.met.len() as u64;
        match self.form {
            Form::Total => {
                let most = self.total.iter().copied().max().unwrap_or(0);
                lines(distribution(self.total.iter().copied(), most + 1), " ")
            }
            Form::Unique => {
                let share = |met: &BTreeSet<NodeId>| met.len() as u64 * 1000 / nodes;
                lines(distribution(self.met.iter().map(share), 1000), " ")
            }
            Form::Both => {
                let rows = self.total.iter().zip(&self.met);
                lines(rows.map(|(total, met)| format!("{total}\t{}", met.len())), "\t")
            }
        }
    }
}

/// `ContactsPerHourReport`: contacts that began in each hour, as long as another one began later.
#[derive(Default)]
pub(super) struct ContactsPerHour {
    over: Vec<u64>,
    current: u64,
}

impl Body for ContactsPerHour {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        if !matches!(record, Record::ContactUp { .. }) {
            return;
        }
        let hour = ((desk.time(now) + 0.5).floor() / 3600.0) as usize;
        while self.over.len() < hour {
            self.over.push(std::mem::take(&mut self.current));
        }
        self.current += 1;
    }
    fn text(&self, _: &Desk) -> String {
        lines(&self.over, "\t")
    }
}

/// `ContactsDuringAnICTReport`: how many other contacts two nodes had while they were apart, both counted by themselves.
#[derive(Default)]
pub(super) struct ContactsWhileApart {
    /// By node: contacts since it parted, by the peer that it parted from.
    since: Vec<BTreeMap<NodeId, u64>>,
    counts: Vec<u64>,
}

impl Body for ContactsWhileApart {
    fn on_record(&mut self, desk: &mut Desk, now: Instant, record: &Record) {
        match *record {
            Record::Node { .. } => self.since.push(BTreeMap::new()),
            Record::ContactUp { a, b, .. } if !is_early(desk, now) => {
                for (node, peer) in [(a, b), (b, a)] {
                    self.counts.extend(self.since[node.0 as usize].remove(&peer));
                }
                for node in [a, b] {
                    self.since[node.0 as usize].values_mut().for_each(|count| *count += 1);
                }
            }
            Record::ContactDown { a, b } if !is_early(desk, now) => {
                for (node, peer) in [(a, b), (b, a)] {
                    self.since[node.0 as usize].entry(peer).or_default();
                }
            }
            _ => {}
        }
    }
    fn text(&self, _: &Desk) -> String {
        let Some(most) = self.counts.iter().copied().max() else { return String::new() };
        lines(distribution(self.counts.iter().copied(), most + 1), "\t")
    }
}

//! What nodes know of later contacts: not all nodes know all of them, nor from the start.

use super::model::{BundleNetwork, ContactSource, Known};
use lightlag_protocols::dtn::{ContactPlan, NodeId};
use lightlag_protocols::time::Instant;
use lightlag_worlds::messages::Revision;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

impl Known {
    fn includes(&self, node: u32) -> bool {
        self.to.as_ref().is_none_or(|to| to.binary_search(&node).is_ok())
    }
    fn holds(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// Sources of contacts by their place in the scenario.
type Sources = BTreeSet<usize>;

impl BundleNetwork {
    /// What nodes know at the start, and what some know instead, from the start or later; ascending by time.
    pub(super) fn knowledge(&self) -> (Arc<ContactPlan>, Vec<Revision>) {
        let at_start = self.known_at(Instant::ZERO, &self.planned());
        let mut plans = Plans { network: self, known: BTreeMap::new() };
        let mut revisions = Vec::new();
        for (learns, nodes) in self.by_knowledge() {
            let mut before = at_start.clone();
            for at in self.instants() {
                let known = self.known_at(at, &learns);
                if known != before {
                    revisions.push(Revision { at, nodes: nodes.clone(), plan: plans.of(&known) });
                    before = known;
                }
            }
        }
        revisions.sort_by_key(|revision| revision.at);
        (plans.of(&at_start), revisions)
    }
    /// How many of these nodes know contacts at any time.
    pub(super) fn knowing(&self, nodes: Range<u32>) -> u32 {
        let sources = || self.contacts.iter().filter(|source| source.is_plan);
        if sources().any(|source| source.known.to.is_none()) {
            return nodes.end - nodes.start;
        }
        nodes.filter(|node| sources().any(|source| source.known.includes(*node))).count() as u32
    }
    fn planned(&self) -> Sources {
        (0..).zip(&self.contacts).filter(|(_, source)| source.is_plan).map(|(place, _)| place).collect()
    }
    /// Those that are known at a time to nodes that ever know these.
    fn known_at(&self, at: Instant, learns: &Sources) -> Sources {
        learns.iter().copied().filter(|&place| self.contacts[place].known.holds(at)).collect()
    }
    /// The times at which anything that nodes know may change.
    fn instants(&self) -> BTreeSet<Instant> {
        let planned = self.contacts.iter().filter(|source| source.is_plan);
        let all = planned.flat_map(|ContactSource { known, .. }| [Instant::ZERO, known.from, known.until]);
        all.filter(|at| *at <= self.head.until()).collect()
    }
    /// Nodes by the sources that they know at any time, where not all know the same.
    fn by_knowledge(&self) -> BTreeMap<Sources, Vec<NodeId>> {
        let planned = self.planned();
        if planned.iter().all(|&place| self.contacts[place].known == Known::default()) {
            return BTreeMap::new();
        }
        let mut nodes: BTreeMap<Sources, Vec<NodeId>> = BTreeMap::new();
        for node in 0..self.node_count() {
            let learns = planned.iter().copied().filter(|&place| self.contacts[place].known.includes(node));
            nodes.entry(learns.collect()).or_default().push(NodeId(node));
        }
        nodes
    }
}

/// Plans by the sources that make them up; each is made once.
struct Plans<'n> {
    network: &'n BundleNetwork,
    known: BTreeMap<Sources, Arc<ContactPlan>>,
}

impl Plans<'_> {
    fn of(&mut self, sources: &Sources) -> Arc<ContactPlan> {
        if let Some(plan) = self.known.get(sources) {
            return plan.clone();
        }
        let all = &self.network.contacts;
        let is_one = |source: &ContactSource| sources.iter().any(|&place| std::ptr::eq(&all[place], source));
        let plan = Arc::new(self.network.plan_of(is_one));
        self.known.insert(sources.clone(), plan.clone());
        plan
    }
}

#[cfg(test)]
#[path = "plans_tests.rs"]
mod tests;

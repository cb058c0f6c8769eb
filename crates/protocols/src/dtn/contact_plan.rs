//! When nodes will be able to talk, as far as that is known beforehand.

use super::NodeId;
use crate::time::{Duration, Instant};
use crate::units::BitRate;
use std::ops::Range;

/// What an algorithm names in [`super::Entry::only_with`] when it cannot do without a plan.
pub const CONTACT_PLAN: &str = "contact_plan";

/// One direction of a link that is planned: CCSDS 734.3-B-1's contact and range in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedContact {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// From when on it can be sent on.
    pub start: Instant,
    /// When the last bit must have left.
    pub end: Instant,
    /// Bits per second.
    pub rate: BitRate,
    /// One-way light time; the greatest where it changes while the contact lasts.
    pub delay: Duration,
}

/// All contacts that are planned, by sender, receiver and start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactPlan {
    contacts: Vec<PlannedContact>,
    edges: Vec<Edge>,
    nodes: usize,
}

/// All contacts from one node to another, in order of time: an edge of the contact multigraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// Which contacts of [`ContactPlan::contacts`].
    pub contacts: Range<usize>,
}

impl ContactPlan {
    /// A plan of these contacts. Those that carry nothing are omitted; a contact that begins before the one
    /// before it in its direction has ended begins when that ends, as links do in the worlds.
    pub fn new(contacts: impl IntoIterator<Item = PlannedContact>) -> Self {
        let carries = |c: &PlannedContact| c.from != c.to && c.rate > BitRate(0) && c.end > c.start;
        let mut sorted: Vec<PlannedContact> = contacts.into_iter().filter(carries).collect();
        sorted.sort_by_key(|c| (c.from, c.to, c.start, c.end));
        let mut plan = Self::default();
        sorted.into_iter().for_each(|contact| plan.append(contact));
        plan
    }
    fn append(&mut self, contact: PlannedContact) {
        let at = self.contacts.len();
        self.nodes = self.nodes.max(contact.from.0.max(contact.to.0) as usize + 1);
        match self.edges.last_mut().filter(|edge| (edge.from, edge.to) == (contact.from, contact.to)) {
            Some(edge) => {
                let start = contact.start.max(self.contacts[at - 1].end);
                if start < contact.end {
                    edge.contacts.end = at + 1;
                    self.contacts.push(PlannedContact { start, ..contact });
                }
            }
            None => {
                self.edges.push(Edge { from: contact.from, to: contact.to, contacts: at..at + 1 });
                self.contacts.push(contact);
            }
        }
    }
    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
    /// The contacts; in each direction of a link they ascend and don't overlap.
    pub fn contacts(&self) -> &[PlannedContact] {
        &self.contacts
    }
    /// The edges out of `node`, by receiver.
    pub fn edges_from(&self, node: NodeId) -> &[Edge] {
        let first = self.edges.partition_point(|edge| edge.from < node);
        let count = self.edges[first..].partition_point(|edge| edge.from == node);
        &self.edges[first..first + count]
    }
    /// Where this contact stands among [`ContactPlan::contacts`], if it is planned with the same ends and times.
    pub fn place_of(&self, contact: &PlannedContact) -> Option<usize> {
        let edge = self.edges_from(contact.from).iter().find(|edge| edge.to == contact.to)?;
        let contacts = &self.contacts[edge.contacts.clone()];
        let place = contacts.partition_point(|other| other.start < contact.start);
        let other = contacts.get(place)?;
        ((other.start, other.end) == (contact.start, contact.end)).then_some(edge.contacts.start + place)
    }
    /// All nodes of the plan have numbers below this one.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(from: u32, to: u32, start: i64, end: i64, rate: u64) -> PlannedContact {
        PlannedContact {
            from: NodeId(from),
            to: NodeId(to),
            start: Instant::from_secs(start),
            end: Instant::from_secs(end),
            rate: BitRate(rate),
            delay: Duration::ZERO,
        }
    }

    #[test]
    fn what_carries_nothing_is_left_out_and_what_overlaps_begins_later() {
        let plan = ContactPlan::new([
            contact(1, 2, 5, 20, 8),
            contact(1, 2, 0, 10, 8),
            contact(1, 2, 6, 10, 8),
            contact(2, 1, 0, 10, 0),
            contact(3, 3, 0, 10, 8),
            contact(0, 2, 9, 9, 8),
        ]);
        assert_eq!(plan.contacts(), [contact(1, 2, 0, 10, 8), contact(1, 2, 10, 20, 8)]);
        assert_eq!(plan.edges_from(NodeId(1)).len(), 1);
        assert_eq!((plan.edges_from(NodeId(2)).len(), plan.nodes(), plan.is_empty()), (0, 3, false));
    }
}

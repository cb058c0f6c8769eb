//! When nodes will be able to talk, as far as that is known beforehand.

use super::NodeId;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
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

impl PlannedContact {
    /// What goes over it from `now` on in bundles of one size, each sent at once or when the one before has
    /// arrived.
    pub fn carries(&self, now: Instant, size: Bytes, pipelined: bool) -> Bytes {
        let waits = if pipelined { Duration::ZERO } else { self.delay };
        let each = (self.rate.time_for(size) + waits).as_secs_f64();
        Bytes((((self.end - self.start.max(now)).as_secs_f64() / each) as u64).saturating_mul(size.0))
    }
    /// What it can carry from one instant to another.
    fn carries_between(&self, from: Instant, to: Instant) -> Bytes {
        let lasts = self.end.min(to) - self.start.max(from);
        Bytes((lasts.as_secs_f64() * self.rate.0 as f64 / 8.0) as u64)
    }
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
    /// What can leave `node` between two instants, but to `without`.
    pub fn carried_from(&self, node: NodeId, without: NodeId, between: (Instant, Instant)) -> Bytes {
        let others = self.edges_from(node).iter().filter(|edge| edge.to != without);
        let contacts = others.flat_map(|edge| {
            let contacts = &self.contacts[edge.contacts.clone()];
            let first = contacts.partition_point(|contact| contact.end <= between.0);
            contacts[first..].iter().take_while(|contact| contact.start < between.1)
        });
        Bytes(contacts.map(|contact| contact.carries_between(between.0, between.1).0).sum())
    }
    /// The next contact from one node to another that begins after `now`.
    pub fn next(&self, from: NodeId, to: NodeId, now: Instant) -> Option<&PlannedContact> {
        let edge = self.edges_from(from).iter().find(|edge| edge.to == to)?;
        let contacts = &self.contacts[edge.contacts.clone()];
        contacts.get(contacts.partition_point(|contact| contact.start <= now))
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

    #[test]
    fn the_next_contact_is_the_first_that_has_not_begun_and_carries_whole_bundles() {
        let plan =
            ContactPlan::new([contact(1, 2, 0, 10, 80), contact(1, 2, 20, 40, 80), contact(1, 3, 5, 9, 80)]);
        let next = |now| plan.next(NodeId(1), NodeId(2), Instant::from_secs(now)).map(|c| c.start);
        assert_eq!(
            [next(-1), next(0), next(20)],
            [Some(0), Some(20), None].map(|at| at.map(Instant::from_secs))
        );
        let far = PlannedContact { delay: Duration::from_secs(3), ..contact(1, 2, 20, 40, 80) };
        let carries = |now, pipelined| far.carries(Instant::from_secs(now), Bytes(15), pipelined);
        assert_eq!([carries(0, true), carries(30, true), carries(0, false)], [195, 90, 60].map(Bytes));
    }

    #[test]
    fn what_leaves_a_node_is_what_its_contacts_carry_meanwhile() {
        let plan =
            ContactPlan::new([contact(1, 2, 0, 10, 8), contact(1, 2, 20, 40, 16), contact(1, 3, 0, 99, 80)]);
        let between = |start, end| (Instant::from_secs(start), Instant::from_secs(end));
        assert_eq!(plan.carried_from(NodeId(1), NodeId(3), between(5, 30)), Bytes(5 + 20));
        assert_eq!(plan.carried_from(NodeId(1), NodeId(2), between(10, 11)), Bytes(10));
        assert_eq!(plan.carried_from(NodeId(2), NodeId(1), between(0, 99)), Bytes(0));
    }
}

//! When a bundle could be at its destination at the earliest, by the plan alone.

use super::{ContactPlan, NodeId};
use crate::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Earliest arrivals by a plan, remembered for as long as they hold. No volumes: what a bundle needs of a
/// contact is taken to be little.
pub struct Arrivals {
    plan: Arc<ContactPlan>,
    known: BTreeMap<Way, Arrival>,
}

/// Source, destination, and a node that must not be passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    from: NodeId,
    to: NodeId,
    without: Option<NodeId>,
}

#[derive(Clone, Copy)]
struct Arrival {
    at: Instant,
    /// A bundle that leaves between these times arrives at `at`.
    leaves: (Instant, Instant),
}

/// A node that is reached: when, and by what contact, left for when.
#[derive(Clone, Copy)]
struct Reached {
    at: Instant,
    by: Option<(NodeId, usize, Instant)>,
    is_done: bool,
}

impl Arrivals {
    /// By this plan.
    pub fn new(plan: Arc<ContactPlan>) -> Self {
        Self { plan, known: BTreeMap::new() }
    }
    /// When what is at `from` now is at `to` at the earliest, if it does not pass `without`;
    /// [`Instant::MAX`]: never.
    pub fn earliest(&mut self, now: Instant, from: NodeId, to: NodeId, without: Option<NodeId>) -> Instant {
        if from == to { now } else { self.arrival(now, Way { from, to, without }).at }
    }
    fn arrival(&mut self, now: Instant, way: Way) -> Arrival {
        let holds = |known: &&Arrival| (known.leaves.0..=known.leaves.1).contains(&now);
        if let Some(known) = self.known.get(&way).filter(holds) {
            return *known;
        }
        let found = self.search(now, way);
        self.known.insert(way, found);
        found
    }
    fn search(&self, now: Instant, way: Way) -> Arrival {
        let never = Arrival { at: Instant::MAX, leaves: (now, Instant::MAX) };
        let mut nodes = vec![Reached { at: Instant::MAX, by: None, is_done: false }; self.plan.nodes()];
        let index = |node: NodeId| node.0 as usize;
        let Some(first) = nodes.get_mut(index(way.from)) else { return never };
        first.at = now;
        loop {
            let open = nodes.iter().enumerate().filter(|(_, node)| !node.is_done && node.at < Instant::MAX);
            let Some((nearest, _)) = open.min_by_key(|(_, node)| node.at) else { return never };
            if nearest == index(way.to) {
                return Arrival { at: nodes[nearest].at, leaves: (now, self.latest(&nodes, way)) };
            }
            nodes[nearest].is_done = true;
            self.spread(&mut nodes, nearest, way.without);
        }
    }
    fn spread(&self, nodes: &mut [Reached], from: usize, without: Option<NodeId>) {
        let at = nodes[from].at;
        for edge in self.plan.edges_from(NodeId(from as u32)) {
            if Some(edge.to) == without {
                continue;
            }
            let contacts = &self.plan.contacts()[edge.contacts.clone()];
            let next = contacts.partition_point(|contact| contact.end <= at);
            let Some(contact) = contacts.get(next) else { continue };
            let leaves = contact.start.max(at);
            let comes = leaves.saturating_add(contact.delay);
            let node = &mut nodes[edge.to.0 as usize];
            if comes < node.at {
                node.at = comes;
                node.by = Some((NodeId(from as u32), edge.contacts.start + next, leaves));
            }
        }
    }
    /// The latest time to leave and still arrive then by the same contacts.
    fn latest(&self, nodes: &[Reached], way: Way) -> Instant {
        let mut latest: Option<Instant> = None;
        let mut at = way.to;
        while let Some((from, contact, leaves)) = nodes[at.0 as usize].by {
            let contact = &self.plan.contacts()[contact];
            latest = Some(match latest {
                None => leaves,
                // A bundle that comes at the end of a contact is too late for it.
                Some(behind) => (behind - contact.delay).min(contact.end - Duration::from_nanos(1)),
            });
            at = from;
        }
        latest.unwrap_or(Instant::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtn::PlannedContact;
    use crate::units::BitRate;
    use proptest::prelude::*;

    fn contact((from, to, start, length, delay): (u32, u32, i64, i64, i64)) -> PlannedContact {
        PlannedContact {
            from: NodeId(from),
            to: NodeId(to),
            start: Instant::from_secs(start),
            end: Instant::from_secs(start + length),
            rate: BitRate(8),
            delay: Duration::from_secs(delay),
        }
    }
    fn arrivals(contacts: &[(u32, u32, i64, i64, i64)]) -> Arrivals {
        Arrivals::new(Arc::new(ContactPlan::new(contacts.iter().copied().map(contact))))
    }

    #[test]
    fn what_waits_for_a_contact_arrives_with_it_and_what_is_late_takes_the_next() {
        let mut plan =
            arrivals(&[(0, 1, 10, 10, 1), (1, 2, 30, 10, 2), (1, 2, 90, 10, 2), (0, 2, 50, 10, 0)]);
        let mut at = |now, without| {
            let at = plan.earliest(Instant::from_secs(now), NodeId(0), NodeId(2), without);
            (at < Instant::MAX).then(|| (at - Instant::ZERO).as_secs_f64())
        };
        assert_eq!(
            [at(0, None), at(19, None), at(20, None), at(55, None)],
            [32.0, 32.0, 50.0, 55.0].map(Some)
        );
        assert_eq!([at(0, Some(NodeId(1))), at(61, None)], [Some(50.0), None]);
    }

    proptest! {
        #[test]
        fn what_is_remembered_is_what_would_be_found_anew(
            contacts in prop::collection::vec((0_u32..5, 0_u32..5, 0_i64..100, 1_i64..30, 0_i64..9), 1..25),
            asked in prop::collection::vec((0_i64..140, 0_u32..5, 0_u32..5, prop::option::of(0_u32..5)), 1..40),
        ) {
            let mut asked = asked;
            asked.sort();
            let mut plan = arrivals(&contacts);
            for (now, from, to, without) in asked {
                let [from, to] = [from, to].map(NodeId);
                let (now, without) = (Instant::from_secs(now), without.map(NodeId));
                let anew = arrivals(&contacts).earliest(now, from, to, without);
                prop_assert_eq!(plan.earliest(now, from, to, without), anew);
            }
        }
    }
}

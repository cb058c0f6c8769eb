//! Routes through a contact plan: the best one for a bundle. Sections are those of CCSDS 734.3-B-1.

use super::volume::Volumes;
use crate::dtn::contact_plan::Edge;
use crate::dtn::{ContactPlan, NodeId, PlannedContact};
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A route through contacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The contacts, as places in [`ContactPlan::contacts`]; at least one.
    pub contacts: Vec<usize>,
    /// When the bundle's last byte is at the destination: the projected bundle arrival time (3.2.6.7).
    pub arrival: Instant,
    /// The earliest end of a contact: the termination time (2.3.2.1).
    pub termination: Instant,
    /// The receiver of the first contact: the entry node.
    pub entry: NodeId,
}

impl Route {
    fn equals(&self, other: &Self) -> bool {
        (self.arrival, self.contacts.len()) == (other.arrival, other.contacts.len())
    }
}

/// A bundle that looks for a route.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The time.
    pub now: Instant,
    /// Where it is.
    pub from: NodeId,
    /// Its destination.
    pub to: NodeId,
    /// What it takes of a contact: the estimated volume consumption (2.4.3).
    pub size: Bytes,
    /// By when it must be there.
    pub expires: Instant,
    /// Who can't be the entry node (3.2.6.9 b, c).
    pub excluded: &'a [NodeId],
}

/// The best candidate route (3.2.8.1.4): that of the earliest projected arrival; of equals that of the
/// fewest contacts, then of the latest termination, then of the lowest entry node.
///
/// Every contact is judged by what is left of it for this very bundle, so that what is found first is a
/// candidate (3.2.6.9 d to h) and no list of next best routes is needed.
pub fn best_route(plan: &ContactPlan, volumes: &Volumes, request: &Request) -> Option<Route> {
    let find = |latest, allows: &dyn Fn(&PlannedContact) -> bool| {
        Search { plan, volumes, request, latest, allows }.earliest_arrival()
    };
    let mut best = find(request.expires, &|_| true)?;
    let later = |best: &Route| find(best.arrival, &|c| c.end > best.termination).filter(|r| r.equals(best));
    while let Some(route) = later(&best) {
        best = route;
    }
    let lower = |best: &Route| {
        let enters = |c: &PlannedContact| c.from != request.from || c.to < best.entry;
        find(best.arrival, &|c| c.end >= best.termination && enters(c)).filter(|r| r.equals(best))
    };
    while let Some(route) = lower(&best) {
        best = route;
    }
    Some(best)
}

struct Search<'a> {
    plan: &'a ContactPlan,
    volumes: &'a Volumes,
    request: &'a Request<'a>,
    /// What arrives later is of no use.
    latest: Instant,
    allows: &'a dyn Fn(&PlannedContact) -> bool,
}

/// A bundle at a node: which contact brought it, and where it was before. None: it is where it was.
type Step = Option<usize>;

impl Search<'_> {
    /// Dijkstra's algorithm over the contact multigraph (Moy and others: Contact Multigraph Routing,
    /// 2023): nodes are settled by time of arrival. A node is settled once more by a later arrival over
    /// fewer contacts, as a long wait further on may make both routes equally fast.
    fn earliest_arrival(&self) -> Option<Route> {
        let Request { now, from, to, .. } = *self.request;
        let mut fewest = vec![u32::MAX; self.plan.nodes()];
        let mut steps: Vec<(usize, Step)> = Vec::new();
        let mut open = BinaryHeap::from([Reverse((now, 0_u32, from, Step::None))]);
        while let Some(Reverse((arrival, hops, node, step))) = open.pop() {
            match fewest.get_mut(node.0 as usize) {
                Some(known) if hops < *known => *known = hops,
                _ => continue,
            }
            if node == to {
                return Some(self.route(arrival, &steps, step));
            }
            for edge in self.plan.edges_from(node) {
                let excluded = hops == 0 && self.request.excluded.contains(&edge.to);
                if excluded || hops + 1 >= fewest[edge.to.0 as usize] {
                    continue;
                }
                if let Some((arrival, contact)) = self.cross(edge, arrival) {
                    steps.push((contact, step));
                    open.push(Reverse((arrival, hops + 1, edge.to, Some(steps.len() - 1))));
                }
            }
        }
        None
    }
    /// The earliest arrival over an edge of what is there at `ready`, and the contact that brings it.
    fn cross(&self, edge: &Edge, ready: Instant) -> Option<(Instant, usize)> {
        let all = &self.plan.contacts()[edge.contacts.clone()];
        let first = all.partition_point(|contact| contact.end <= ready);
        let mut best: Option<(Instant, usize)> = None;
        for (contact, at) in all[first..].iter().zip(edge.contacts.start + first..) {
            let latest = best.map_or(self.latest, |(arrival, _)| arrival);
            if contact.start > latest {
                break;
            }
            let arrival = self.last_byte_arrival(at, contact, ready).filter(|_| (self.allows)(contact));
            if let Some(arrival) = arrival.filter(|&arrival| arrival <= self.latest)
                && best.is_none_or(|(known, _)| arrival < known)
            {
                best = Some((arrival, at));
            }
        }
        best
    }
    /// When the last byte arrives over a contact (3.2.6.2 to 3.2.6.6), if it can leave before the contact
    /// ends and what others have booked leaves it room (3.2.6.8).
    fn last_byte_arrival(&self, at: usize, contact: &PlannedContact, ready: Instant) -> Option<Instant> {
        let booked = self.volumes.booked(at);
        let sending = contact.rate.time_for(self.request.size);
        // Our own queue is in front of the bundle; of what others send only the amount is known.
        let queue = if contact.from == self.request.from { booked } else { Duration::ZERO };
        let first = ready.max(contact.start).saturating_add(queue);
        let last = first.saturating_add(sending);
        let fits = last <= contact.end && booked.saturating_add(sending) <= contact.end - contact.start;
        fits.then(|| last.saturating_add(contact.delay))
    }
    fn route(&self, arrival: Instant, steps: &[(usize, Step)], mut last: Step) -> Route {
        let mut contacts = Vec::new();
        while let Some((contact, before)) = last.map(|at| steps[at]) {
            contacts.push(contact);
            last = before;
        }
        contacts.reverse();
        let of_plan = |at: &usize| &self.plan.contacts()[*at];
        let termination = contacts.iter().map(|at| of_plan(at).end).min().unwrap_or(arrival);
        let entry = contacts.first().map_or(self.request.from, |at| of_plan(at).to);
        Route { contacts, arrival, termination, entry }
    }
}

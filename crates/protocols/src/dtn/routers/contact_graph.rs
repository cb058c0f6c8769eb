//! Contact graph routing: a bundle takes the route of earliest arrival through the contact plan.

use crate::dtn::contact_plan::CONTACT_PLAN;
use crate::dtn::{
    AfterTransfer, Bundle, BundleId, ContactPlan, Entry, Local, NodeId, Observation, Parameter, Replica,
    Router, RouterEvent, RouterProperties, Store,
};
use crate::time::{Duration, Instant};
use route::{Request, Route, best_route};
use std::collections::BTreeMap;
use std::sync::Arc;
use volume::Volumes;

mod route;
#[cfg(test)]
mod route_tests;
mod volume;

/// Each bundle has a route, and waits in the queue of its first contact.
pub struct ContactGraph {
    node: NodeId,
    plan: Arc<ContactPlan>,
    /// Whether volume is booked on all contacts of a route, or on the first alone.
    reserves_all: bool,
    volumes: Volumes,
    queued: BTreeMap<BundleId, Queued>,
    /// Places in the queues, so far.
    places: u64,
    /// Volume was given back since bundles without a route last looked for one.
    released: bool,
    rerouted: bool,
}

/// A bundle that is here.
struct Queued {
    bundle: Bundle,
    route: Option<Route>,
    /// Its place in the queue.
    place: u64,
    /// Who sent it: it does not go back there.
    sender: Option<NodeId>,
    /// Who has refused it in the contact that lasts.
    refused: Vec<NodeId>,
}

/// Its row in the table of routers.
pub const ENTRY: Entry<dyn Router> = Entry {
    name: "contact_graph",
    paper: "CCSDS 734.3-B-1: Schedule-aware bundle routing, 2019; Fraire, De Jonckère, Burleigh: Routing in the space internet: a contact graph routing tutorial, JNCA 2021",
    parameters: &[Parameter::word(
        "reserve",
        &["all", "first"],
        "contacts of a route whose volume a node books: all; or the first, which is its own",
    )],
    only_with: &[CONTACT_PLAN],
    properties: |_, _| RouterProperties {
        ranked: true,
        counts_copies: true,
        contact_plan: true,
        ..RouterProperties::NONE
    },
    build: |given, context| {
        Box::new(ContactGraph {
            node: context.node,
            plan: context.plan,
            reserves_all: given.word("reserve") == "all",
            volumes: Volumes::default(),
            queued: BTreeMap::new(),
            places: 0,
            released: false,
            rerouted: false,
        })
    },
};

impl ContactGraph {
    /// Puts a bundle into the queue of the best route's first contact, if there is a route.
    fn enqueue(&mut self, now: Instant, bundle: Bundle, sender: Option<NodeId>) {
        self.dequeue(bundle.id);
        let place = self.next_place();
        self.queued.insert(bundle.id, Queued { bundle, route: None, place, sender, refused: Vec::new() });
        self.reroute(now, bundle.id);
    }
    fn next_place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }
    /// Forgets a bundle and gives back what was booked for it.
    fn dequeue(&mut self, id: BundleId) {
        if let Some(Queued { bundle, route: Some(route), .. }) = self.queued.remove(&id) {
            self.release(&bundle, &route);
        }
    }
    /// Looks for a new route. Without one, the old route is kept while it lasts.
    fn reroute(&mut self, now: Instant, id: BundleId) {
        let place = self.next_place();
        let Some(queued) = self.queued.get_mut(&id) else { return };
        let (bundle, before) = (queued.bundle, queued.route.take());
        queued.place = place;
        if let Some(before) = &before {
            self.release(&bundle, before);
        }
        let found = self.best_route(now, id);
        self.rerouted |= found.is_some();
        let route = found.or_else(|| before.filter(|route| !self.is_missed(route, now)));
        if let Some(route) = &route {
            self.book(&bundle, route);
        }
        if let Some(queued) = self.queued.get_mut(&id) {
            queued.route = route;
        }
    }
    /// Whether a contact with `peer` is planned for now.
    fn is_planned(&self, peer: NodeId, now: Instant) -> bool {
        let edge = self.plan.edges_from(self.node).iter().find(|edge| edge.to == peer);
        let contacts = edge.map_or(&[][..], |edge| &self.plan.contacts()[edge.contacts.clone()]);
        contacts.get(contacts.partition_point(|c| c.end <= now)).is_some_and(|c| c.start <= now)
    }
    fn is_missed(&self, route: &Route, now: Instant) -> bool {
        self.plan.contacts()[route.contacts[0]].end <= now
    }
    fn best_route(&self, now: Instant, id: BundleId) -> Option<Route> {
        let Queued { bundle, sender, refused, .. } = self.queued.get(&id)?;
        let excluded: Vec<NodeId> = sender.iter().chain(refused).copied().collect();
        let request = Request {
            now,
            from: self.node,
            to: bundle.destination,
            size: bundle.size,
            expires: bundle.expires,
            excluded: &excluded,
        };
        best_route(&self.plan, &self.volumes, &request)
    }
    fn book(&mut self, bundle: &Bundle, route: &Route) {
        for (at, time) in self.bookings(bundle, route) {
            self.volumes.book(at, time);
        }
    }
    fn release(&mut self, bundle: &Bundle, route: &Route) {
        for (at, time) in self.bookings(bundle, route) {
            self.volumes.release(at, time);
        }
        self.released = true;
    }
    /// What a bundle takes of the contacts of its route.
    fn bookings(&self, bundle: &Bundle, route: &Route) -> Vec<(usize, Duration)> {
        let count = if self.reserves_all { route.contacts.len() } else { 1 };
        let time = |at: usize| self.plan.contacts()[at].rate.time_for(bundle.size);
        route.contacts.iter().take(count).map(|&at| (at, time(at))).collect()
    }
    /// Another plan holds from now on. What was booked for bundles that have left stays booked where the contact is planned as before; those
    /// that are here look for new routes, in the order of the queues.
    fn revise(&mut self, at: &Local, plan: &Arc<ContactPlan>) {
        self.forget_gone(at.store);
        let mut waiting: Vec<(u64, BundleId)> =
            self.queued.values().map(|q| (q.place, q.bundle.id)).collect();
        waiting.sort_unstable();
        for (_, id) in &waiting {
            let route =
                self.queued.get_mut(id).and_then(|queued| Some((queued.bundle, queued.route.take()?)));
            if let Some((bundle, route)) = route {
                self.release(&bundle, &route);
            }
        }
        self.volumes = self.volumes.moved(|place| plan.place_of(&self.plan.contacts()[place]));
        self.plan = plan.clone();
        waiting.into_iter().for_each(|(_, id)| self.reroute(at.now, id));
    }
    /// Mechanisms drop or move copies without a call to the router.
    fn forget_gone(&mut self, store: &Store) {
        if self.queued.len() > store.replicas().len() {
            let gone: Vec<BundleId> = self.queued.keys().copied().filter(|&id| !store.contains(id)).collect();
            gone.into_iter().for_each(|id| self.dequeue(id));
        }
    }
    /// Finds other routes for bundles that have missed their contact, and for those without a route if
    /// there is volume again. The order of the queues is kept.
    fn reroute_missed(&mut self, at: &Local) {
        self.forget_gone(at.store);
        let released = std::mem::take(&mut self.released);
        let missed = |q: &Queued| q.route.as_ref().map_or(released, |route| self.is_missed(route, at.now));
        let mut missed: Vec<(u64, BundleId)> =
            self.queued.values().filter(|q| missed(q)).map(|q| (q.place, q.bundle.id)).collect();
        missed.sort_unstable();
        missed.into_iter().for_each(|(_, id)| self.reroute(at.now, id));
    }
    /// The bundle is offered to the entry node of another route, or to this one again if no other is left.
    fn on_refused(&mut self, now: Instant, id: BundleId, peer: NodeId) {
        let Some(queued) = self.queued.get_mut(&id) else { return };
        if !queued.refused.contains(&peer) {
            queued.refused.push(peer);
            self.reroute(now, id);
        }
    }
}

impl Router for ContactGraph {
    /// The bundle that came first to a queue leaves first.
    fn score(&self, at: &Local, replica: &Replica, peer: NodeId) -> Option<f64> {
        let Queued { route, place, .. } = self.queued.get(&replica.bundle.id)?;
        let first = &self.plan.contacts()[route.as_ref()?.contacts[0]];
        let now = first.to == peer && first.start <= at.now && at.now < first.end;
        now.then_some(-(*place as f64))
    }
    /// A transfer that does not fit into the contact would keep the copy from its route.
    fn delivers(&self, at: &Local, replica: &Replica, peer: NodeId) -> bool {
        self.score(at, replica, peer).is_some() || !self.is_planned(peer, at.now)
    }
    fn on_created(&mut self, at: &Local, replica: &mut Replica) {
        self.forget_gone(at.store);
        self.enqueue(at.now, replica.bundle, None);
    }
    fn on_received(&mut self, at: &Local, replica: &mut Replica, from: NodeId) {
        self.forget_gone(at.store);
        self.enqueue(at.now, replica.bundle, Some(from));
    }
    fn on_event(&mut self, at: &Local, event: &RouterEvent) -> bool {
        match *event {
            RouterEvent::ContactUp { .. } => self.reroute_missed(at),
            RouterEvent::ContactDown { peer } => {
                self.queued.values_mut().for_each(|queued| queued.refused.retain(|&node| node != peer));
                self.reroute_missed(at);
                return std::mem::take(&mut self.rerouted);
            }
            RouterEvent::Offering => self.rerouted = false,
            RouterEvent::Refused { replica, peer, .. } => {
                self.on_refused(at.now, replica.bundle.id, peer);
                return std::mem::take(&mut self.rerouted);
            }
            RouterEvent::PlanRevised { plan } => self.revise(at, plan),
            RouterEvent::PeerState { .. } | RouterEvent::Delivered { .. } => {}
        }
        false
    }
    /// Of the route's later contacts the volume stays booked: it is used there by and by.
    fn on_sent(&mut self, _: &Local, replica: &mut Replica, _: NodeId, _: bool) -> AfterTransfer {
        if let Some(Queued { bundle, route: Some(route), .. }) = self.queued.remove(&replica.bundle.id)
            && let Some(&(at, time)) = self.bookings(&bundle, &route).first()
        {
            self.volumes.release(at, time);
        }
        AfterTransfer::GiveUp
    }
    fn observe(&self, _: &Local, seen: &mut Observation) {
        let without = self.queued.values().filter(|queued| queued.route.is_none()).count();
        seen.push(("without_route", without as f64));
    }
}

#[cfg(test)]
mod tests;

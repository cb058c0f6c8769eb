//! Keeps the copies that add most to delivery for each byte and second that they take.
//!
//! One law decides what makes room: a copy is worth the chance that all other copies of its bundle fail, divided by the room and
//! the time that it takes until it succeeds: 1 / (size · (wait + copies · lifetime left)) ([`waits::worth`]). Each node learns
//! how long copies wait here for the delivery of their bundle, destination by destination. Where a contact plan leads to the
//! destination, the plan says how long.

use crate::dtn::arrivals::Arrivals;
use crate::dtn::drops::Drops;
use crate::dtn::{
    BufferDecision, Bundle, BundleId, CopyEvent, DropReason, Entry, IdSet, Incoming, Local, Mechanism,
    MechanismEvent, Needs, NodeId, Observation, Offer, Parameter, Refusal, Replica,
};
use crate::math;
use crate::time::{Duration, Instant};
use std::collections::BTreeSet;
use waits::Waits;

mod waits;

/// No time is taken to be shorter, in s.
const SHORTEST: f64 = 1e-3;

/// A copy is worth what it adds.
pub struct CopyValue {
    margin: f64,
    /// Whether contacts are planned.
    planned: bool,
    arrivals: Arrivals,
    waits: Waits,
    drops: Drops,
    /// The bundle that was offered last.
    offered: Option<BundleId>,
    /// What peers in contact had no room for.
    refused: BTreeSet<(NodeId, BundleId)>,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "copy_value",
    paper: "",
    parameters: &[
        Parameter::number(
            "margin",
            "",
            1.0,
            (0.0, 100.0),
            "doublings of worth by which a bundle must exceed a copy that it displaces",
        ),
        Parameter::integer(
            "memory",
            65_536.0,
            (0.0, 1e9),
            "number of the newest dropped bundles that are remembered, and not accepted again until half the buffer is free",
        ),
    ],
    only_with: &[],
    properties: |_, context| Needs {
        // Copies move to where they arrive sooner.
        neighbours: !context.plan.is_empty(),
        receipts: true,
        // More of the small ones fit.
        smallest_first: true,
        contact_plan: true,
        ..Needs::NONE
    },
    build: |given, context| {
        Box::new(CopyValue {
            margin: given.number("margin"),
            planned: !context.plan.is_empty(),
            arrivals: Arrivals::new(context.plan),
            waits: Waits::default(),
            drops: Drops::new(given.number("memory") as usize),
            offered: None,
            refused: BTreeSet::new(),
        })
    },
};

impl CopyValue {
    /// When a bundle that is at `from` can be at its destination by the plan; `None`: not in its lifetime.
    fn arrival(
        &mut self,
        now: Instant,
        from: NodeId,
        bundle: &Bundle,
        without: Option<NodeId>,
    ) -> Option<Instant> {
        if !self.planned {
            return None;
        }
        let at = self.arrivals.earliest(now, from, bundle.destination, without);
        (at <= bundle.expires && at < Instant::MAX).then_some(at)
    }
    /// How long a copy here is expected to wait until its bundle is delivered, in s, if it was `held` here; `usual`: the usual
    /// wait in s.
    fn wait(&mut self, at: &Local, bundle: &Bundle, held: Duration, usual: f64) -> f64 {
        if let Some(arrives) = self.arrival(at.now, at.node, bundle, None) {
            return (arrives - at.now).as_secs_f64().max(SHORTEST);
        }
        self.waits.to(bundle.destination, usual) + held.as_secs_f64()
    }
    /// What a copy is worth of which `given` were made here, and that was `held` here.
    fn worth(&mut self, at: &Local, bundle: &Bundle, (given, held): (u64, Duration), usual: f64) -> f64 {
        let wait = self.wait(at, bundle, held, usual);
        let left = (bundle.expires - at.now).as_secs_f64().max(SHORTEST);
        waits::worth(wait, left, given as f64) / bundle.size.0.max(1) as f64
    }
    /// The usual wait in s; before anything was delivered, the time that has passed.
    fn usual(&self, at: &Local) -> f64 {
        self.waits.usual().unwrap_or_else(|| (at.now - Instant::ZERO).as_secs_f64().max(1.0))
    }
    /// What a copy is worth that is here.
    fn worth_of(&mut self, at: &Local, copy: &Replica, usual: f64) -> f64 {
        self.worth(at, &copy.bundle, (copy.mechanism_mark, at.now - copy.received), usual)
    }
    /// The copy that the router would drop; if it does not rank them, the idle copy that is worth least; of equals, the
    /// one that came first.
    fn least(&mut self, at: &Local, preferred: Option<BundleId>, usual: f64) -> Option<(f64, BundleId)> {
        if let Some(last) = preferred.and_then(|id| at.store.get(id)) {
            return Some((self.worth_of(at, last, usual), last.bundle.id));
        }
        let mut least: Option<(f64, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|replica| replica.sending == 0) {
            let worth = self.worth_of(at, replica, usual);
            if least.is_none_or(|(other, _)| worth < other) {
                least = Some((worth, replica.bundle.id));
            }
        }
        least
    }
    fn worth_of_incoming(&mut self, at: &Local, incoming: &Bundle, usual: f64) -> f64 {
        if incoming.destination == at.node {
            return f64::INFINITY;
        }
        self.worth(at, incoming, (0, Duration::ZERO), usual)
    }
    /// Whether an incoming bundle was created here, and does not come back.
    fn is_created(&self, at: &Local, incoming: &Bundle) -> bool {
        incoming.source == at.node && self.offered != Some(incoming.id)
    }
    /// A copy that a peer in contact has room for and from where it arrives sooner by the plan: whatever the router waits
    /// for.
    fn sooner_elsewhere(&mut self, at: &Local) -> Option<(BundleId, NodeId)> {
        if !self.planned {
            return None;
        }
        for link in at.links.iter() {
            for replica in at.store.replicas().iter().filter(|replica| replica.sending == 0) {
                let bundle = &replica.bundle;
                if bundle.size <= link.peer_space.free
                    && !self.refused.contains(&(link.peer, bundle.id))
                    && let Some(there) = self.arrival(at.now, link.peer, bundle, Some(at.node))
                    && self.arrival(at.now, at.node, bundle, Some(link.peer)).is_none_or(|here| there < here)
                {
                    return Some((bundle.id, link.peer));
                }
            }
        }
        None
    }
    fn admit_offered(&mut self, at: &Local, offer: &Offer) -> Result<(), Refusal> {
        self.drops.forget_if_relieved(at);
        let bundle = offer.bundle();
        if bundle.destination != at.node {
            let leads_on = self.arrival(at.now, at.node, bundle, Some(offer.from)).is_some();
            if !leads_on && self.arrival(at.now, offer.from, bundle, Some(at.node)).is_some() {
                return Err(Refusal::Congestion);
            }
            if self.drops.contains(bundle.id) && !leads_on {
                return Err(Refusal::DroppedBefore);
            }
        }
        self.offered = Some(bundle.id);
        Ok(())
    }
    fn on_gone(&mut self, at: &Local, bundle: &Bundle, received: Instant, reason: DropReason) {
        self.waits.on_stay(bundle.destination, at.now - received, reason == DropReason::Acknowledged);
        match reason {
            DropReason::Overflow => self.drops.insert(bundle.id),
            _ => self.drops.forget_if_relieved(at),
        }
    }
}

/// Whether it is worth this number of doublings more than another.
fn exceeds(incoming: f64, stored: f64, doublings: f64) -> bool {
    incoming / math::pow(2.0, doublings) > stored
}

impl Mechanism for CopyValue {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, preferred: Option<BundleId>) -> BufferDecision {
        let usual = self.usual(at);
        let worth = self.worth_of_incoming(at, incoming, usual);
        let Some((least, id)) = self.least(at, preferred, usual) else { return BufferDecision::Wait };
        if let Some((id, to)) = self.sooner_elsewhere(at) {
            return BufferDecision::Move { id, to };
        }
        // What would be lost is stored unless it is worth far less; an offered bundle stays at its sender.
        let lost = self.is_created(at, incoming) && incoming.size > at.application_free;
        let doublings = if lost { -self.margin } else { self.margin };
        if exceeds(worth, least, doublings) { BufferDecision::Drop(id) } else { BufferDecision::Wait }
    }
    fn may_replicate(&self, _: &Local, replica: &Replica, peer: NodeId) -> bool {
        !self.refused.contains(&(peer, replica.bundle.id))
    }
    fn refused_ids(&self) -> &IdSet {
        // By a plan what leads on is taken all the same.
        if self.planned { IdSet::none() } else { self.drops.known() }
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        match incoming {
            Incoming::Offered(offer) => self.admit_offered(at, offer),
            Incoming::Created(_) => Ok(()),
        }
    }
    fn mark_for_peer(&self, _: &Local, _: &Replica) -> u64 {
        0
    }
    fn on_copy(&mut self, _: &Local, replica: &mut Replica, event: CopyEvent) {
        // The mark is the number of copies that were made of it here.
        match event {
            CopyEvent::Sent { .. } => replica.mechanism_mark = replica.mechanism_mark.saturating_add(1),
            CopyEvent::Returned { peer } => {
                self.refused.insert((peer, replica.bundle.id));
                replica.mechanism_mark = replica.mechanism_mark.saturating_sub(1);
            }
            CopyEvent::Created | CopyEvent::Received { .. } => {}
        }
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        match *event {
            MechanismEvent::ContactDown { peer } => self.refused.retain(|(from, _)| *from != peer),
            MechanismEvent::Receipt { .. } => self.drops.forget_if_relieved(at),
            MechanismEvent::PlanRevised { plan } => {
                self.planned = !plan.is_empty();
                self.arrivals = Arrivals::new(plan.clone());
            }
            MechanismEvent::Dropped { bundle, received, reason } => {
                self.on_gone(at, bundle, received, reason)
            }
            _ => {}
        }
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        let copies = at.store.replicas();
        let sum: f64 = copies.iter().map(|replica| replica.mechanism_mark as f64).sum();
        seen.push(("mean_known_copies", if copies.is_empty() { 0.0 } else { sum / copies.len() as f64 }));
        seen.push(("usual_wait", self.waits.usual().unwrap_or(0.0)));
    }
}

#[cfg(test)]
mod tests;

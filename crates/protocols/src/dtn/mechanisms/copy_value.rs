//! Keeps the copies that add most to delivery for each byte and second that they take.
//!
//! One law decides what makes room: a copy is worth the chance that all other copies of its bundle fail, divided by the
//! room and the time that it takes until it succeeds: 1 / (size · (wait + copies · lifetime left)) ([`waits::worth`]). Each node learns how long copies wait here for the
//! delivery of their bundle, destination by destination. Where a contact plan leads to the destination, the wait is known:
//! then one copy is enough; it is in custody, which moves on with it, and all others are extra.

use crate::dtn::arrivals::Arrivals;
use crate::dtn::custodian::roomiest;
use crate::dtn::drops::Drops;
use crate::dtn::{
    BufferDecision, Bundle, BundleId, ContactPlan, CopyEvent, DropReason, Entry, IdSet, Incoming, Local,
    Mechanism, MechanismEvent, Needs, NodeId, Observation, Offer, Parameter, Refusal, Replica,
};
use crate::math;
use crate::time::{Duration, Instant};
use std::collections::BTreeSet;
use std::sync::Arc;
use waits::Waits;

mod waits;

/// By this many halvings an incoming bundle must be worth more for each hop of the copy that moves for it. Without it,
/// copies move back and forth between small buffers.
const MOVED: f64 = 0.1;
/// No time is taken to be shorter, in s.
const SHORTEST: f64 = 1e-3;

/// A copy is worth what it adds.
pub struct CopyValue {
    margin: f64,
    /// Whether contacts are planned.
    planned: bool,
    /// Whether copies of the router reach a single-copy phase.
    single_copy_phase: bool,
    arrivals: Arrivals,
    waits: Waits,
    drops: Drops,
    offered: Option<Offered>,
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
        neighbours: !context.plan.is_empty() || context.router.single_copy_phase,
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
            single_copy_phase: context.router.single_copy_phase,
            arrivals: Arrivals::new(context.plan),
            waits: Waits::default(),
            drops: Drops::new(given.number("memory") as usize),
            offered: None,
            refused: BTreeSet::new(),
        })
    },
};

/// What was offered last.
#[derive(Clone, Copy)]
struct Offered {
    id: BundleId,
    from: NodeId,
    /// Of the copy, if it is taken.
    mark: Mark,
}

/// What a copy knows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// How many copies were made of it here.
    given: u32,
    /// It is in custody up to this second: [`Mark::FOR_GOOD`], [`Mark::EXTRA`], or until it is known that a
    /// peer has it.
    custody: u32,
}

impl Mark {
    const FOR_GOOD: u32 = u32::MAX;
    const EXTRA: u32 = 0;
    const NEW: Self = Self { given: 0, custody: Self::FOR_GOOD };

    fn of(replica: &Replica) -> Self {
        let bits = replica.mechanism_mark;
        Self { given: (bits >> 32) as u32, custody: bits as u32 }
    }
    fn bits(self) -> u64 {
        u64::from(self.given) << 32 | u64::from(self.custody)
    }
    fn in_custody(self, now: Instant) -> bool {
        self.gives_custody() || Instant::from_secs(i64::from(self.custody)) > now
    }
    /// Whether custody moves on with the copy: not while it may have moved already.
    fn gives_custody(self) -> bool {
        self.custody == Self::FOR_GOOD
    }
    /// Of the copy that a peer gets.
    fn for_peer(self) -> Self {
        let custody = if self.gives_custody() { Self::FOR_GOOD } else { Self::EXTRA };
        Self { given: 0, custody }
    }
}

/// Whether a copy is in custody on a path of the plan, and what it is worth for each byte and second.
type Worth = (bool, f64);
const PRICELESS: Worth = (true, f64::INFINITY);

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
    /// What a copy is worth that was `held` here; `usual`: the usual wait in s.
    fn worth(&mut self, at: &Local, (bundle, mark): (&Bundle, Mark), held: Duration, usual: f64) -> Worth {
        let size = bundle.size.0.max(1) as f64;
        if self.planned
            && mark.in_custody(at.now)
            && let Some(arrives) = self.arrival(at.now, at.node, bundle, None)
        {
            let wait = (arrives - at.now).as_secs_f64().max(SHORTEST);
            return (true, 1.0 / (wait * size));
        }
        let wait = self.waits.to(bundle.destination, usual) + held.as_secs_f64();
        let left = (bundle.expires - at.now).as_secs_f64().max(SHORTEST);
        (false, waits::worth(wait, left, f64::from(mark.given)) / size)
    }
    /// The usual wait in s; before anything was delivered, the time that has passed.
    fn usual(&self, at: &Local) -> f64 {
        self.waits.usual().unwrap_or_else(|| (at.now - Instant::ZERO).as_secs_f64().max(1.0))
    }
    /// What a copy is worth that is here.
    fn worth_of(&mut self, at: &Local, copy: &Replica, usual: f64) -> Worth {
        self.worth(at, (&copy.bundle, Mark::of(copy)), at.now - copy.received, usual)
    }
    /// The copy that the router would drop; if it does not rank them, the idle copy that is worth least; of equals, the
    /// one that came first.
    fn least(&mut self, at: &Local, preferred: Option<BundleId>, usual: f64) -> Option<(Worth, BundleId)> {
        if let Some(last) = preferred.and_then(|id| at.store.get(id)) {
            return Some((self.worth_of(at, last, usual), last.bundle.id));
        }
        let mut least: Option<(Worth, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|replica| replica.sending == 0) {
            let worth = self.worth_of(at, replica, usual);
            if least.is_none_or(|(other, _)| worth < other) {
                least = Some((worth, replica.bundle.id));
            }
        }
        least
    }
    fn worth_of_incoming(&mut self, at: &Local, incoming: &Bundle, usual: f64) -> Worth {
        if incoming.destination == at.node {
            return PRICELESS;
        }
        let mark = self.offered(incoming).map_or(Mark::NEW, |offered| offered.mark);
        self.worth(at, (incoming, mark), Duration::ZERO, usual)
    }
    /// The offer of the incoming bundle, unless it was created here.
    fn offered(&self, incoming: &Bundle) -> Option<Offered> {
        self.offered.filter(|offered| offered.id == incoming.id)
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
        let (bundle, mark) = (offer.bundle(), Mark::of(offer.replica).for_peer());
        if bundle.destination != at.node {
            let leads_on = self.arrival(at.now, at.node, bundle, Some(offer.from)).is_some();
            if !leads_on && self.arrival(at.now, offer.from, bundle, Some(at.node)).is_some() {
                return Err(Refusal::Congestion);
            }
            let counts = leads_on && mark.gives_custody();
            if self.drops.contains(bundle.id) && !counts {
                return Err(Refusal::DroppedBefore);
            }
        }
        self.offered = Some(Offered { id: bundle.id, from: offer.from, mark });
        Ok(())
    }
    fn on_sent(&mut self, at: &Local, replica: &mut Replica, peer: NodeId) {
        let known = Mark::of(replica);
        let moves =
            known.gives_custody() && self.arrival(at.now, peer, &replica.bundle, Some(at.node)).is_some();
        let custody = if moves { answered_by(at, peer) } else { known.custody };
        replica.mechanism_mark = Mark { given: known.given.saturating_add(1), custody }.bits();
    }
    /// The first plan may come late.
    fn on_plan(&mut self, plan: &Arc<ContactPlan>) {
        self.planned = !plan.is_empty();
        self.arrivals = Arrivals::new(plan.clone());
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
fn exceeds(incoming: Worth, stored: Worth, doublings: f64) -> bool {
    (incoming.0, incoming.1 / math::pow(2.0, doublings)) > stored
}

/// The second by which the answer to a bundle that is sent to `peer` now has come.
fn answered_by(at: &Local, peer: NodeId) -> u32 {
    let delay = at.links.iter().find(|link| link.peer == peer).map(|link| link.delay).unwrap_or_default();
    let answered = at.now.saturating_add(delay).saturating_add(delay);
    ((answered - Instant::ZERO).as_secs_f64().ceil()).min(f64::from(Mark::FOR_GOOD - 1)) as u32
}

/// A copy in custody that came back is in permanent custody again, and there is one copy less.
fn take_back(now: Instant, replica: &mut Replica) {
    let known = Mark::of(replica);
    let given = known.given.saturating_sub(1);
    let custody = if known.in_custody(now) { Mark::FOR_GOOD } else { known.custody };
    replica.mechanism_mark = Mark { given, custody }.bits();
}

impl Mechanism for CopyValue {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, preferred: Option<BundleId>) -> BufferDecision {
        let usual = self.usual(at);
        let worth = self.worth_of_incoming(at, incoming, usual);
        let Some((least, id)) = self.least(at, preferred, usual) else { return BufferDecision::Wait };
        // A moved copy is not lost: a smaller difference suffices than for a drop, but the move costs bytes.
        let hops = at.store.get(id).map_or(0, |copy| copy.hops);
        // A contact plan names a better place for them.
        if self.single_copy_phase
            && !self.planned
            && exceeds(worth, least, MOVED * f64::from(hops))
            && let Some(to) = roomiest(at, id, self.offered(incoming).map(|offered| offered.from))
        {
            return BufferDecision::Move { id, to };
        }
        if let Some((id, to)) = self.sooner_elsewhere(at) {
            return BufferDecision::Move { id, to };
        }
        let created = incoming.source == at.node && self.offered(incoming).is_none();
        let drops = match created {
            true if incoming.size > at.application_free => exceeds(worth, least, -self.margin),
            true => exceeds(worth, least, self.margin) && !least.0,
            false => exceeds(worth, least, self.margin),
        };
        if drops { BufferDecision::Drop(id) } else { BufferDecision::Wait }
    }
    fn may_replicate(&self, _: &Local, replica: &Replica, peer: NodeId) -> bool {
        !self.refused.contains(&(peer, replica.bundle.id))
    }
    fn refused_ids(&self) -> &IdSet {
        // By a plan a copy that counts is taken all the same.
        if self.planned { IdSet::none() } else { self.drops.known() }
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        match incoming {
            Incoming::Offered(offer) => self.admit_offered(at, offer),
            Incoming::Created(_) => Ok(()),
        }
    }
    fn mark_for_peer(&self, _: &Local, replica: &Replica) -> u64 {
        Mark::of(replica).for_peer().bits()
    }
    fn on_copy(&mut self, at: &Local, replica: &mut Replica, event: CopyEvent) {
        match event {
            CopyEvent::Created => replica.mechanism_mark = Mark::NEW.bits(),
            CopyEvent::Sent { peer, .. } => self.on_sent(at, replica, peer),
            CopyEvent::Returned { peer } => {
                self.refused.insert((peer, replica.bundle.id));
                take_back(at.now, replica);
            }
            CopyEvent::Received { .. } => {}
        }
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        match *event {
            MechanismEvent::ContactDown { peer } => self.refused.retain(|(from, _)| *from != peer),
            MechanismEvent::Receipt { .. } => self.drops.forget_if_relieved(at),
            MechanismEvent::PlanRevised { plan } => self.on_plan(plan),
            MechanismEvent::Dropped { bundle, received, reason } => {
                self.on_gone(at, bundle, received, reason)
            }
            _ => {}
        }
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        let copies = at.store.replicas();
        let sum: f64 = copies.iter().map(|replica| f64::from(Mark::of(replica).given)).sum();
        seen.push(("mean_known_copies", if copies.is_empty() { 0.0 } else { sum / copies.len() as f64 }));
        seen.push(("usual_wait", self.waits.usual().unwrap_or(0.0)));
    }
}

#[cfg(test)]
mod tests;

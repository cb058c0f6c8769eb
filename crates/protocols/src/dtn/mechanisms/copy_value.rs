//! Keeps the copies with the highest marginal value: on a contact plan, the copy in custody; otherwise,
//! copies of the least replicated bundles.
//!
//! A copy is worth what it adds to the delivery probability of its bundle. With random contacts, each other
//! copy takes something of that, and their number is unknown; but giver and receiver of a copy know of one
//! more. On a contact plan, one copy with room on its path is enough: it is in custody, which moves on with
//! the copy to any node from which a path leads on, and is not dropped; all others are extra, and make room
//! for it. So one copy counts between planets and there are many among walkers, by one rule. A bundle without
//! room stays where it is: at its sender, or at the application.

use crate::dtn::arrivals::Arrivals;
use crate::dtn::custodian::roomiest;
use crate::dtn::drops::Drops;
use crate::dtn::{
    BufferDecision, Bundle, BundleId, CopyEvent, DropReason, Entry, IdSet, Incoming, Link, Local, Mechanism,
    MechanismEvent, Needs, NodeId, Observation, Offer, Parameter, Refusal, Replica,
};
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use horizon::Horizon;
use sizes::Sizes;
use under_way::UnderWay;

mod horizon;
mod sizes;
mod under_way;

/// Share of the margin by which a copy at its horizon costs more, where the router counts copies. Less than
/// 1: a dropped copy is not replaced, so only one with fewer other copies may displace it.
const COUNTED: f64 = 0.9;

/// Difference in copies, for each hop of the copy to be moved, that an incoming bundle must exceed. Without it,
/// copies move back and forth between small buffers.
const MOVED: f64 = 0.1;

/// A copy is worth what it adds.
pub struct CopyValue {
    share: f64,
    own: f64,
    /// What is left of that when a copy is weighed.
    bonus: f64,
    margin: f64,
    late: f64,
    horizon: Horizon,
    /// Whether contacts are planned.
    planned: bool,
    /// Whether the router counts copies.
    counted: bool,
    /// Whether copies reach a single-copy phase and no contact plan names a better place for them.
    single_copy_phase: bool,
    arrivals: Arrivals,
    drops: Drops,
    offered: Option<Offered>,
    under_way: UnderWay,
    sizes: Sizes,
}

/// Its row in the table of mechanisms.
pub const ENTRY: Entry<dyn Mechanism> = Entry {
    name: "copy_value",
    paper: "",
    parameters: &[
        Parameter::number(
            "share",
            "",
            0.3,
            (0.0, 1.0),
            "share of the sender's copy count, this transfer included, that the receiver's copy starts with",
        ),
        Parameter::number(
            "own",
            "",
            1.0,
            (0.0, 100.0),
            "copies subtracted from the count of a bundle that was created at this node",
        ),
        Parameter::number(
            "margin",
            "",
            0.7,
            (0.0, 100.0),
            "difference in copies above which one copy displaces another; also added to a copy at its horizon",
        ),
        Parameter::number(
            "horizon",
            "",
            1.0,
            (0.01, 100.0),
            "horizon of a copy's time at a node, in usual ages of delivered bundles",
        ),
        Parameter::number(
            "late",
            "",
            2.0,
            (0.0, 100.0),
            "copies added for each halving of the remaining lifetime below the usual age",
        ),
        Parameter::number(
            "fade",
            "",
            0.98,
            (0.0, 1.0),
            "weight of earlier deliveries after each new receipt, in the usual age",
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
        let planned = !context.plan.is_empty();
        Box::new(CopyValue {
            share: given.number("share"),
            own: given.number("own"),
            bonus: 0.0,
            margin: given.number("margin"),
            late: given.number("late"),
            horizon: Horizon::new(given.number("horizon"), given.number("fade")),
            planned,
            counted: context.router.counts_copies,
            single_copy_phase: context.router.single_copy_phase && !planned,
            arrivals: Arrivals::new(context.plan),
            drops: Drops::new(given.number("memory") as usize),
            offered: None,
            under_way: UnderWay::default(),
            sizes: Sizes::default(),
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

/// What a copy knows of itself and of the others of its bundle.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    /// How many others there may be.
    copies: f32,
    /// It is in custody up to this second: [`Mark::FOR_GOOD`], [`Mark::EXTRA`], or until it is known that a
    /// peer has it.
    custody: u32,
}

impl Mark {
    const FOR_GOOD: u32 = u32::MAX;
    const EXTRA: u32 = 0;
    const NEW: Self = Self { copies: 0.0, custody: Self::FOR_GOOD };

    fn of(replica: &Replica) -> Self {
        let bits = replica.mechanism_mark;
        Self { copies: f32::from_bits((bits >> 32) as u32), custody: bits as u32 }
    }
    fn bits(self) -> u64 {
        u64::from(self.copies.to_bits()) << 32 | u64::from(self.custody)
    }
    fn in_custody(self, now: Instant) -> bool {
        self.gives_custody() || Instant::from_secs(i64::from(self.custody)) > now
    }
    /// Whether custody moves on with the copy: not while it may have moved already.
    fn gives_custody(self) -> bool {
        self.custody == Self::FOR_GOOD
    }
}

/// How little a copy adds: whether it is extra, then how many others there are.
type Cost = (bool, f64);
const PRICELESS: Cost = (false, f64::NEG_INFINITY);

impl CopyValue {
    /// The mark of a copy made of one with the mark `known`.
    fn told(&self, known: Mark) -> Mark {
        let copies = (known.copies + 1.0) * self.share as f32;
        Mark { copies, custody: if known.gives_custody() { Mark::FOR_GOOD } else { Mark::EXTRA } }
    }
    /// When a bundle that is at `from` can be at its destination; `None`: not in its lifetime.
    fn arrival(
        &mut self,
        now: Instant,
        from: NodeId,
        bundle: &Bundle,
        without: Option<NodeId>,
    ) -> Option<Instant> {
        let at = self.arrivals.earliest(now, from, bundle.destination, without);
        (at <= bundle.expires && at < Instant::MAX).then_some(at)
    }
    /// Whether it can be at its destination in time, as far as that is known.
    fn leads_on(&mut self, at: &Local, bundle: &Bundle, without: Option<NodeId>) -> bool {
        !self.planned || self.arrival(at.now, at.node, bundle, without).is_some()
    }
    /// The cost of a copy that was `held` here.
    fn cost(&mut self, at: &Local, bundle: &Bundle, mark: Mark, held: Duration) -> Cost {
        let copies = f64::from(mark.copies);
        if self.planned {
            let counts = mark.in_custody(at.now) && self.leads_on(at, bundle, None);
            return if counts { (false, 0.0) } else { (true, copies) };
        }
        let late = self.late * self.horizon.late(bundle.expires - at.now);
        let own = if bundle.source == at.node { self.bonus } else { 0.0 };
        let reached = self.horizon.reached(held);
        let reached = if self.counted { COUNTED * reached.min(1.0) } else { reached };
        (false, copies + late - own + self.margin * reached)
    }
    /// What a bundle that was created here counts less: where the router copies freely, less the more room
    /// such bundles take, or a node with a small buffer would carry nothing for others.
    fn own_bonus(&self, at: &Local) -> f64 {
        if self.counted {
            return self.own;
        }
        let own = at.store.replicas().iter().map(|replica| &replica.bundle).filter(|b| b.source == at.node);
        let taken: u64 = own.map(|bundle| bundle.size.0).sum();
        self.own * (1.0 - taken as f64 / at.store.capacity().0 as f64)
    }
    /// The idle copy that adds least; of equals, the one that came first.
    fn least(&mut self, at: &Local) -> Option<(Cost, BundleId)> {
        let mut least: Option<(Cost, BundleId)> = None;
        for replica in at.store.replicas().iter().filter(|replica| replica.sending == 0) {
            let cost = self.cost(at, &replica.bundle, Mark::of(replica), at.now - replica.received);
            if least.is_none_or(|(other, _)| other < cost) {
                least = Some((cost, replica.bundle.id));
            }
        }
        least
    }
    fn cost_of_incoming(&mut self, at: &Local, incoming: &Bundle) -> Cost {
        if incoming.destination == at.node {
            return PRICELESS;
        }
        let mark = self.offered(incoming).map_or(Mark::NEW, |offered| offered.mark);
        self.cost(at, incoming, mark, Duration::ZERO)
    }
    /// The offer of the incoming bundle, unless it was created here.
    fn offered(&self, incoming: &Bundle) -> Option<Offered> {
        self.offered.filter(|offered| offered.id == incoming.id)
    }
    /// A copy that a peer in contact has room for and would have there sooner, or that finds no room on the
    /// contact by which it would leave here: whatever the router waits for.
    fn sooner_elsewhere(&mut self, at: &Local) -> Option<(BundleId, NodeId)> {
        if !self.planned {
            return None;
        }
        for link in at.links {
            let free = link.peer_space.free.0.saturating_sub(self.under_way.to(link.peer, at.now).0);
            let mut ahead = Bytes(0);
            for replica in at.store.replicas().iter().filter(|replica| replica.sending == 0) {
                let bundle = &replica.bundle;
                if bundle.size.0 <= free && self.is_sooner_there(at, link, bundle, ahead) {
                    return Some((bundle.id, link.peer));
                }
                if Mark::of(replica).gives_custody() {
                    ahead += bundle.size;
                }
            }
        }
        None
    }
    /// Whether it arrives sooner from a peer, or at all, where the bundles ahead of it fill its contact here.
    fn is_sooner_there(&mut self, at: &Local, link: &Link, bundle: &Bundle, ahead: Bytes) -> bool {
        let Some(there) = self.arrival(at.now, link.peer, bundle, Some(at.node)) else { return false };
        let here = self.arrival(at.now, at.node, bundle, Some(link.peer));
        here.is_none_or(|here| there < here) || {
            let over = self.arrivals.leaves_over(at.now, at.node, bundle.destination, Some(link.peer));
            over.is_some_and(|contact| {
                ahead + bundle.size > contact.carries(at.now, bundle.size, link.pipelined)
            })
        }
    }
    /// Whether it arrives as soon if it leaves over the next contact with the peer: that carries whatever the
    /// peer has room for, which gets no more until then. Of more bundles that wait, smaller ones can be
    /// chosen; what is small goes at once, or all would be lost with this node.
    fn can_wait(&mut self, at: &Local, link: &Link, bundle: &Bundle) -> bool {
        if !self.sizes.is_large(bundle) {
            return false;
        }
        let by = self.arrivals.leaves_by(at.now, link.peer, bundle.destination, Some(at.node));
        let plan = self.arrivals.plan();
        let Some(next) = plan.next(at.node, link.peer, at.now) else { return false };
        next.start.saturating_add(next.delay) <= by
            && next.carries(at.now, bundle.size, link.pipelined) >= link.peer_space.free
            && plan.carried_from(link.peer, at.node, (at.now, next.start)) == Bytes(0)
    }
    /// Whether a copy adds enough more than another that it is worth the transfer.
    fn displaces(&self, incoming: Cost, stored: Cost) -> bool {
        (incoming.0, incoming.1 + self.margin) < stored
    }
    /// By a plan, what cannot leave yet, or may as well leave later, waits where it takes no room.
    fn admits_created(&mut self, at: &Local, bundle: &Bundle) -> bool {
        if !self.planned {
            return true;
        }
        self.sizes.see(bundle);
        at.links.iter().any(|link| {
            self.arrival(at.now, link.peer, bundle, Some(at.node)).is_some()
                && !self.can_wait(at, link, bundle)
        })
    }
    fn admit_offered(&mut self, at: &Local, offer: &Offer) -> Result<(), Refusal> {
        self.drops.forget_if_relieved(at);
        let (bundle, mark) = (offer.bundle(), self.told(Mark::of(offer.replica)));
        if bundle.destination != at.node {
            if !self.leads_on(at, bundle, Some(offer.from)) {
                return Err(Refusal::Congestion);
            }
            let counts = self.planned && mark.gives_custody();
            if self.drops.contains(bundle.id) && !counts {
                return Err(Refusal::DroppedBefore);
            }
        }
        self.offered = Some(Offered { id: bundle.id, from: offer.from, mark });
        Ok(())
    }
    fn on_sent(&mut self, at: &Local, replica: &mut Replica, peer: NodeId) {
        let known = Mark::of(replica);
        let comes = comes_to(at, peer);
        if self.planned {
            self.under_way.push(peer, (at.now, comes), replica.bundle.size);
        }
        let custody = if known.gives_custody() {
            let answered = comes.saturating_add(comes - at.now);
            ((answered - Instant::ZERO).as_secs_f64().ceil()).min(f64::from(u32::MAX - 1)) as u32
        } else {
            known.custody
        };
        replica.mechanism_mark = Mark { copies: known.copies + 1.0, custody }.bits();
    }
}

/// When a bundle that leaves now is at `peer`.
fn comes_to(at: &Local, peer: NodeId) -> Instant {
    let link = at.links.iter().find(|link| link.peer == peer);
    at.now.saturating_add(link.map(|link| link.delay).unwrap_or_default())
}

/// A copy in custody that came back is in permanent custody again, and there is one copy less.
fn take_back(now: Instant, replica: &mut Replica) {
    let known = Mark::of(replica);
    if known.in_custody(now) {
        let copies = (known.copies - 1.0).max(0.0);
        replica.mechanism_mark = Mark { copies, custody: Mark::FOR_GOOD }.bits();
    }
}

impl Mechanism for CopyValue {
    fn make_room(&mut self, at: &Local, incoming: &Bundle, _: Option<BundleId>) -> BufferDecision {
        self.bonus = self.own_bonus(at);
        let cost = self.cost_of_incoming(at, incoming);
        if let Some((least, id)) = self.least(at) {
            // A moved copy is not lost: a smaller difference suffices than for a drop, but the move costs bytes.
            if self.single_copy_phase
                && cost < (least.0, least.1 - MOVED * f64::from(at.store.get(id).map_or(0, |copy| copy.hops)))
                && let Some(to) = roomiest(at, id, self.offered(incoming).map(|offered| offered.from))
            {
                return BufferDecision::Move { id, to };
            }
            if self.displaces(cost, least) {
                return BufferDecision::Drop(id);
            }
        }
        if let Some((id, to)) = self.sooner_elsewhere(at) {
            return BufferDecision::Move { id, to };
        }
        if self.leads_on(at, incoming, None) { BufferDecision::Wait } else { BufferDecision::Refuse }
    }
    fn evictable_bytes(&self, at: &Local) -> Bytes {
        if !self.planned {
            return Bytes(0);
        }
        let is_spare = |copy: &&Replica| copy.sending == 0 && !Mark::of(copy).in_custody(at.now);
        Bytes(at.store.replicas().iter().filter(is_spare).map(|copy| copy.bundle.size.0).sum())
    }
    /// On a plan, only copies that fit into the room that the peer reported, plus what can leave it before
    /// they arrive. The first may always go: the peer may make room by moving others on.
    fn may_replicate(&self, at: &Local, replica: &Replica, peer: NodeId) -> bool {
        if !self.planned {
            return true;
        }
        let Some(link) = at.links.iter().find(|link| link.peer == peer) else { return true };
        let under_way = self.under_way.to(peer, at.now);
        let comes = at.now.saturating_add(link.delay);
        let leaves = self.arrivals.plan().carried_from(peer, at.node, (at.now, comes));
        under_way == Bytes(0) || under_way + replica.bundle.size <= link.peer_space.free + leaves
    }
    fn refused_ids(&self) -> &IdSet {
        // By a plan a copy that counts is taken all the same.
        if self.planned { IdSet::none() } else { self.drops.known() }
    }
    fn admit(&mut self, at: &Local, incoming: &Incoming) -> Result<(), Refusal> {
        match incoming {
            Incoming::Offered(offer) => self.admit_offered(at, offer),
            Incoming::Created(bundle) if self.admits_created(at, bundle) => Ok(()),
            Incoming::Created(_) => Err(Refusal::NoSpace),
        }
    }
    fn mark_for_peer(&self, _: &Local, replica: &Replica) -> u64 {
        self.told(Mark::of(replica)).bits()
    }
    fn on_copy(&mut self, at: &Local, replica: &mut Replica, event: CopyEvent) {
        match event {
            CopyEvent::Created => replica.mechanism_mark = Mark::NEW.bits(),
            CopyEvent::Sent { peer, .. } => self.on_sent(at, replica, peer),
            CopyEvent::Returned { .. } => take_back(at.now, replica),
            CopyEvent::Received { .. } => {}
        }
    }
    fn on_event(&mut self, at: &Local, event: &MechanismEvent) {
        match *event {
            MechanismEvent::Moved { bundle, to, already_had: false } if self.planned => {
                self.under_way.push(to, (at.now, comes_to(at, to)), bundle.size);
            }
            MechanismEvent::Receipt { created, .. } => {
                self.horizon.on_delivery(at.now - created);
                self.drops.forget_if_relieved(at);
            }
            MechanismEvent::Dropped { bundle, reason: DropReason::Overflow, .. } => {
                self.drops.insert(bundle.id)
            }
            MechanismEvent::Dropped { .. } => self.drops.forget_if_relieved(at),
            _ => {}
        }
    }
    fn observe(&self, at: &Local, seen: &mut Observation) {
        let copies = at.store.replicas();
        let sum: f64 = copies.iter().map(|replica| f64::from(Mark::of(replica).copies)).sum();
        seen.push(("mean_known_copies", if copies.is_empty() { 0.0 } else { sum / copies.len() as f64 }));
        seen.push(("usual_age", self.horizon.usual().unwrap_or(0.0)));
    }
}

#[cfg(test)]
mod tests;

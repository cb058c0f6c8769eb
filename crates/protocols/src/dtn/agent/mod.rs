//! The node: a store, a router and a congestion mechanism, and the policy of the node.

/// What the node knows, borrowed apart from its router and mechanism.
macro_rules! local {
    ($agent:ident, $now:expr, $census:expr) => {
        Local {
            now: $now,
            node: $agent.node,
            store: &$agent.store,
            links: &$agent.links,
            application_free: $agent.waiting.free(),
            census: $census,
        }
    };
}

mod receiving;
mod sending;
mod waiting;

use super::router::PeerSpace;
use super::{
    Built, Bundle, BundleId, Census, ContactPlan, CopyEvent, IdSet, Incoming, Link, Local, Mechanism,
    MechanismEvent, Needs, NodeId, Observation, Offer, Path, Refusal, Replica, Router, RouterEvent,
    RouterProperties, Sieve, Store, Table,
};
use crate::time::Instant;
use crate::units::{BitRate, Bytes};
use std::collections::VecDeque;
use std::sync::Arc;
use waiting::Waiting;

/// What a node does under any router and mechanism. All off by default, as in The ONE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodePolicy {
    /// Delivered bundles are acknowledged by flooding, and copies of them deleted.
    pub receipts: bool,
    /// What was dropped here for lack of room is not accepted again.
    pub drop_memory: bool,
    /// A copy is deleted when its destination answers that it has it (The ONE's `deleteDelivered`).
    pub delete_delivered: bool,
    /// A bundle created here is stored even where no room can be made (The ONE does so).
    pub overfill: bool,
    /// No room is made for bundles that have come to their destination; The ONE makes room for them too.
    pub deliver_past_buffer: bool,
    /// A bundle that comes to its destination after its lifetime is delivered, as in The ONE; else it is deleted (RFC 9171, section 5.5).
    pub deliver_late: bool,
    /// Most bytes of bundles created here that wait at the application until they can be stored, whatever the mechanism.
    /// A bundle for which there is no room there either is refused and lost; with zero the application has no storage beside
    /// the buffer. `None`: what the mechanism does not admit or has wait is kept without bound, what it refuses room is lost.
    pub application_buffer: Option<Bytes>,
}

/// Why a copy was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// To make room.
    Overflow,
    /// Its lifetime is over.
    Expired,
    /// It is known to be delivered.
    Acknowledged,
    /// It was given to the next node, which keeps it instead.
    HandedOver,
    /// A later bundle of the same name was created at this node.
    Replaced,
}

/// What a transfer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// To the destination.
    Delivery,
    /// A copy that the router chose.
    Replication,
    /// Custody moves to the peer.
    Custody,
}

/// A transfer that an agent has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which bundle.
    pub id: BundleId,
    /// How much has to cross the link.
    pub size: Bytes,
    /// To whom.
    pub to: NodeId,
    /// What for.
    pub kind: TransferKind,
}

/// What crosses a link: a bundle and its extension blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleInTransit {
    /// The bundle.
    pub bundle: Bundle,
    /// What it was sent for.
    pub kind: TransferKind,
    /// Links crossed, this one included.
    pub hops: u32,
    /// The router's mark.
    pub router_mark: u64,
    /// The mechanism's mark.
    pub mechanism_mark: u64,
    /// Nodes it has been at, if the router records them.
    pub path: Path,
}

/// A peer's answer to an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Send it.
    Accept,
    /// Not now, nor anything else.
    Later,
    /// Not this one.
    Refuse(Refusal),
}

/// What became of a bundle that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleArrival {
    /// It is at its destination; `first` if it had not come before.
    Delivered {
        /// Whether this is the first copy to come.
        first: bool,
    },
    /// It was stored.
    Stored,
    /// It was not.
    Refused(Refusal),
}

/// What became of a bundle that was created here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// It was stored.
    Stored,
    /// It waits at the application until it is admitted and there is room.
    Waiting,
    /// There is no room for it, neither here nor at the application, or it waited for longer than its lifetime.
    Rejected,
}

/// A copy that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Which bundle.
    pub bundle: Bundle,
    /// Why.
    pub reason: DropReason,
    /// Since when it was here.
    pub received: Instant,
}

/// The other ends of an agent's links, as the driver shows them while the agent makes offers.
pub trait Peers {
    /// Whether a transfer to `peer` could start now.
    fn idle(&self, peer: NodeId) -> bool;
    /// What `peer` has: what its summary vector says.
    fn summary(&self, peer: NodeId) -> Summary<'_>;
    /// What `peer` answers to an offer. After [`Answer::Accept`] it has made room.
    fn answer(&mut self, peer: NodeId, offer: &Offer) -> Answer;
}

/// What a peer has of the bundles that it may be offered.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// Copies that it holds, and bundles that have come to it as their destination.
    pub had: &'a IdSet,
    /// Copies that are in flight to it, where the driver keeps account of them: those that it knows of, and those that
    /// the asking node sends.
    pub expected: [&'a IdSet; 2],
    /// Bundles that it does not take any more, by its policy and by its mechanism.
    pub refused_ids: [&'a IdSet; 2],
}

impl Summary<'_> {
    /// Whether the peer holds a copy, or is the destination and has it.
    #[inline]
    pub fn holds(&self, id: BundleId) -> bool {
        self.had.contains(id.0)
    }
    /// Whether the peer holds a copy or is about to receive one.
    #[inline]
    pub fn has(&self, id: BundleId) -> bool {
        self.holds(id) | self.expected[0].contains(id.0) | self.expected[1].contains(id.0)
    }
    /// Whether the peer may want a copy that is not for itself.
    #[inline]
    pub fn lacks(&self, id: BundleId) -> bool {
        // All are asked: a search takes longer over the branches than over what it could leave out.
        !(self.has(id) | self.refused_ids[0].contains(id.0) | self.refused_ids[1].contains(id.0))
    }
    /// Whether the peer may want any of these.
    fn lacks_any(&self, held: &IdSet) -> bool {
        let [coming, sent] = self.expected;
        let known = [self.had, coming, sent, self.refused_ids[0], self.refused_ids[1]];
        held.words().iter().enumerate().any(|(at, word)| {
            let words = known.iter().filter_map(|set| set.words().get(at));
            word & !words.fold(0, |has, word| has | word) != 0
        })
    }
}

/// In which order a node offers what it holds, where its router does not rank.
pub trait SendOrder {
    /// The store's slot at a position of the order. Asked again with the same position, it answers
    /// the same; the store does not change meanwhile.
    fn slot(&mut self, position: usize) -> usize;
}

/// By reception, oldest first.
pub struct ByReception;

impl SendOrder for ByReception {
    #[inline]
    fn slot(&mut self, position: usize) -> usize {
        position
    }
}

/// A node of a delay-tolerant network, without I/O.
///
/// The driver reports contacts ([`Agent::link_up`], [`Agent::link_down`]) and new bundles
/// ([`Agent::create`]). When a radio is free it asks for the next transfer, in this order:
/// [`Agent::offer_custody`], [`Agent::offer_deliverable`], (of each peer) [`Agent::serve`],
/// [`Agent::offer_copies`]. A transfer ends in [`Agent::complete`] at the sender and
/// [`Agent::receive`] at the receiver, or in [`Agent::abort`]. After each call,
/// [`Agent::drain_deletions`] lists the copies deleted.
pub struct Agent {
    node: NodeId,
    store: Store,
    router: Box<dyn Router>,
    mechanism: Box<dyn Mechanism>,
    needs: Needs,
    policy: NodePolicy,
    properties: RouterProperties,
    /// A refusal may have raised the router's scores.
    rescored: bool,
    links: Vec<Link>,
    /// The peers of `links`.
    connected: IdSet,
    near: Sieve,
    had: IdSet,
    delivered: IdSet,
    acknowledged: IdSet,
    dropped: IdSet,
    /// Copies whose custody will move.
    leaving: VecDeque<Leaving>,
    /// Copies whose custody is moving right now.
    moving: Vec<BundleId>,
    /// Copies that were deleted while they were being sent; their transfers continue.
    detached: Vec<Replica>,
    waiting: Waiting,
    events: Vec<Deletion>,
}

/// A copy whose custody will move.
#[derive(Clone, Copy)]
struct Leaving {
    id: BundleId,
    to: NodeId,
    /// The peer had moved it here and asked for it back.
    asked: bool,
}

impl Agent {
    /// A node with an empty buffer and no links.
    pub fn new(
        node: NodeId,
        buffer: Bytes,
        router: Built<dyn Router>,
        mechanism: Built<dyn Mechanism>,
        policy: NodePolicy,
    ) -> Self {
        Self {
            node,
            store: Store::new(buffer),
            needs: mechanism.properties,
            properties: router.properties,
            rescored: false,
            connected: IdSet::default(),
            near: Sieve::default(),
            had: IdSet::default(),
            router: router.algorithm,
            mechanism: mechanism.algorithm,
            policy,
            links: Vec::new(),
            delivered: IdSet::default(),
            acknowledged: IdSet::default(),
            dropped: IdSet::default(),
            leaving: VecDeque::new(),
            moving: Vec::new(),
            detached: Vec::new(),
            waiting: Waiting::new(policy.application_buffer, mechanism.properties.smallest_first),
            events: Vec::new(),
        }
    }
    /// Its buffer.
    #[inline]
    pub fn store(&self) -> &Store {
        &self.store
    }
    /// Its links that are up, oldest first.
    #[inline]
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// What its mechanism needs beyond local knowledge.
    pub fn needs(&self) -> Needs {
        self.needs
    }
    /// Bundles that it knows to be delivered (policy or need `receipts`).
    pub fn acknowledged(&self) -> &IdSet {
        &self.acknowledged
    }
    /// Its summary vector: what it has and what it does not take. `expected`: see [`Summary::expected`].
    #[inline]
    pub fn summary<'a>(&'a self, expected: Option<[&'a IdSet; 2]>) -> Summary<'a> {
        let expected = expected.unwrap_or([IdSet::none(); 2]);
        // Empty without the policy `drop_memory`.
        Summary { had: &self.had, expected, refused_ids: [&self.dropped, self.mechanism.refused_ids()] }
    }
    /// The copies deleted since the last call, in order.
    #[inline]
    pub fn drain_deletions(&mut self) -> std::vec::Drain<'_, Deletion> {
        self.events.drain(..)
    }
    /// Whether any copy was deleted since the last drain.
    #[inline]
    pub fn has_deletions(&self) -> bool {
        !self.events.is_empty()
    }
    /// What router and mechanism show to plots.
    pub fn observe(&self, now: Instant, seen: &mut Observation) {
        let at = local!(self, now, None);
        self.router.observe(&at, seen);
        self.mechanism.observe(&at, seen);
    }

    // --- contacts ---------------------------------------------------------------------------

    /// A link has come up; nothing has been exchanged yet.
    pub fn link_up(&mut self, link: Link) {
        self.connected.insert(link.peer.0);
        self.links.push(link);
        self.near = self.links.iter().map(|link| link.peer).collect();
    }
    /// The rate of the link to `peer` has changed.
    pub fn set_rate(&mut self, peer: NodeId, rate: BitRate) {
        if let Some(link) = self.links.iter_mut().find(|link| link.peer == peer) {
            link.rate = rate;
        }
    }
    /// The router's state for its peers; `None`: nothing.
    pub fn router_state(&mut self, now: Instant) -> Option<Table> {
        self.router.state(&local!(self, now, None))
    }
    /// The mechanism's state for its peer at the start of a contact; `None`: nothing.
    pub fn mechanism_state(&mut self, now: Instant) -> Option<Table> {
        self.mechanism.state(&local!(self, now, None))
    }
    /// The mechanism learns of the contact and of the state that the peer's mechanism sent.
    pub fn meet_mechanism(&mut self, now: Instant, peer: NodeId, state: Option<&Table>) {
        self.mechanism.on_event(&local!(self, now, None), &MechanismEvent::ContactUp { peer, state });
    }
    /// The router learns of the contact and of the state that the peer's router sent.
    pub fn meet_router(&mut self, now: Instant, peer: NodeId, state: Option<&Table>) {
        self.router.on_event(&local!(self, now, None), &RouterEvent::ContactUp { peer, state });
        self.remove_acknowledged(now);
    }
    /// What never changes for its router.
    #[inline]
    pub fn router_properties(&self) -> &RouterProperties {
        &self.properties
    }
    /// Deletes the copies of which fewer or more peers in contact hold one than the router wants
    /// ([`RouterProperties::holders`]). The transfer of one that is being sent continues.
    pub fn keep_among(&mut self, now: Instant, holders: impl Fn(BundleId) -> u32) {
        let Some((least, most)) = self.properties.holders else { return };
        let lonely = |id: &BundleId| !(least..=most).contains(&holders(*id));
        let gone: Vec<BundleId> = self.store.heads().iter().map(|head| head.id).filter(lonely).collect();
        for id in gone {
            if let Some(slot) = self.store.slot(id) {
                self.delete(now, slot, DropReason::Overflow);
            }
        }
    }
    /// Deletes the copy of a bundle that is delivered, unless it is being sent. It may be accepted again.
    pub fn delete_delivered(&mut self, now: Instant, id: BundleId) {
        self.delete_idle(now, id, DropReason::Acknowledged);
    }
    /// Whether peers in contact must get the router's state whenever it changes.
    pub fn reports_changes(&self) -> bool {
        !self.properties.fixed_state
    }
    /// The router gets the changed state of the peer's router.
    pub fn hear_router(&mut self, now: Instant, peer: NodeId, state: &Table) {
        self.router.on_event(&local!(self, now, None), &RouterEvent::PeerState { peer, state });
        self.remove_acknowledged(now);
    }
    /// The link has gone down. Transfers on it must have been completed or aborted. True when there may
    /// be something new to offer over the links that are left.
    pub fn link_down(&mut self, now: Instant, peer: NodeId) -> bool {
        self.links.retain(|link| link.peer != peer);
        self.connected.remove(peer.0);
        self.near = self.links.iter().map(|link| link.peer).collect();
        self.leaving.retain(|leaving| leaving.to != peer);
        let at = local!(self, now, None);
        let rescored = self.router.on_event(&at, &RouterEvent::ContactDown { peer });
        self.mechanism.on_event(&at, &MechanismEvent::ContactDown { peer });
        rescored
    }
    /// It learns of another contact plan, which replaces the one that it knew. Only an algorithm that declares that it reads the
    /// plan hears of it.
    pub fn revise_plan(&mut self, now: Instant, plan: &Arc<ContactPlan>) {
        let at = local!(self, now, None);
        if self.properties.contact_plan {
            self.router.on_event(&at, &RouterEvent::PlanRevised { plan });
        }
        if self.needs.contact_plan {
            self.mechanism.on_event(&at, &MechanismEvent::PlanRevised { plan });
        }
    }
    /// The space that the peers report ([`Needs::neighbours`]), in the order of
    /// [`Agent::links`].
    #[inline]
    pub fn hear_spaces(&mut self, spaces: impl IntoIterator<Item = PeerSpace>) {
        for (link, space) in self.links.iter_mut().zip(spaces) {
            link.peer_space = space;
        }
    }
    /// Whether it has learnt that `id` is delivered.
    #[inline]
    pub fn knows_receipt(&self, id: BundleId) -> bool {
        self.acknowledged.contains(id.0)
    }
    /// Learns that `id`, which was created then, is delivered; true when that is news. Its copy is deleted.
    pub fn learn_receipt(&mut self, now: Instant, id: BundleId, created: Instant) -> bool {
        let news = self.acknowledged.insert(id.0);
        if news {
            self.mechanism.on_event(&local!(self, now, None), &MechanismEvent::Receipt { id, created });
            self.delete_idle(now, id, DropReason::Acknowledged);
        }
        news
    }

    // --- creation ---------------------------------------------------------------------------

    /// The application hands over a bundle.
    pub fn create(&mut self, now: Instant, bundle: Bundle, census: Option<&Census>) -> Creation {
        let admitted = self.mechanism.admit(&local!(self, now, None), &Incoming::Created(&bundle));
        if !self.waiting.is_empty() || admitted.is_err() {
            return self.wait(bundle);
        }
        self.admit_created(now, bundle, census)
    }
    fn wait(&mut self, bundle: Bundle) -> Creation {
        let fits = self.policy.application_buffer.is_none() || bundle.size <= self.store.capacity();
        if fits && self.waiting.keep(bundle) { Creation::Waiting } else { Creation::Rejected }
    }
    /// Tries to store the first bundle that waits at the application and is admitted; `None` if none is
    /// admitted. One at a time, as the next may evict it again.
    pub fn retry_waiting(&mut self, now: Instant, census: Option<&Census>) -> Option<(Bundle, Creation)> {
        let at = local!(self, now, None);
        let admitted = |bundle: &Bundle| self.mechanism.admit(&at, &Incoming::Created(bundle)).is_ok();
        let bundle = self.waiting.take_first(admitted)?;
        match self.admit_created(now, bundle, census) {
            Creation::Waiting => None,
            outcome => Some((bundle, outcome)),
        }
    }
    /// Takes `id` out if it waits at the application and its lifetime is over. Where that may keep bundles without bound, they
    /// stay until they are tried.
    pub fn expire_waiting(&mut self, now: Instant, id: BundleId) -> Option<Bundle> {
        self.waiting.take_expired(now, id)
    }
    /// The same of all that wait.
    pub fn purge_waiting(&mut self, now: Instant) -> Vec<Bundle> {
        self.waiting.take_all_expired(now)
    }
    /// Whether bundles wait at the application.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
    /// Takes the bundles that wait at the application out: the run is over.
    pub fn drain_waiting(&mut self) -> std::collections::vec_deque::Drain<'_, Bundle> {
        self.waiting.drain()
    }
    fn admit_created(&mut self, now: Instant, bundle: Bundle, census: Option<&Census>) -> Creation {
        if now >= bundle.expires && bundle.created < now {
            // It has waited too long.
            return Creation::Rejected;
        }
        match self.make_room(now, &bundle, census) {
            Ok(()) => {}
            Err(None) => return self.wait(bundle),
            Err(Some(_)) if self.policy.overfill => {}
            Err(Some(_)) if self.policy.application_buffer.is_some() => return self.wait(bundle),
            Err(Some(_)) => return Creation::Rejected,
        }
        let mut replica = self.fresh_replica(now, bundle);
        let at = local!(self, now, census);
        self.router.on_created(&at, &mut replica);
        self.mechanism.on_copy(&at, &mut replica, CopyEvent::Created);
        self.keep(replica);
        Creation::Stored
    }
    fn keep(&mut self, replica: Replica) {
        self.had.insert(replica.bundle.id.0);
        self.store.insert(replica);
    }
    fn fresh_replica(&self, now: Instant, bundle: Bundle) -> Replica {
        let path =
            if self.properties.records_path { Path::default().then(self.node) } else { Path::default() };
        Replica { bundle, received: now, hops: 0, sending: 0, router_mark: 0, mechanism_mark: 0, path }
    }

    // --- custody, lifetime, deletion --------------------------------------------------------

    /// What the mechanism asks back, and from whom, now that there is room.
    pub fn poll_reclaim(&mut self, now: Instant) -> Option<(NodeId, BundleId)> {
        let at = local!(self, now, None);
        at.links.iter().find_map(|link| Some((link.peer, self.mechanism.reclaim(&at, link.peer)?)))
    }
    /// `peer` asks for a copy that it moved here; false if it is no longer here.
    pub fn on_reclaim(&mut self, peer: NodeId, id: BundleId) -> bool {
        let here = self.store.get(id).is_some();
        if here && !self.leaving.iter().any(|leaving| leaving.id == id) {
            self.leaving.push_back(Leaving { id, to: peer, asked: true });
        }
        here
    }
    /// `peer` no longer has what was asked back.
    pub fn on_reclaim_refused(&mut self, now: Instant, peer: NodeId, id: BundleId) {
        self.mechanism.on_event(&local!(self, now, None), &MechanismEvent::ReclaimRefused { peer, id });
    }
    /// The application replaces the bundle `id` by one that it creates next: its copy is deleted unless it is being sent.
    pub fn replace(&mut self, now: Instant, id: BundleId) {
        self.delete_idle(now, id, DropReason::Replaced);
    }
    /// Deletes the copy of `id` if its lifetime is over and it is not being sent.
    pub fn expire(&mut self, now: Instant, id: BundleId) {
        if self.store.get(id).is_some_and(|r| r.bundle.expires <= now) && !self.properties.keeps_expired {
            self.delete_idle(now, id, DropReason::Expired);
        }
    }
    /// Deletes every copy whose lifetime is over and that is not being sent.
    pub fn purge(&mut self, now: Instant) {
        if self.properties.keeps_expired {
            return;
        }
        let over: Vec<BundleId> =
            self.store.replicas().iter().filter(|r| r.bundle.expires <= now).map(|r| r.bundle.id).collect();
        over.into_iter().for_each(|id| self.delete_idle(now, id, DropReason::Expired));
    }
    #[inline(always)]
    fn remove_acknowledged(&mut self, now: Instant) {
        for id in self.router.take_acknowledged() {
            self.delete_idle(now, id, DropReason::Acknowledged);
        }
    }
    fn delete_idle(&mut self, now: Instant, id: BundleId, reason: DropReason) {
        let Some(slot) = self.store.slot(id).filter(|&slot| self.store.replicas()[slot].sending == 0) else {
            return;
        };
        self.delete(now, slot, reason);
    }
    fn delete(&mut self, now: Instant, slot: usize, reason: DropReason) {
        let replica = self.store.take(slot);
        let id = replica.bundle.id;
        if !self.delivered.contains(id.0) {
            self.had.remove(id.0);
        }
        if reason == DropReason::Overflow && self.policy.drop_memory {
            self.dropped.insert(id.0);
        }
        let dropped = MechanismEvent::Dropped { bundle: &replica.bundle, received: replica.received, reason };
        self.mechanism.on_event(&local!(self, now, None), &dropped);
        self.events.push(Deletion { bundle: replica.bundle, reason, received: replica.received });
        if replica.sending > 0 {
            self.detached.push(replica);
        }
    }
}

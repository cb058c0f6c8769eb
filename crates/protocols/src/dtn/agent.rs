//! The node: a store, a router and a congestion mechanism, and the habits that serve them all.

use super::router::PeerSpace;
use super::{
    Bundle, BundleId, Census, Fate, IdSet, Link, Local, Mechanism, Needs, NodeId, Observation, Offer, Path,
    Refusal, Replica, Room, Router, Store, Table,
};
use crate::time::Instant;
use crate::units::Bytes;
use std::collections::VecDeque;

/// What a node does whatever its router and mechanism. All off by default, as in The ONE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
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
pub struct Parcel {
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
pub enum Arrival {
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
    /// It waits at the application until custody of another bundle has moved away.
    Waiting,
    /// It doesn't fit.
    Rejected,
}

/// A copy that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
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
    /// Whether `peer` holds a copy, is about to receive one, or is the destination and has it: what
    /// its summary vector says.
    fn has(&self, peer: NodeId, id: BundleId) -> bool;
    /// What `peer` answers to an offer. After [`Answer::Accept`] it has made room.
    fn answer(&mut self, peer: NodeId, offer: &Offer) -> Answer;
}

/// A node of a delay-tolerant network, without I/O.
///
/// The driver tells it of contacts ([`Agent::link_up`], [`Agent::link_down`]) and new bundles
/// ([`Agent::create`]). When a radio is free it asks for the next transfer, in this order:
/// [`Agent::offer_custody`], [`Agent::offer_deliverable`], (of each peer) [`Agent::serve`],
/// [`Agent::offer_copies`]. A transfer ends in [`Agent::complete`] at the sender and
/// [`Agent::receive`] at the receiver, or in [`Agent::abort`]. After each call,
/// [`Agent::drain_events`] tells which copies are gone.
pub struct Agent {
    node: NodeId,
    store: Store,
    router: Box<dyn Router>,
    mechanism: Box<dyn Mechanism>,
    needs: Needs,
    habits: Habits,
    /// The router's constant answers, asked once.
    ranked: bool,
    exclusive: bool,
    records_path: bool,
    links: Vec<Link>,
    /// The peers of `links`.
    connected: IdSet,
    delivered: IdSet,
    acknowledged: IdSet,
    dropped: IdSet,
    leaving: VecDeque<(BundleId, NodeId)>,
    /// Copies whose custody is moving right now.
    moving: Vec<BundleId>,
    waiting: VecDeque<Bundle>,
    events: Vec<Event>,
}

/// What the node knows, borrowed apart from its router and mechanism.
macro_rules! local {
    ($agent:ident, $now:expr, $census:expr) => {
        Local { now: $now, node: $agent.node, store: &$agent.store, links: &$agent.links, census: $census }
    };
}

impl Agent {
    /// A node with an empty buffer and no links.
    pub fn new(
        node: NodeId,
        buffer: Bytes,
        router: Box<dyn Router>,
        mechanism: Box<dyn Mechanism>,
        habits: Habits,
    ) -> Self {
        Self {
            node,
            store: Store::new(buffer),
            needs: mechanism.needs(),
            ranked: router.ranked(),
            exclusive: router.exclusive(),
            records_path: router.records_path(),
            connected: IdSet::default(),
            router,
            mechanism,
            habits,
            links: Vec::new(),
            delivered: IdSet::default(),
            acknowledged: IdSet::default(),
            dropped: IdSet::default(),
            leaving: VecDeque::new(),
            moving: Vec::new(),
            waiting: VecDeque::new(),
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
    /// Bundles that it knows to be delivered (habit `receipts`).
    pub fn acknowledged(&self) -> &IdSet {
        &self.acknowledged
    }
    /// Whether `id` has come here as its destination.
    #[inline]
    pub fn has_delivered(&self, id: BundleId) -> bool {
        self.delivered.contains(id.0)
    }
    /// The copies deleted since the last call, in order.
    #[inline]
    pub fn drain_events(&mut self) -> std::vec::Drain<'_, Event> {
        self.events.drain(..)
    }
    /// Whether any copy was deleted since the last drain.
    #[inline]
    pub fn has_events(&self) -> bool {
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
    }
    /// What the router tells its peers.
    pub fn router_state(&mut self, now: Instant) -> Option<Table> {
        self.router.state(&local!(self, now, None))
    }
    /// What the mechanism tells its peer at the start of a contact.
    pub fn mechanism_state(&mut self, now: Instant) -> Option<Table> {
        self.mechanism.state(&local!(self, now, None))
    }
    /// The mechanism learns of the contact and of what the peer's mechanism told.
    pub fn meet_mechanism(&mut self, now: Instant, peer: NodeId, told: Option<&Table>) {
        self.mechanism.on_contact_up(&local!(self, now, None), peer, told);
    }
    /// The router learns of the contact and of what the peer's router told.
    pub fn meet_router(&mut self, now: Instant, peer: NodeId, told: Option<&Table>) {
        self.router.on_contact_up(&local!(self, now, None), peer, told);
        self.remove_acknowledged(now);
    }
    /// Whether peers in contact are to be told whenever the router's state changes.
    pub fn tells_changes(&self) -> bool {
        self.router.tells_changes()
    }
    /// The router learns what the peer's router told anew.
    pub fn hear_router(&mut self, now: Instant, peer: NodeId, told: &Table) {
        self.router.on_state(&local!(self, now, None), peer, told);
        self.remove_acknowledged(now);
    }
    /// The link has gone down. Transfers on it must have been completed or aborted.
    pub fn link_down(&mut self, now: Instant, peer: NodeId) {
        self.links.retain(|link| link.peer != peer);
        self.connected.remove(peer.0);
        self.leaving.retain(|&(_, to)| to != peer);
        let at = local!(self, now, None);
        self.router.on_contact_down(&at, peer);
        self.mechanism.on_contact_down(&at, peer);
    }
    /// What a peer tells about its buffer and radio ([`Needs::neighbours`]).
    pub fn hear_space(&mut self, peer: NodeId, told: PeerSpace) {
        if let Some(link) = self.links.iter_mut().find(|link| link.peer == peer) {
            link.told = told;
        }
    }
    /// Learns that `id` is delivered; true when that is news. Its copy is deleted.
    pub fn learn_receipt(&mut self, now: Instant, id: BundleId) -> bool {
        let news = self.acknowledged.insert(id.0);
        if news {
            self.delete_idle(now, id, DropReason::Acknowledged);
        }
        news
    }

    // --- creation ---------------------------------------------------------------------------

    /// The application hands over a bundle.
    pub fn create(&mut self, now: Instant, bundle: Bundle, census: Option<&Census>) -> Creation {
        if !self.waiting.is_empty() {
            self.waiting.push_back(bundle);
            return Creation::Waiting;
        }
        self.admit_created(now, bundle, census)
    }
    /// Tries to store the bundles that wait at the application; gives those stored or rejected.
    pub fn retry_waiting(
        &mut self,
        now: Instant,
        census: Option<&Census>,
        mut told: impl FnMut(Bundle, Creation),
    ) {
        while let Some(bundle) = self.waiting.pop_front() {
            match self.admit_created(now, bundle, census) {
                Creation::Waiting => {
                    // It went to the back of the queue: return it to its place.
                    self.waiting.rotate_right(1);
                    return;
                }
                outcome => told(bundle, outcome),
            }
        }
    }
    /// Whether bundles wait at the application.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
    /// Takes the bundles that wait at the application out: the run is over.
    pub fn drain_waiting(&mut self) -> std::collections::vec_deque::Drain<'_, Bundle> {
        self.waiting.drain(..)
    }
    fn admit_created(&mut self, now: Instant, bundle: Bundle, census: Option<&Census>) -> Creation {
        match self.make_room(now, &bundle, census) {
            Ok(()) => {}
            Err(None) => {
                self.waiting.push_back(bundle);
                return Creation::Waiting;
            }
            Err(Some(_)) if !self.habits.overfill => return Creation::Rejected,
            Err(Some(_)) => {}
        }
        let mut replica = self.fresh_replica(now, bundle);
        let at = local!(self, now, census);
        self.router.on_created(&at, &mut replica);
        self.mechanism.on_created(&at, &mut replica);
        self.store.insert(replica);
        Creation::Stored
    }
    fn fresh_replica(&self, now: Instant, bundle: Bundle) -> Replica {
        let path = if self.records_path { Path::default().then(self.node) } else { Path::default() };
        Replica { bundle, received: now, hops: 0, sending: 0, router_mark: 0, mechanism_mark: 0, path }
    }

    // --- the sending side -------------------------------------------------------------------

    /// A copy whose custody is to move, if its new custodian can take it now.
    pub fn offer_custody<P: Peers>(
        &mut self,
        now: Instant,
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        let mut at = 0;
        while let Some(&(id, to)) = self.leaving.get(at) {
            let Some(replica) = self.store.get(id).filter(|r| r.sending == 0) else {
                self.leaving.remove(at);
                continue;
            };
            if !peers.idle(to) {
                at += 1;
                continue;
            }
            let answer = if peers.has(to, id) {
                Answer::Refuse(Refusal::Held)
            } else {
                peers.answer(to, &Offer { replica, from: self.node })
            };
            self.leaving.remove(at);
            match answer {
                Answer::Accept => return self.begin(id, to, TransferKind::Custody),
                Answer::Later => {
                    self.leaving.insert(at, (id, to));
                    at += 1;
                }
                // The peer has it already: giving up our copy costs no transfer.
                Answer::Refuse(Refusal::Held | Refusal::Delivered) => {
                    self.hand_over(now, id, to, true, census);
                }
                Answer::Refuse(_) => self.delete_idle(now, id, DropReason::Overflow),
            }
        }
        None
    }
    /// The first copy, in send order, whose destination is at the other end of a link.
    ///
    /// `order` is a permutation of the store's slots, or empty for order of reception.
    pub fn offer_deliverable<P: Peers>(
        &mut self,
        now: Instant,
        order: &[u32],
        peers: &mut P,
    ) -> Option<Transfer> {
        let mut done = None;
        for slot in slots(order, self.store.replicas().len()) {
            let to = self.store.heads()[slot].destination;
            if self.connected.contains(to.0) {
                done = self.offer_one(slot, to, TransferKind::Delivery, peers).ok();
                if done.is_some() {
                    break;
                }
            }
        }
        self.forget_delivered(now, peers);
        done
    }
    /// The first copy, in order of reception, that is for `peer`.
    pub fn serve<P: Peers>(&mut self, now: Instant, peer: NodeId, peers: &mut P) -> Option<Transfer> {
        let mut done = None;
        for slot in 0..self.store.replicas().len() {
            if self.store.heads()[slot].destination == peer {
                done = self.offer_one(slot, peer, TransferKind::Delivery, peers).ok();
                if done.is_some() {
                    break;
                }
            }
        }
        self.forget_delivered(now, peers);
        done
    }
    /// The best copy that the router has for a peer and the mechanism allows.
    pub fn offer_copies<P: Peers>(
        &mut self,
        now: Instant,
        order: &[u32],
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        if self.ranked {
            return self.offer_ranked(now, order, peers, census);
        }
        for link in 0..self.links.len() {
            let peer = self.links[link].peer;
            if !peers.idle(peer) {
                continue;
            }
            for slot in slots(order, self.store.replicas().len()) {
                if self.candidate(now, slot, peer, peers, census).is_none() {
                    continue;
                }
                match self.offer_one(slot, peer, TransferKind::Replication, peers) {
                    Ok(transfer) => return Some(transfer),
                    Err(Answer::Later) => break,
                    Err(_) => {}
                }
            }
        }
        None
    }
    fn offer_ranked<P: Peers>(
        &mut self,
        now: Instant,
        order: &[u32],
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        let mut ranked: Vec<(f64, NodeId, usize)> = Vec::new();
        for link in &self.links {
            if peers.idle(link.peer) {
                let scored = slots(order, self.store.replicas().len()).filter_map(|slot| {
                    let score = self.candidate(now, slot, link.peer, peers, census)?;
                    Some((score, link.peer, slot))
                });
                ranked.extend(scored);
            }
        }
        // Stable: equal scores stay in link order, then send order.
        ranked.sort_by(|x, y| y.0.total_cmp(&x.0));
        ranked
            .into_iter()
            .find_map(|(_, peer, slot)| self.offer_one(slot, peer, TransferKind::Replication, peers).ok())
    }
    #[inline]
    fn candidate<P: Peers>(
        &self,
        now: Instant,
        slot: usize,
        peer: NodeId,
        peers: &P,
        census: Option<&Census>,
    ) -> Option<f64> {
        let head = self.store.heads()[slot];
        // What the peer is the destination of has been offered to it already.
        if head.destination == peer || peers.has(peer, head.id) {
            return None;
        }
        let replica = &self.store.replicas()[slot];
        if self.reserved(replica) {
            return None;
        }
        let at = local!(self, now, census);
        let score = self.router.score(&at, replica, peer)?;
        self.mechanism.may_replicate(&at, replica, peer).then_some(score)
    }
    fn offer_one<P: Peers>(
        &mut self,
        slot: usize,
        to: NodeId,
        kind: TransferKind,
        peers: &mut P,
    ) -> Result<Transfer, Answer> {
        let id = self.store.heads()[slot].id;
        // A single copy that is on its way to one peer must not be delivered to another meanwhile.
        if !peers.idle(to) || self.reserved(&self.store.replicas()[slot]) {
            return Err(Answer::Later);
        }
        if peers.has(to, id) {
            return Err(Answer::Refuse(Refusal::Held));
        }
        let replica = &self.store.replicas()[slot];
        match peers.answer(to, &Offer { replica, from: self.node }) {
            Answer::Accept => self.begin(id, to, kind).ok_or(Answer::Later),
            refused => Err(refused),
        }
    }
    /// Whether a transfer that is under way has the only claim to a copy.
    #[inline]
    fn reserved(&self, replica: &Replica) -> bool {
        replica.sending > 0 && (self.exclusive || self.moving.contains(&replica.bundle.id))
    }
    fn begin(&mut self, id: BundleId, to: NodeId, kind: TransferKind) -> Option<Transfer> {
        let replica = self.store.get_mut(id)?;
        replica.sending += 1;
        if kind == TransferKind::Custody {
            self.moving.push(id);
        }
        Some(Transfer { id, size: replica.bundle.size, to, kind })
    }
    /// Deletes copies whose destination is in contact and has them, if that is the habit.
    fn forget_delivered<P: Peers>(&mut self, now: Instant, peers: &P) {
        if !self.habits.delete_delivered {
            return;
        }
        let known: Vec<BundleId> = self
            .store
            .replicas()
            .iter()
            .filter(|r| r.sending == 0 && self.connected.contains(r.bundle.destination.0))
            .filter(|r| peers.has(r.bundle.destination, r.bundle.id))
            .map(|r| r.bundle.id)
            .collect();
        known.into_iter().for_each(|id| self.delete_idle(now, id, DropReason::Acknowledged));
    }

    /// The last bit of a transfer has left. Gives what the peer receives; `None` if the copy has
    /// vanished, which a correct driver never sees.
    pub fn complete(&mut self, now: Instant, transfer: &Transfer, census: Option<&Census>) -> Option<Parcel> {
        let mut replica = self.store.get(transfer.id)?.clone();
        replica.sending -= 1;
        let at = local!(self, now, census);
        let delivered = transfer.kind == TransferKind::Delivery;
        let custody = transfer.kind == TransferKind::Custody;
        // Custody moves the copy as it is: its router has not decided to share it.
        let router_mark = if custody { replica.router_mark } else { self.router.mark_for_peer(&replica) };
        let parcel = Parcel {
            bundle: replica.bundle,
            kind: transfer.kind,
            hops: replica.hops + 1,
            router_mark,
            mechanism_mark: self.mechanism.mark_for_peer(&at, &replica),
            path: replica.path.clone(),
        };
        let mut fate = Fate::Keep;
        if !custody {
            fate = self.router.on_sent(&at, &mut replica, transfer.to, delivered);
            self.mechanism.on_sent(&at, &mut replica, transfer.to, delivered);
        }
        if let Some(stored) = self.store.get_mut(transfer.id) {
            *stored = replica;
        }
        if custody {
            self.moving.retain(|&id| id != transfer.id);
            self.hand_over(now, transfer.id, transfer.to, false, census);
        } else if fate == Fate::GiveUp {
            self.delete_idle(now, transfer.id, DropReason::HandedOver);
        }
        self.remove_acknowledged(now);
        if self.acknowledged.contains(transfer.id.0) {
            self.delete_idle(now, transfer.id, DropReason::Acknowledged);
        }
        Some(parcel)
    }
    /// The contact ended before the last bit of a transfer had left. The copy is kept.
    pub fn abort(&mut self, now: Instant, transfer: &Transfer) {
        if transfer.kind == TransferKind::Custody {
            self.moving.retain(|&id| id != transfer.id);
        }
        if let Some(replica) = self.store.get_mut(transfer.id) {
            replica.sending -= 1;
        }
        if self.acknowledged.contains(transfer.id.0) {
            self.delete_idle(now, transfer.id, DropReason::Acknowledged);
        }
    }
    fn hand_over(&mut self, now: Instant, id: BundleId, to: NodeId, had: bool, census: Option<&Census>) {
        if let Some(bundle) = self.store.get(id).map(|r| r.bundle) {
            self.mechanism.on_moved(&local!(self, now, census), &bundle, to, had);
            self.delete_idle(now, id, DropReason::HandedOver);
        }
    }

    // --- the receiving side -----------------------------------------------------------------

    /// Answers an offer; room is made when it is accepted (The ONE does so before the first byte).
    pub fn consider(&mut self, now: Instant, offer: &Offer, census: Option<&Census>) -> Answer {
        if let Err(why) = self.willing(now, offer, census) {
            return Answer::Refuse(why);
        }
        self.room_for(now, offer.bundle(), census)
    }
    /// Whether an offer would be taken, room aside: what can be said of a copy that will be under way
    /// for a while.
    ///
    /// # Errors
    /// Why not.
    pub fn willing(&mut self, now: Instant, offer: &Offer, census: Option<&Census>) -> Result<(), Refusal> {
        let bundle = offer.bundle();
        self.acceptable(now, bundle)?;
        if bundle.size > self.store.capacity() && !self.past_buffer(bundle) {
            return Err(Refusal::NoSpace);
        }
        let at = local!(self, now, census);
        self.router.accept(&at, offer)?;
        self.mechanism.admit(&at, offer)
    }
    fn acceptable(&self, now: Instant, bundle: &Bundle) -> Result<(), Refusal> {
        let id = bundle.id;
        if self.store.contains(id) {
            Err(Refusal::Held)
        } else if self.delivered.contains(id.0) || self.acknowledged.contains(id.0) {
            Err(Refusal::Delivered)
        } else if now >= bundle.expires && bundle.destination != self.node {
            Err(Refusal::Expired)
        } else if self.habits.drop_memory && self.dropped.contains(id.0) && bundle.destination != self.node {
            Err(Refusal::DroppedBefore)
        } else {
            Ok(())
        }
    }
    fn past_buffer(&self, bundle: &Bundle) -> bool {
        self.habits.deliver_past_buffer && bundle.destination == self.node
    }
    fn room_for(&mut self, now: Instant, bundle: &Bundle, census: Option<&Census>) -> Answer {
        if self.past_buffer(bundle) {
            return Answer::Accept;
        }
        match self.make_room(now, bundle, census) {
            Ok(()) => Answer::Accept,
            Err(None) => Answer::Later,
            Err(Some(why)) => Answer::Refuse(why),
        }
    }
    /// Evicts until `incoming` fits. `Err(None)`: room will come when custody of a copy has moved.
    fn make_room(
        &mut self,
        now: Instant,
        incoming: &Bundle,
        census: Option<&Census>,
    ) -> Result<(), Option<Refusal>> {
        if incoming.size > self.store.capacity() && !self.habits.overfill {
            return Err(Some(Refusal::NoSpace));
        }
        while let Some(id) = self.mechanism.obsolete(&local!(self, now, census)) {
            if self.store.get(id).is_none_or(|r| r.sending > 0) {
                break;
            }
            self.delete_idle(now, id, DropReason::Overflow);
        }
        while self.store.free() < incoming.size {
            let at = local!(self, now, census);
            let preferred = self.router.victim(&at);
            match self.mechanism.make_room(&at, incoming, preferred) {
                Room::Drop(id) => {
                    let before = self.store.used();
                    self.delete_idle(now, id, DropReason::Overflow);
                    if self.store.used() == before {
                        // Not ours to drop: being sent, or not here.
                        return Err(Some(Refusal::NoSpace));
                    }
                }
                Room::Move { id, to } => {
                    if !self.leaving.iter().any(|&(leaving, _)| leaving == id) {
                        self.leaving.push_back((id, to));
                    }
                    return Err(None);
                }
                Room::Refuse => return Err(Some(Refusal::NoSpace)),
            }
        }
        Ok(())
    }
    /// The last bit of a transfer has come.
    pub fn receive(
        &mut self,
        now: Instant,
        from: NodeId,
        parcel: Parcel,
        census: Option<&Census>,
    ) -> Arrival {
        let mut replica = Replica {
            bundle: parcel.bundle,
            received: now,
            hops: parcel.hops,
            sending: 0,
            router_mark: parcel.router_mark,
            mechanism_mark: parcel.mechanism_mark,
            path: if self.records_path { parcel.path.then(self.node) } else { Path::default() },
        };
        if replica.bundle.destination == self.node {
            return self.deliver(now, replica, from, census);
        }
        if let Err(why) = self.acceptable(now, &replica.bundle) {
            return Arrival::Refused(why);
        }
        // Room was made at the start, but a bundle may have been created here since.
        if let Err(why) = self.make_room(now, &replica.bundle, census)
            && !self.habits.overfill
        {
            return Arrival::Refused(why.unwrap_or(Refusal::NoSpace));
        }
        let at = local!(self, now, census);
        self.router.on_received(&at, &mut replica, from);
        self.mechanism.on_received(&at, &mut replica, from);
        self.store.insert(replica);
        Arrival::Stored
    }
    fn deliver(
        &mut self,
        now: Instant,
        mut replica: Replica,
        from: NodeId,
        census: Option<&Census>,
    ) -> Arrival {
        let first = self.delivered.insert(replica.bundle.id.0);
        let at = local!(self, now, census);
        self.mechanism.on_received(&at, &mut replica, from);
        if first {
            self.router.on_delivered(&at, &replica.bundle, from);
        }
        self.remove_acknowledged(now);
        Arrival::Delivered { first }
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
        if here && !self.leaving.contains(&(id, peer)) {
            self.leaving.push_back((id, peer));
        }
        here
    }
    /// `peer` no longer has what was asked back.
    pub fn on_reclaim_refused(&mut self, now: Instant, peer: NodeId, id: BundleId) {
        self.mechanism.on_reclaim_refused(&local!(self, now, None), peer, id);
    }
    /// Deletes the copy of `id` if its lifetime is over and it is not being sent.
    pub fn expire(&mut self, now: Instant, id: BundleId) {
        if self.store.get(id).is_some_and(|r| r.bundle.expires <= now) {
            self.delete_idle(now, id, DropReason::Expired);
        }
    }
    /// Deletes every copy whose lifetime is over and that is not being sent.
    pub fn purge(&mut self, now: Instant) {
        let over: Vec<BundleId> =
            self.store.replicas().iter().filter(|r| r.bundle.expires <= now).map(|r| r.bundle.id).collect();
        over.into_iter().for_each(|id| self.delete_idle(now, id, DropReason::Expired));
    }
    fn remove_acknowledged(&mut self, now: Instant) {
        for id in self.router.take_acknowledged() {
            self.delete_idle(now, id, DropReason::Acknowledged);
        }
    }
    fn delete_idle(&mut self, now: Instant, id: BundleId, reason: DropReason) {
        if self.store.get(id).is_none_or(|r| r.sending > 0) {
            return;
        }
        let Some(replica) = self.store.remove(id) else { return };
        if reason == DropReason::Overflow && self.habits.drop_memory {
            self.dropped.insert(id.0);
        }
        self.mechanism.on_dropped(&local!(self, now, None), &replica.bundle, reason);
        self.events.push(Event { bundle: replica.bundle, reason, received: replica.received });
    }
}

/// The store's slots in send order.
#[inline]
fn slots(order: &[u32], count: usize) -> impl Iterator<Item = usize> + '_ {
    debug_assert!(order.is_empty() || order.len() == count);
    (0..count).map(|i| order.get(i).map_or(i, |&slot| slot as usize))
}

//! The sending side of an agent: what it offers to whom, and what happens when a transfer ends.

use super::{
    Agent, Answer, BundleInTransit, DropReason, Leaving, Peers, SendOrder, Summary, Transfer, TransferKind,
};
use crate::dtn::{
    AfterTransfer, Bundle, BundleId, Census, CopyEvent, Head, Local, MechanismEvent, NodeId, Offer, Refusal,
    Replica, RouterEvent, Sieve,
};
use crate::time::Instant;
use crate::units::Bytes;

impl Agent {
    /// Starts to move custody of a copy, if its new custodian can take it now.
    #[inline]
    pub fn offer_custody<P: Peers>(
        &mut self,
        now: Instant,
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        if self.leaving.is_empty() { None } else { self.offer_leaving(now, peers, census) }
    }
    fn offer_leaving<P: Peers>(
        &mut self,
        now: Instant,
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        let mut at = 0;
        while let Some(&Leaving { id, to, asked }) = self.leaving.get(at) {
            let Some(replica) = self.store.get(id).filter(|r| r.sending == 0) else {
                self.leaving.remove(at);
                continue;
            };
            if !peers.idle(to) {
                at += 1;
                continue;
            }
            let summary = peers.summary(to);
            let answer = if summary.holds(id) {
                Answer::Refuse(Refusal::Held)
            } else if summary.has(id) {
                // In flight to the peer: if it arrives, no transfer is needed.
                Answer::Later
            } else {
                peers.answer(to, &Offer { replica, from: self.node })
            };
            if answer == Answer::Later {
                at += 1;
                continue;
            }
            self.leaving.remove(at);
            match answer {
                Answer::Accept => return self.begin(id, to, TransferKind::Custody),
                // The peer has it already: giving up our copy costs no transfer.
                Answer::Refuse(Refusal::Held | Refusal::Delivered) => {
                    self.hand_over(now, id, to, true, census);
                }
                // The peer that asked for it back has no room after all: it stays.
                _ if asked => {}
                _ => self.delete_idle(now, id, DropReason::Overflow),
            }
        }
        None
    }
    /// Whether it can have anything to offer to the peer that has this; false for most, and fast.
    #[inline]
    pub fn may_offer(&self, summary: &Summary) -> bool {
        !self.leaving.is_empty() || self.may_deliver() || self.has_more_than(summary)
    }
    /// Whether it holds anything that the peer does not have.
    #[inline]
    fn has_more_than(&self, summary: &Summary) -> bool {
        // Most searches find nothing: see that without branches or an order, among many copies by words.
        let (heads, held) = (self.store.heads(), self.store.held());
        if held.words().len() < heads.len() {
            summary.lacks_any(held)
        } else {
            heads.iter().fold(false, |any, head| any | summary.lacks(head.id))
        }
    }
    /// Whether [`Agent::offer_deliverable`] can do anything; false for most, and fast.
    #[inline]
    pub fn may_deliver(&self) -> bool {
        self.store.bound().meets(self.near)
    }
    /// The first copy, in send order, whose destination is at the other end of a link.
    pub fn offer_deliverable<P: Peers>(
        &mut self,
        now: Instant,
        order: &mut impl SendOrder,
        peers: &mut P,
    ) -> Option<Transfer> {
        if !self.may_deliver() {
            return None;
        }
        let wanted = |head: &Head| {
            let to = head.destination;
            self.connected.contains(to.0) && peers.idle(to) && !peers.summary(to).has(head.id)
        };
        let any = self.policy.delete_delivered || self.store.heads().iter().any(wanted);
        let (mut done, mut delivered) = (None, Vec::new());
        for position in 0..if any { self.store.replicas().len() } else { 0 } {
            let slot = order.slot(position);
            let to = self.store.heads()[slot].destination;
            if self.connected.contains(to.0) {
                delivered.extend(self.known_delivered(slot, peers));
                done = self.offer_one(now, slot, to, TransferKind::Delivery, peers).ok();
                if done.is_some() {
                    break;
                }
            }
        }
        self.forget(now, delivered);
        done
    }
    /// Whether [`Agent::serve`] can do anything for `peer`; false for most, and fast.
    #[inline]
    pub fn may_serve(&self, peer: NodeId) -> bool {
        let bound = self.store.bound();
        bound.meets(Sieve::of(peer)) || (self.policy.delete_delivered && bound.meets(self.near))
    }
    /// The first copy, in order of reception, that is for `peer`.
    pub fn serve<P: Peers>(&mut self, now: Instant, peer: NodeId, peers: &mut P) -> Option<Transfer> {
        if !self.may_serve(peer) {
            return None;
        }
        let (mut done, mut delivered) = (None, Vec::new());
        for slot in 0..self.store.heads().len() {
            if self.store.heads()[slot].destination == peer {
                delivered.extend(self.known_delivered(slot, peers));
                done = self.offer_one(now, slot, peer, TransferKind::Delivery, peers).ok();
                if done.is_some() {
                    break;
                }
            }
        }
        self.forget(now, delivered);
        done
    }
    /// The best copy that the router has for a peer and the mechanism allows.
    pub fn offer_copies<P: Peers>(
        &mut self,
        now: Instant,
        order: &mut impl SendOrder,
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        if self.properties.ranked {
            self.router.on_event(&local!(self, now, None), &RouterEvent::Offering);
            loop {
                self.rescored = false;
                let begun = self.offer_ranked(now, order, peers, census);
                // A refusal may have led the router to another path.
                if begun.is_some() || !self.rescored {
                    return begun;
                }
            }
        }
        for link in 0..self.links.len() {
            let peer = self.links[link].peer;
            if !peers.idle(peer) {
                continue;
            }
            let mut position = 0;
            while let Some((at, slot, _)) = self.candidate(now, peer, position, order, peers, census) {
                position = at + 1;
                match self.offer_one(now, slot, peer, TransferKind::Replication, peers) {
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
        order: &mut impl SendOrder,
        peers: &mut P,
        census: Option<&Census>,
    ) -> Option<Transfer> {
        let mut ranked: Vec<(f64, NodeId, usize)> = Vec::new();
        for link in &self.links {
            if peers.idle(link.peer) {
                let mut position = 0;
                while let Some((at, slot, score)) =
                    self.candidate(now, link.peer, position, order, peers, census)
                {
                    position = at + 1;
                    ranked.push((score, link.peer, slot));
                }
            }
        }
        // Stable: equal scores stay in link order, then send order.
        ranked.sort_by(|x, y| y.0.total_cmp(&x.0));
        ranked.into_iter().find_map(|(_, peer, slot)| {
            self.offer_one(now, slot, peer, TransferKind::Replication, peers).ok()
        })
    }
    /// The next copy for `peer` from a position of the order on that the peer does not have, the router wants
    /// it to have and the mechanism allows: its position, slot and score.
    #[inline]
    fn candidate<P: Peers>(
        &self,
        now: Instant,
        peer: NodeId,
        from: usize,
        order: &mut impl SendOrder,
        peers: &P,
        census: Option<&Census>,
    ) -> Option<(usize, usize, f64)> {
        let summary = peers.summary(peer);
        if !self.has_more_than(&summary) {
            return None;
        }
        let heads = self.store.heads();
        for position in from..heads.len() {
            let slot = order.slot(position);
            let head = heads[slot];
            // What the peer is the destination of has been offered to it already.
            if !summary.lacks(head.id) || head.destination == peer {
                continue;
            }
            let replica = &self.store.replicas()[slot];
            if self.reserved(replica) {
                continue;
            }
            let at = local!(self, now, census);
            let Some(score) = self.router.score(&at, replica, peer) else { continue };
            if self.mechanism.may_replicate(&at, replica, peer) {
                return Some((position, slot, score));
            }
        }
        None
    }
    fn offer_one<P: Peers>(
        &mut self,
        now: Instant,
        slot: usize,
        to: NodeId,
        kind: TransferKind,
        peers: &mut P,
    ) -> Result<Transfer, Answer> {
        let id = self.store.heads()[slot].id;
        // A single copy in flight to one peer must not be delivered to another meanwhile.
        if !peers.idle(to) || self.reserved(&self.store.replicas()[slot]) {
            return Err(Answer::Later);
        }
        if peers.summary(to).has(id) {
            return Err(Answer::Refuse(Refusal::Held));
        }
        let replica = &self.store.replicas()[slot];
        let at = local!(self, now, None);
        if kind == TransferKind::Delivery && !self.router.delivers(&at, replica, to) {
            return Err(Answer::Later);
        }
        match peers.answer(to, &Offer { replica, from: self.node }) {
            Answer::Accept => self.begin(id, to, kind).ok_or(Answer::Later),
            refused => {
                if let (Answer::Refuse(why), TransferKind::Replication) = (refused, kind) {
                    self.rescored |=
                        self.router.on_event(&at, &RouterEvent::Refused { replica, peer: to, why });
                }
                Err(refused)
            }
        }
    }
    /// Whether a transfer in progress has the only claim to a copy.
    #[inline]
    fn reserved(&self, replica: &Replica) -> bool {
        replica.sending > 0 && (self.properties.counts_copies || self.moving.contains(&replica.bundle.id))
    }
    fn begin(&mut self, id: BundleId, to: NodeId, kind: TransferKind) -> Option<Transfer> {
        let replica = self.store.get_mut(id)?;
        replica.sending += 1;
        if kind == TransferKind::Custody {
            self.moving.push(id);
        }
        Some(Transfer { id, size: replica.bundle.size, to, kind })
    }
    /// With the policy `delete_delivered`: the copy in a slot if its destination is free to say that it has it already.
    fn known_delivered<P: Peers>(&self, slot: usize, peers: &P) -> Option<BundleId> {
        let Head { id, destination, .. } = self.store.heads()[slot];
        let is_known = self.policy.delete_delivered
            && self.store.replicas()[slot].sending == 0
            && peers.idle(destination)
            && peers.summary(destination).holds(id);
        is_known.then_some(id)
    }
    #[inline]
    fn forget(&mut self, now: Instant, delivered: Vec<BundleId>) {
        if delivered.is_empty() {
            return;
        }
        delivered.into_iter().for_each(|id| self.delete_idle(now, id, DropReason::Acknowledged));
    }

    /// The last bit of a transfer has left. Gives what the peer receives; `None` if the copy has
    /// vanished, which a correct driver never sees.
    pub fn complete(
        &mut self,
        now: Instant,
        transfer: &Transfer,
        census: Option<&Census>,
    ) -> Option<BundleInTransit> {
        if let Some(mut replica) = self.take_detached(transfer.id) {
            let (transit, _) = self.leave(now, &mut replica, transfer, census);
            self.shed_excess(now, &transit.bundle, census);
            return Some(transit);
        }
        let slot = self.store.slot(transfer.id)?;
        let mut replica = self.store.replicas()[slot].clone();
        replica.sending -= 1;
        let (transit, after) = self.leave(now, &mut replica, transfer, census);
        self.store.update(slot, replica);
        if transfer.kind == TransferKind::Custody {
            self.moving.retain(|&id| id != transfer.id);
            self.hand_over(now, transfer.id, transfer.to, false, census);
        } else if after == AfterTransfer::GiveUp {
            self.delete_idle(now, transfer.id, DropReason::HandedOver);
        }
        self.remove_acknowledged(now);
        if self.acknowledged.contains(transfer.id.0) {
            self.delete_idle(now, transfer.id, DropReason::Acknowledged);
        }
        self.shed_excess(now, &transit.bundle, census);
        Some(transit)
    }
    /// A transfer that takes no time, of a copy that may have been deleted since it was chosen. Gives what the peer
    /// receives.
    pub fn pass_on(
        &mut self,
        now: Instant,
        mut replica: Replica,
        transfer: &Transfer,
        census: Option<&Census>,
    ) -> BundleInTransit {
        let (transit, _) = self.leave(now, &mut replica, transfer, census);
        if let Some(slot) = self.store.slot(transfer.id) {
            let sending = self.store.replicas()[slot].sending;
            self.store.update(slot, Replica { sending, ..replica });
        }
        transit
    }
    /// The bundle as it leaves, and what the router does with its own copy.
    #[inline(always)]
    fn leave(
        &mut self,
        now: Instant,
        replica: &mut Replica,
        transfer: &Transfer,
        census: Option<&Census>,
    ) -> (BundleInTransit, AfterTransfer) {
        let at = local!(self, now, census);
        let delivered = transfer.kind == TransferKind::Delivery;
        let custody = transfer.kind == TransferKind::Custody;
        // A transfer of custody moves the copy with its marks: the number of copies stays the same.
        let (router_mark, mechanism_mark) = if custody {
            (replica.router_mark, replica.mechanism_mark)
        } else {
            (self.router.mark_for_peer(replica), self.mechanism.mark_for_peer(&at, replica))
        };
        let transit = BundleInTransit {
            bundle: replica.bundle,
            kind: transfer.kind,
            hops: replica.hops + 1,
            router_mark,
            mechanism_mark,
            path: replica.path.clone(),
        };
        let mut after = AfterTransfer::Keep;
        if !custody {
            after = self.router.on_sent(&at, replica, transfer.to, delivered);
            let sent = CopyEvent::Sent { peer: transfer.to, delivered };
            self.mechanism.on_copy(&at, replica, sent);
        }
        (transit, after)
    }
    /// The copy that was deleted while it was being sent, with one transfer less.
    #[inline(always)]
    fn take_detached(&mut self, id: BundleId) -> Option<Replica> {
        if self.detached.is_empty() {
            return None;
        }
        self.take_one_detached(id)
    }
    #[cold]
    fn take_one_detached(&mut self, id: BundleId) -> Option<Replica> {
        let at = self.detached.iter().position(|replica| replica.bundle.id == id)?;
        self.detached[at].sending -= 1;
        let replica = self.detached[at].clone();
        if replica.sending == 0 {
            self.detached.remove(at);
        }
        Some(replica)
    }
    /// `peer` says that it did not take a copy that was sent to it, if that is still here.
    pub fn returned(&mut self, now: Instant, id: BundleId, peer: NodeId) {
        let Some(slot) = self.store.slot(id) else { return };
        let mut replica = self.store.replicas()[slot].clone();
        self.mechanism.on_copy(&local!(self, now, None), &mut replica, CopyEvent::Returned { peer });
        self.store.update(slot, replica);
    }
    /// The contact ended before the last bit of a transfer had left. The copy is kept, unless it holds room that the
    /// buffer does not have.
    pub fn abort(&mut self, now: Instant, transfer: &Transfer, census: Option<&Census>) {
        if transfer.kind == TransferKind::Custody {
            self.moving.retain(|&id| id != transfer.id);
        }
        if let Some(replica) = self.take_detached(transfer.id) {
            return self.shed_excess(now, &replica.bundle, census);
        }
        let Some(replica) = self.store.get_mut(transfer.id) else { return };
        replica.sending -= 1;
        let bundle = replica.bundle;
        if self.acknowledged.contains(transfer.id.0) {
            self.delete_idle(now, transfer.id, DropReason::Acknowledged);
        }
        self.shed_excess(now, &bundle, census);
    }
    /// A transfer of `sent` is over: what a buffer holds beyond its size, own bundles that were stored without room, is
    /// evicted (The ONE does so at the sender, then only).
    fn shed_excess(&mut self, now: Instant, sent: &Bundle, census: Option<&Census>) {
        if self.policy.overfill && self.store.used() > self.store.capacity() {
            // Nothing comes in: whether the eviction succeeds makes no difference to anyone.
            let _ = self.make_room(now, &Bundle { size: Bytes(0), ..*sent }, census);
        }
    }
    fn hand_over(&mut self, now: Instant, id: BundleId, to: NodeId, had: bool, census: Option<&Census>) {
        if let Some(bundle) = self.store.get(id).map(|r| r.bundle) {
            let moved = MechanismEvent::Moved { bundle: &bundle, to, already_had: had };
            self.mechanism.on_event(&local!(self, now, census), &moved);
            self.delete_idle(now, id, DropReason::HandedOver);
        }
    }
}

//! The receiving side of an agent: answers to offers, room, arrivals.

use super::{Agent, Answer, BundleArrival, BundleInTransit, DropReason, Leaving};
use crate::dtn::{
    BufferDecision, Bundle, Census, CopyEvent, Incoming, Local, NodeId, Offer, Path, Refusal, Replica,
    RouterEvent,
};
use crate::time::Instant;

impl Agent {
    /// Answers an offer; room is made when it is accepted (The ONE does so before the first byte).
    pub fn consider(&mut self, now: Instant, offer: &Offer, census: Option<&Census>) -> Answer {
        if let Err(why) = self.willing(now, offer, census) {
            return Answer::Refuse(why);
        }
        self.room_for(now, offer.bundle(), census)
    }
    /// Whether an offer would be accepted, room aside: for a copy that will be in flight for a while, no
    /// more can be said.
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
        self.mechanism.admit(&at, &Incoming::Offered(offer))
    }
    fn acceptable(&self, now: Instant, bundle: &Bundle) -> Result<(), Refusal> {
        let id = bundle.id;
        if self.store.contains(id) {
            Err(Refusal::Held)
        } else if self.delivered.contains(id.0) || self.acknowledged.contains(id.0) {
            Err(Refusal::Delivered)
        } else if self.is_late(now, bundle) {
            Err(Refusal::Expired)
        } else if self.policy.drop_memory && self.dropped.contains(id.0) && bundle.destination != self.node {
            Err(Refusal::DroppedBefore)
        } else {
            Ok(())
        }
    }
    /// Whether the lifetime is over, and this node does not take it nevertheless.
    fn is_late(&self, now: Instant, bundle: &Bundle) -> bool {
        now >= bundle.expires && !(self.policy.deliver_late && bundle.destination == self.node)
    }
    fn past_buffer(&self, bundle: &Bundle) -> bool {
        self.policy.deliver_past_buffer && bundle.destination == self.node
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
    pub(super) fn make_room(
        &mut self,
        now: Instant,
        incoming: &Bundle,
        census: Option<&Census>,
    ) -> Result<(), Option<Refusal>> {
        // Evicting others would not help: a source that may overfill its buffer keeps its own bundle beside the others.
        if incoming.size > self.store.capacity() {
            return Err(Some(Refusal::NoSpace));
        }
        while let Some(id) = self.mechanism.obsolete(&local!(self, now, census)) {
            if self.store.get(id).is_none_or(|r| r.sending > 0) {
                break;
            }
            self.delete_idle(now, id, DropReason::Overflow);
        }
        while self.store.used() + incoming.size > self.store.capacity() {
            let at = local!(self, now, census);
            let preferred = self.router.victim(&at);
            let picked = preferred.filter(|_| self.properties.picks_victim);
            if self.properties.picks_victim && picked.is_none() {
                return Err(Some(Refusal::NoSpace));
            }
            match self.mechanism.make_room(&at, incoming, preferred) {
                BufferDecision::Drop(id) => {
                    let id = picked.unwrap_or(id);
                    let before = self.store.used();
                    self.delete_idle(now, id, DropReason::Overflow);
                    if self.store.used() == before {
                        // Not ours to drop: being sent, or not here.
                        return Err(Some(Refusal::NoSpace));
                    }
                }
                BufferDecision::Move { id, to } => {
                    if !self.leaving.iter().any(|leaving| leaving.id == id) {
                        self.leaving.push_back(Leaving { id, to, asked: false });
                    }
                    return Err(None);
                }
                BufferDecision::Wait if incoming.source == self.node => return Err(None),
                BufferDecision::Wait | BufferDecision::Refuse => return Err(Some(Refusal::NoSpace)),
            }
        }
        Ok(())
    }
    /// The last bit of a transfer has come.
    pub fn receive(
        &mut self,
        now: Instant,
        from: NodeId,
        transit: BundleInTransit,
        census: Option<&Census>,
    ) -> BundleArrival {
        let mut replica = Replica {
            bundle: transit.bundle,
            received: now,
            hops: transit.hops,
            sending: 0,
            router_mark: transit.router_mark,
            mechanism_mark: transit.mechanism_mark,
            path: if self.properties.records_path { transit.path.then(self.node) } else { Path::default() },
        };
        if replica.bundle.destination == self.node {
            let late = self.is_late(now, &replica.bundle);
            return if late {
                BundleArrival::Refused(Refusal::Expired)
            } else {
                self.deliver(now, replica, from, census)
            };
        }
        if let Err(why) = self.acceptable(now, &replica.bundle) {
            return BundleArrival::Refused(why);
        }
        // Room was made at the start, but a bundle may have been created here since.
        if let Err(why) = self.make_room(now, &replica.bundle, census)
            && !self.policy.overfill
        {
            return BundleArrival::Refused(why.unwrap_or(Refusal::NoSpace));
        }
        let at = local!(self, now, census);
        self.router.on_received(&at, &mut replica, from);
        self.mechanism.on_copy(&at, &mut replica, CopyEvent::Received { from });
        self.keep(replica);
        BundleArrival::Stored
    }
    fn deliver(
        &mut self,
        now: Instant,
        mut replica: Replica,
        from: NodeId,
        census: Option<&Census>,
    ) -> BundleArrival {
        let first = self.delivered.insert(replica.bundle.id.0);
        self.had.insert(replica.bundle.id.0);
        let at = local!(self, now, census);
        self.mechanism.on_copy(&at, &mut replica, CopyEvent::Received { from });
        if first {
            self.router.on_event(&at, &RouterEvent::Delivered { bundle: &replica.bundle, from });
        }
        self.remove_acknowledged(now);
        BundleArrival::Delivered { first }
    }
}

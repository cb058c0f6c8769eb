//! What to admit, keep, drop or move: the contract of congestion mechanisms.

use super::{
    Bundle, BundleId, DropReason, IdSet, Local, NodeId, Observation, Offer, Refusal, Replica, Table,
};
use crate::time::Instant;
use crate::units::Bytes;

/// How a full buffer makes room for a bundle. The agent asks again until the bundle fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferDecision {
    /// Drop this copy, which is not being sent.
    Drop(BundleId),
    /// Send this copy to `to`, an alternate custodian, and drop it when it has left. Repeated for a
    /// copy that is already leaving, it means: wait.
    Move {
        /// Which copy.
        id: BundleId,
        /// The custodian.
        to: NodeId,
    },
    /// The bundle is refused.
    Refuse,
    /// No room now: a bundle created here waits at the application; an offer is refused.
    Wait,
}

/// What a mechanism needs beyond local knowledge; each costs the driver work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Global counts of copies: an oracle that only a simulated world can give.
    pub census: bool,
    /// Free buffer and idleness of the peers in contact ([`super::Link::peer_space`]), kept up to date.
    pub neighbours: bool,
    /// Offers in the order of reception, whatever the driver's send order.
    pub reception_order: bool,
    /// Delivered bundles are acknowledged between nodes, and copies of them deleted. What that takes is
    /// charged to the link: 8 bytes a receipt.
    pub receipts: bool,
    /// What is told at a contact is charged to the link: [`Mechanism::state`] with [`Table::size`], and
    /// receipts under the policy `receipts`.
    pub charged: bool,
}

/// Congestion control of a DTN node. Any router works with any mechanism that does not say otherwise.
///
/// "Do nothing" (`none`) implements [`Mechanism::make_room`] alone.
pub trait Mechanism: Send {
    /// How to make room for `incoming`; `preferred` is the router's own victim, if it has an opinion.
    /// A copy with [`Replica::sending`] above zero can be neither dropped nor moved.
    fn make_room(&mut self, at: &Local, incoming: &Bundle, preferred: Option<BundleId>) -> BufferDecision;

    /// A copy to drop before room is asked for, though the incoming bundle might fit; asked until
    /// there is none.
    fn obsolete(&mut self, _at: &Local) -> Option<BundleId> {
        None
    }
    /// What it needs beyond local knowledge.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// A bundle was created here and is about to be stored.
    fn on_created(&mut self, _at: &Local, _replica: &mut Replica) {}
    /// Whether a bundle that was created here may be stored now if there is room for it; else it waits at the application.
    /// Asked of every bundle as it is handed over, and of those that wait whenever something has changed.
    fn may_enter(&mut self, _at: &Local, _bundle: &Bundle) -> bool {
        true
    }
    /// Of the bundles that wait at the application for room the one with the smallest rank comes first, of equals the
    /// one that was created first.
    fn rank_waiting(&self, _bundle: &Bundle) -> u64 {
        0
    }
    /// So much of what is here it would drop for what its peers hold: with the free buffer it is the room that they are
    /// told of ([`Needs::neighbours`]).
    fn evictable_bytes(&self, _at: &Local) -> Bytes {
        Bytes(0)
    }
    /// What this node tells a peer at the start of a contact. Both ends tell before either is told.
    fn state(&mut self, _at: &Local) -> Option<Table> {
        None
    }
    /// A contact with `peer` has begun; `state` is what it told.
    fn on_contact_up(&mut self, _at: &Local, _peer: NodeId, _state: Option<&Table>) {}
    /// The contact has ended.
    fn on_contact_down(&mut self, _at: &Local, _peer: NodeId) {}

    /// Whether a copy may be given to `peer` now. Deliveries to the destination are not asked for.
    fn may_replicate(&self, _at: &Local, _replica: &Replica, _peer: NodeId) -> bool {
        true
    }
    /// Bundles that it does not take any more, unless they are for this node: its peers know, and offer it no more of
    /// them. [`Mechanism::admit`] refuses the same.
    fn refused_ids(&self) -> &IdSet {
        IdSet::none()
    }
    /// Whether an offer is taken; asked before room is made.
    ///
    /// # Errors
    /// The refusal that the sender is told.
    fn admit(&mut self, _at: &Local, _offer: &Offer) -> Result<(), Refusal> {
        Ok(())
    }
    /// The mark that the peer's new copy will carry; asked before [`Mechanism::on_sent`].
    fn mark_for_peer(&self, _at: &Local, replica: &Replica) -> u64 {
        replica.mechanism_mark
    }
    /// The last bit of a copy has left for `peer`; `delivered` when the peer is its destination.
    fn on_sent(&mut self, _at: &Local, _replica: &mut Replica, _peer: NodeId, _delivered: bool) {}
    /// `peer` has not taken a copy that was sent to it, as it had no room when that came.
    fn on_returned(&mut self, _at: &Local, _replica: &mut Replica, _peer: NodeId) {}
    /// A copy has come and is about to be stored, or delivered when this node is its destination.
    fn on_received(&mut self, _at: &Local, _replica: &mut Replica, _from: NodeId) {}
    /// A bundle is known to be delivered, whether a copy is here or not (policy `receipts`); its name tells when it was
    /// created (RFC 9171, section 4.2.7).
    fn on_receipt(&mut self, _at: &Local, _id: BundleId, _created: Instant) {}
    /// A copy was dropped or removed here.
    fn on_dropped(&mut self, _at: &Local, _bundle: &Bundle, _reason: DropReason) {}
    /// A copy has left for an alternate custodian, or was given up as the custodian `already_had` it.
    fn on_moved(&mut self, _at: &Local, _bundle: &Bundle, _to: NodeId, _already_had: bool) {}
    /// A copy to ask back from `peer` now, as there is room again.
    fn reclaim(&mut self, _at: &Local, _peer: NodeId) -> Option<BundleId> {
        None
    }
    /// `peer` no longer has what was asked back.
    fn on_reclaim_refused(&mut self, _at: &Local, _peer: NodeId, _id: BundleId) {}
    /// What plots can see.
    fn observe(&self, _at: &Local, _seen: &mut Observation) {}
}

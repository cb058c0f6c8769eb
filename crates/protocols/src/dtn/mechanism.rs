//! What to admit, keep, drop or move: the contract of congestion mechanisms.

use super::{
    Bundle, BundleId, ContactPlan, DropReason, IdSet, Local, NodeId, Observation, Offer, Refusal, Replica,
    Table,
};
use crate::time::Instant;
use std::sync::Arc;

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
    /// No room now: a bundle created here waits at the application, if that has room; an offer is refused.
    Wait,
}

/// What a mechanism needs beyond local knowledge; each costs the driver work. Declared in its table row.
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
    /// Control data is charged to the link: [`Mechanism::state`] with [`Table::size`], and receipts under the
    /// policy `receipts`.
    pub charged: bool,
    /// Of the bundles that wait at the application for room the smallest is stored first; if not, the first
    /// that was created.
    pub smallest_first: bool,
    /// The contact plan, where the scenario has one ([`super::BuildContext::plan`]).
    pub contact_plan: bool,
}

impl Needs {
    /// Local knowledge alone.
    pub const NONE: Self = Self {
        census: false,
        neighbours: false,
        reception_order: false,
        receipts: false,
        charged: false,
        smallest_first: false,
        contact_plan: false,
    };
}

/// What asks to be stored here.
#[derive(Clone, Copy)]
pub enum Incoming<'a> {
    /// A copy that a peer offers.
    Offered(&'a Offer<'a>),
    /// A bundle that an application hands over.
    Created(&'a Bundle),
}

/// What happens to a copy here. The mechanism may change its mark on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEvent {
    /// The bundle was created here and will be stored.
    Created,
    /// The copy has arrived and will be stored, or delivered if this node is its destination.
    Received {
        /// The sender.
        from: NodeId,
    },
    /// The last bit of a copy has left for `peer`.
    Sent {
        /// The receiver.
        peer: NodeId,
        /// Whether the receiver is the destination.
        delivered: bool,
    },
    /// `peer` has not stored the copy that was sent to it, as it had no room on arrival.
    Returned {
        /// The receiver.
        peer: NodeId,
    },
}

/// What else happens to a mechanism.
#[derive(Clone, Copy)]
pub enum MechanismEvent<'a> {
    /// A contact with `peer` has begun. Both ends have computed their state before either hears of it.
    ContactUp {
        /// The other end.
        peer: NodeId,
        /// Its [`Mechanism::state`].
        state: Option<&'a Table>,
    },
    /// The contact has ended.
    ContactDown {
        /// The other end.
        peer: NodeId,
    },
    /// A bundle is known to be delivered, whether a copy is here or not (policy or need `receipts`).
    Receipt {
        /// Which bundle.
        id: BundleId,
        /// When it was created, as its name says (RFC 9171, section 4.2.7).
        created: Instant,
    },
    /// A copy was dropped or removed here.
    Dropped {
        /// The bundle.
        bundle: &'a Bundle,
        /// Since when the copy was here.
        received: Instant,
        /// Why.
        reason: DropReason,
    },
    /// A copy has left for an alternate custodian, or was given up because the custodian already had it.
    Moved {
        /// The bundle.
        bundle: &'a Bundle,
        /// The custodian.
        to: NodeId,
        /// Whether it had a copy, so that nothing was sent.
        already_had: bool,
    },
    /// `peer` no longer has the copy that [`Mechanism::reclaim`] asked for.
    ReclaimRefused {
        /// The custodian.
        peer: NodeId,
        /// Which bundle.
        id: BundleId,
    },
    /// The node learns of another plan, which replaces the one that it knew ([`Needs::contact_plan`]).
    PlanRevised {
        /// The plan.
        plan: &'a Arc<ContactPlan>,
    },
}

/// Congestion control of a DTN node. Any router works with any mechanism whose row does not say otherwise.
///
/// "Do nothing" (`none`) implements [`make_room`](Self::make_room) alone. What never changes for a mechanism
/// is no method, but [`Needs`] in its table row.
///
/// # Order of calls
///
/// 1. A contact begins: [`state`](Self::state) of both ends, then [`MechanismEvent::ContactUp`] at both.
/// 2. An application hands over a bundle: [`admit`](Self::admit) with [`Incoming::Created`];
///    [`obsolete`](Self::obsolete) until it returns `None`; [`make_room`](Self::make_room) until the bundle
///    fits; [`on_copy`](Self::on_copy) with [`CopyEvent::Created`]. A bundle that has to wait is tried again
///    at the node's next activation.
/// 3. A peer offers a copy: [`admit`](Self::admit) with [`Incoming::Offered`], `obsolete` and `make_room` as
///    above, before the first bit is sent. Over a link with light time, only `admit`; room is made on arrival.
/// 4. This node offers a copy: [`may_replicate`](Self::may_replicate), unless the peer is its destination.
/// 5. The last bit has left: [`mark_for_peer`](Self::mark_for_peer), then [`CopyEvent::Sent`]. A copy that
///    moves to a custodian keeps its mark: [`MechanismEvent::Moved`] only.
/// 6. The last bit has arrived: room is made again if it is missing, then [`CopyEvent::Received`]. A
///    copy that found no room is a [`CopyEvent::Returned`] at the sender, one light time later.
/// 7. [`reclaim`](Self::reclaim) for each link when something has changed here and neighbours are needed.
/// 8. [`MechanismEvent::Dropped`] follows each removal, those that the mechanism asked for included.
pub trait Mechanism: Send {
    /// How to make room for `incoming`; `preferred` is the router's own victim, if it has an opinion.
    /// A copy with [`Replica::sending`] above zero can be neither dropped nor moved.
    fn make_room(&mut self, at: &Local, incoming: &Bundle, preferred: Option<BundleId>) -> BufferDecision;

    /// A copy to drop before room is asked for, though the incoming bundle might fit; `None`: no more.
    fn obsolete(&mut self, _at: &Local) -> Option<BundleId> {
        None
    }
    /// Whether a bundle may be stored here, if room for it can be made.
    ///
    /// # Errors
    /// The refusal that the sender of an offer gets. A bundle created here waits at the application instead,
    /// whatever the refusal, if that has room ([`super::NodePolicy::application_buffer`]).
    fn admit(&mut self, _at: &Local, _incoming: &Incoming) -> Result<(), Refusal> {
        Ok(())
    }
    /// Whether a copy may be given to `peer` now. Not called for deliveries to the destination.
    fn may_replicate(&self, _at: &Local, _replica: &Replica, _peer: NodeId) -> bool {
        true
    }
    /// The mark that the peer's new copy will carry; a copy that moves keeps its own.
    fn mark_for_peer(&self, _at: &Local, replica: &Replica) -> u64 {
        replica.mechanism_mark
    }
    /// A copy was created, sent or received, or came back.
    fn on_copy(&mut self, _at: &Local, _replica: &mut Replica, _event: CopyEvent) {}
    /// Something else has happened.
    fn on_event(&mut self, _at: &Local, _event: &MechanismEvent) {}
    /// What this node reports to a peer at the start of a contact; `None`: nothing.
    fn state(&mut self, _at: &Local) -> Option<Table> {
        None
    }
    /// Bundles that it does not accept any more, unless this node is their destination: peers know them and
    /// do not offer them. [`Mechanism::admit`] refuses the same.
    fn refused_ids(&self) -> &IdSet {
        IdSet::none()
    }
    /// A copy to ask back from `peer` now that there is room again.
    fn reclaim(&mut self, _at: &Local, _peer: NodeId) -> Option<BundleId> {
        None
    }
    /// Adds its observables for traces and plots.
    fn observe(&self, _at: &Local, _seen: &mut Observation) {}
}

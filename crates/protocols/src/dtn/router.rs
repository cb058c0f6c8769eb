//! The contract of routers: which peer gets a copy, in which order; and what every hook can see.

use super::{Bundle, BundleId, Census, ContactPlan, NodeId, Replica, Store, Table};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use std::sync::Arc;

/// What a node knows when a hook is called: the time and itself.
#[derive(Clone, Copy)]
pub struct Local<'a> {
    /// The time.
    pub now: Instant,
    /// This node.
    pub node: NodeId,
    /// Its buffer.
    pub store: &'a Store,
    /// Its links that are up, oldest first.
    pub links: &'a [Link],
    /// Free storage of the application, `u64::MAX` without bound. A bundle created here that is not stored waits there if it
    /// fits, and is lost otherwise.
    pub application_free: Bytes,
    /// Global knowledge, for mechanisms of papers that assume an oracle and ask for it
    /// ([`super::Needs::census`]).
    pub census: Option<&'a Census>,
}

/// A link that is up, as one of its ends sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Who is at the other end.
    pub peer: NodeId,
    /// Rate towards the peer.
    pub rate: BitRate,
    /// One-way delay towards the peer.
    pub delay: Duration,
    /// Whether the next transfer begins when the last bit has left, not when it has arrived.
    pub pipelined: bool,
    /// The free buffer that the peer last reported, and whether it could take a transfer now; kept up only
    /// for mechanisms that need it ([`super::Needs::neighbours`]).
    pub peer_space: PeerSpace,
}

/// What a peer reports of its buffer and radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PeerSpace {
    /// Free bytes.
    pub free: Bytes,
    /// Size of the buffer.
    pub capacity: Bytes,
    /// Whether a transfer could start now.
    pub idle: bool,
}

/// A copy that is offered to a node before its bytes are sent.
#[derive(Clone, Copy)]
pub struct Offer<'a> {
    /// The copy at the sender.
    pub replica: &'a Replica,
    /// The sender.
    pub from: NodeId,
}

impl Offer<'_> {
    /// The bundle's facts.
    pub fn bundle(&self) -> &Bundle {
        &self.replica.bundle
    }
}

/// Why a node does not take what it is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// It holds a copy.
    Held,
    /// It is the destination and has it.
    Delivered,
    /// Its lifetime is over.
    Expired,
    /// It doesn't fit, and no room can be made.
    NoSpace,
    /// It was dropped here before (drop memory, looping control).
    DroppedBefore,
    /// The router doesn't want it (first contact: it has been here).
    Routing,
    /// The mechanism doesn't want it.
    Congestion,
}

/// What a router does with its own copy after a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTransfer {
    /// Keeps it.
    Keep,
    /// Gives it up: there was one copy, and it has moved on.
    GiveUp,
}

/// What never changes for a router; declared in its table row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterProperties {
    /// Offers are sorted by [`Router::score`] over all links. If not, they leave by link (oldest first),
    /// then in send order.
    pub ranked: bool,
    /// The router makes a limited number of copies of a bundle. A copy that is being sent is not offered
    /// to another peer meanwhile, and a dropped copy is not replaced.
    pub counts_copies: bool,
    /// A copy reaches a single-copy phase, in which it is forwarded only to its destination.
    pub single_copy_phase: bool,
    /// Copies carry the path that they took ([`Replica::path`]).
    pub records_path: bool,
    /// Peers get this node's state at the start of a contact only, not whenever it changes, which saves
    /// the driver work.
    pub fixed_state: bool,
    /// The router reads the contact plan, where the scenario has one ([`super::BuildContext::plan`]).
    pub contact_plan: bool,
    /// Between nodes with this property copies pass at once and without a time, when a contact begins or a copy comes;
    /// a bundle that is delivered vanishes everywhere but at the last sender: an oracle, to compare with.
    pub instant: bool,
    /// Copies stay when their lifetime is over.
    pub keeps_expired: bool,
    /// Where a mechanism drops a copy to make room, it is [`Router::victim`], and none if that is `None`.
    pub picks_victim: bool,
    /// How long after an arrival the node may accept what it refused: its peers then make offers again. Zero: never.
    pub renews_after: [Duration; 2],
    /// A copy is accepted and kept only where at least the first and at most the second number of peers in contact hold one.
    pub holders: Option<(u32, u32)>,
}

impl RouterProperties {
    /// None of them.
    pub const NONE: Self = Self {
        ranked: false,
        counts_copies: false,
        single_copy_phase: false,
        records_path: false,
        fixed_state: false,
        contact_plan: false,
        instant: false,
        keeps_expired: false,
        picks_victim: false,
        renews_after: [Duration::ZERO; 2],
        holders: None,
    };
}

/// What happens to a router beside copies that come and go.
#[derive(Clone, Copy)]
pub enum RouterEvent<'a> {
    /// A contact with `peer` has begun. The initiator hears of it first; `state` of the other end already
    /// includes that it met the initiator.
    ContactUp {
        /// The other end.
        peer: NodeId,
        /// Its [`Router::state`].
        state: Option<&'a Table>,
    },
    /// The state of `peer` has changed during the contact.
    PeerState {
        /// The other end.
        peer: NodeId,
        /// Its new state.
        state: &'a Table,
    },
    /// The contact has ended.
    ContactDown {
        /// The other end.
        peer: NodeId,
    },
    /// The node is about to offer copies, by scores as they are now. For [`RouterProperties::ranked`] only.
    Offering,
    /// `peer` has refused a copy that it was offered.
    Refused {
        /// The copy.
        replica: &'a Replica,
        /// The other end.
        peer: NodeId,
        /// Its reason.
        why: Refusal,
    },
    /// A bundle has arrived at its destination, this node, for the first time.
    Delivered {
        /// The bundle.
        bundle: &'a Bundle,
        /// The last sender.
        from: NodeId,
    },
    /// The node learns of another plan, which replaces the one that it knew. For
    /// [`RouterProperties::contact_plan`] only.
    PlanRevised {
        /// The plan.
        plan: &'a Arc<ContactPlan>,
    },
}

/// Routing: which peer gets a copy, and in which order.
///
/// The agent delivers to destinations by itself; a router that does nothing more (`direct`) implements
/// [`score`](Self::score) alone. What never changes for a router is no method, but [`RouterProperties`]
/// in its table row.
///
/// # Order of calls
///
/// 1. A contact begins: the second end's [`state`](Self::state) goes to the initiator as
///    [`RouterEvent::ContactUp`], then the initiator's to the second end. Unless the state is fixed,
///    each change of it during the contact is a [`RouterEvent::PeerState`] for the peers.
/// 2. A bundle is created here: [`on_created`](Self::on_created), then it is stored.
/// 3. A radio is free: [`delivers`](Self::delivers) for each copy whose destination is in contact; if
///    there is nothing to deliver, [`score`](Self::score) for each other copy missing at a peer. The peer
///    calls [`accept`](Self::accept); its refusal is a [`RouterEvent::Refused`] at the sender.
/// 4. The last bit has left: [`mark_for_peer`](Self::mark_for_peer), then [`on_sent`](Self::on_sent). A
///    copy that a mechanism moves to a custodian is not sent by the router: neither is called.
/// 5. The last bit has arrived: [`on_received`](Self::on_received), then the copy is stored; at the
///    destination [`RouterEvent::Delivered`] instead.
/// 6. The buffer is full: [`victim`](Self::victim), before the mechanism decides.
/// 7. [`take_acknowledged`](Self::take_acknowledged) follows `ContactUp`, `PeerState`, `Delivered` and
///    `on_sent`.
///
/// 8. [`RouterEvent::PlanRevised`] comes before the contacts that begin at the same time.
///
/// Copies can be dropped or moved by the mechanism, or expire, without a call.
pub trait Router: Send {
    /// The value of a copy of `replica` at `peer`; `None`: not now. The highest goes first if the
    /// router is [`ranked`](RouterProperties::ranked); otherwise the number does not matter.
    fn score(&self, at: &Local, replica: &Replica, peer: NodeId) -> Option<f64>;

    /// Whether a copy whose destination is `peer`, in contact now, is sent to it now. A router that plans may
    /// know that it would not arrive, or that something else goes first.
    fn delivers(&self, _at: &Local, _replica: &Replica, _peer: NodeId) -> bool {
        true
    }
    /// Whether an offer fits the routing; the agent has found it neither held, delivered nor expired.
    ///
    /// # Errors
    /// The refusal that the sender gets.
    fn accept(&mut self, _at: &Local, _offer: &Offer) -> Result<(), Refusal> {
        Ok(())
    }
    /// The mark that the peer's new copy will carry.
    fn mark_for_peer(&self, replica: &Replica) -> u64 {
        replica.router_mark
    }
    /// A bundle was created here and will be stored. The router may write its mark on it.
    fn on_created(&mut self, _at: &Local, _replica: &mut Replica) {}
    /// The last bit of a copy has left for `peer`; `delivered` if the peer is its destination. The router
    /// may change its mark and decides what happens to its own copy.
    fn on_sent(
        &mut self,
        _at: &Local,
        _replica: &mut Replica,
        _peer: NodeId,
        _delivered: bool,
    ) -> AfterTransfer {
        AfterTransfer::Keep
    }
    /// A copy has arrived and will be stored. The router may change its mark.
    fn on_received(&mut self, _at: &Local, _replica: &mut Replica, _from: NodeId) {}
    /// What this node reports to a peer at the start of a contact and, unless
    /// [`fixed_state`](RouterProperties::fixed_state), when it changes; `None`: nothing.
    fn state(&mut self, _at: &Local) -> Option<Table> {
        None
    }
    /// Something else has happened. The result matters for [`RouterEvent::Refused`] and
    /// [`RouterEvent::ContactDown`]: whether scores may have risen since [`RouterEvent::Offering`], so that
    /// the node makes offers again.
    fn on_event(&mut self, _at: &Local, _event: &RouterEvent) -> bool {
        false
    }
    /// Bundles known to be delivered since the last call: their copies are removed here.
    fn take_acknowledged(&mut self) -> Vec<BundleId> {
        Vec::new()
    }
    /// The copy that the router would drop first, as advice to the mechanism; `None`: no opinion, or that none may be
    /// dropped ([`RouterProperties::picks_victim`]).
    fn victim(&self, _at: &Local) -> Option<BundleId> {
        None
    }
    /// Adds its observables for traces and plots.
    fn observe(&self, _at: &Local, _seen: &mut Observation) {}
}

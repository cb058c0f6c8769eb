//! Who gets a copy, in which order: the contract of routers, and what every hook can see.

use super::{Bundle, BundleId, Census, NodeId, Replica, Store, Table};
use crate::record::Observation;
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

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

/// Who gets a copy, in which order.
///
/// The agent delivers to destinations first, unless [`Router::delivers`] says no; then it offers copies to
/// peers by [`Router::score`]. "Do nothing" (`direct`) implements that one method.
pub trait Router: Send {
    /// How good it is to give a copy of `replica` to `peer`; `None`: not now. Higher goes first when
    /// [`Router::ranked`]; otherwise any `Some` is as good as another.
    fn score(&self, at: &Local, replica: &Replica, peer: NodeId) -> Option<f64>;

    /// Whether a copy whose destination is `peer`, in contact now, is sent to it now. A router that plans may
    /// know that it would not get through, or that something else comes first.
    fn delivers(&self, _at: &Local, _replica: &Replica, _peer: NodeId) -> bool {
        true
    }
    /// Whether offers are sorted by score over all links. If not, they leave by link (oldest first),
    /// then in send order.
    fn ranked(&self) -> bool {
        false
    }
    /// Whether a copy that is being sent must not be offered to another peer meanwhile: routers that
    /// count copies.
    fn counts_copies(&self) -> bool {
        false
    }
    /// Whether a copy reaches a single-copy phase, in which it is forwarded only to its destination.
    fn single_copy_phase(&self) -> bool {
        false
    }
    /// Whether copies carry the way they came ([`Replica::path`]).
    fn records_path(&self) -> bool {
        false
    }

    /// A bundle was created here and is about to be stored.
    fn on_created(&mut self, _at: &Local, _replica: &mut Replica) {}
    /// What this node tells a peer at the start of a contact and whenever it changes.
    fn state(&mut self, _at: &Local) -> Option<Table> {
        None
    }
    /// Whether peers in contact need to hear of every change of this node's state. If not, what they
    /// were told at the start of the contact is enough, and the driver is spared the work.
    fn reports_changes(&self) -> bool {
        true
    }
    /// A contact with `peer` has begun; `state` is what it told. The initiator's turn comes first;
    /// the other end sees the state that resulted from it.
    fn on_contact_up(&mut self, _at: &Local, _peer: NodeId, _state: Option<&Table>) {}
    /// `peer` told its state anew during the contact.
    fn on_state(&mut self, _at: &Local, _peer: NodeId, _state: &Table) {}
    /// The contact has ended.
    fn on_contact_down(&mut self, _at: &Local, _peer: NodeId) {}

    /// Whether an offer fits the routing; the agent has found it neither held, delivered nor expired.
    ///
    /// # Errors
    /// The refusal that the sender is told.
    fn accept(&mut self, _at: &Local, _offer: &Offer) -> Result<(), Refusal> {
        Ok(())
    }
    /// The mark that the peer's new copy will carry; asked before [`Router::on_sent`].
    fn mark_for_peer(&self, replica: &Replica) -> u64 {
        replica.router_mark
    }
    /// `peer` has refused a copy that it was offered.
    fn on_refused(&mut self, _at: &Local, _replica: &Replica, _peer: NodeId, _why: Refusal) {}
    /// Whether scores may have risen since the last call though no link has come up and no copy has come:
    /// asked after refusals and at the end of a contact, so that the driver asks for offers anew.
    fn rerouted(&mut self) -> bool {
        false
    }
    /// The last bit of a copy has left for `peer`; `delivered` when the peer is its destination.
    fn on_sent(
        &mut self,
        _at: &Local,
        _replica: &mut Replica,
        _peer: NodeId,
        _delivered: bool,
    ) -> AfterTransfer {
        AfterTransfer::Keep
    }
    /// A copy has come and is about to be stored.
    fn on_received(&mut self, _at: &Local, _replica: &mut Replica, _from: NodeId) {}
    /// A bundle has come to its destination, this node, for the first time.
    fn on_delivered(&mut self, _at: &Local, _bundle: &Bundle, _from: NodeId) {}
    /// Bundles known to be delivered since the last call: copies of them are removed here.
    fn take_acknowledged(&mut self) -> Vec<BundleId> {
        Vec::new()
    }
    /// Which copy the router would lose first; mechanisms may heed it. `None`: no opinion.
    fn victim(&self, _at: &Local) -> Option<BundleId> {
        None
    }
    /// What plots can see.
    fn observe(&self, _at: &Local, _seen: &mut Observation) {}
}

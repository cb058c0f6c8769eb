//! What happens in a world of bundles.

use super::{Observation, observers};
use crate::dtn::{Bundle, BundleId, DropReason, NodeId, Refusal};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};

/// Who creates a reply at the destination of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyKind {
    /// The node, as the request asks for it.
    Response,
    /// A ping application. As in The ONE, a later reply of a node replaces that of the same (rounded) second, which has
    /// its name, and its replies are not counted as responses.
    Pong,
}

/// One thing that happened. Records come in the order of their times.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A node and the size of its buffer; before everything else, at time zero.
    Node {
        /// Which.
        node: NodeId,
        /// Its buffer.
        buffer: Bytes,
    },
    /// When `request` first arrives, its destination creates `reply`; before everything else but the nodes, at time zero.
    Reply {
        /// The bundle that asks for it.
        request: BundleId,
        /// The bundle that answers.
        reply: BundleId,
        /// Who creates it.
        kind: ReplyKind,
    },
    /// A bundle was created and stored at its source.
    Created(Bundle),
    /// A bundle was created but could not be stored at its source.
    Rejected(Bundle),
    /// A link came up.
    ContactUp {
        /// The end that noticed first.
        a: NodeId,
        /// The other end.
        b: NodeId,
        /// Rate from a to b and from b to a.
        rate: [BitRate; 2],
        /// One-way delay from a to b and from b to a, as of now.
        delay: [Duration; 2],
    },
    /// The rate of a link that is up has changed.
    Rate {
        /// One end.
        a: NodeId,
        /// The other.
        b: NodeId,
        /// Rate from a to b and from b to a, from now on.
        rate: [BitRate; 2],
    },
    /// A link went down.
    ContactDown {
        /// One end.
        a: NodeId,
        /// The other.
        b: NodeId,
    },
    /// The first bit of a copy leaves.
    Started {
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Bundle.
        id: BundleId,
    },
    /// The contact ended before the last bit left; the sender keeps its copy.
    Aborted {
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Bundle.
        id: BundleId,
    },
    /// The last bit of a copy has left.
    Sent {
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Bundle.
        id: BundleId,
    },
    /// The last bit of a copy has arrived, and the copy was stored.
    Stored {
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Bundle.
        id: BundleId,
        /// When its first bit left the sender.
        started: Instant,
    },
    /// The last bit of a copy has arrived at the bundle's destination.
    Delivered {
        /// Sender.
        from: NodeId,
        /// Receiver, the destination.
        to: NodeId,
        /// Bundle.
        id: BundleId,
        /// When its first bit left the sender.
        started: Instant,
        /// Links crossed from the source.
        hops: u32,
        /// Whether it had not come before.
        first: bool,
    },
    /// The last bit of a copy has arrived, but it was not stored.
    Refused {
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Bundle.
        id: BundleId,
        /// When its first bit left the sender.
        started: Instant,
        /// Why.
        why: Refusal,
    },
    /// Control data that is charged to the link: a state, or a receipt.
    Control {
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// How much.
        size: Bytes,
    },
    /// A copy was deleted.
    Gone {
        /// Where.
        node: NodeId,
        /// Bundle.
        id: BundleId,
        /// Why.
        reason: DropReason,
        /// Since when it was there.
        received: Instant,
    },
    /// A sample of a node's buffer and of what its algorithms show.
    Sample {
        /// Which node.
        node: NodeId,
        /// Bytes stored.
        used: Bytes,
        /// What router and mechanism show.
        seen: Observation,
    },
    /// Where a node is, in metres from the origin; at the instants that a trace asks for.
    Position {
        /// Which node.
        node: NodeId,
        /// To the east.
        x_m: f64,
        /// To the north.
        y_m: f64,
    },
    /// The run is over.
    End,
}

observers!(Record);

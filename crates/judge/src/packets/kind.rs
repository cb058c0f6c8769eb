//! What can be wrong in a run of packets, by name.

use crate::findings::kinds_with_links;

kinds_with_links! {
    /// A record names a link or a flow that is not there.
    Unknown = "unknown",

    /// A packet is offered to a link that is not the next one of its route.
    WrongLink = "wrong_link",
    /// An end sends what only the other one sends.
    WrongEnd = "wrong_end",
    /// A flow sends before it starts.
    SentEarly = "sent_early",
    /// A flow sends bytes that its source does not have.
    Unsupplied = "unsupplied",
    /// A node passes on a packet that did not come.
    Forged = "forged",
    /// A packet arrives at an intermediate node and is not forwarded.
    NotForwarded = "not_forwarded",

    /// A receiver acknowledges what has not come.
    AcknowledgedUnarrived = "acknowledged_unarrived",
    /// Bytes are delivered that have not come.
    DeliveredUnarrived = "delivered_unarrived",
    /// Bytes are delivered again.
    DeliveredTwice = "delivered_twice",
    /// Bytes have come in order and are not delivered.
    NeverDelivered = "never_delivered",
}

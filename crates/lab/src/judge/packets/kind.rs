//! What can be wrong in a run of packets, by name.

use crate::judge::findings::{Findings, kinds};
use lightlag_protocols::time::Instant;
use std::fmt;

kinds! {
    /// A record is earlier than the one before it.
    TimeBackwards = "time_backwards",
    /// Something happens after the end of the run.
    AfterEnd = "after_end",
    /// The trace stops before the run is over.
    EndMissing = "end_missing",
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
    /// A packet comes to a node on its way and is not passed on.
    NotForwarded = "not_forwarded",

    /// A packet comes out of a link to which it was not offered.
    OutOfThinAir = "out_of_thin_air",
    /// A packet comes before light could bring it.
    FasterThanLight = "faster_than_light",
    /// A packet comes before the rate of the link allows, beside those before it.
    OverRate = "over_rate",
    /// A packet leaves before one that waits and has a lower number of priority.
    Overtaken = "overtaken",
    /// A packet should have come, and has neither come nor been dropped.
    NeverArrived = "never_arrived",
    /// A queue holds more than its size.
    Overfull = "overfull",
    /// A packet is dropped that is not there.
    NothingToDrop = "nothing_to_drop",
    /// A packet is dropped for lack of room, and another one has to make room.
    WrongVictim = "wrong_victim",
    /// A packet is dropped for lack of room where there is room.
    DroppedEarly = "dropped_early",
    /// A packet is lost on a link that loses none, or dropped by a discipline that never does that.
    DroppedWithoutCause = "dropped_without_cause",

    /// A receiver acknowledges what has not come.
    AcknowledgedUnarrived = "acknowledged_unarrived",
    /// Bytes are delivered that have not come.
    DeliveredUnarrived = "delivered_unarrived",
    /// Bytes are delivered again.
    DeliveredTwice = "delivered_twice",
    /// Bytes have come in order and are not delivered.
    NeverDelivered = "never_delivered",
}

/// One thing that cannot have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub kind: Kind,
    /// When.
    pub at: Instant,
    /// Where, and the numbers behind it, in words.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s: {}: {}", self.at.as_secs_f64(), self.kind, self.detail)
    }
}

impl Findings<Violation> {
    pub(super) fn add(&mut self, kind: Kind, at: Instant, detail: impl FnOnce() -> String) {
        self.count_in(kind, || Violation { kind, at, detail: detail() });
    }
}

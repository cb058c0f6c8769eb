//! What can be wrong in a run, by name.

use super::findings::kinds;

kinds! {
    /// A record names a node that was not introduced, or one is introduced twice.
    UnknownNode = "unknown_node",
    /// A record names a bundle that was never created.
    UnknownBundle = "unknown_bundle",
    /// A bundle is created a second time.
    CreatedTwice = "created_twice",
    /// A bundle is created before the application made it.
    CreatedEarly = "created_early",
    /// A reply is created before its request has arrived, or elsewhere than at the destination of the request.
    ReplyUnasked = "reply_unasked",

    /// A contact begins between two nodes that are in contact.
    ContactTwice = "contact_twice",
    /// A contact ends that had not begun.
    ContactEndAlone = "contact_end_alone",
    /// The rate of a link changes that is not up.
    RateAlone = "rate_alone",
    /// A transfer starts while there is no contact.
    NoContact = "no_contact",
    /// A contact ends and a transfer on it is neither sent nor aborted.
    CutOff = "cut_off",
    /// A transfer is aborted and its contact continues.
    AbortedAlone = "aborted_alone",

    /// A node sends a copy that it does not hold.
    NoCopy = "no_copy",
    /// A second transfer starts on a direction of a link that is busy.
    Overlap = "overlap",
    /// A transfer starts while a radio that it needs is busy.
    RadioBusy = "radio_busy",
    /// The last bit leaves before the rate of the link allows.
    OverRate = "over_rate",
    /// A transfer ends, or a copy arrives, without a transfer in progress.
    NeverStarted = "never_started",
    /// A copy arrives before its last bit has left.
    NeverSent = "never_sent",
    /// A copy arrives before light could bring it.
    FasterThanLight = "faster_than_light",
    /// A copy arrives from a node that has dropped it and did not send it before.
    SentAfterDrop = "sent_after_drop",
    /// The record of an arrival gives another start time than the transfer's.
    WrongStart = "wrong_start",
    /// A transfer should be over and is neither sent nor aborted.
    NeverEnded = "never_ended",
    /// A copy left, its time of flight is over, and it has not arrived.
    NeverArrived = "never_arrived",

    /// A copy is stored at a node that holds one.
    StoredTwice = "stored_twice",
    /// A buffer holds more than its size.
    Overfull = "overfull",
    /// A sampled fill is not the sum of the copies stored: bytes lost, or out of thin air.
    WrongFill = "wrong_fill",
    /// A copy is stored at its destination instead of being delivered.
    StoredAtDestination = "stored_at_destination",
    /// A copy is delivered at a node that is not its destination.
    WrongDestination = "wrong_destination",
    /// A second delivery is reported as the first.
    DeliveredTwice = "delivered_twice",
    /// A first delivery is reported as a repetition.
    FirstDenied = "first_denied",
    /// A delivered copy has crossed another number of links than its record states.
    WrongHops = "wrong_hops",

    /// A copy is deleted that was not there.
    NothingToDelete = "nothing_to_delete",
    /// A copy is deleted while it is being sent.
    DeletedWhileSent = "deleted_while_sent",
    /// The record of a deletion gives another reception time than the copy's.
    WrongReception = "wrong_reception",
    /// A copy expires before its lifetime is over.
    ExpiredEarly = "expired_early",
    /// A copy is kept after its lifetime is over.
    Outlived = "outlived",
    /// A copy is deleted as acknowledged though none was sent to the destination.
    AcknowledgedUndelivered = "acknowledged_undelivered",
    /// A copy is given up as handed over, but no node took it.
    HandedToNobody = "handed_to_nobody",
}

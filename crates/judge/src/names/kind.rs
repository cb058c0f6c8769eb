//! Kinds of violations in a run of named data.

use crate::findings::kinds_with_links;

kinds_with_links! {
    /// A record names a link, a node, a consumer or a producer that is not there.
    Unknown = "unknown",

    /// A consumer asks before it starts, or for something new after it has stopped.
    AskedOutOfTime = "asked_out_of_time",
    /// A node passes on an Interest that did not come.
    InterestForged = "interest_forged",
    /// An Interest leaves with another nonce, token, lifetime or size, or its hop limit is not 1 lower.
    InterestChanged = "interest_changed",
    /// A node passes on an Interest that it has passed on before.
    Looped = "looped",
    /// An Interest goes where no route of the longest prefix leads first.
    WrongRoute = "wrong_route",
    /// An Interest is forwarded while one for its name is pending, or too soon after the last of its face.
    NotAggregated = "not_aggregated",
    /// An Interest is forwarded although the store has the Data.
    StorePassedOver = "store_passed_over",
    /// An Interest vanishes, and no other one for the same name is pending.
    Swallowed = "swallowed",
    /// More Interests are pending at a node than fit.
    TooManyPending = "too_many_pending",
    /// A node refuses an Interest or Data for a reason that does not hold.
    RefusedWrongly = "refused_wrongly",

    /// A producer answers what was not asked of it, or with Data that it does not have.
    Unsupplied = "unsupplied",
    /// A store answers what was not asked of it, or with Data that it cannot have any longer.
    NotStored = "not_stored",
    /// A node sends Data that did not come, and that it does not have.
    DataForged = "data_forged",
    /// Data go where no Interest waits for them: none came, or it is answered, or its lifetime is over.
    DataUnasked = "data_unasked",
    /// Data are other Data than those that came.
    DataChanged = "data_changed",
    /// A congestion mark is gone.
    MarkRemoved = "mark_removed",
    /// A congestion mark is set where no queue marks.
    MarkForged = "mark_forged",
    /// Stamp or site are not those of the node that answered, or not of the time at which the Data left.
    WrongStamp = "wrong_stamp",
    /// Data came, and an Interest that waits for them gets no answer.
    NotForwarded = "not_forwarded",

    /// A consumer gets what it did not ask for, or gets it again.
    DeliveredUnasked = "delivered_unasked",
    /// A consumer gets what did not come to its node.
    DeliveredUnarrived = "delivered_unarrived",
    /// Data came to a node whose consumer asked for them, and are not delivered.
    NeverDelivered = "never_delivered",
}

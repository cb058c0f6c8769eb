//! What a node's radio can do at a time.

/// How many transfers a node takes part in at a time, sending or receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radio {
    /// One over all its links, as The ONE.
    Node,
    /// One per link.
    Link,
    /// One per direction of each link (full duplex).
    Direction,
}

/// When a link is free for the next transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// When the last bit has left.
    Pipelined,
    /// When the last bit has arrived; the contact must last until then.
    StopAndWait,
}

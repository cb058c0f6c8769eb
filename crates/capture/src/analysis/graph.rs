//! What is drawn of a direction.

use super::series::Series;

/// Series of one direction; memory is bounded by that of a series.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Numbers sent for the first time.
    pub sent: Series,
    /// Numbers sent again, or lost where nothing is sent again.
    pub again: Series,
    /// Numbers up to which all is acknowledged.
    pub acks: Series,
    /// Numbers that arrived beyond these.
    pub blocks: Series,
    /// Numbers up to which the receiver lets the sender send.
    pub edge: Series,
    /// Round trips, in nanoseconds.
    pub rtt: Series,
    /// Bytes outstanding.
    pub outstanding: Series,
    /// Bytes of payload.
    pub bytes: Series,
}

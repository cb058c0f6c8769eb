//! What the figures of packets and of named data measure, for the reference in the documentation.

use super::Metric;

/// Declares figures by name.
macro_rules! metrics {
    ($($(#[$about_all:meta])* $all:ident { $($name:ident: $about:literal,)+ })+) => {$(
        $(#[$about_all])*
        pub const $all: &[Metric] = &[$(Metric { name: stringify!($name), about: $about }),+];
    )+};
}

metrics! {
    /// All flows of a run together.
    PACKETS {
        goodput_bit_per_s: "Bytes delivered in order, in bits over the time from the first start to the last end.",
        delivered_bytes: "Bytes delivered in order.",
        duration_s: "Time from the first start of a flow to the last end of one.",
        flows_complete: "Flows that delivered all their data.",
        packets_sent: "Packets sent, repairs included.",
        packets_repaired: "Packets sent to repair a loss.",
        timeouts: "Expiries of retransmission timers.",
        loss_episodes: "Times that a controller responded to a loss.",
        packets_lost: "Packets lost on links.",
        packets_dropped: "Packets dropped by queues.",
        queue_packets_max: "Most packets that waited at one link.",
        jain: "Jain's index of the goodputs of the flows: 1 when all are equal.",
    }
    /// Each flow.
    FLOWS {
        goodput_bit_per_s: "Bytes delivered in order, in bits over `duration_s`.",
        delivered_bytes: "Bytes delivered in order.",
        start_s: "When it started.",
        duration_s: "Time from its start to its end.",
        complete: "1 if it delivered all its data, else 0.",
        packets_sent: "Packets sent, repairs included.",
        packets_repaired: "Packets sent to repair a loss.",
        timeouts: "Expiries of its retransmission timer.",
        loss_episodes: "Times that its controller responded to a loss.",
    }
    /// All consumers of a run together.
    NAMES {
        goodput_bit_per_s: "Content delivered from `measure_from` on, in bits over the time to the last end.",
        delivered_bytes: "Bytes of content delivered.",
        duration_s: "Length of the run.",
        consumers_complete: "Consumers that received all they requested.",
        interests_sent: "Interests sent, repairs included.",
        interests_repaired: "Interests sent again.",
        timeouts: "Expiries of retransmission timers.",
        drops: "Packets for a consumer, or from it, that were dropped or lost.",
        cache_hits: "Interests answered from content stores.",
        packets_arrived: "Packets that crossed a link.",
        queue_packets_max: "Most packets that waited at one link.",
        jain: "Jain's index of the goodputs of the consumers: 1 when all are equal.",
    }
    /// Each consumer.
    CONSUMERS {
        goodput_bit_per_s: "Content delivered from `measure_from` on, in bits over the time to its end.",
        window_median: "Median over time of the Interests that the window allows to be pending.",
        timeouts: "Expiries of its retransmission timer.",
        drops: "Packets for it, or from it, that were dropped or lost.",
        queueing_delay_p50_s: "Median of the time that Data and their Interests waited in queues.",
        queueing_delay_p99_s: "The same, exceeded by one Data packet in a hundred.",
        delivered_bytes: "Bytes of content delivered.",
        start_s: "When it sent its first Interest.",
        end_s: "When it received its last Data, or the run ended.",
        complete: "1 if it received all it requested, else 0.",
        interests_sent: "Interests sent, repairs included.",
        interests_repaired: "Interests sent again.",
        loss_episodes: "Times that its controller responded to a loss.",
    }
    /// Each node of a network of named data.
    NODES {
        interests: "Interests received.",
        cache_hits: "Interests answered from the content store.",
        aggregated: "Interests that found the same Interest pending.",
        data: "Data received.",
        refused: "Interests and Data not forwarded.",
        expired: "Pending Interests whose lifetime ended.",
        pending_max: "Most Interests pending at once.",
    }
}

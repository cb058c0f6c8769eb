//! The numbers of one run.

use lightlag_protocols::time::Duration;

/// A count or a measured number; JSON shows the first as an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// How many.
    Count(u64),
    /// How much; NaN where it has no value.
    Real(f64),
}

impl From<u64> for Number {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Number {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Count(count) => count as Self,
            Number::Real(real) => real,
        }
    }
}

/// A figure of a run: its reference in the documentation, and how it follows from what was measured.
#[derive(Debug)]
pub struct Metric<M: 'static> {
    /// Its name in results.
    pub name: &'static str,
    /// What it measures; times are in seconds.
    pub about: &'static str,
    /// Its value.
    pub value: fn(&M) -> Number,
}

/// Figures by name, in the order of their declaration.
pub fn numbers<M>(metrics: &[Metric<M>], measured: &M) -> Vec<(&'static str, Number)> {
    metrics.iter().map(|metric| (metric.name, (metric.value)(measured))).collect()
}

/// Declares figures: name, meaning, value.
macro_rules! metrics {
    ($($(#[$about_all:meta])* $all:ident of $measured:ty { $($name:ident: $about:literal, $value:expr;)+ })+) => {$(
        $(#[$about_all])*
        pub const $all: &[$crate::metrics::Metric<$measured>] = &[$($crate::metrics::Metric {
            name: stringify!($name),
            about: $about,
            value: $value,
        }),+];
    )+};
}
pub(crate) use metrics;

/// Declares the numbers of a run of bundles: their comments are their reference in the documentation.
macro_rules! summary {
    ($(#[$about:meta])* Summary { $($(#[doc = $text:literal])+ $name:ident: $kind:ty,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Summary {
            $($(#[doc = $text])+ pub $name: $kind,)+
            /// Delays of the delivered bundles, ascending: the curve behind the rows.
            pub latencies: Vec<Duration>,
        }

        /// All figures of a run of bundles: The ONE's in its order, then ours.
        pub const BUNDLES: &[Metric<Summary>] = &[$(Metric {
            name: stringify!($name),
            about: concat!($($text),+),
            value: |summary| summary.$name.into(),
        }),+];
    };
}

summary! {
    /// The numbers of one run. The first nineteen are those of The ONE's `MessageStatsReport`, by the
    /// same formulas; times are in seconds.
    Summary {
        /// When the run ended.
        sim_time: f64,
        /// Bundles created, those that found no room at their source included.
        created: u64,
        /// Transfers begun.
        started: u64,
        /// Transfers that arrived, whatever became of the copy.
        relayed: u64,
        /// Transfers cut off by the end of a contact.
        aborted: u64,
        /// Copies deleted for lack of room or at the end of their lifetime.
        dropped: u64,
        /// Copies deleted for other reasons.
        removed: u64,
        /// Bundles that reached their destination.
        delivered: u64,
        /// delivered / created; 0 if nothing was created.
        delivery_prob: f64,
        /// Replies delivered / requests created; 0 without requests. The pongs of a ping application do not count, as in
        /// The ONE.
        response_prob: f64,
        /// (relayed - delivered) / delivered.
        overhead_ratio: f64,
        /// Mean delay of delivered bundles.
        latency_avg: f64,
        /// Upper median of the same.
        latency_med: f64,
        /// Mean number of links crossed by delivered bundles.
        hopcount_avg: f64,
        /// Upper median of the same; 0 if nothing was delivered.
        hopcount_med: u64,
        /// Mean time that deleted copies had been stored.
        buffertime_avg: f64,
        /// Upper median of the same.
        buffertime_med: f64,
        /// Mean time from the creation of a request to the delivery of its reply, of the same; NaN without any.
        rtt_avg: f64,
        /// Upper median of the same.
        rtt_med: f64,
        /// Mean delay of all bundles created, where one that is not delivered counts with its age at the
        /// end: without it, a mechanism that delivers the hard bundles looks slow.
        censored_delay_avg: f64,
        /// Bytes of first deliveries.
        delivered_bytes: u64,
        /// Bytes of transfers whose last bit left.
        sent_bytes: u64,
        /// Transfers whose copy was not stored on arrival.
        refused: u64,
        /// Bundles that found no room at their source.
        rejected: u64,
        /// Bundles that waited at the application, outside every buffer, when the run ended.
        waiting: u64,
        /// Most bundles that waited there at one time, at all nodes together.
        waiting_max: u64,
        /// Mean number of bundles that waited there, over time.
        waiting_avg: f64,
        /// Bytes that waited at the application when the run ended.
        waiting_bytes: u64,
        /// Most bytes that waited there at one time, at all nodes together.
        waiting_bytes_max: u64,
        /// Mean number of bytes that waited there, over time.
        waiting_bytes_avg: f64,
        /// Deliveries of what had been delivered before.
        delivered_again: u64,
        /// Copies deleted for lack of room.
        dropped_overflow: u64,
        /// Copies deleted at the end of their lifetime.
        dropped_expired: u64,
        /// Copies deleted because their bundle was known to be delivered.
        removed_acknowledged: u64,
        /// Copies given up because the next node has one.
        removed_handed_over: u64,
        /// Links that came up.
        encounters: u64,
        /// Bytes of control data that mechanisms are charged: states and receipts.
        control_bytes: u64,
        /// (`sent_bytes` + `control_bytes`) / `delivered_bytes`; NaN if nothing was delivered.
        bytes_per_delivered_byte: f64,
        /// Bundles created that are answered at their destination: requests, pings.
        requests: u64,
        /// Of these, those that reached their destination.
        requests_delivered: u64,
        /// Replies created, pongs included.
        replies: u64,
        /// Replies that reached the source of their request.
        replies_delivered: u64,
        /// Share of created bundles that were delivered within the time in the name.
        delivered_by_1min: f64,
        /// Share of created bundles that were delivered within the time in the name.
        delivered_by_10min: f64,
        /// Share of created bundles that were delivered within the time in the name.
        delivered_by_1h: f64,
        /// Share of created bundles that were delivered within the time in the name.
        delivered_by_6h: f64,
        /// Share of created bundles that were delivered within the time in the name.
        delivered_by_1d: f64,
        /// Jain's index of the delivery ratios of the destinations: 1 when all are served alike.
        fairness: f64,
        /// Nodes whose router or mechanism reads the contact plan, and so knows later contacts.
        plan_nodes: u64,
    }
}

impl Summary {
    /// The share of created bundles that were delivered within `deadline`.
    pub fn delivered_within(&self, deadline: Duration) -> f64 {
        let in_time = self.latencies.partition_point(|latency| *latency <= deadline);
        if self.created == 0 { 0.0 } else { in_time as f64 / self.created as f64 }
    }
    /// The rows of `MessageStatsReport` (The ONE, report/MessageStatsReport.java).
    pub(super) fn the_one_numbers(&self) -> Vec<(&'static str, Number)> {
        numbers(&BUNDLES[..THE_ONE], self)
    }
}

/// How many rows are those of The ONE.
const THE_ONE: usize = 19;

//! The numbers of one run.

use lightlag_protocols::time::Duration;

/// Deadlines of the delivery-by-deadline curve and the names of their rows.
pub const DEADLINES: [(&str, Duration); 5] = [
    ("delivered_by_1min", Duration::from_secs(60)),
    ("delivered_by_10min", Duration::from_secs(600)),
    ("delivered_by_1h", Duration::from_secs(3_600)),
    ("delivered_by_6h", Duration::from_secs(21_600)),
    ("delivered_by_1d", Duration::from_secs(86_400)),
];

/// A count or a measured number; JSON shows the first as an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// How many.
    Count(u64),
    /// How much; NaN where it has no value.
    Real(f64),
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Count(count) => count as Self,
            Number::Real(real) => real,
        }
    }
}

/// The numbers of one run. The first nineteen are those of The ONE's `MessageStatsReport`, by the
/// same formulas; times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// When the run ended.
    pub sim_time: f64,
    /// Bundles created, those that found no room at their source included.
    pub created: u64,
    /// Transfers begun.
    pub started: u64,
    /// Transfers that arrived, whatever became of the copy.
    pub relayed: u64,
    /// Transfers cut off by the end of a contact.
    pub aborted: u64,
    /// Copies deleted for lack of room or at the end of their lifetime.
    pub dropped: u64,
    /// Copies deleted for other reasons.
    pub removed: u64,
    /// Bundles that reached their destination.
    pub delivered: u64,
    /// delivered / created; 0 if nothing was created.
    pub delivery_prob: f64,
    /// Always 0: bundles ask for no response.
    pub response_prob: f64,
    /// (relayed - delivered) / delivered.
    pub overhead_ratio: f64,
    /// Mean delay of delivered bundles.
    pub latency_avg: f64,
    /// Upper median of the same.
    pub latency_med: f64,
    /// Mean number of links crossed by delivered bundles.
    pub hopcount_avg: f64,
    /// Upper median of the same; 0 if nothing was delivered.
    pub hopcount_med: u64,
    /// Mean time that deleted copies had been stored.
    pub buffertime_avg: f64,
    /// Upper median of the same.
    pub buffertime_med: f64,
    /// Always NaN: bundles ask for no response.
    pub rtt_avg: f64,
    /// Always NaN.
    pub rtt_med: f64,
    /// Mean delay of all bundles created, where one that is not delivered counts with its age at the
    /// end: without it, a mechanism that delivers the hard bundles looks slow.
    pub censored_delay_avg: f64,
    /// Bytes of first deliveries.
    pub delivered_bytes: u64,
    /// Bytes of transfers whose last bit left.
    pub sent_bytes: u64,
    /// Transfers whose copy was not stored on arrival.
    pub refused: u64,
    /// Bundles that found no room at their source.
    pub rejected: u64,
    /// Deliveries of what had been delivered before.
    pub delivered_again: u64,
    /// Copies deleted for lack of room.
    pub dropped_overflow: u64,
    /// Copies deleted at the end of their lifetime.
    pub dropped_expired: u64,
    /// Copies deleted because their bundle was known to be delivered.
    pub removed_acknowledged: u64,
    /// Copies given up because the next node has one.
    pub removed_handed_over: u64,
    /// Links that came up.
    pub encounters: u64,
    /// Bytes of control data that mechanisms are charged: states and receipts.
    pub control_bytes: u64,
    /// (`sent_bytes` + `control_bytes`) / `delivered_bytes`; NaN if nothing was delivered.
    pub bytes_per_delivered_byte: f64,
    /// Per deadline of [`DEADLINES`], the share of created bundles delivered within it.
    pub delivered_by: [f64; DEADLINES.len()],
    /// Jain's index of the delivery ratios of the destinations: 1 when all are served alike.
    pub fairness: f64,
    /// Delays of the delivered bundles, ascending: the curve behind the rows.
    pub latencies: Vec<Duration>,
}

impl Summary {
    /// All rows by name: The ONE's in its order, then ours.
    pub fn numbers(&self) -> Vec<(&'static str, Number)> {
        let mut rows = self.the_one_numbers();
        rows.extend(self.own_numbers());
        rows.extend(DEADLINES.iter().zip(self.delivered_by).map(|(row, by)| (row.0, Number::Real(by))));
        rows.push(("fairness", Number::Real(self.fairness)));
        rows
    }
    /// The share of created bundles that were delivered within `deadline`.
    pub fn delivered_within(&self, deadline: Duration) -> f64 {
        let in_time = self.latencies.partition_point(|latency| *latency <= deadline);
        if self.created == 0 { 0.0 } else { in_time as f64 / self.created as f64 }
    }
    /// The rows of `MessageStatsReport` (The ONE, report/MessageStatsReport.java).
    pub(super) fn the_one_numbers(&self) -> Vec<(&'static str, Number)> {
        use Number::{Count, Real};
        vec![
            ("sim_time", Real(self.sim_time)),
            ("created", Count(self.created)),
            ("started", Count(self.started)),
            ("relayed", Count(self.relayed)),
            ("aborted", Count(self.aborted)),
            ("dropped", Count(self.dropped)),
            ("removed", Count(self.removed)),
            ("delivered", Count(self.delivered)),
            ("delivery_prob", Real(self.delivery_prob)),
            ("response_prob", Real(self.response_prob)),
            ("overhead_ratio", Real(self.overhead_ratio)),
            ("latency_avg", Real(self.latency_avg)),
            ("latency_med", Real(self.latency_med)),
            ("hopcount_avg", Real(self.hopcount_avg)),
            ("hopcount_med", Count(self.hopcount_med)),
            ("buffertime_avg", Real(self.buffertime_avg)),
            ("buffertime_med", Real(self.buffertime_med)),
            ("rtt_avg", Real(self.rtt_avg)),
            ("rtt_med", Real(self.rtt_med)),
        ]
    }
    fn own_numbers(&self) -> [(&'static str, Number); 13] {
        use Number::{Count, Real};
        [
            ("censored_delay_avg", Real(self.censored_delay_avg)),
            ("delivered_bytes", Count(self.delivered_bytes)),
            ("sent_bytes", Count(self.sent_bytes)),
            ("refused", Count(self.refused)),
            ("rejected", Count(self.rejected)),
            ("delivered_again", Count(self.delivered_again)),
            ("dropped_overflow", Count(self.dropped_overflow)),
            ("dropped_expired", Count(self.dropped_expired)),
            ("removed_acknowledged", Count(self.removed_acknowledged)),
            ("removed_handed_over", Count(self.removed_handed_over)),
            ("encounters", Count(self.encounters)),
            ("control_bytes", Count(self.control_bytes)),
            ("bytes_per_delivered_byte", Real(self.bytes_per_delivered_byte)),
        ]
    }
}

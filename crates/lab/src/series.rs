//! Time series of a run of any world: what nodes, flows and links show at each sample.

#[cfg(feature = "reports")]
mod output;

#[cfg(feature = "reports")]
pub(crate) use output::title_of;
#[cfg(feature = "reports")]
pub use output::{FlowRow, NodeRow, Point, TableError, read};

use lightlag_protocols::dtn::DropReason;
use lightlag_protocols::record::{Observation, bundles, names, packets};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::Bytes;

/// A number that is sampled in every run of a world.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// As the column `name` has it.
    pub name: &'static str,
    /// Unit; empty for a share or a count.
    pub unit: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Title of its figure; empty without one.
    #[cfg_attr(not(feature = "reports"), expect(dead_code, reason = "there are no figures"))]
    title: &'static str,
}

const fn sampled(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    about: &'static str,
) -> Sampled {
    Sampled { name, unit, about, title }
}

/// Of each node that stores bundles; counts are absent while zero.
pub const NODES: [Sampled; 7] = [
    sampled("buffer_used", "B", "", "Bytes of the buffer in use."),
    sampled("buffer_fill", "", "", "Share of the buffer in use."),
    // By `DropReason`.
    sampled("dropped_overflow", "", "", "Copies deleted so far for lack of room."),
    sampled("dropped_expired", "", "", "Copies deleted so far at the end of their lifetime."),
    sampled(
        "removed_acknowledged",
        "",
        "",
        "Copies deleted so far because their bundle was known to be delivered.",
    ),
    sampled("removed_handed_over", "", "", "Copies given up so far because the next node has one."),
    sampled("replaced", "", "", "Copies of replies replaced so far by a later one of the same name."),
];
const GONE: usize = 5;
const _: () = assert!(DropReason::Replaced as usize == GONE - 1);

/// Of each flow or consumer.
pub const FLOWS: [Sampled; 12] = [
    sampled("goodput", "bit/s", "Goodput", "Rate of delivery since the sample before."),
    sampled("window", "B", "Window", "Data that the controller lets be in flight; Interests, of a consumer."),
    sampled("rate", "bit/s", "Rate", "Rate at which the controller lets packets leave."),
    sampled("in_flight", "B", "In flight", "Data in flight; Interests, of a consumer."),
    sampled("rtt", "s", "Round-trip time", "Smoothed round-trip time, as the sender knows it."),
    sampled("delivered", "B", "", "Data delivered in order so far."),
    sampled(
        "loss",
        "",
        "",
        "Over UDPDTN: share of datagrams that are lost, as the receiver's reports show it.",
    ),
    sampled("sessions", "", "", "Over LTP: sessions of the sender that are open."),
    sampled("sequence_window", "packets", "", "Over DCCP: width of the sequence window."),
    sampled(
        "ack_ratio",
        "packets",
        "",
        "Over DCCP: packets per acknowledgement that the receiver was asked for.",
    ),
    sampled("datagrams", "", "", "Of an adaptive connection: 1 while datagrams carry it, 0 while TCP does."),
    sampled("switches", "", "", "Of an adaptive connection: changes of the transport so far."),
];

/// Of each direction of a link.
pub const LINKS: [Sampled; 1] =
    [sampled("queue", "packets", "Packets that wait", "Packets in the queue, the one being sent included.")];

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A node that stores bundles, by number.
    Node(u32),
    /// A flow or a consumer, by number.
    Flow(u32),
    /// A direction of a link, by number.
    Link(u32),
}

/// One number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// When.
    pub at: Instant,
    /// Of what.
    pub of: Of,
    /// Which number.
    pub name: &'static str,
    /// How much.
    pub value: f64,
}

/// Numbers over time: those of [`NODES`], or of [`FLOWS`] and [`LINKS`], and whatever algorithms show.
#[derive(Clone, Debug, Default)]
pub struct TimeSeries {
    rows: Vec<Row>,
    /// Names of flows and of directions of links; `None`: the rows are of nodes.
    names: Option<[Vec<String>; 2]>,
    /// Size of each node's buffer, and copies deleted there by [`DropReason`].
    nodes: Vec<(Bytes, [u64; GONE])>,
    /// When each flow was sampled last, and what had been delivered.
    last: Vec<Option<(Instant, f64)>>,
}

impl TimeSeries {
    /// Of nodes that store bundles: no rows yet.
    pub fn of_nodes() -> Self {
        Self::default()
    }
    /// Of flows or consumers, and of directions of links: no rows yet.
    pub fn of_flows(flows: Vec<String>, links: Vec<String>) -> Self {
        Self { last: vec![None; flows.len()], names: Some([flows, links]), ..Self::default() }
    }
    /// All rows, in the order of time.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
    /// The name of what a row is about; nodes have numbers only.
    pub fn name_of(&self, of: Of) -> &str {
        let (kind, index) = match of {
            Of::Node(_) => return "",
            Of::Flow(index) => (0, index),
            Of::Link(index) => (1, index),
        };
        let names = self.names.as_ref().and_then(|names| names[kind].get(index as usize));
        names.map_or("", String::as_str)
    }
    fn push(&mut self, at: Instant, of: Of, name: &'static str, value: f64) {
        self.rows.push(Row { at, of, name, value });
    }
    fn sample_node(&mut self, now: Instant, node: u32, used: Bytes) {
        let (size, gone) = self.nodes.get(node as usize).copied().unwrap_or_default();
        let [in_use, fill, counts @ ..] = NODES;
        self.push(now, Of::Node(node), in_use.name, used.get() as f64);
        if size.get() > 0 {
            self.push(now, Of::Node(node), fill.name, used.get() as f64 / size.get() as f64);
        }
        for (count, gone) in counts.iter().zip(gone).filter(|&(_, gone)| gone > 0) {
            self.push(now, Of::Node(node), count.name, gone as f64);
        }
    }
    fn sample_flow(&mut self, now: Instant, flow: u32, seen: &Observation) {
        for (index, &(name, value)) in seen.iter().enumerate() {
            // Of two that are called alike the first counts.
            if seen[..index].iter().all(|earlier| earlier.0 != name) {
                self.push(now, Of::Flow(flow), name, value);
            }
        }
        let delivered = seen.iter().find(|row| row.0 == "delivered").map_or(0.0, |row| row.1);
        if let Some(last) = self.last.get_mut(flow as usize).and_then(|last| last.replace((now, delivered)))
            && now > last.0
        {
            let goodput = (delivered - last.1) * 8.0 / (now - last.0).as_secs_f64();
            self.push(now, Of::Flow(flow), FLOWS[0].name, goodput);
        }
    }
    fn sample_link(&mut self, now: Instant, link: u32, waiting: u64) {
        self.push(now, Of::Link(link), LINKS[0].name, waiting as f64);
    }
}

impl bundles::Observer for TimeSeries {
    #[inline]
    fn on_record(&mut self, now: Instant, record: &bundles::Record) {
        match record {
            bundles::Record::Node { buffer, .. } => self.nodes.push((*buffer, [0; GONE])),
            bundles::Record::Gone { node, reason, .. } => {
                if let Some((_, gone)) = self.nodes.get_mut(node.0 as usize) {
                    gone[*reason as usize] += 1;
                }
            }
            bundles::Record::Sample { node, used, seen } => {
                self.sample_node(now, node.0, *used);
                seen.iter().for_each(|&(name, value)| self.push(now, Of::Node(node.0), name, value));
            }
            _ => {}
        }
    }
}

impl packets::Observer for TimeSeries {
    const PACKETS: bool = false;
    fn on_record(&mut self, now: Instant, record: &packets::Record) {
        match record {
            packets::Record::Flow(flow, seen) => self.sample_flow(now, *flow, seen),
            packets::Record::Backlog(link, waiting) => self.sample_link(now, *link, *waiting),
            _ => {}
        }
    }
}

impl names::Observer for TimeSeries {
    const PACKETS: bool = false;
    fn on_record(&mut self, now: Instant, record: &names::Record) {
        match record {
            names::Record::Consumer(consumer, seen) => self.sample_flow(now, *consumer, seen),
            names::Record::Backlog(link, waiting) => self.sample_link(now, *link, *waiting),
            _ => {}
        }
    }
}

#[cfg(test)]
#[cfg(feature = "reports")]
mod tests {
    use super::*;
    use arrow_array::RecordBatch;
    use bundles::{Observer, Record};
    use lightlag_protocols::dtn::{BundleId, NodeId};

    fn short_story() -> TimeSeries {
        let mut series = TimeSeries::of_nodes();
        let node = NodeId(0);
        let (id, reason, received) = (BundleId(0), DropReason::Overflow, Instant::ZERO);
        let records = [
            Record::Node { node, buffer: Bytes(200) },
            Record::Gone { node, id, reason, received },
            Record::Sample { node, used: Bytes(50), seen: vec![("copies", 3.0)] },
        ];
        records.iter().for_each(|record| series.on_record(Instant::from_secs(60), record));
        series
    }

    #[test]
    fn a_sample_gives_fill_drops_and_observables() {
        let rows: Vec<(&str, f64)> = short_story().rows().iter().map(|row| (row.name, row.value)).collect();
        let expected =
            [("buffer_used", 50.0), ("buffer_fill", 0.25), ("dropped_overflow", 1.0), ("copies", 3.0)];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_series_is_a_parquet_table_of_four_columns() {
        let file = tempfile::tempfile().expect("the temporary folder can be written");
        short_story().write_parquet(file.try_clone().expect("it is open")).expect("the disk has room");
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        let reader = reader.and_then(|builder| builder.build()).expect("what was written can be read");
        let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("a batch")).collect();
        assert_eq!((batches[0].num_rows(), batches[0].num_columns()), (4, 4));
    }
}

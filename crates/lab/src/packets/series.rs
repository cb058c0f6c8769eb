//! Time series of a run of packets: what flows and links show at each sample.

use crate::figure;
use crate::metrics::{SeriesError, write_table};
use crate::report::Figure;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use lightlag_protocols::record::Observation;
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;
use std::io::Write;
use std::sync::Arc;

/// Rows (time, flow or link, name, value), one per sample and name.
///
/// Flows show `delivered` bytes, `goodput` in bit/s since the sample before, bytes `in_flight`, `rtt` in
/// seconds, `window` in bytes or `rate` in bit/s or both, and what else their controller shows. Links
/// show `queue`, the packets that wait, the one that is leaving included.
#[derive(Clone, Debug, Default)]
pub struct PacketSeries {
    flows: Vec<String>,
    links: Vec<String>,
    /// When each flow was sampled last, and what had been delivered.
    last: Vec<Option<(Instant, f64)>>,
    rows: Vec<Row>,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A flow, by number.
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

impl PacketSeries {
    /// No rows yet.
    pub fn new(flows: Vec<String>, links: Vec<String>) -> Self {
        Self { last: vec![None; flows.len()], flows, links, rows: Vec::new() }
    }
    /// All rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
    /// The name of what a row is about.
    pub fn name_of(&self, of: Of) -> &str {
        let (names, index) = match of {
            Of::Flow(index) => (&self.flows, index),
            Of::Link(index) => (&self.links, index),
        };
        names.get(index as usize).map_or("", String::as_str)
    }
    /// Writes the rows as one Parquet table: `time_ns`, `flow` or `link`, `name`, `value`.
    ///
    /// # Errors
    /// What the file system or the encoder says.
    pub fn write_parquet<W: Write + Send>(&self, to: W) -> Result<(), SeriesError> {
        write_table(self.batch(), to)
    }
    fn batch(&self) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let column = |names: Vec<Option<&str>>| -> ArrayRef {
            let mut texts = StringDictionaryBuilder::<Int32Type>::new();
            names.into_iter().for_each(|name| texts.append_option(name));
            Arc::new(texts.finish())
        };
        let flow = |row: &Row| matches!(row.of, Of::Flow(_)).then_some(row.of);
        let link = |row: &Row| matches!(row.of, Of::Link(_)).then_some(row.of);
        let flows = self.rows.iter().map(|row| flow(row).map(|of| self.name_of(of)));
        let links = self.rows.iter().map(|row| link(row).map(|of| self.name_of(of)));
        let names = self.rows.iter().map(|row| Some(row.name));
        let times = self.rows.iter().map(|row| row.at.as_nanos()).collect::<Int64Array>();
        let values = self.rows.iter().map(|row| row.value).collect::<Vec<_>>();
        RecordBatch::try_from_iter_with_nullable([
            ("time_ns", Arc::new(times) as ArrayRef, false),
            ("flow", column(flows.collect()), true),
            ("link", column(links.collect()), true),
            ("name", column(names.collect()), false),
            ("value", Arc::new(Float64Array::from(values)), false),
        ])
    }
    /// A figure of each number over time, as far as it was seen.
    pub fn figures(&self) -> Vec<Figure> {
        let shown = SHOWN.iter().filter(|shown| self.rows.iter().any(|row| row.name == shown.0));
        shown.map(|&(name, title, unit)| self.figure(name, title, unit)).collect()
    }
    fn figure(&self, name: &str, title: &str, unit: &str) -> Figure {
        let rows = self.rows.iter().filter(|row| row.name == name && row.value.is_finite());
        let mut times: Vec<Instant> = rows.clone().map(|row| row.at).collect();
        times.dedup();
        // What no screen shows need not be in the file.
        let each = times.len().div_ceil(POINTS_MAX).max(1);
        let shown: Vec<Instant> = times.into_iter().step_by(each).collect();
        let kept = rows.filter(|row| shown.binary_search(&row.at).is_ok());
        let points = kept.map(|row| (row.at.as_secs_f64(), self.name_of(row.of), row.value));
        Figure {
            id: name.to_owned(),
            title: title.to_owned(),
            caption: String::new(),
            specification: figure::over_time(title, unit, points),
        }
    }
    pub(crate) fn push(&mut self, at: Instant, of: Of, name: &'static str, value: f64) {
        self.rows.push(Row { at, of, name, value });
    }
    pub(crate) fn sample(&mut self, now: Instant, flow: u32, seen: &Observation) {
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
            self.push(now, Of::Flow(flow), "goodput", goodput);
        }
    }
}

/// Points of a curve.
const POINTS_MAX: usize = 2_000;

const SHOWN: [(&str, &str, &str); 6] = [
    ("goodput", "Goodput", "bit/s"),
    ("window", "Window", "B"),
    ("rate", "Rate", "bit/s"),
    ("in_flight", "In flight", "B"),
    ("rtt", "Round-trip time", "s"),
    ("queue", "Packets that wait", "packets"),
];

impl Observer for PacketSeries {
    const PACKETS: bool = false;
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Flow(flow, seen) => self.sample(now, *flow, seen),
            Record::Backlog(link, waiting) => self.push(now, Of::Link(*link), "queue", *waiting as f64),
            _ => {}
        }
    }
}

//! A series as a table and as figures, and the table read again.

use super::{FLOWS, LINKS, NODES, Of, Row, Sampled, TimeSeries};
use crate::figure;
use crate::report::Figure;
use lightlag_judge::row;
use lightlag_judge::trace::{Tabular, Text, TraceError, table};
use lightlag_protocols::time::Instant;
use std::io::Write;
use std::path::Path;

/// A table could not be written.
#[derive(Debug, thiserror::Error)]
#[error("table: {0}")]
pub struct TableError(String);

impl TableError {
    /// What a library says, in one line.
    pub(crate) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string().replace('\n', " "))
    }
}

row! {
    /// A row of the series of a scenario of bundles.
    NodeRow {
        /// When, in nanoseconds from the start of the run.
        time_ns: i64,
        /// The node, by number.
        node: u32,
        /// What was sampled.
        name: Text,
        /// Its value.
        value: f64,
    }
}

row! {
    /// A row of the series of a scenario of packets or of named data.
    FlowRow {
        /// When, in nanoseconds from the start of the run.
        time_ns: i64,
        /// Name of the flow or the consumer, in rows about one.
        flow: Option<String>,
        /// Name of the direction of a link, in rows about one.
        link: Option<String>,
        /// What was sampled.
        name: Text,
        /// Its value.
        value: f64,
    }
}

impl TimeSeries {
    /// Writes the rows as one Parquet table, of [`NodeRow`] or [`FlowRow`].
    ///
    /// # Errors
    /// What the file system or the encoder says.
    pub fn write_parquet<W: Write + Send>(&self, to: W) -> Result<(), TableError> {
        let batch = match self.names {
            None => NodeRow::batch(&self.rows.iter().map(node_row).collect::<Vec<_>>()),
            Some(_) => FlowRow::batch(&self.rows.iter().map(|row| self.flow_row(row)).collect::<Vec<_>>()),
        };
        crate::parquet::write(batch, &[], to).map(drop).map_err(TableError::new)
    }
    fn flow_row(&self, row: &Row) -> FlowRow {
        let name = || Some(self.name_of(row.of).to_owned());
        let (flow, link) = match row.of {
            Of::Link(_) => (None, name()),
            Of::Flow(_) | Of::Node(_) => (name(), None),
        };
        FlowRow { time_ns: row.at.as_nanos(), flow, link, name: row.name.into(), value: row.value }
    }
    /// A figure of each number of flows and links over time, as far as it was seen.
    pub fn figures(&self) -> Vec<Figure> {
        let seen = |name: &str| self.rows.iter().any(|row| row.name == name);
        let drawn = FLOWS.iter().chain(&LINKS).filter(|one| !one.title.is_empty() && seen(one.name));
        drawn.map(|one| self.figure(one)).collect()
    }
    fn figure(&self, &Sampled { name, title, unit, .. }: &Sampled) -> Figure {
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
}

/// A number of a series that was read again.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// When, in seconds from the start of the run.
    pub at_s: f64,
    /// Name of the flow, the consumer or the link; "node 3" of a node.
    pub of: String,
    /// What was sampled.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// Reads the table of a series.
///
/// # Errors
/// One line, if the table is missing.
pub fn read(path: &Path) -> Result<Vec<Point>, String> {
    let place = |wrong: TraceError| format!("{}: {wrong}; name the folder of `run --out`", path.display());
    let at_s = |time_ns: i64| time_ns as f64 / 1e9;
    let of_node = |row: NodeRow| Point {
        at_s: at_s(row.time_ns),
        of: format!("node {}", row.node),
        name: row.name.into_owned(),
        value: row.value,
    };
    let of_flow = |row: FlowRow| Point {
        at_s: at_s(row.time_ns),
        of: row.flow.or(row.link).unwrap_or_default(),
        name: row.name.into_owned(),
        value: row.value,
    };
    if let Ok(rows) = table::<NodeRow>(path) {
        return rows.map(|row| row.map(of_node)).collect::<Result<_, _>>().map_err(place);
    }
    let rows = table::<FlowRow>(path).map_err(place)?;
    rows.map(|row| row.map(of_flow)).collect::<Result<_, _>>().map_err(place)
}

/// Title and unit of a number over time.
pub(crate) fn title_of(name: &str) -> (&str, &str) {
    let known = NODES.iter().chain(&FLOWS).chain(&LINKS).find(|one| one.name == name);
    known.map_or((name, ""), |one| (if one.title.is_empty() { name } else { one.title }, one.unit))
}

fn node_row(row: &Row) -> NodeRow {
    let (Of::Node(node) | Of::Flow(node) | Of::Link(node)) = row.of;
    NodeRow { time_ns: row.at.as_nanos(), node, name: row.name.into(), value: row.value }
}

/// Points of a curve.
const POINTS_MAX: usize = 2_000;

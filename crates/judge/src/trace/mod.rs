//! Traces of runs as files: Parquet (one row an event, flat columns) and JSON lines.
//!
//! Both formats hold the same rows: [`Row`] of a world of bundles, [`PacketRow`] of packets,
//! [`NameRow`] of named data. Reading gives back the events that were written.

#[cfg(feature = "parquet")]
mod arrow;
mod bundles;
mod event;
mod names;
mod ndn;
mod packets;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod table;
mod writer;

#[cfg(feature = "parquet")]
pub use arrow::{Reader, TableCell, Tabular, reader};
#[cfg(feature = "parquet")]
pub use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
pub use arrow_schema::ArrowError;
pub use bundles::Row;
pub use ndn::NameRow;
pub use packets::PacketRow;
pub use rows::{RowDigest, RowSink, RowWriter};
pub use table::{Cell, Column, ColumnType, Columns, Text, Value};
pub use writer::TraceWriter;

use lightlag_protocols::time::Instant;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

/// What a row must be to be written: one of a table, where there are any.
#[cfg(feature = "parquet")]
pub use arrow::Tabular as Writable;
#[cfg(not(feature = "parquet"))]
pub use table::Columns as Writable;

/// A row of a trace: an event, flat.
pub trait TraceRow: Writable + Serialize + DeserializeOwned + Send + 'static {
    /// What it records.
    type Event;
    /// The row of an event, in a world of these names.
    fn new(now: Instant, event: &Self::Event, names: &Names) -> Self;
    /// When it happened.
    fn at(&self) -> Instant;
    /// What happened: the column `kind`.
    fn kind(&self) -> &str;
    /// The event of a row.
    ///
    /// # Errors
    /// What is missing or makes no sense.
    fn event(&self) -> Result<Self::Event, String>;
}

/// What things are called, by their numbers. What has no name here gets none in the trace.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Nodes.
    pub nodes: Vec<String>,
    /// Directions of links: the name, and the nodes at which they begin and end.
    pub links: Vec<[String; 3]>,
    /// Flows.
    pub flows: Vec<String>,
    /// Consumers, and the numbers of their nodes.
    pub consumers: Vec<(String, u32)>,
    /// Producers, and the numbers of their nodes.
    pub producers: Vec<(String, u32)>,
    /// Prefixes of names of data.
    pub prefixes: lightlag_protocols::ndn::Names,
}

impl Names {
    fn node(&self, number: u32) -> Option<String> {
        self.nodes.get(number as usize).cloned()
    }
    /// Of a direction of a link: its name and those of its ends.
    fn link(&self, number: u32) -> [Option<String>; 3] {
        let link = self.links.get(number as usize).cloned();
        link.map_or([const { None }; 3], |names| names.map(Some))
    }
}

/// Why a trace can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file system says no.
    #[error("trace: {0}")]
    File(#[from] std::io::Error),
    /// The file is not what a trace should be.
    #[error("trace: {0}")]
    Format(String),
    /// A row is not an event; rows count from 1.
    #[error("trace, row {row}: {what}")]
    Row {
        /// Which.
        row: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// What a library says, in one line.
fn one_line(error: impl std::fmt::Display) -> TraceError {
    TraceError::Format(error.to_string().replace('\n', " "))
}

/// The events of a trace, in order. After an error there are no more.
pub struct Events<R> {
    rows: Rows<R>,
    number: u64,
    failed: bool,
}

impl<R: TraceRow> Iterator for Events<R> {
    type Item = Result<(Instant, R::Event), TraceError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.number += 1;
        let number = self.number;
        let read = self.rows.next()?.and_then(|row| {
            let event = row.event().map_err(|what| TraceError::Row { row: number, what })?;
            Ok((row.at(), event))
        });
        self.failed = read.is_err();
        Some(read)
    }
}

/// Opens a trace of either format, which the first bytes show.
///
/// # Errors
/// If the file can't be opened, or is no trace. What is wrong later on comes from the iterator.
pub fn read<R: TraceRow>(path: &Path) -> Result<Events<R>, TraceError> {
    Ok(Events { rows: rows(path)?, number: 0, failed: false })
}

/// The rows of a trace, in order.
pub type Rows<R> = Box<dyn Iterator<Item = Result<R, TraceError>> + Send>;

/// As [`read`], with what rows say beside their events: names.
///
/// # Errors
/// As those of [`read`].
pub fn rows<R: TraceRow>(path: &Path) -> Result<Rows<R>, TraceError> {
    let mut file = File::open(path)?;
    let mut magic = [0; 4];
    let length = file.read(&mut magic)?;
    file.rewind()?;
    if &magic[..length] != b"PAR1" {
        return Ok(Box::new(read_lines(BufReader::new(file))));
    }
    #[cfg(feature = "parquet")]
    return Ok(Box::new(parquet::read(file)?));
    #[cfg(not(feature = "parquet"))]
    Err(TraceError::Format("this program reads no Parquet".to_owned()))
}

/// The rows of another table of flat columns, in Parquet.
///
/// # Errors
/// If the file can't be opened, or has other columns. What is wrong later on comes from the iterator.
#[cfg(feature = "parquet")]
pub fn table<R: Tabular>(path: &Path) -> Result<impl Iterator<Item = Result<R, TraceError>>, TraceError> {
    parquet::read(File::open(path)?)
}

fn read_lines<R: TraceRow>(from: impl BufRead) -> impl Iterator<Item = Result<R, TraceError>> {
    from.lines().zip(1..).map(|(line, row)| {
        let line = line?;
        serde_json::from_str(&line).map_err(|e| TraceError::Row { row, what: e.to_string() })
    })
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests;

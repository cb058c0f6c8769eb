//! Traces of runs as files: Parquet (one row a record, flat columns) and JSON lines.
//!
//! Both formats hold the same rows (see [`Row`]); what is read is record for record what was written.

mod columns;
mod lines;
mod names;
mod row;

pub use columns::ParquetTrace;
pub use lines::JsonTrace;
pub use row::Row;

use lightlag_protocols::time::Instant;
use lightlag_protocols::trace::Record;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Why a trace can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file system says no.
    #[error("trace: {0}")]
    File(#[from] std::io::Error),
    /// The file is not what a trace should be.
    #[error("trace: {0}")]
    Format(String),
    /// A row is not a record; rows count from 1.
    #[error("trace, row {row}: {what}")]
    Row {
        /// Which.
        row: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// The records of a trace, in order. After an error there are no more.
pub struct Records {
    rows: Box<dyn Iterator<Item = Result<Row, TraceError>> + Send>,
    number: u64,
    failed: bool,
}

impl Iterator for Records {
    type Item = Result<(Instant, Record), TraceError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.number += 1;
        let number = self.number;
        let read = self.rows.next()?.and_then(|row| {
            let at = Instant::from_nanos(row.time_ns);
            row.record().map(|record| (at, record)).map_err(|what| TraceError::Row { row: number, what })
        });
        self.failed = read.is_err();
        Some(read)
    }
}

/// Opens a trace of either format; the first bytes tell which.
///
/// # Errors
/// If the file can't be opened, or is no trace. What is wrong later on comes from the iterator.
pub fn read(path: &Path) -> Result<Records, TraceError> {
    let mut file = File::open(path)?;
    let mut magic = [0; 4];
    let length = file.read(&mut magic)?;
    file.rewind()?;
    let rows: Box<dyn Iterator<Item = _> + Send> = if &magic[..length] == b"PAR1" {
        Box::new(columns::read(file)?)
    } else {
        Box::new(lines::read(BufReader::new(file)))
    };
    Ok(Records { rows, number: 0, failed: false })
}

#[cfg(test)]
mod tests;

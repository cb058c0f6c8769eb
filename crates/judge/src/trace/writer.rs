//! Writes a trace, in either format.

use super::{TraceError, TraceRow, one_line, parquet};
use lightlag_protocols::time::Instant;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes what happens, row by row. An error stops the writing and is told by [`TraceWriter::finish`].
pub struct TraceWriter<R: TraceRow, W: Write + Send> {
    to: Result<Format<R, W>, TraceError>,
}

/// Of a trace, by the end of its file's name.
enum Format<R, W: Write + Send> {
    Parquet(Box<parquet::Writer<R, W>>),
    JsonLines(W),
}

impl<R: TraceRow> TraceWriter<R, BufWriter<File>> {
    /// A trace in a file named `.parquet` or `.jsonl`; nothing if it is named otherwise.
    ///
    /// # Errors
    /// What the file system says.
    pub fn create(path: &Path) -> Result<Option<Self>, TraceError> {
        let create = || {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            File::create(path).map(BufWriter::new)
        };
        match path.extension().and_then(|end| end.to_str()) {
            Some("parquet") => Ok(Some(Self::parquet(create()?)?)),
            Some("jsonl") => Ok(Some(Self::json_lines(create()?))),
            _ => Ok(None),
        }
    }
}

impl<R: TraceRow, W: Write + Send> TraceWriter<R, W> {
    /// A table that goes to `to`.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn parquet(to: W) -> Result<Self, TraceError> {
        Ok(Self { to: Ok(Format::Parquet(Box::new(parquet::Writer::new(to)?))) })
    }
    /// One JSON object a line to `to`, which should be buffered.
    pub fn json_lines(to: W) -> Self {
        Self { to: Ok(Format::JsonLines(to)) }
    }
    /// `event` happens.
    pub fn put(&mut self, now: Instant, event: &R::Event) {
        let Ok(to) = &mut self.to else { return };
        let row = R::new(now, event);
        let written = match to {
            Format::Parquet(table) => table.put(row),
            Format::JsonLines(to) => write_line(to, &row),
        };
        if let Err(error) = written {
            self.to = Err(error);
        }
    }
    /// Everything is written.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub fn finish(self) -> Result<W, TraceError> {
        match self.to? {
            Format::Parquet(table) => table.finish(),
            Format::JsonLines(mut to) => Ok(to.flush().map(|()| to)?),
        }
    }
}

fn write_line(to: &mut impl Write, row: &impl TraceRow) -> Result<(), TraceError> {
    serde_json::to_writer(&mut *to, row).map_err(one_line)?;
    Ok(to.write_all(b"\n")?)
}

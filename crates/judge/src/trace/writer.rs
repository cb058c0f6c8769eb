//! Writes a trace, in either format.

use super::{Names, TraceError, TraceRow, one_line, parquet};
use lightlag_protocols::time::Instant;
use std::io::Write;

/// Writes what happens, row by row. An error ends the writing; [`TraceWriter::finish`] reports it.
pub struct TraceWriter<R: TraceRow, W: Write + Send> {
    to: Result<Format<R, W>, TraceError>,
    names: Names,
}

/// Of a trace, by the end of its file's name.
enum Format<R, W: Write + Send> {
    Parquet(Box<parquet::Writer<R, W>>),
    JsonLines(W),
}

impl<R: TraceRow, W: Write + Send> TraceWriter<R, W> {
    /// A table that goes to `to`.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn parquet(to: W, names: Names) -> Result<Self, TraceError> {
        Ok(Self { to: Ok(Format::Parquet(Box::new(parquet::Writer::new(to)?))), names })
    }
    /// One JSON object a line to `to`, which should be buffered.
    pub fn json_lines(to: W, names: Names) -> Self {
        Self { to: Ok(Format::JsonLines(to)), names }
    }
    /// `event` happens.
    pub fn put(&mut self, now: Instant, event: &R::Event) {
        let Ok(to) = &mut self.to else { return };
        let row = R::new(now, event, &self.names);
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

//! Traces as JSON lines: one object a record, for people and scripts.

use super::{Row, TraceError};
use lightlag_protocols::time::Instant;
use lightlag_protocols::trace::{Observer, Record};
use std::io::{BufRead, Write};

/// Writes records as they come. An error stops the writing and is told by [`JsonTrace::finish`].
pub struct JsonTrace<W> {
    to: W,
    failed: Option<TraceError>,
}

impl<W: Write> JsonTrace<W> {
    /// A trace that goes to `to`, which should be buffered.
    pub fn new(to: W) -> Self {
        Self { to, failed: None }
    }
    /// Everything is written.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub fn finish(mut self) -> Result<W, TraceError> {
        match self.failed {
            Some(error) => Err(error),
            None => {
                self.to.flush()?;
                Ok(self.to)
            }
        }
    }
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        serde_json::to_writer(&mut self.to, row).map_err(|e| TraceError::Format(e.to_string()))?;
        Ok(self.to.write_all(b"\n")?)
    }
}

impl<W: Write> Observer for JsonTrace<W> {
    fn on_record(&mut self, now: Instant, record: &Record) {
        if self.failed.is_none() {
            self.failed = self.write(&Row::new(now, record)).err();
        }
    }
}

pub(super) fn read(from: impl BufRead) -> impl Iterator<Item = Result<Row, TraceError>> {
    from.lines().zip(1..).map(|(line, row)| {
        let line = line?;
        serde_json::from_str(&line).map_err(|e| TraceError::Row { row, what: e.to_string() })
    })
}

//! Traces of packets as files: Parquet (one row an event, flat columns) and JSON lines. What is read is
//! event for event what was written, and enough for the judge.

mod columns;
mod row;

pub use columns::{ParquetPackets, read};
pub use row::PacketRow;

use crate::judge::packets::Event;
use crate::trace::TraceError;
use lightlag_protocols::time::Instant;
use lightlag_worlds::packets::{Observer, Record};
use std::io::Write;

/// Writes one JSON object per line. An error stops the writing and is told by [`JsonPackets::finish`].
pub struct JsonPackets<W: Write> {
    to: W,
    failed: Option<TraceError>,
}

impl<W: Write> JsonPackets<W> {
    /// A trace that goes to `to`.
    pub fn new(to: W) -> Self {
        Self { to, failed: None }
    }
    /// Everything is written.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub fn finish(mut self, ended: Instant) -> Result<W, TraceError> {
        self.put(ended, &Event::End);
        match self.failed {
            Some(error) => Err(error),
            None => self.to.flush().map(|()| self.to).map_err(TraceError::File),
        }
    }
    fn put(&mut self, now: Instant, event: &Event) {
        if self.failed.is_some() {
            return;
        }
        let row = PacketRow::new(now, event);
        let written = serde_json::to_writer(&mut self.to, &row).map_err(std::io::Error::from);
        self.failed = written.and_then(|()| self.to.write_all(b"\n")).err().map(TraceError::File);
    }
}

impl<W: Write> Observer for JsonPackets<W> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        if let Some(event) = Event::of(record) {
            self.put(now, &event);
        }
    }
}

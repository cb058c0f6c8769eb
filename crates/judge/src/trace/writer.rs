//! Writes a trace, in either format.

#[cfg(feature = "parquet")]
use super::parquet;
use super::{Names, TraceError, TraceRow, one_line};
use lightlag_protocols::time::Instant;
use std::io::Write;
use std::marker::PhantomData;

/// Writes what happens, row by row. An error ends the writing; [`TraceWriter::finish`] reports it.
pub struct TraceWriter<R: TraceRow, W: Write + Send> {
    to: Result<Format<R, W>, TraceError>,
    names: Names,
}

/// Of a trace, by the end of its file's name.
enum Format<R, W: Write + Send> {
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Writer<R, W>>),
    JsonLines(W, PhantomData<fn(R)>),
}

impl<R: TraceRow, W: Write + Send> TraceWriter<R, W> {
    /// A table that goes to `to`.
    ///
    /// # Errors
    /// What the encoder says; without the feature `parquet`, always.
    pub fn parquet(to: W, names: Names) -> Result<Self, TraceError> {
        #[cfg(feature = "parquet")]
        return Ok(Self { to: Ok(Format::Parquet(Box::new(parquet::Writer::new(to)?))), names });
        #[cfg(not(feature = "parquet"))]
        {
            let _ = (to, names);
            Err(TraceError::Format("this program writes no Parquet".to_owned()))
        }
    }
    /// One JSON object a line to `to`, which should be buffered.
    pub fn json_lines(to: W, names: Names) -> Self {
        Self { to: Ok(Format::JsonLines(to, PhantomData)), names }
    }
    /// `event` happens.
    pub fn put(&mut self, now: Instant, event: &R::Event) {
        let Ok(to) = &mut self.to else { return };
        let row = R::new(now, event, &self.names);
        let written = match to {
            #[cfg(feature = "parquet")]
            Format::Parquet(table) => table.put(row),
            Format::JsonLines(to, _) => write_line(to, &row),
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
            #[cfg(feature = "parquet")]
            Format::Parquet(table) => table.finish(),
            Format::JsonLines(mut to, _) => Ok(to.flush().map(|()| to)?),
        }
    }
}

fn write_line(to: &mut impl Write, row: &impl TraceRow) -> Result<(), TraceError> {
    serde_json::to_writer(&mut *to, row).map_err(one_line)?;
    Ok(to.write_all(b"\n")?)
}

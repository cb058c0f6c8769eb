//! Traces as Parquet, in batches.

use super::arrow::check;
use super::{Tabular, TraceError, one_line};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rows a batch: enough for compression, little in memory.
const BATCH: usize = 1 << 16;

/// Writes rows in batches.
pub(super) struct Writer<R, W: Write + Send> {
    to: ArrowWriter<W>,
    rows: Vec<R>,
}

impl<R: Tabular, W: Write + Send> Writer<R, W> {
    pub(super) fn new(to: W) -> Result<Self, TraceError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let to = ArrowWriter::try_new(to, R::schema(), Some(properties)).map_err(one_line)?;
        Ok(Self { to, rows: Vec::new() })
    }
    pub(super) fn put(&mut self, row: R) -> Result<(), TraceError> {
        self.rows.push(row);
        if self.rows.len() >= BATCH { self.flush() } else { Ok(()) }
    }
    fn flush(&mut self) -> Result<(), TraceError> {
        let batch = R::batch(&self.rows).map_err(one_line)?;
        self.rows.clear();
        self.to.write(&batch).map_err(one_line)?;
        // What is encoded goes to the disk, so that memory does not grow with the trace.
        self.to.flush().map_err(one_line)
    }
    pub(super) fn finish(mut self) -> Result<W, TraceError> {
        self.flush()?;
        self.to.into_inner().map_err(one_line)
    }
}

/// Rows of a file, batch by batch.
pub(super) struct Rows<R> {
    reader: Option<ParquetRecordBatchReader>,
    batch: std::vec::IntoIter<R>,
}

pub(super) fn read<R: Tabular>(file: File) -> Result<Rows<R>, TraceError> {
    let reader = guarded(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(one_line)?;
        check::<R>(builder.schema())?;
        builder.with_batch_size(BATCH).build().map_err(one_line)
    })?;
    Ok(Rows { reader: Some(reader), batch: Vec::new().into_iter() })
}

/// A damaged file may trip an assertion of the decoder: that is an error like any other.
fn guarded<T>(run: impl FnOnce() -> Result<T, TraceError>) -> Result<T, TraceError> {
    let damaged = |_| Err(TraceError::Format("the file is damaged".to_owned()));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(damaged)
}

impl<R: Tabular> Iterator for Rows<R> {
    type Item = Result<R, TraceError>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.batch.next() {
                return Some(Ok(row));
            }
            let reader = self.reader.as_mut()?;
            let batch = guarded(|| match reader.next() {
                Some(batch) => R::rows(&batch.map_err(one_line)?).map(Some),
                None => Ok(None),
            });
            match batch {
                Ok(Some(rows)) => self.batch = rows.into_iter(),
                Ok(None) => self.reader = None,
                Err(error) => {
                    self.reader = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

//! Traces as Parquet: the columns of [`Row`], in batches.

use super::{Row, TraceError};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lightlag_protocols::time::Instant;
use lightlag_protocols::trace::{Observer, Record};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Rows a batch: enough for compression, little in memory.
const BATCH: usize = 1 << 16;

/// Writes records in batches. An error stops the writing and is told by [`ParquetTrace::finish`].
pub struct ParquetTrace<W: Write + Send> {
    to: Option<ArrowWriter<W>>,
    rows: Vec<Row>,
    failed: Option<TraceError>,
}

impl<W: Write + Send> ParquetTrace<W> {
    /// A trace that goes to `to`.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn new(to: W) -> Result<Self, TraceError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let to = ArrowWriter::try_new(to, schema(), Some(properties)).map_err(format)?;
        Ok(Self { to: Some(to), rows: Vec::new(), failed: None })
    }
    /// Everything is written.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.flush();
        match (self.failed, self.to) {
            (None, Some(to)) => to.into_inner().map_err(format),
            (failed, _) => Err(failed.unwrap_or_else(|| TraceError::Format("no writer".to_owned()))),
        }
    }
    fn flush(&mut self) {
        let Some(to) = &mut self.to else { return };
        let rows = std::mem::take(&mut self.rows);
        self.failed = batch(&rows).map_err(format).and_then(|b| to.write(&b).map_err(format)).err();
        if self.failed.is_some() {
            self.to = None;
        }
    }
}

impl<W: Write + Send> Observer for ParquetTrace<W> {
    fn on_record(&mut self, now: Instant, record: &Record) {
        if self.failed.is_some() {
            return;
        }
        self.rows.push(Row::new(now, record));
        if self.rows.len() >= BATCH {
            self.flush();
        }
    }
}

fn format(error: impl std::fmt::Display) -> TraceError {
    // One line, whatever the libraries say.
    TraceError::Format(error.to_string().replace('\n', " "))
}

fn texts() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Names and types of the columns; only time and kind are always there.
fn schema() -> SchemaRef {
    let columns = [
        ("time_ns", DataType::Int64),
        ("kind", texts()),
        ("node", DataType::UInt32),
        ("peer", DataType::UInt32),
        ("bundle", DataType::UInt32),
        ("bytes", DataType::UInt64),
        ("since_ns", DataType::Int64),
        ("expires_ns", DataType::Int64),
        ("rate", DataType::UInt64),
        ("rate_back", DataType::UInt64),
        ("delay_ns", DataType::Int64),
        ("delay_back_ns", DataType::Int64),
        ("hops", DataType::UInt32),
        ("first", DataType::Boolean),
        ("why", texts()),
        ("seen", texts()),
    ];
    let field = |(at, (name, kind)): (usize, (&str, DataType))| Field::new(name, kind, at >= 2);
    Arc::new(Schema::new(columns.into_iter().enumerate().map(field).collect::<Vec<_>>()))
}

fn batch(rows: &[Row]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let n32 = |pick: fn(&Row) -> Option<u32>| -> ArrayRef {
        Arc::new(rows.iter().map(pick).collect::<UInt32Array>())
    };
    let n64 = |pick: fn(&Row) -> Option<u64>| -> ArrayRef {
        Arc::new(rows.iter().map(pick).collect::<UInt64Array>())
    };
    let ns = |pick: fn(&Row) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(pick).collect::<Int64Array>())
    };
    let text = |pick: fn(&Row) -> Option<&str>| -> ArrayRef {
        let mut column = StringDictionaryBuilder::<Int32Type>::new();
        rows.iter().for_each(|row| column.append_option(pick(row)));
        Arc::new(column.finish())
    };
    let columns = vec![
        ns(|row| Some(row.time_ns)),
        text(|row| Some(&row.kind)),
        n32(|row| row.node),
        n32(|row| row.peer),
        n32(|row| row.bundle),
        n64(|row| row.bytes),
        ns(|row| row.since_ns),
        ns(|row| row.expires_ns),
        n64(|row| row.rate),
        n64(|row| row.rate_back),
        ns(|row| row.delay_ns),
        ns(|row| row.delay_back_ns),
        n32(|row| row.hops),
        Arc::new(rows.iter().map(|row| row.first).collect::<BooleanArray>()),
        text(|row| row.why.as_deref()),
        text(|row| row.seen.as_deref()),
    ];
    RecordBatch::try_new(schema(), columns)
}

/// Rows of a Parquet file, batch by batch.
pub(super) struct Rows {
    reader: Option<ParquetRecordBatchReader>,
    batch: Vec<Row>,
}

pub(super) fn read(file: File) -> Result<Rows, TraceError> {
    let reader = guarded(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(format)?;
        check_columns(builder.schema())?;
        builder.with_batch_size(BATCH).build().map_err(format)
    })?;
    Ok(Rows { reader: Some(reader), batch: Vec::new() })
}

/// A damaged file may trip an assertion of the decoder: that is an error like any other.
fn guarded<T>(run: impl FnOnce() -> Result<T, TraceError>) -> Result<T, TraceError> {
    let damaged = |_| Err(TraceError::Format("the file is damaged".to_owned()));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(damaged)
}

fn check_columns(found: &Schema) -> Result<(), TraceError> {
    let plain = |kind: &DataType| if *kind == texts() { DataType::Utf8 } else { kind.clone() };
    for (at, wanted) in schema().fields().iter().enumerate() {
        let column = found.fields().get(at).filter(|field| field.name() == wanted.name());
        if column.is_none_or(|field| plain(field.data_type()) != plain(wanted.data_type())) {
            let what = format!("column {} should be `{}` ({})", at + 1, wanted.name(), wanted.data_type());
            return Err(TraceError::Format(what));
        }
    }
    Ok(())
}

impl Rows {
    fn refill(&mut self) -> Result<(), TraceError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let batch = guarded(|| match reader.next() {
            Some(batch) => rows(&batch.map_err(format)?).map(Some),
            None => Ok(None),
        });
        match batch {
            Ok(Some(mut rows)) => {
                rows.reverse();
                self.batch = rows;
            }
            Ok(None) => self.reader = None,
            Err(error) => {
                self.reader = None;
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Iterator for Rows {
    type Item = Result<Row, TraceError>;
    fn next(&mut self) -> Option<Self::Item> {
        while self.batch.is_empty() && self.reader.is_some() {
            if let Err(error) = self.refill() {
                return Some(Err(error));
            }
        }
        self.batch.pop().map(Ok)
    }
}

fn rows(batch: &RecordBatch) -> Result<Vec<Row>, TraceError> {
    let column = |at: usize| batch.column(at);
    let ns =
        |at: usize, row| present(column(at), row).then(|| column(at).as_primitive::<Int64Type>().value(row));
    let n32 =
        |at: usize, row| present(column(at), row).then(|| column(at).as_primitive::<UInt32Type>().value(row));
    let n64 =
        |at: usize, row| present(column(at), row).then(|| column(at).as_primitive::<UInt64Type>().value(row));
    let plain = |at: usize| arrow_text(column(at));
    let (kind, why, seen) = (plain(1)?, plain(14)?, plain(15)?);
    let one = |row: usize| Row {
        time_ns: ns(0, row).unwrap_or_default(),
        kind: kind(row).unwrap_or_default().into(),
        node: n32(2, row),
        peer: n32(3, row),
        bundle: n32(4, row),
        bytes: n64(5, row),
        since_ns: ns(6, row),
        expires_ns: ns(7, row),
        rate: n64(8, row),
        rate_back: n64(9, row),
        delay_ns: ns(10, row),
        delay_back_ns: ns(11, row),
        hops: n32(12, row),
        first: present(column(13), row).then(|| column(13).as_boolean().value(row)),
        why: why(row).map(Into::into),
        seen: seen(row),
    };
    Ok((0..batch.num_rows()).map(one).collect())
}

fn present(column: &ArrayRef, row: usize) -> bool {
    column.is_valid(row)
}

/// Text of a column, whether other programs have kept its dictionary or not.
fn arrow_text(column: &ArrayRef) -> Result<Box<dyn Fn(usize) -> Option<String> + '_>, TraceError> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok(Box::new(|row| texts.is_valid(row).then(|| texts.value(row).to_owned())));
    }
    let dictionary = column.as_dictionary_opt::<Int32Type>();
    let typed = dictionary.and_then(|dictionary| dictionary.downcast_dict::<arrow_array::StringArray>());
    let typed = typed.ok_or_else(|| TraceError::Format("a text column has no texts".to_owned()))?;
    Ok(Box::new(move |row| {
        let keys = typed.keys();
        let key = keys.is_valid(row).then(|| keys.value(row))?;
        let values = typed.values();
        usize::try_from(key).ok().filter(|&key| key < values.len()).map(|key| values.value(key).to_owned())
    }))
}

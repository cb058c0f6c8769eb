//! Traces of packets as Parquet: the columns of [`PacketRow`], in batches.

use super::PacketRow;
use crate::judge::packets::Event;
use crate::trace::TraceError;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lightlag_protocols::time::Instant;
use lightlag_worlds::packets::{Observer, Record};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Rows a batch: enough for compression, little in memory.
const BATCH: usize = 1 << 16;

/// Writes events in batches. An error stops the writing and is told by [`ParquetPackets::finish`].
pub struct ParquetPackets<W: Write + Send> {
    to: Option<ArrowWriter<W>>,
    rows: Vec<PacketRow>,
    failed: Option<TraceError>,
}

impl<W: Write + Send> ParquetPackets<W> {
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
    pub fn finish(mut self, ended: Instant) -> Result<W, TraceError> {
        self.put(ended, &Event::End);
        self.flush();
        match (self.failed, self.to) {
            (None, Some(to)) => to.into_inner().map_err(format),
            (failed, _) => Err(failed.unwrap_or_else(|| TraceError::Format("no writer".to_owned()))),
        }
    }
    fn put(&mut self, now: Instant, event: &Event) {
        self.rows.push(PacketRow::new(now, event));
        if self.rows.len() >= BATCH {
            self.flush();
        }
    }
    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let Some(to) = &mut self.to else { return };
        let written = batch(&rows).map_err(format).and_then(|batch| {
            to.write(&batch).map_err(format)?;
            // What is encoded goes to the disk, so that memory does not grow with the trace.
            to.flush().map_err(format)
        });
        if let Err(error) = written {
            self.failed = Some(error);
            self.to = None;
        }
    }
}

impl<W: Write + Send> Observer for ParquetPackets<W> {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        if let Some(event) = Event::of(record).filter(|_| self.failed.is_none()) {
            self.put(now, &event);
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
        ("link", DataType::UInt32),
        ("flow", DataType::UInt32),
        ("forward", DataType::Boolean),
        ("hop", DataType::UInt32),
        ("priority", DataType::UInt32),
        ("what", texts()),
        ("bytes", DataType::UInt64),
        ("length", DataType::UInt32),
        ("offset", DataType::UInt64),
        ("fin", DataType::Boolean),
        ("ack", DataType::UInt64),
        ("sack", texts()),
        ("print", DataType::UInt64),
        ("why", texts()),
    ];
    let field = |(at, (name, kind)): (usize, (&str, DataType))| Field::new(name, kind, at >= 2);
    Arc::new(Schema::new(columns.into_iter().enumerate().map(field).collect::<Vec<_>>()))
}

fn batch(rows: &[PacketRow]) -> Result<RecordBatch, ArrowError> {
    let n32 = |pick: fn(&PacketRow) -> Option<u32>| -> ArrayRef {
        Arc::new(rows.iter().map(pick).collect::<UInt32Array>())
    };
    let n64 = |pick: fn(&PacketRow) -> Option<u64>| -> ArrayRef {
        Arc::new(rows.iter().map(pick).collect::<UInt64Array>())
    };
    let flag = |pick: fn(&PacketRow) -> Option<bool>| -> ArrayRef {
        Arc::new(rows.iter().map(pick).collect::<BooleanArray>())
    };
    let text = |pick: fn(&PacketRow) -> Option<&str>| -> ArrayRef {
        let mut column = StringDictionaryBuilder::<Int32Type>::new();
        rows.iter().for_each(|row| column.append_option(pick(row)));
        Arc::new(column.finish())
    };
    let columns = vec![
        Arc::new(rows.iter().map(|row| row.time_ns).collect::<Int64Array>()) as ArrayRef,
        text(|row| Some(&row.kind)),
        n32(|row| row.link),
        n32(|row| row.flow),
        flag(|row| row.forward),
        n32(|row| row.hop),
        n32(|row| row.priority),
        text(|row| row.what.as_deref()),
        n64(|row| row.bytes),
        n32(|row| row.length),
        n64(|row| row.offset),
        flag(|row| row.fin),
        n64(|row| row.ack),
        text(|row| row.sack.as_deref()),
        n64(|row| row.print),
        text(|row| row.why.as_deref()),
    ];
    RecordBatch::try_new(schema(), columns)
}

/// The events of a trace in Parquet, batch by batch and in order; nothing comes after an error.
///
/// # Errors
/// If it is no such trace. What is wrong later on comes from the iterator.
pub fn read(file: File) -> Result<impl Iterator<Item = Result<(Instant, Event), TraceError>>, TraceError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(format)?;
    let (found, wanted) = (builder.schema().clone(), schema());
    for (at, column) in wanted.fields().iter().enumerate() {
        let fits = found.fields().get(at).is_some_and(|field| field.name() == column.name());
        if !fits || found.field(at).data_type() != column.data_type() {
            return Err(TraceError::Format(format!("column {} should be `{}`", at + 1, column.name())));
        }
    }
    let reader = builder.with_batch_size(BATCH).build().map_err(format)?;
    let (mut number, mut failed) = (0, false);
    let rows = reader.flat_map(|batch| match batch.map_err(format) {
        Ok(batch) => (0..batch.num_rows()).map(|at| Ok(row(&batch, at))).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    });
    Ok(rows.map_while(move |row: Result<PacketRow, TraceError>| {
        if failed {
            return None;
        }
        number += 1;
        let event = row.and_then(|row| {
            let at = Instant::from_nanos(row.time_ns);
            row.event().map(|event| (at, event)).map_err(|what| TraceError::Row { row: number, what })
        });
        failed = event.is_err();
        Some(event)
    }))
}

fn row(batch: &RecordBatch, at: usize) -> PacketRow {
    let there = |column: usize| batch.column(column).is_valid(at);
    let n32 = |c: usize| there(c).then(|| batch.column(c).as_primitive::<UInt32Type>().value(at));
    let n64 = |c: usize| there(c).then(|| batch.column(c).as_primitive::<UInt64Type>().value(at));
    let flag = |c: usize| there(c).then(|| batch.column(c).as_boolean().value(at));
    let text = |c: usize| {
        let column = batch.column(c).as_dictionary::<Int32Type>();
        let key = there(c).then(|| column.keys().value(at) as usize)?;
        let texts = column.values().as_string::<i32>();
        (key < texts.len()).then(|| texts.value(key).to_owned())
    };
    PacketRow {
        time_ns: batch.column(0).as_primitive::<Int64Type>().value(at),
        kind: text(1).unwrap_or_default().into(),
        link: n32(2),
        flow: n32(3),
        forward: flag(4),
        hop: n32(5),
        priority: n32(6),
        what: text(7).map(Into::into),
        bytes: n64(8),
        length: n32(9),
        offset: n64(10),
        fin: flag(11),
        ack: n64(12),
        sack: text(13),
        print: n64(14),
        why: text(15).map(Into::into),
    }
}

//! Time series: how full the buffers are, what is dropped, what the algorithms show.

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::ArrowError;
use lightlag_protocols::dtn::DropReason;
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_protocols::units::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// A time series file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("time series: {0}")]
pub struct SeriesError(String);

impl SeriesError {
    /// What a library says, in one line.
    pub(crate) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string().replace('\n', " "))
    }
}

/// One table as a whole Parquet file.
pub(crate) fn write_table<W: Write + Send>(
    batch: Result<RecordBatch, ArrowError>,
    to: W,
) -> Result<(), SeriesError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let written = batch.map_err(ParquetError::from).and_then(|batch| {
        let mut writer = ArrowWriter::try_new(to, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()
    });
    written.map(drop).map_err(SeriesError::new)
}

/// Time series of any world.
#[derive(Clone, Debug)]
pub enum TimeSeries {
    /// Of nodes that store bundles.
    Nodes(Series),
    /// Of flows and links.
    Packets(crate::packets::PacketSeries),
}

impl TimeSeries {
    /// Writes the rows as one Parquet table.
    ///
    /// # Errors
    /// What the file system or the encoder says.
    pub fn write_parquet<W: Write + Send>(&self, to: W) -> Result<(), SeriesError> {
        match self {
            Self::Nodes(series) => series.write_parquet(to),
            Self::Packets(series) => series.write_parquet(to),
        }
    }
}

/// Rows (time, node, name, value), one per sample and name.
///
/// Names: `buffer_used` in bytes, `buffer_fill` as a share of the buffer, one per [`DropReason`] with
/// the copies deleted so far (absent while zero), and whatever router and mechanism show.
#[derive(Clone, Debug, Default)]
pub struct Series {
    buffers: Vec<Bytes>,
    /// Per node, by [`DropReason`].
    gone: Vec<[u64; 4]>,
    times: Vec<i64>,
    nodes: Vec<u32>,
    names: Vec<&'static str>,
    values: Vec<f64>,
}

/// Names of the counts of deletions, by [`DropReason`].
const GONE: [&str; 4] =
    ["dropped_overflow", "dropped_expired", "removed_acknowledged", "removed_handed_over"];

impl Series {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// All rows: when, at which node, what, how much.
    pub fn rows(&self) -> impl Iterator<Item = (Instant, u32, &'static str, f64)> + '_ {
        (0..self.len())
            .map(|i| (Instant::from_nanos(self.times[i]), self.nodes[i], self.names[i], self.values[i]))
    }
    /// Writes the rows as one Parquet table: `time_ns`, `node`, `name`, `value`.
    ///
    /// # Errors
    /// What the file system or the encoder says.
    pub fn write_parquet<W: Write + Send>(&self, to: W) -> Result<(), SeriesError> {
        write_table(self.batch(), to)
    }
    fn batch(&self) -> Result<RecordBatch, ArrowError> {
        let mut names = StringDictionaryBuilder::<Int32Type>::new();
        for name in &self.names {
            names.append(name)?;
        }
        RecordBatch::try_from_iter([
            ("time_ns", Arc::new(Int64Array::from(self.times.clone())) as ArrayRef),
            ("node", Arc::new(UInt32Array::from(self.nodes.clone()))),
            ("name", Arc::new(names.finish())),
            ("value", Arc::new(Float64Array::from(self.values.clone()))),
        ])
    }
    fn push(&mut self, now: Instant, node: u32, name: &'static str, value: f64) {
        self.times.push(now.as_nanos());
        self.nodes.push(node);
        self.names.push(name);
        self.values.push(value);
    }
    fn sample(&mut self, now: Instant, node: u32, used: Bytes) {
        self.push(now, node, "buffer_used", used.get() as f64);
        if let Some(size) = self.buffers.get(node as usize).filter(|size| size.get() > 0) {
            self.push(now, node, "buffer_fill", used.get() as f64 / size.get() as f64);
        }
        let gone = self.gone.get(node as usize).copied().unwrap_or_default();
        for (name, count) in GONE.into_iter().zip(gone).filter(|&(_, count)| count > 0) {
            self.push(now, node, name, count as f64);
        }
    }
}

impl Observer for Series {
    #[inline]
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Node { buffer, .. } => {
                self.buffers.push(*buffer);
                self.gone.push([0; 4]);
            }
            Record::Gone { node, reason, .. } => {
                if let Some(gone) = self.gone.get_mut(node.0 as usize) {
                    gone[*reason as usize] += 1;
                }
            }
            Record::Sample { node, used, seen } => {
                self.sample(now, node.0, *used);
                seen.iter().for_each(|&(name, value)| self.push(now, node.0, name, value));
            }
            _ => {}
        }
    }
}

const _: () = assert!(DropReason::HandedOver as usize == GONE.len() - 1);

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_protocols::dtn::{BundleId, NodeId};

    fn short_story() -> Series {
        let mut series = Series::new();
        let node = NodeId(0);
        let (id, reason, received) = (BundleId(0), DropReason::Overflow, Instant::ZERO);
        let records = [
            Record::Node { node, buffer: Bytes(200) },
            Record::Gone { node, id, reason, received },
            Record::Sample { node, used: Bytes(50), seen: vec![("copies", 3.0)] },
        ];
        records.iter().for_each(|record| series.on_record(Instant::from_secs(60), record));
        series
    }

    #[test]
    fn a_sample_gives_fill_drops_and_observables() {
        let rows: Vec<(&str, f64)> = short_story().rows().map(|row| (row.2, row.3)).collect();
        let expected =
            [("buffer_used", 50.0), ("buffer_fill", 0.25), ("dropped_overflow", 1.0), ("copies", 3.0)];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_series_is_a_parquet_table_of_four_columns() {
        let path = std::env::temp_dir().join(format!("lightlag-series-{}.parquet", std::process::id()));
        let file = std::fs::File::create(&path).expect("the temporary folder can be written");
        short_story().write_parquet(file).expect("the disk has room");
        let file = std::fs::File::open(&path).expect("it was just written");
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        let reader = reader.and_then(|builder| builder.build()).expect("what was written can be read");
        let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("a batch")).collect();
        assert_eq!((batches[0].num_rows(), batches[0].num_columns()), (4, 4));
        std::fs::remove_file(&path).expect("it is ours");
    }
}

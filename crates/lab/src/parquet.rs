//! Tables as Parquet files.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// One table as a whole file; the same table and facts give the same bytes.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write<W: Write + Send>(
    batch: std::result::Result<RecordBatch, ArrowError>,
    facts: &[(&str, String)],
    to: W,
) -> Result<W> {
    let batch = batch.map_err(ParquetError::from)?;
    let facts = facts.iter().map(|(name, text)| KeyValue::new((*name).to_owned(), text.clone()));
    // Metadata goes here and not into the schema, whose hash map would be written in any order.
    let facts = Some(facts.collect::<Vec<_>>()).filter(|facts| !facts.is_empty());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(facts)
        .build();
    let mut writer = ArrowWriter::try_new(to, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// A table of columns by name, each of which may have gaps.
///
/// # Errors
/// Columns of different lengths.
pub fn table(columns: Vec<(String, ArrayRef)>) -> std::result::Result<RecordBatch, ArrowError> {
    let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let fields: Vec<Field> = columns.iter().map(field).collect();
    let arrays = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

//! What an emulated link carried, second by second: a row for each and direction, as CSV or as Parquet.

use crate::metrics::{SeriesError, write_table};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use std::io::{self, Write};
use std::sync::Arc;

/// A second of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecondRow {
    /// Which, counted from 0.
    pub second: u64,
    /// `there` or `back`.
    pub way: &'static str,
    /// Packets that came to the link.
    pub offered: u64,
    /// Packets that did not get onto the wire.
    pub dropped: u64,
    /// Packets lost on the wire.
    pub lost: u64,
    /// Packets that left it at the other side.
    pub arrived: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// How long these took, in seconds on average; none of none.
    pub delay_s: Option<f64>,
}

type Count = (&'static str, fn(&SecondRow) -> u64);

const COUNTS: [Count; 5] = [
    ("offered", |row| row.offered),
    ("dropped", |row| row.dropped),
    ("lost", |row| row.lost),
    ("arrived", |row| row.arrived),
    ("bytes", |row| row.bytes),
];

/// Writes rows as CSV.
///
/// # Errors
/// What the file system says.
pub fn write_csv(rows: &[SecondRow], mut to: impl Write) -> io::Result<()> {
    let counts = COUNTS.map(|count| count.0).join(",");
    writeln!(to, "second,direction,{counts},delay_s")?;
    for row in rows {
        let counts = COUNTS.map(|count| count.1(row).to_string()).join(",");
        let delay_s = row.delay_s.map(|delay_s| format!("{delay_s:.6}")).unwrap_or_default();
        writeln!(to, "{},{},{counts},{delay_s}", row.second, row.way)?;
    }
    to.flush()
}

/// Writes rows as Parquet.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write_parquet<W: Write + Send>(rows: &[SecondRow], to: W) -> Result<(), SeriesError> {
    let whole = |value: fn(&SecondRow) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
    };
    let ways: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.way)).collect::<StringArray>());
    let delays: ArrayRef = Arc::new(rows.iter().map(|row| row.delay_s).collect::<Float64Array>());
    let mut columns = vec![("second", whole(|row| row.second), false), ("direction", ways, false)];
    columns.extend(COUNTS.map(|(name, value)| (name, whole(value), false)));
    columns.push(("delay_s", delays, true));
    write_table(RecordBatch::try_from_iter_with_nullable(columns), to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn rows() -> Vec<SecondRow> {
        let busy =
            SecondRow { way: "there", offered: 3, lost: 1, arrived: 2, bytes: 200, ..SecondRow::default() };
        vec![SecondRow { delay_s: Some(0.25), ..busy }, SecondRow { way: "back", ..SecondRow::default() }]
    }

    #[test]
    fn a_row_is_a_line_of_csv() {
        let mut text = Vec::new();
        write_csv(&rows(), &mut text).unwrap();
        let right = "second,direction,offered,dropped,lost,arrived,bytes,delay_s\n\
                     0,there,3,0,1,2,200,0.250000\n0,back,0,0,0,0,0,\n";
        assert_eq!(String::from_utf8(text).unwrap(), right);
    }

    #[test]
    fn a_row_is_a_row_of_parquet() {
        let file = tempfile::tempfile().unwrap();
        write_parquet(&rows(), file.try_clone().unwrap()).unwrap();
        let batch = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap();
        assert_eq!(batch.unwrap().num_rows(), 2);
    }
}

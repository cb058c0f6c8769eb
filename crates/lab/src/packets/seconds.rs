//! What an emulated link carried, second by second: a row for each and direction, as CSV or as Parquet.

use crate::series::TableError;
use lightlag_judge::row;
use lightlag_judge::trace::{Columns, Tabular, Text};
use std::io::{self, Write};

row! {
    /// A second of one direction.
    SecondRow {
        /// Which, counted from 0.
        second: u64,
        /// `there` or `back`.
        direction: Text,
        /// Packets that came to the link.
        offered: u64,
        /// Packets that did not get onto the wire.
        dropped: u64,
        /// Packets lost on the wire.
        lost: u64,
        /// Packets that left it at the other side.
        arrived: u64,
        /// Bytes of these.
        bytes: u64,
        /// Mean time that these took, in seconds; empty without any.
        delay_s: Option<f64>,
    }
}

/// Writes rows as CSV.
///
/// # Errors
/// What the file system says.
pub fn write_csv(rows: &[SecondRow], mut to: impl Write) -> io::Result<()> {
    let names: Vec<&str> = SecondRow::COLUMNS.iter().map(|column| column.name).collect();
    writeln!(to, "{}", names.join(","))?;
    rows.iter().try_for_each(|row| writeln!(to, "{}", row.texts().join(",")))?;
    to.flush()
}

/// Writes rows as Parquet.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write_parquet<W: Write + Send>(rows: &[SecondRow], to: W) -> Result<(), TableError> {
    crate::parquet::write(SecondRow::batch(rows), &[], to).map(drop).map_err(TableError::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn rows() -> Vec<SecondRow> {
        let busy = SecondRow {
            direction: "there".into(),
            offered: 3,
            lost: 1,
            arrived: 2,
            bytes: 200,
            ..SecondRow::default()
        };
        vec![
            SecondRow { delay_s: Some(0.25), ..busy },
            SecondRow { direction: "back".into(), ..SecondRow::default() },
        ]
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

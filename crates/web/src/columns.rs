//! Records as columns: what a page reads at once, without an object for each record.

use lightlag_judge::trace::{ColumnType, Columns, RowDigest, RowSink, Value};
use std::collections::HashMap;

/// In columns of whole numbers and texts: nothing.
pub const GAP: u32 = u32::MAX;
/// In columns of flags: nothing.
pub const NO_FLAG: u8 = u8::MAX;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers; [`GAP`] for nothing.
    Whole(Vec<u32>),
    /// Numbers, those of 64 bits too: exact up to 2^53. NaN for nothing.
    Real(Vec<f64>),
    /// 0, 1, or [`NO_FLAG`] for nothing.
    Flags(Vec<u8>),
    /// Texts by their number in the list of texts; [`GAP`] for nothing.
    Texts(Vec<u32>),
}

/// A column with at least one cell that is no gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// Its name, as in traces.
    pub name: &'static str,
    /// Its cells.
    pub cells: Cells,
}

/// Records since the last batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// How many.
    pub rows: usize,
    /// Columns that are not all gaps.
    pub columns: Vec<Filled>,
    /// Texts that no batch had before; they are numbered on.
    pub texts: Vec<String>,
}

/// Takes rows and gives batches.
#[derive(Debug, Default)]
pub struct Tape {
    rows: usize,
    /// For each column its cells, and whether one of them is no gap.
    columns: Vec<(Cells, bool)>,
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<String>,
    /// Of all rows, those that were taken off too.
    pub digest: RowDigest,
}

impl Tape {
    /// Takes off the rows since the last time, which have these columns.
    pub fn take<R: Columns>(&mut self) -> Batch {
        let columns = std::mem::take(&mut self.columns).into_iter().zip(R::COLUMNS);
        let filled = columns.filter(|((_, filled), _)| *filled);
        let columns = filled.map(|((cells, _), column)| Filled { name: column.name, cells }).collect();
        Batch { rows: std::mem::take(&mut self.rows), columns, texts: std::mem::take(&mut self.texts) }
    }
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.to_owned());
        number
    }
    fn cell(&mut self, column: usize, value: Value) {
        let text = if let Value::Text(text) = value { self.number(text) } else { GAP };
        let (cells, filled) = &mut self.columns[column];
        *filled |= value != Value::Gap;
        match (cells, value) {
            (Cells::Whole(list), Value::U32(number)) => list.push(number),
            (Cells::Whole(list), _) => list.push(GAP),
            (Cells::Texts(list), _) => list.push(text),
            (Cells::Flags(list), Value::Flag(flag)) => list.push(flag.into()),
            (Cells::Flags(list), _) => list.push(NO_FLAG),
            (Cells::Real(list), value) => list.push(match value {
                Value::F64(number) => number,
                Value::I64(number) => number as f64,
                Value::U64(number) => number as f64,
                _ => f64::NAN,
            }),
        }
    }
}

fn empty(kind: ColumnType) -> Cells {
    match kind {
        ColumnType::U32 => Cells::Whole(Vec::new()),
        ColumnType::U64 | ColumnType::I64 | ColumnType::F64 => Cells::Real(Vec::new()),
        ColumnType::Flag => Cells::Flags(Vec::new()),
        ColumnType::Text => Cells::Texts(Vec::new()),
    }
}

impl<R: Columns> RowSink<R> for Tape {
    fn put(&mut self, row: &R) {
        self.digest.put(row);
        if self.columns.is_empty() {
            self.columns = R::COLUMNS.iter().map(|column| (empty(column.kind), false)).collect();
        }
        let mut column = 0;
        row.cells(|value| {
            self.cell(column, value);
            column += 1;
        });
        self.rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_judge::trace::Row;

    #[test]
    fn a_batch_has_the_columns_that_are_not_empty_and_each_text_once() {
        let row = |kind: &'static str, node| Row { time_ns: 5, kind: kind.into(), node, ..Row::default() };
        let mut tape = Tape::default();
        [row("sent", Some(7)), row("end", None), row("sent", None)].iter().for_each(|row| tape.put(row));
        let filled = |name, cells| Filled { name, cells };
        let first = Batch {
            rows: 3,
            columns: vec![
                filled("time_ns", Cells::Real(vec![5.0; 3])),
                filled("kind", Cells::Texts(vec![0, 1, 0])),
                filled("node", Cells::Whole(vec![7, GAP, GAP])),
            ],
            texts: vec!["sent".into(), "end".into()],
        };
        assert_eq!(tape.take::<Row>(), first);
        tape.put(&row("end", None));
        let second = tape.take::<Row>();
        assert_eq!((second.rows, second.texts.len()), (1, 0));
        assert_eq!(second.columns[1], filled("kind", Cells::Texts(vec![1])), "numbers stay");
    }
}

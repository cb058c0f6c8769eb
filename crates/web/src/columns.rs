//! Records as columns: what a page reads at once, without an object for each record.

use lightlag_judge::trace::{ColumnType, Columns, RowDigest, RowSink, Value};
use std::collections::HashMap;

/// In columns of whole numbers and texts: nothing.
pub const GAP: u32 = u32::MAX;
/// In columns of flags: nothing.
pub const NO_FLAG: u8 = u8::MAX;

/// In columns of exact numbers of 64 bits: nothing.
pub const WIDE_GAP: i64 = i64::MIN;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers; [`GAP`] for nothing.
    Whole(Vec<u32>),
    /// Numbers, those of 64 bits too: exact up to 2^53. NaN for nothing.
    Real(Vec<f64>),
    /// Numbers of 64 bits, exactly, unsigned ones by their bits; [`WIDE_GAP`] for nothing. Batches have them as `Real` unless
    /// they must be exact.
    Wide(Vec<i64>),
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
    /// Gaps at the end of a column are missing until something follows, or it is taken off: most cells of most rows are gaps.
    columns: Vec<Cells>,
    /// How long each column was in the last batch: the next is much like it.
    lengths: Vec<usize>,
    texts: Numbers,
    /// By column whether it is kept; `None`: all are, and count in the digest.
    kept: Option<Vec<bool>>,
    digest: RowDigest,
    /// Whether batches have numbers of 64 bits as they are.
    exact: bool,
}

impl Tape {
    /// `exact`: batches have numbers of 64 bits exactly, for a table that is saved.
    pub fn new(exact: bool) -> Self {
        Self { exact, ..Self::default() }
    }
    /// Takes only these columns from now on. There is no digest then, which takes longer than the other work on a row.
    pub fn choose<R: Columns>(&mut self, names: &[String]) {
        let kept: Vec<bool> =
            R::COLUMNS.iter().map(|column| names.iter().any(|name| name == column.name)).collect();
        for (cells, _) in self.columns.iter_mut().zip(&kept).filter(|(_, kept)| !**kept) {
            cells.clear();
        }
        self.kept = Some(kept);
    }
    /// Of all rows, those that were taken off too; `None` if not all was taken.
    pub fn digest(&self) -> Option<String> {
        self.kept.is_none().then(|| self.digest.digits())
    }
    /// Takes off the rows since the last time, which have these columns.
    pub fn take<R: Columns>(&mut self) -> Batch {
        let rows = std::mem::take(&mut self.rows);
        let columns = std::mem::take(&mut self.columns);
        self.lengths = columns.iter().map(|cells| if cells.len() > 0 { rows } else { 0 }).collect();
        let columns = columns.into_iter().zip(R::COLUMNS);
        let filled = columns.filter(|(cells, _)| cells.len() > 0);
        let exact = self.exact;
        let columns = filled.map(|(mut cells, column)| {
            cells.gaps(rows);
            let cells = if exact { cells } else { cells.narrowed(column.kind) };
            Filled { name: column.name, cells }
        });
        Batch { rows, columns: columns.collect(), texts: std::mem::take(&mut self.texts.new) }
    }
}

impl<R: Columns> RowSink<R> for Tape {
    fn put(&mut self, row: &R) {
        if self.kept.is_none() {
            self.digest.put(row);
        }
        if self.columns.is_empty() {
            let before = self.lengths.iter().copied().chain(std::iter::repeat(0));
            self.columns =
                R::COLUMNS.iter().zip(before).map(|(column, length)| empty(column.kind, length)).collect();
        }
        let Self { rows, columns, texts, kept, .. } = self;
        row.filled(|column, value| {
            if kept.as_ref().is_none_or(|kept| kept[column]) {
                columns[column].push(*rows, value, texts);
            }
        });
        self.rows += 1;
    }
}

/// Numbers of texts.
#[derive(Debug, Default)]
struct Numbers {
    all: HashMap<Box<str>, u32>,
    /// Those that were met last, by a number that their length and ends give: most texts come again at once.
    recent: [Option<(Box<str>, u32)>; 32],
    new: Vec<String>,
}

impl Numbers {
    fn of(&mut self, text: &str) -> u32 {
        let bytes = text.as_bytes();
        let ends = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(*byte));
        let place = (bytes.len() * 7 + ends(bytes.first()) * 3 + ends(bytes.last())) % self.recent.len();
        if let Some((known, number)) = &self.recent[place]
            && **known == *text
        {
            return *number;
        }
        let number = self.all.get(text).copied().unwrap_or_else(|| {
            self.new.push(text.to_owned());
            let number = self.all.len() as u32;
            self.all.insert(text.into(), number);
            number
        });
        self.recent[place] = Some((text.into(), number));
        number
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Whole(list) | Self::Texts(list) => list.len(),
            Self::Real(list) => list.len(),
            Self::Wide(list) => list.len(),
            Self::Flags(list) => list.len(),
        }
    }
    fn clear(&mut self) {
        match self {
            Self::Whole(list) | Self::Texts(list) => list.clear(),
            Self::Real(list) => list.clear(),
            Self::Wide(list) => list.clear(),
            Self::Flags(list) => list.clear(),
        }
    }
    /// Gaps until it has that number of cells.
    fn gaps(&mut self, rows: usize) {
        match self {
            Self::Whole(list) | Self::Texts(list) if list.len() < rows => list.resize(rows, GAP),
            Self::Real(list) if list.len() < rows => list.resize(rows, f64::NAN),
            Self::Wide(list) if list.len() < rows => list.resize(rows, WIDE_GAP),
            Self::Flags(list) if list.len() < rows => list.resize(rows, NO_FLAG),
            _ => {}
        }
    }
    /// Numbers of 64 bits as those of JavaScript.
    fn narrowed(self, kind: ColumnType) -> Self {
        let Self::Wide(list) = self else { return self };
        let as_real = |number: i64| match kind {
            _ if number == WIDE_GAP => f64::NAN,
            ColumnType::U64 => number.cast_unsigned() as f64,
            _ => number as f64,
        };
        Self::Real(list.into_iter().map(as_real).collect())
    }
    /// A value in row `row`, counted from 0, after gaps.
    #[inline]
    fn push(&mut self, row: usize, value: Value, texts: &mut Numbers) {
        match (self, value) {
            (Self::Whole(list), Value::U32(number)) => put(list, row, number, GAP),
            (Self::Texts(list), Value::Text(text)) => put(list, row, texts.of(text), GAP),
            (Self::Flags(list), Value::Flag(flag)) => put(list, row, flag.into(), NO_FLAG),
            (Self::Real(list), Value::F64(number)) => put(list, row, number, f64::NAN),
            (Self::Wide(list), Value::I64(number)) => put(list, row, number, WIDE_GAP),
            (Self::Wide(list), Value::U64(number)) => put(list, row, number.cast_signed(), WIDE_GAP),
            // A value never has another type than its column.
            _ => {}
        }
    }
}

#[inline]
fn put<T: Copy>(list: &mut Vec<T>, row: usize, value: T, gap: T) {
    if list.len() < row {
        list.resize(row, gap);
    }
    list.push(value);
}

fn empty(kind: ColumnType, length: usize) -> Cells {
    match kind {
        ColumnType::U32 => Cells::Whole(Vec::with_capacity(length)),
        ColumnType::U64 | ColumnType::I64 => Cells::Wide(Vec::with_capacity(length)),
        ColumnType::F64 => Cells::Real(Vec::with_capacity(length)),
        ColumnType::Flag => Cells::Flags(Vec::with_capacity(length)),
        ColumnType::Text => Cells::Texts(Vec::with_capacity(length)),
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

    #[test]
    fn an_exact_batch_keeps_every_bit_of_wide_numbers() {
        let row = |rate| Row { time_ns: (1 << 60) + 1, kind: "rate".into(), rate, ..Row::default() };
        let rows = [row(None), row(Some(u64::MAX - 1))];
        let mut tape = Tape::default();
        rows.iter().for_each(|row| tape.put(row));
        let rounded = &tape.take::<Row>().columns[2];
        assert!(
            matches!(&rounded.cells, Cells::Real(cells) if cells[0].is_nan() && cells[1] == 2.0_f64.powi(64))
        );
        let mut tape = Tape::new(true);
        rows.iter().for_each(|row| tape.put(row));
        let columns = tape.take::<Row>().columns;
        assert_eq!(columns[0].cells, Cells::Wide(vec![(1 << 60) + 1; 2]));
        assert_eq!(columns[2], Filled { name: "rate", cells: Cells::Wide(vec![WIDE_GAP, -2]) });
    }

    #[test]
    fn chosen_columns_come_alone_and_without_a_digest() {
        let row = |kind: &'static str, node| Row { kind: kind.into(), node, hops: Some(1), ..Row::default() };
        let mut tape = Tape::default();
        tape.put(&row("node", Some(0)));
        assert!(tape.digest().is_some());
        tape.choose::<Row>(&["kind".into(), "node".into()]);
        [row("sent", None), row("sent", Some(2))].iter().for_each(|row| tape.put(row));
        let filled = |name, cells| Filled { name, cells };
        let columns =
            vec![filled("kind", Cells::Texts(vec![0, 1, 1])), filled("node", Cells::Whole(vec![0, GAP, 2]))];
        assert_eq!(tape.take::<Row>(), Batch { rows: 3, columns, texts: vec!["node".into(), "sent".into()] });
        assert_eq!(tape.digest(), None);
    }
}

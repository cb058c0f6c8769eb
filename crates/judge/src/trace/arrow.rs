//! Rows as tables of Arrow, which Parquet files hold.

use super::{Cell, Column, ColumnType, Columns, Text, TraceError};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_array::{UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

impl ColumnType {
    /// The type in a table.
    pub fn data_type(self) -> DataType {
        match self {
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Text => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        }
    }
}

/// Rows that become tables, declared by the macro `row!`.
pub trait Tabular: Columns {
    /// Names and types.
    fn schema() -> SchemaRef {
        let field = |column: &Column| Field::new(column.name, column.kind.data_type(), column.optional);
        Arc::new(Schema::new(Self::COLUMNS.iter().map(field).collect::<Vec<_>>()))
    }
    /// The rows as a table.
    ///
    /// # Errors
    /// None that a row can cause.
    fn batch(rows: &[Self]) -> Result<RecordBatch, ArrowError>;
    /// The rows of a table whose columns were [checked](check).
    ///
    /// # Errors
    /// If a column that must be there has gaps.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, TraceError>;
}

/// Makes tables of rows: nothing without the feature `parquet`.
#[macro_export]
macro_rules! table {
    ($row:ident { $($field:ident: $kind:ty,)+ }) => {
        impl $crate::trace::Tabular for $row {
            fn batch(rows: &[Self]) -> Result<$crate::trace::RecordBatch, $crate::trace::ArrowError> {
                use $crate::trace::TableCell;
                let columns = vec![$(TableCell::column(rows.iter().map(|row| &row.$field))),+];
                $crate::trace::RecordBatch::try_new(Self::schema(), columns)
            }
            fn rows(batch: &$crate::trace::RecordBatch) -> Result<Vec<Self>, $crate::trace::TraceError> {
                $(let $field = $crate::trace::reader(batch, stringify!($field))?;)+
                Ok((0..batch.num_rows()).map(|row| Self { $($field: $field(row)),+ }).collect())
            }
        }
    };
}

/// A cell of a table.
pub trait TableCell: Cell {
    /// A column of a table.
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;
    /// What row `n` holds; of a column of that type, without gaps if cells aren't optional.
    ///
    /// # Errors
    /// If the column is of another type.
    fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError>;
}

/// What the rows of a column hold.
pub type Reader<'a, C> = Box<dyn Fn(usize) -> C + 'a>;

/// What the rows of a column of that name hold.
///
/// # Errors
/// If a column that must be there has gaps.
pub fn reader<'a, C: TableCell>(batch: &'a RecordBatch, name: &str) -> Result<Reader<'a, C>, TraceError> {
    let column = batch.column_by_name(name).filter(|column| C::OPTIONAL || column.null_count() == 0);
    C::reader(column.ok_or_else(|| TraceError::Format(format!("column `{name}` has gaps")))?)
}

macro_rules! numbers {
    ($($number:ty, $arrow:ty, $array:ty;)+) => {$(
        impl TableCell for $number {
            fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(<$array>::from_iter_values(cells.copied()))
            }
            fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
                let numbers = column.as_primitive::<$arrow>();
                Ok(Box::new(|row| numbers.value(row)))
            }
        }
        impl TableCell for Option<$number> {
            fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(cells.copied().collect::<$array>())
            }
            fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
                let numbers = column.as_primitive::<$arrow>();
                Ok(Box::new(|row| numbers.is_valid(row).then(|| numbers.value(row))))
            }
        }
    )+};
}

numbers! {
    u32, UInt32Type, UInt32Array;
    u64, UInt64Type, UInt64Array;
    i64, Int64Type, Int64Array;
    f64, Float64Type, Float64Array;
}

impl TableCell for Option<bool> {
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(cells.copied().collect::<BooleanArray>())
    }
    fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
        let flags = column.as_boolean();
        Ok(Box::new(|row| flags.is_valid(row).then(|| flags.value(row))))
    }
}

macro_rules! texts {
    ($($cell:ty),+) => {$(
        impl TableCell for Option<$cell> {
            fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
                text_column(cells.map(Option::as_deref))
            }
            fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
                let texts = text_reader(column)?;
                Ok(Box::new(move |row| texts(row).map(Into::into)))
            }
        }
    )+};
}

texts!(String, Text);

impl TableCell for Text {
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        text_column(cells.map(|text| Some(&**text)))
    }
    fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
        let texts = text_reader(column)?;
        Ok(Box::new(move |row| texts(row).unwrap_or_default().into()))
    }
}

fn text_column<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut column = StringDictionaryBuilder::<Int32Type>::new();
    texts.for_each(|text| column.append_option(text));
    Arc::new(column.finish())
}

/// Texts of a column, whether other programs have kept its dictionary or not.
fn text_reader(column: &ArrayRef) -> Result<Reader<'_, Option<String>>, TraceError> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok(Box::new(|row| texts.is_valid(row).then(|| texts.value(row).to_owned())));
    }
    let dictionary = column.as_dictionary_opt::<Int32Type>();
    let typed = dictionary.and_then(|dictionary| dictionary.downcast_dict::<StringArray>());
    let typed = typed.ok_or_else(|| TraceError::Format("a text column has no texts".to_owned()))?;
    Ok(Box::new(move |row| {
        let keys = typed.keys();
        let key = keys.is_valid(row).then(|| keys.value(row))?;
        let values = typed.values();
        usize::try_from(key).ok().filter(|&key| key < values.len()).map(|key| values.value(key).to_owned())
    }))
}

/// Whether a table has the columns of `R`.
pub(super) fn check<R: Tabular>(found: &Schema) -> Result<(), TraceError> {
    let plain =
        |kind: &DataType| if *kind == ColumnType::Text.data_type() { DataType::Utf8 } else { kind.clone() };
    for (at, wanted) in R::schema().fields().iter().enumerate() {
        let column = found.fields().get(at).filter(|field| field.name() == wanted.name());
        if column.is_none_or(|field| plain(field.data_type()) != plain(wanted.data_type())) {
            let what = format!("column {} should be `{}` ({})", at + 1, wanted.name(), wanted.data_type());
            return Err(TraceError::Format(what));
        }
    }
    Ok(())
}

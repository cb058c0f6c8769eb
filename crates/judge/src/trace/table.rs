//! Rows as columns of a table.

use super::TraceError;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_array::{UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::borrow::Cow;
use std::sync::Arc;

/// A text that is nearly always one of ours.
pub type Text = Cow<'static, str>;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it says, in one or more sentences of Markdown.
    pub about: &'static str,
    /// Whether rows may leave it out.
    pub optional: bool,
    /// Its type in a table.
    pub data_type: fn() -> DataType,
}

/// A row of flat columns, declared by the macro `row!`.
pub trait Columns: Sized {
    /// The columns, in order.
    const COLUMNS: &'static [Column];
    /// Names and types.
    fn schema() -> SchemaRef {
        let field = |column: &Column| Field::new(column.name, (column.data_type)(), column.optional);
        Arc::new(Schema::new(Self::COLUMNS.iter().map(field).collect::<Vec<_>>()))
    }
    /// The rows as a table.
    ///
    /// # Errors
    /// None that a row can cause.
    fn batch(rows: &[Self]) -> Result<RecordBatch, ArrowError>;
    /// The cells of the row as CSV shows them; those of ours need no quotes.
    fn texts(&self) -> Vec<String>;
    /// The rows of a table whose columns were [checked](check).
    ///
    /// # Errors
    /// If a column that must be there has gaps.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, TraceError>;
}

/// Declares a row: its fields are the columns of tables and the keys of JSON lines; their comments are the
/// reference of the format in the documentation. The crate that declares it depends on `arrow-array`,
/// `arrow-schema` and `serde`.
#[macro_export]
macro_rules! row {
    ($(#[$about_row:meta])* $row:ident { $($(#[doc = $about:literal])+ $field:ident: $kind:ty,)+ }) => {
        $(#[$about_row])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $row {$(
            $(#[doc = $about])+
            #[serde(skip_serializing_if = "lightlag_judge::trace::Cell::is_gap")]
            pub $field: $kind,
        )+}

        impl $crate::trace::Columns for $row {
            const COLUMNS: &'static [$crate::trace::Column] = &[$($crate::trace::Column {
                name: stringify!($field),
                about: concat!($($about),+),
                optional: <$kind as $crate::trace::Cell>::OPTIONAL,
                data_type: <$kind as $crate::trace::Cell>::data_type,
            }),+];
            fn batch(rows: &[Self]) -> Result<arrow_array::RecordBatch, arrow_schema::ArrowError> {
                use $crate::trace::Cell;
                let columns = vec![$(Cell::column(rows.iter().map(|row| &row.$field))),+];
                arrow_array::RecordBatch::try_new(Self::schema(), columns)
            }
            fn texts(&self) -> Vec<String> {
                vec![$($crate::trace::Cell::text(&self.$field)),+]
            }
            fn rows(batch: &arrow_array::RecordBatch) -> Result<Vec<Self>, $crate::trace::TraceError> {
                $(let $field = $crate::trace::reader(batch, stringify!($field))?;)+
                Ok((0..batch.num_rows()).map(|row| Self { $($field: $field(row)),+ }).collect())
            }
        }
    };
}

/// A cell of a column of its type.
pub trait Cell: Sized {
    /// Whether rows may leave it out.
    const OPTIONAL: bool;
    /// Whether JSON lines leave it out.
    fn is_gap(&self) -> bool;
    /// Its type in a table.
    fn data_type() -> DataType;
    /// As CSV shows it: nothing for a gap.
    fn text(&self) -> String;
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
pub fn reader<'a, C: Cell>(batch: &'a RecordBatch, name: &str) -> Result<Reader<'a, C>, TraceError> {
    let column = batch.column_by_name(name).filter(|column| C::OPTIONAL || column.null_count() == 0);
    C::reader(column.ok_or_else(|| TraceError::Format(format!("column `{name}` has gaps")))?)
}

macro_rules! numbers {
    ($($number:ty, $arrow:ty, $array:ty, $data:ident, $text:literal;)+) => {$(
        impl Cell for $number {
            const OPTIONAL: bool = false;
            fn is_gap(&self) -> bool {
                false
            }
            fn data_type() -> DataType {
                DataType::$data
            }
            fn text(&self) -> String {
                format!($text, self)
            }
            fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(<$array>::from_iter_values(cells.copied()))
            }
            fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
                let numbers = column.as_primitive::<$arrow>();
                Ok(Box::new(|row| numbers.value(row)))
            }
        }
        impl Cell for Option<$number> {
            const OPTIONAL: bool = true;
            fn is_gap(&self) -> bool {
                self.is_none()
            }
            fn data_type() -> DataType {
                DataType::$data
            }
            fn text(&self) -> String {
                self.as_ref().map(Cell::text).unwrap_or_default()
            }
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
    u32, UInt32Type, UInt32Array, UInt32, "{}";
    u64, UInt64Type, UInt64Array, UInt64, "{}";
    i64, Int64Type, Int64Array, Int64, "{}";
    f64, Float64Type, Float64Array, Float64, "{:.6}";
}

impl Cell for Option<bool> {
    const OPTIONAL: bool = true;
    fn is_gap(&self) -> bool {
        self.is_none()
    }
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn text(&self) -> String {
        self.map(|flag| flag.to_string()).unwrap_or_default()
    }
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
        impl Cell for Option<$cell> {
            const OPTIONAL: bool = true;
            fn is_gap(&self) -> bool {
                self.is_none()
            }
            fn data_type() -> DataType {
                text_type()
            }
            fn text(&self) -> String {
                self.as_deref().unwrap_or_default().to_owned()
            }
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

impl Cell for Text {
    const OPTIONAL: bool = false;
    fn is_gap(&self) -> bool {
        false
    }
    fn data_type() -> DataType {
        text_type()
    }
    fn text(&self) -> String {
        self.clone().into_owned()
    }
    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        text_column(cells.map(|text| Some(&**text)))
    }
    fn reader(column: &ArrayRef) -> Result<Reader<'_, Self>, TraceError> {
        let texts = text_reader(column)?;
        Ok(Box::new(move |row| texts(row).unwrap_or_default().into()))
    }
}

fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
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
pub(super) fn check<R: Columns>(found: &Schema) -> Result<(), TraceError> {
    let plain = |kind: &DataType| if *kind == text_type() { DataType::Utf8 } else { kind.clone() };
    for (at, wanted) in R::schema().fields().iter().enumerate() {
        let column = found.fields().get(at).filter(|field| field.name() == wanted.name());
        if column.is_none_or(|field| plain(field.data_type()) != plain(wanted.data_type())) {
            let what = format!("column {} should be `{}` ({})", at + 1, wanted.name(), wanted.data_type());
            return Err(TraceError::Format(what));
        }
    }
    Ok(())
}

//! Rows as columns of a table.

use std::borrow::Cow;

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
    /// Its type.
    pub kind: ColumnType,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers from 0 to 2^32 - 1.
    U32,
    /// Whole numbers from 0 to 2^64 - 1.
    U64,
    /// Whole numbers with a sign, of 64 bits.
    I64,
    /// Numbers with a point, of 64 bits.
    F64,
    /// True or false.
    Flag,
    /// Texts, most of which come often.
    Text,
}

impl ColumnType {
    /// Its name, as tables of the documentation and readers of traces have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::I64 => "int64",
            Self::F64 => "float64",
            Self::Flag => "boolean",
            Self::Text => "text",
        }
    }
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing.
    Gap,
    /// Of a column of [`ColumnType::U32`].
    U32(u32),
    /// Of a column of [`ColumnType::U64`].
    U64(u64),
    /// Of a column of [`ColumnType::I64`].
    I64(i64),
    /// Of a column of [`ColumnType::F64`].
    F64(f64),
    /// Of a column of [`ColumnType::Flag`].
    Flag(bool),
    /// Of a column of [`ColumnType::Text`].
    Text(&'a str),
}

/// A row of flat columns, declared by the macro `row!`.
pub trait Columns: Sized {
    /// The columns, in order.
    const COLUMNS: &'static [Column];
    /// Calls `put` with each cell, in the order of the columns.
    fn cells<'a>(&'a self, put: impl FnMut(Value<'a>));
    /// Calls `put` with the number of the column and the cell, for each cell that is no gap: most of a row are.
    fn filled<'a>(&'a self, put: impl FnMut(usize, Value<'a>));
    /// The cells of the row as CSV shows them; those of ours need no quotes.
    fn texts(&self) -> Vec<String>;
}

/// Declares a row: its fields are the columns of tables and the keys of JSON lines; their comments are the
/// reference of the format in the documentation. The crate that declares it depends on `serde`.
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
                kind: <$kind as $crate::trace::Cell>::TYPE,
            }),+];
            fn cells<'a>(&'a self, mut put: impl FnMut($crate::trace::Value<'a>)) {
                $(put($crate::trace::Cell::value(&self.$field));)+
            }
            #[inline]
            #[allow(unused_assignments, reason = "nothing counts after the last column")]
            fn filled<'a>(&'a self, mut put: impl FnMut(usize, $crate::trace::Value<'a>)) {
                let mut column = 0;
                $(
                    if !$crate::trace::Cell::is_gap(&self.$field) {
                        put(column, $crate::trace::Cell::value(&self.$field));
                    }
                    column += 1;
                )+
            }
            fn texts(&self) -> Vec<String> {
                vec![$($crate::trace::Cell::text(&self.$field)),+]
            }
        }

        $crate::table! { $row { $($field: $kind,)+ } }
    };
}

/// Makes tables of rows: nothing without the feature `parquet`.
#[cfg(not(feature = "parquet"))]
#[macro_export]
macro_rules! table {
    ($row:ident { $($field:ident: $kind:ty,)+ }) => {};
}

/// A cell of a column of its type.
pub trait Cell: Sized {
    /// Whether rows may leave it out.
    const OPTIONAL: bool;
    /// The type of its column.
    const TYPE: ColumnType;
    /// Whether JSON lines leave it out.
    fn is_gap(&self) -> bool;
    /// What it holds.
    fn value(&self) -> Value<'_>;
    /// As CSV shows it: nothing for a gap.
    fn text(&self) -> String;
}

macro_rules! numbers {
    ($($number:ty, $kind:ident, $text:literal;)+) => {$(
        impl Cell for $number {
            const OPTIONAL: bool = false;
            const TYPE: ColumnType = ColumnType::$kind;
            #[inline]
            fn is_gap(&self) -> bool {
                false
            }
            #[inline]
            fn value(&self) -> Value<'_> {
                Value::$kind(*self)
            }
            fn text(&self) -> String {
                format!($text, self)
            }
        }
        impl Cell for Option<$number> {
            const OPTIONAL: bool = true;
            const TYPE: ColumnType = ColumnType::$kind;
            #[inline]
            fn is_gap(&self) -> bool {
                self.is_none()
            }
            #[inline]
            fn value(&self) -> Value<'_> {
                self.map_or(Value::Gap, Value::$kind)
            }
            fn text(&self) -> String {
                self.as_ref().map(Cell::text).unwrap_or_default()
            }
        }
    )+};
}

numbers! {
    u32, U32, "{}";
    u64, U64, "{}";
    i64, I64, "{}";
    f64, F64, "{:.6}";
}

impl Cell for Option<bool> {
    const OPTIONAL: bool = true;
    const TYPE: ColumnType = ColumnType::Flag;
    #[inline]
    fn is_gap(&self) -> bool {
        self.is_none()
    }
    #[inline]
    fn value(&self) -> Value<'_> {
        self.map_or(Value::Gap, Value::Flag)
    }
    fn text(&self) -> String {
        self.map(|flag| flag.to_string()).unwrap_or_default()
    }
}

macro_rules! texts {
    ($($cell:ty),+) => {$(
        impl Cell for Option<$cell> {
            const OPTIONAL: bool = true;
            const TYPE: ColumnType = ColumnType::Text;
            #[inline]
            fn is_gap(&self) -> bool {
                self.is_none()
            }
            #[inline]
            fn value(&self) -> Value<'_> {
                self.as_deref().map_or(Value::Gap, Value::Text)
            }
            fn text(&self) -> String {
                self.as_deref().unwrap_or_default().to_owned()
            }
        }
    )+};
}

texts!(String, Text);

impl Cell for Text {
    const OPTIONAL: bool = false;
    const TYPE: ColumnType = ColumnType::Text;
    #[inline]
    fn is_gap(&self) -> bool {
        false
    }
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
    fn text(&self) -> String {
        self.clone().into_owned()
    }
}

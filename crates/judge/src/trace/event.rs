//! Events as rows: each kind is declared once, with the columns of its fields, and is written and read by that.

use super::names::{REASONS, REFUSALS, REFUSED, REPLIES, WHYS, name, observation, of_observation, value};
use super::{Text, TraceRow};
use crate::packets::{WHATS, What};
use lightlag_protocols::dtn::{BundleId, DropReason, NodeId, Observation, Refusal};
use lightlag_protocols::link::DropCause;
use lightlag_protocols::ndn::{Prefix, Refused};
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::transport::ranges::Range;
use lightlag_protocols::transport::tcp::{SACK_BLOCKS_MAX, Sack};
use lightlag_protocols::units::{BitRate, Bytes};

/// A field of an event in one column, whose cells are `C`.
pub(super) trait Field<C>: Sized {
    /// Its cell; `None` leaves it out.
    fn cell(&self) -> Option<C>;
    /// The field of a cell.
    ///
    /// # Errors
    /// What makes no sense.
    fn of(cell: C, column: &str) -> Result<Self, String>;
    /// What a row without the cell says; `None`: it must be there.
    fn gap() -> Option<Self> {
        None
    }
}

/// A field of an event over several columns of `R`.
pub(super) trait Part<R>: Sized {
    /// Fills its columns.
    fn put(&self, row: &mut R);
    /// Reads them.
    ///
    /// # Errors
    /// What is missing or makes no sense.
    fn take(row: &R) -> Result<Self, String>;
}

/// The field that a cell of a row holds.
pub(super) fn read<R: TraceRow, C: Clone, F: Field<C>>(
    row: &R,
    column: &str,
    cell: &Option<C>,
) -> Result<F, String> {
    match cell {
        Some(cell) => F::of(cell.clone(), column),
        None => F::gap().ok_or_else(|| format!("`{}` without `{column}`", row.kind())),
    }
}

/// Writes a field: `*` over several columns, a pair into two, others into one.
macro_rules! put {
    ($row:ident, *, $field:expr) => {
        $crate::trace::event::Part::put($field, $row)
    };
    ($row:ident, [$one:ident $two:ident], $field:expr) => {{
        put!($row, $one, &$field[0]);
        put!($row, $two, &$field[1]);
    }};
    ($row:ident, $column:ident, $field:expr) => {
        $row.$column = $crate::trace::event::Field::cell($field)
    };
}
pub(super) use put;

/// Reads a field from the same.
macro_rules! take {
    ($row:ident, *) => {
        $crate::trace::event::Part::take($row)?
    };
    ($row:ident, [$one:ident $two:ident]) => {
        [take!($row, $one), take!($row, $two)]
    };
    ($row:ident, $column:ident) => {
        $crate::trace::event::read($row, stringify!($column), &$row.$column)?
    };
}
pub(super) use take;

/// Declares what stands in several columns: for each field its column.
macro_rules! parts {
    ($row:ident: $($part:ident { $($field:ident: $column:tt),+ $(,)? })+) => {$(
        impl $crate::trace::event::Part<$row> for $part {
            fn put(&self, row: &mut $row) {
                let Self { $($field),+ } = self;
                $(put!(row, $column, $field);)+
            }
            fn take(row: &$row) -> Result<Self, String> {
                Ok(Self { $($field: take!(row, $column)),+ })
            }
        }
    )+};
}
pub(super) use parts;

/// Declares the rows of a world: for each kind its event, and for each column the field that fills it. Names are
/// added by the row's `with_names`.
macro_rules! events {
    ($row:ident of $event:ident; $($kind:literal => $variant:ident $fields:tt $(: $($column:tt = $field:ident),+)?;)+) => {
        impl $crate::trace::TraceRow for $row {
            type Event = $event;
            #[inline]
            fn new(now: Instant, event: &$event, names: &Names) -> Self {
                let mut filled = Self { time_ns: now.as_nanos(), ..Self::default() };
                let row = &mut filled;
                let kind = match event {
                    $($event::$variant $fields => {
                        $($(put!(row, $column, $field);)+)?
                        $kind
                    })+
                };
                row.kind = kind.into();
                filled.with_names(event, names)
            }
            fn at(&self) -> Instant {
                Instant::from_nanos(self.time_ns)
            }
            fn kind(&self) -> &str {
                &self.kind
            }
            fn event(&self) -> Result<$event, String> {
                let row = self;
                match &*row.kind {
                    $($kind => {
                        $($(let $field = take!(row, $column);)+)?
                        Ok($event::$variant $fields)
                    })+
                    unknown => Err(format!("unknown kind `{unknown}`")),
                }
            }
        }
    };
}
pub(super) use events;

/// What stands in a column as it is, or wrapped.
macro_rules! plain {
    ($($field:ty as $cell:ty: $of:expr, $get:expr;)+) => {$(
        impl Field<$cell> for $field {
            fn cell(&self) -> Option<$cell> {
                let get: fn(&$field) -> $cell = $get;
                Some(get(self))
            }
            fn of(cell: $cell, column: &str) -> Result<Self, String> {
                let of: fn($cell, &str) -> Result<Self, String> = $of;
                of(cell, column)
            }
        }
    )+};
}

plain! {
    bool as bool: |cell, _| Ok(cell), |field| *field;
    u32 as u32: |cell, _| Ok(cell), |field| *field;
    u64 as u64: |cell, _| Ok(cell), |field| *field;
    f64 as f64: |cell, _| Ok(cell), |field| *field;
    u8 as u32: narrow, |field| (*field).into();
    u16 as u32: narrow, |field| (*field).into();
    u32 as u64: narrow, |field| (*field).into();
    NodeId as u32: |cell, column| dense(cell, column).map(NodeId), |field| field.0;
    BundleId as u32: |cell, column| dense(cell, column).map(BundleId), |field| field.0;
    Prefix as u32: |cell, _| Ok(Prefix(cell)), |field| field.0;
    Bytes as u64: |cell, _| Ok(Bytes(cell)), |field| field.0;
    BitRate as u64: |cell, _| Ok(BitRate(cell)), |field| field.0;
    Instant as i64: |cell, _| Ok(Instant::from_nanos(cell)), |field| field.as_nanos();
    Duration as i64: |cell, _| Ok(Duration::from_nanos(cell)), |field| field.as_nanos();
}

fn narrow<C: Copy + std::fmt::Display, F: TryFrom<C>>(cell: C, column: &str) -> Result<F, String> {
    F::try_from(cell).map_err(|_| format!("`{column}` {cell} is too large"))
}

/// Node and bundle numbers are small and dense: readers make tables of that length.
const MOST_NUMBERS: u32 = 1 << 26;

fn dense(number: u32, column: &str) -> Result<u32, String> {
    if number < MOST_NUMBERS { Ok(number) } else { Err(format!("`{column}` {number} is too large")) }
}

/// What rows name by a word.
macro_rules! named {
    ($($field:ty, $what:literal, $names:ident;)+) => {$(
        impl Field<Text> for $field {
            fn cell(&self) -> Option<Text> {
                name(&$names, *self)
            }
            fn of(cell: Text, _: &str) -> Result<Self, String> {
                value(&$names, $what, &cell)
            }
        }
    )+};
}

named! {
    DropReason, "reason", REASONS;
    Refusal, "refusal", REFUSALS;
    DropCause, "reason", WHYS;
    ReplyKind, "kind of reply", REPLIES;
    Refused, "reason", REFUSED;
    What, "packet", WHATS;
}

/// What rows may leave out.
macro_rules! optional {
    ($($field:ty as $cell:ty;)+) => {$(
        impl Field<$cell> for Option<$field> {
            fn cell(&self) -> Option<$cell> {
                self.as_ref().and_then(Field::cell)
            }
            fn of(cell: $cell, column: &str) -> Result<Self, String> {
                Field::of(cell, column).map(Some)
            }
            fn gap() -> Option<Self> {
                Some(None)
            }
        }
    )+};
}

optional! {
    u32 as u32;
    Duration as i64;
    Sack as String;
}

impl Field<String> for Observation {
    fn cell(&self) -> Option<String> {
        Some(of_observation(self))
    }
    fn of(cell: String, _: &str) -> Result<Self, String> {
        observation(&cell)
    }
    fn gap() -> Option<Self> {
        Some(Self::new())
    }
}

impl Field<String> for Sack {
    fn cell(&self) -> Option<String> {
        let blocks = self.blocks().iter().map(|(from, to)| format!("{from}-{to}"));
        Some(blocks.collect::<Vec<_>>().join(" "))
    }
    fn of(text: String, _: &str) -> Result<Self, String> {
        let one = |part: &str| {
            let (from, to) = part.split_once('-')?;
            Some((from.parse().ok()?, to.parse().ok()?))
        };
        let blocks: Option<Vec<Range>> = text.split_ascii_whitespace().map(one).collect();
        let blocks = blocks.filter(|blocks| blocks.len() <= SACK_BLOCKS_MAX);
        blocks.map(|blocks| Self::new(blocks.into_iter())).ok_or_else(|| format!("`{text}` are not blocks"))
    }
}

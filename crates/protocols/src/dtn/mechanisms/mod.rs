//! Congestion mechanisms: what to admit, keep, drop or move. One file each, one line each in [`TABLE`].

use super::{Entry, Mechanism};

mod none;

pub use none::None;

/// Every mechanism, by name.
pub const TABLE: &[Entry<dyn Mechanism>] = &[none::ENTRY];

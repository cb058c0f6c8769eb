//! Scenarios of names.

mod trace;

pub use trace::NameRow;

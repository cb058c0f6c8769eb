//! The ONE's settings files, read as they are.

mod properties;

pub use properties::properties;

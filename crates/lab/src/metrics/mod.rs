//! What a run amounts to: its figures, and The ONE's report files.

mod collect;
mod figures;
mod summary;
pub mod the_one;

pub use collect::Metrics;
pub use figures::{Figures, Part};
pub(crate) use summary::metrics;
pub use summary::{BUNDLES, Metric, Number, Summary, numbers};

//! What a run amounts to: one summary, time series, and The ONE's report files.

mod collect;
mod series;
mod summary;
pub mod the_one;

pub use collect::Metrics;
pub use series::{Series, SeriesError};
pub use summary::{DEADLINES, Number, Summary};

//! What a run amounts to: one summary, time series, and The ONE's report files.

mod collect;
mod figures;
pub mod reference;
mod series;
mod summary;
pub mod the_one;

pub use collect::Metrics;
pub use figures::{Figures, Part};
pub(crate) use series::write_table;
pub use series::{Series, SeriesError, TimeSeries};
pub use summary::{DEADLINES, Metric, Number, Summary};

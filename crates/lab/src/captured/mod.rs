//! Captures of runs of packets, and what an analysis of a capture looks like: report, charts and Parquet.

#[cfg(feature = "reports")]
mod charts;
#[cfg(feature = "reports")]
mod overview;
#[cfg(feature = "reports")]
mod parquet;
mod run;
#[cfg(test)]
#[cfg(feature = "reports")]
mod tests;

#[cfg(feature = "reports")]
pub use charts::{Scene, charts};
#[cfg(feature = "reports")]
pub use overview::{report, table};
#[cfg(feature = "reports")]
pub use parquet::{encode as parquet_bytes, write as write_parquet};
pub(crate) use run::{capture, points};

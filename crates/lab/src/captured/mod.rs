//! Captures of runs of packets, and what an analysis of a capture looks like: report, charts and Parquet.

mod charts;
mod overview;
mod parquet;
mod run;
#[cfg(test)]
mod tests;

pub use charts::{Scene, charts};
pub use overview::{report, table};
pub use parquet::{encode as parquet_bytes, write as write_parquet};
pub(crate) use run::{capture, points};

//! The laboratory: scenarios in, results and reports out.

pub mod bound;
pub mod captured;
pub mod compare;
pub mod figure;
pub mod judged;
pub mod metrics;
pub mod names;
pub mod packets;
mod parquet;
pub mod report;
pub mod results;
pub mod run;
pub mod series;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
pub mod statistics;
pub mod sweep;

/// Version of Lightlag.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit that it was built from; "unknown" outside of a checkout.
pub const COMMIT: &str = env!("LIGHTLAG_COMMIT");
/// Both, as programs print them.
pub const VERSION_AND_COMMIT: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("LIGHTLAG_COMMIT"), ")");
/// What made a file, as captures name it.
pub const PROGRAM: &str = concat!("lightlag ", env!("CARGO_PKG_VERSION"), " (", env!("LIGHTLAG_COMMIT"), ")");

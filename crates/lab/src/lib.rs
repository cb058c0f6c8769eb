//! The laboratory: scenarios in, results and reports out.

pub mod bound;
pub mod captured;
#[cfg(feature = "reports")]
pub mod compare;
pub mod explain;
#[cfg(feature = "reports")]
pub mod figure;
pub mod judged;
pub mod metrics;
pub mod names;
pub mod packets;
#[cfg(feature = "reports")]
mod parquet;
#[cfg(feature = "reports")]
pub mod plot;
#[cfg(feature = "reports")]
pub mod report;
#[cfg(feature = "reports")]
pub mod results;
pub mod run;
pub mod series;
mod shares;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
#[cfg(feature = "reports")]
pub mod statistics;
#[cfg(feature = "reports")]
pub mod sweep;
mod text_table;
#[cfg(feature = "reports")]
pub mod view;

use std::sync::OnceLock;

/// Version of Lightlag.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

static COMMIT: OnceLock<&str> = OnceLock::new();

/// Sets the commit that this program was built from. A program does so when it starts: a constant of this crate would
/// rebuild it, and all crates above it, after every commit.
pub fn set_commit(commit: &'static str) {
    // Another interpreter of one process may have set the same commit.
    let _ = COMMIT.set(commit);
}

/// Commit that this program was built from; "unknown" where it was not set.
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or("unknown")
}

/// What made a file, as captures name it: `lightlag VERSION (COMMIT)`.
pub fn program() -> String {
    format!("lightlag {VERSION} ({})", commit())
}

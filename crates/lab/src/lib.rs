//! The laboratory: scenarios in, results and reports out.

pub mod judge;
pub mod metrics;
pub mod scenario;
pub mod trace;

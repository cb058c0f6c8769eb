//! The laboratory: scenarios in, results and reports out.

pub mod claims;
pub mod compare;
pub mod figure;
pub mod judge;
pub mod metrics;
pub mod report;
pub mod results;
pub mod scenario;
pub mod statistics;
pub mod study;
pub mod sweep;

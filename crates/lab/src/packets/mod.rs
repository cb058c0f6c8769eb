//! Runs of packets, and the figures of their flows.

pub mod account;
mod figures;
#[cfg(feature = "reports")]
pub mod seconds;
#[cfg(test)]
mod tests;

pub use figures::{FLOWS, PACKETS};

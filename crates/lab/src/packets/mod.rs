//! Runs of packets, and the figures of their flows.

mod figures;
pub mod seconds;
#[cfg(test)]
mod tests;

pub use figures::{FLOWS, PACKETS};

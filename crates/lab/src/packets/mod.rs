//! Runs of packets, and the figures of their flows.

mod figures;
pub mod seconds;
mod series;
#[cfg(test)]
mod tests;

pub use figures::{figures, of_flows};
pub use series::{Of, PacketSeries, Row};

//! Runs of packets, and what came of their flows.

mod figures;
mod run;
pub mod seconds;
mod series;
#[cfg(test)]
mod tests;

pub use figures::{figures, of_flows};
pub(crate) use run::run;
pub use series::{Of, PacketSeries, Row};

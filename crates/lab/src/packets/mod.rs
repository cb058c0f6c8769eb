//! Scenarios of packets: links, flows, and what came of them.

mod alike;
pub mod ephemeris;
mod figures;
mod flows;
mod links;
mod network;
mod plan;
mod run;
pub mod seconds;
mod series;
#[cfg(test)]
mod tests;

pub(crate) use alike::{Alike, alike};
pub use figures::{figures, of_flows};
pub use links::{Read, read as read_links};
pub(crate) use network::controller;
pub use network::{Carrier, FlowPlan, KEYS, LinkPlan, Network, read};
pub(crate) use run::run;
pub use series::{Of, PacketSeries, Row};

//! Scenarios of packets: links, flows, what is planned.

mod alike;
pub mod ephemeris;
mod flows;
mod links;
mod network;
mod plan;

pub(crate) use alike::{Alike, alike};
pub(crate) use links::{Read, read as read_links};
pub use network::{FlowPlan, LinkPlan, Network};
pub(crate) use network::{controller, factory, read};

//! Scenarios of packets: links, flows, what is planned.

mod alike;
mod controllers;
pub mod ephemeris;
mod flows;
mod links;
pub mod mahimahi;
mod network;
mod plan;

pub(crate) use alike::{Alike, alike};
pub(crate) use controllers::{Chosen, Known, controller, factory, refuse_unbounded};
pub(crate) use links::{Read, read as read_links};
pub(crate) use network::read;
pub use network::{FlowPlan, LinkPlan, Network};

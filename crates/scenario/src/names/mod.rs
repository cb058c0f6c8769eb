//! Scenarios of names: nodes, links, producers, consumers.

mod network;
mod nodes;
mod people;
mod routes;

pub use network::{ConsumerPlan, NameNetwork, NodePlan, ProducerPlan, Wants};
pub(crate) use network::{packet_of, read};

//! Scenarios of names: nodes, links, producers, consumers, and what came of them.

mod figures;
mod network;
mod nodes;
mod people;
mod routes;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use network::packet_of;
pub use network::{ConsumerPlan, KEYS, NameNetwork, NodePlan, ProducerPlan, Wants, read};
pub(crate) use run::run;

//! Scenarios of names: nodes, links, producers, consumers, and what came of them.

mod figures;
mod network;
mod nodes;
mod people;
mod routes;
mod run;
#[cfg(test)]
mod tests;

pub use network::{ConsumerPlan, KEYS, NameNetwork, NodePlan, ProducerPlan, read};
pub(crate) use run::run;

//! The world of messages: nodes that meet, store, carry and forward. Events only, no tick.

mod activation_order;
mod others;
mod plan;
mod send_order;
mod setup;
mod world;

pub use setup::{Builder, Control, Node, Reply, Revision, Rules, SendOrderKind, Setup};
pub use world::{World, run};

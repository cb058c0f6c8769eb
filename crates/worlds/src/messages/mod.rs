//! The world of messages: nodes that meet, store, carry and forward. Events only, no tick.

mod order;
mod others;
mod plan;
mod setup;
mod turns;
mod world;

pub use setup::{Builder, Node, Rules, SendOrder, Setup};
pub use world::run;

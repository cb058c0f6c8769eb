//! The world of messages: nodes that meet, store, carry and forward. Events only, no tick.

mod setup;

pub use setup::{Builder, Node, Propagation, Radio, Rules, SendOrder, Setup};

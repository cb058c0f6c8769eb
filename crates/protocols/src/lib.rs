//! Every algorithm of Lightlag, one file each, as a state machine that touches no clock, socket,
//! file or thread: the same object runs in a simulated world and on a real node.
//!
//! # The contract
//!
//! A driver (a world or a node) owns the clock and the links. It reports events to an algorithm (`on_*`),
//! queries it (bare nouns, `may_*`, `make_room`), and passes the time with every call. One input, then
//! every answer it leads to, then the next input: nothing happens in between.
//!
//! Time is integer nanoseconds ([`time`]), quantities carry units ([`units`]), randomness comes from
//! a seeded stream per purpose ([`rng`]), formulas use one set of functions ([`math`]), and events are
//! written as one kind of record ([`record`]).

pub mod controllers;
pub mod dtn;
pub mod link;
pub mod math;
pub mod ndn;
pub mod parameter;
pub mod record;
pub mod rng;
pub mod session;
pub mod time;
pub mod transport;
pub mod units;
pub mod wire;

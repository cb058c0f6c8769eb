//! Algorithms that are written in Python: the Rust traits on one side, methods of a class on the other.

mod answers;
mod class;
mod facts;
mod local;
mod mechanism;
mod names;
mod raised;
mod router;

pub use answers::{AfterTransfer, Drop, DropReason, Move, Refusal, Wait};
pub use class::{Class, Hooks, Instance};
pub use facts::{Bundle, Kind, Link, Replica};
pub use local::{CensusView, LocalView, StoreView};
pub use mechanism::{RefusedIds, Written as WrittenMechanism, needs};
pub use names::leaked;
pub use raised::catching;
pub use router::{Written as WrittenRouter, properties as router_properties};

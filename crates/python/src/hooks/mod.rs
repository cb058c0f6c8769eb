//! Algorithms that are written in Python: the Rust traits on one side, methods of a class on the other.

mod answers;
mod class;
mod controller;
mod facts;
mod flow;
mod local;
mod mechanism;
mod names;
mod node;
mod raised;
mod router;

pub use answers::{AfterTransfer, Cause, Drop, DropReason, Move, Refusal, Wait};
pub use class::{Class, Hooks};
pub use controller::{Written as WrittenController, needs as controller_needs};
pub use facts::{Bundle, Kind, Link, PlannedContact, Replica};
pub use flow::{Ack, Advice, ArrivalCounts, Loss, RateSample, Sent, TfrcReport, Window};
pub use local::{CensusView, LocalView, StoreView};
pub use mechanism::{RefusedIds, Written as WrittenMechanism, needs};
pub use names::leaked;
pub use node::AtNode;
pub use raised::catching;
pub use router::{Written as WrittenRouter, properties as router_properties};

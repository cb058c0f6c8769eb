//! Bundles carried over contacts: store, agent, routers, congestion mechanisms.

mod bundle;
mod id_set;

pub use bundle::{Bundle, BundleId, NodeId};
pub use id_set::IdSet;

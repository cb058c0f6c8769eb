//! Bundles carried over contacts: store, agent, routers, congestion mechanisms.

mod agent;
mod arrivals;
mod bundle;
mod census;
mod contact_plan;
mod id_set;
mod mechanism;
pub mod mechanisms;
mod radio;
mod router;
pub mod routers;
mod store;
mod table;
#[cfg(test)]
mod testing;

pub use crate::parameter::{BuildContext, Domain, Entry, Parameter, ParameterError, Parameters, Value};
pub use crate::record::Observation;
pub use agent::{
    Agent, Answer, Arrival, BundleInTransit, ByReception, Creation, Deletion, DropReason, NodePolicy, Peers,
    SendOrder, Summary, Transfer, TransferKind,
};
pub use bundle::{Bundle, BundleId, NodeId};
pub use census::Census;
pub use contact_plan::{CONTACT_PLAN, ContactPlan, PlannedContact};
pub use id_set::IdSet;
pub use mechanism::{BufferDecision, Mechanism, Needs};
pub use radio::{Propagation, Radio};
pub use router::{AfterTransfer, Link, Local, Offer, PeerSpace, Refusal, Router};
pub use store::{Head, Path, Replica, Sieve, Store};
pub use table::{Table, TableError};

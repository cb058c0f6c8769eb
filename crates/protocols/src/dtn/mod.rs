//! Bundles carried over contacts: store, agent, routers, congestion mechanisms.

mod agent;
mod arrivals;
mod bundle;
mod census;
mod contact_plan;
mod drops;
mod entry;
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

pub use crate::parameter::{Domain, Parameter, ParameterError, Parameters, Value};
pub use crate::record::Observation;
pub use agent::{
    Agent, Answer, BundleArrival, BundleInTransit, ByReception, Creation, Deletion, DropReason, NodePolicy,
    Peers, SendOrder, Summary, Transfer, TransferKind,
};
pub use bundle::{Bundle, BundleId, NodeId};
pub use census::Census;
pub use contact_plan::{CONTACT_PLAN, ContactPlan, PlannedContact};
pub use entry::{BuildContext, Built, Entry, Kind};
pub use id_set::IdSet;
pub use mechanism::{BufferDecision, CopyEvent, Incoming, Mechanism, MechanismEvent, Needs};
pub use radio::{Propagation, Radio};
pub use router::{
    AfterTransfer, Link, Local, Offer, PeerSpace, Refusal, Router, RouterEvent, RouterProperties,
};
pub use store::{Head, Path, Replica, Sieve, Store};
pub use table::{Table, TableError};

//! Routers choose the peers that get a copy. One file each, one line each in [`TABLE`].

use super::{Entry, Router};

mod contact_graph;
mod direct;
mod epidemic;
mod first_contact;
mod max_prop;
mod prophet;
mod prophet_v2;
mod spray_and_wait;

pub use contact_graph::ContactGraph;
pub use direct::Direct;
pub use epidemic::Epidemic;
pub use first_contact::FirstContact;
pub use max_prop::MaxProp;
pub use prophet::Prophet;
pub use prophet_v2::ProphetV2;
pub use spray_and_wait::SprayAndWait;

/// Every router, by name.
pub const TABLE: &[Entry<dyn Router>] = &[
    contact_graph::ENTRY,
    direct::ENTRY,
    epidemic::ENTRY,
    first_contact::ENTRY,
    max_prop::ENTRY,
    prophet::ENTRY,
    prophet_v2::ENTRY,
    spray_and_wait::ENTRY,
];

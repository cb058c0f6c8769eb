//! Routers choose the peers that get a copy. One file each, one line each in [`TABLE`].

use super::{Entry, Router};

mod contact_graph;
mod direct;
mod epidemic;
mod epidemic_oracle;
mod first_contact;
mod life;
mod max_prop;
mod max_prop_estimated;
mod passive;
mod prophet;
mod prophet_estimated;
mod prophet_v2;
mod spray_and_wait;
mod wave;

pub use contact_graph::ContactGraph;
pub use direct::Direct;
pub use epidemic::Epidemic;
pub use epidemic_oracle::EpidemicOracle;
pub use first_contact::FirstContact;
pub use life::Life;
pub use max_prop::MaxProp;
pub use passive::Passive;
pub use prophet::Prophet;
pub use prophet_estimated::ProphetEstimated;
pub use prophet_v2::ProphetV2;
pub use spray_and_wait::SprayAndWait;
pub use wave::Wave;

/// Every router, by name.
pub const TABLE: &[Entry<dyn Router>] = &[
    contact_graph::ENTRY,
    direct::ENTRY,
    epidemic::ENTRY,
    epidemic_oracle::ENTRY,
    first_contact::ENTRY,
    life::ENTRY,
    max_prop::ENTRY,
    max_prop_estimated::ENTRY,
    passive::ENTRY,
    prophet::ENTRY,
    prophet_estimated::ENTRY,
    prophet_v2::ENTRY,
    spray_and_wait::ENTRY,
    wave::ENTRY,
];

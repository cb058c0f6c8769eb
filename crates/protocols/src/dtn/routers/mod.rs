//! Routers: who gets a copy. One file each, one line each in [`TABLE`].

use super::{Entry, Router};

mod direct;
mod epidemic;
mod spray_and_wait;

pub use direct::Direct;
pub use epidemic::Epidemic;
pub use spray_and_wait::SprayAndWait;

/// Every router, by name.
pub const TABLE: &[Entry<dyn Router>] = &[direct::ENTRY, epidemic::ENTRY, spray_and_wait::ENTRY];

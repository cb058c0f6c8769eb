//! Lightlag in a page: the same scenarios, worlds, judge and figures as everywhere, in the reader's browser.
//!
//! [`Reading`] is a scenario as text with the files that it names; [`Reading::run`] runs it at once, [`Playing`] step by step
//! with its records as columns. For a page, built for `wasm32-unknown-unknown`, the module `page` wraps both in
//! JavaScript's types. The same scenario and seed give the same digest as natively.

#[cfg(target_arch = "wasm32")]
mod export;
#[cfg(target_arch = "wasm32")]
mod page;

mod columns;
mod faults;
mod playing;
mod reading;

pub use columns::{Batch, Cells, Filled};
pub use faults::Faults;
pub use playing::{Playing, Purpose};
pub use reading::Reading;

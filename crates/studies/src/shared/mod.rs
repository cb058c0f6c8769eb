//! What all studies are made of: points that are run, slices of their results, claims, charts and one driver.

pub mod charts;
pub mod front;
pub mod over_time;
pub mod parts;
pub mod points;
pub mod runs;
mod study;
#[cfg(test)]
pub(crate) mod tests;
pub mod words;

pub use study::{Error, Evidence, Measured, Order, REPORT_FILE, Real, Said, Studied, Study};

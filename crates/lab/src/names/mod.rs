//! Runs of names, and the figures of their consumers.

pub mod account;
mod figures;
#[cfg(test)]
mod tests;

pub(crate) use figures::figures;
pub use figures::{CONSUMERS, NAMES, NODES};

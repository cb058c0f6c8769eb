//! Simulated worlds. A run is a pure function of scenario and seed, to the byte, on every machine.

mod agenda;
pub mod contacts;
pub mod engine;
pub mod messages;
pub mod mobility;
pub mod names;
pub mod packets;

/// The examples of CONTRIBUTING.md are compiled and run, so that they stay true.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;

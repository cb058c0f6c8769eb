//! Scenarios: what is to be run, from TOML files and from The ONE's settings.
//!
//! [`ScenarioFile::read`] reads a file, [`ScenarioFile::points`] resolves it into the experiments of
//! its sweep, and each [`Scenario`] becomes with a [`Seed`] what a world runs: [`Scenario::setup`].
//! The costly part of that, contacts, does not depend on traffic and algorithms; compute it once for
//! each [`Scenario::contacts_key`] with [`Scenario::contacts`] and hand it to
//! [`Scenario::setup_with`].
//!
//! Every error is one line, `FILE:LINE: what is wrong; what would be right`.

mod axes;
mod build;
mod catalogue;
pub mod contacts;
mod error;
mod file;
mod files;
mod model;
pub mod quantity;
mod the_one;
mod toml_file;
mod traffic;
mod tree;

pub use catalogue::{Build, Catalogue, Entry};
pub use error::{Error, Place, Result, Wrong};
pub use file::{Ignored, Point, Points, ScenarioFile, Skipped};
pub use files::FILE_BYTES_MAX;
pub use model::*;
pub use the_one::{Property, properties};

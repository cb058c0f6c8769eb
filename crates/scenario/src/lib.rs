//! Scenarios: descriptions of runs, from TOML files and from The ONE's settings.
//!
//! [`ScenarioFile::read`] reads a file, [`ScenarioFile::points`] resolves it into the experiments of
//! its sweep, and each [`Scenario`] becomes with a [`Seed`] what its world runs: [`BundleNetwork::setup`],
//! [`packets::Network::setup`] or [`names::NameNetwork::setup`]. The costly part of a scenario of bundles, its
//! contacts, does not depend on traffic and algorithms; compute it once for each [`Seeded::contacts_key`] with
//! [`Seeded::contacts`] and pass it to [`Seeded::setup`].
//!
//! Every error is a line, `FILE:LINE: what is wrong; what would be right`; settings of The ONE bring all of theirs at once.
//!
//! ```
//! use lightlag_scenario::{Catalogue, ScenarioFile};
//!
//! let text = r#"
//!     duration = "1 h"
//!     seeds = [1, 2]
//!     router = ["epidemic", { name = "spray_and_wait", copies = [4, 8] }]   # lists are swept
//!     buffer = "500 kB"
//!     [nodes.walker]
//!     count = 20
//!     mobility = { model = "random_waypoint", area = "1 km x 1 km", speed = "0.5..1.5 m/s", pause = "0..120 s" }
//!     radio = { range = "150 m", rate = "2.5 Mbit/s" }
//!     [traffic.mail]
//!     interval = "1..300 s"
//!     size = "50..100 kB"
//!     lifetime = "12 h"
//! "#;
//! let file = ScenarioFile::from_toml("walk.toml", text, ".".into(), Catalogue::default().into())?;
//! let points = file.points()?.list;
//! assert_eq!(points.len(), 3);
//! let setup = points[0].scenario.bundles().expect("it has nodes").setup(file.seeds()?[0])?;
//! assert_eq!(setup.nodes.len(), 20);
//! # Ok::<(), lightlag_scenario::Error>(())
//! ```
//!
//! The keys of TOML are declared in [`keys`]; [`schema()`] is their JSON Schema.
//!
//! Nodes are chosen by names of nodes or groups, ranges of nodes (`"Sat0..Sat3"`, both ends count),
//! `all`, and lists of these with commas. Intervals in whole seconds and sizes exclude their upper
//! end, as in The ONE.

mod axes;
pub mod budget;
mod build;
mod catalogue;
mod chosen;
pub mod contacts;
mod digest;
mod error;
mod failures;
mod file;
mod files;
mod given;
pub mod keys;
mod model;
pub mod models;
pub mod names;
pub mod packets;
mod plans;
mod radios;
mod schema;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
mod streets;
mod the_one;
mod to_toml;
mod toml_file;
mod tracks;
mod traffic;
mod tree;

pub use build::Seeded;
pub use catalogue::{Algorithms, Build, Catalogue, Entry, Kind};
pub use error::{Error, Place, Result, Wrong, suggestion};
pub use failures::Failures;
pub use file::{Ignored, Point, Points, ScenarioFile, Skipped, Source, notes};
pub use files::{FILE_BYTES_MAX, open as open_file};
pub use given::{GivenFiles, named_files};
pub use lightlag_protocols::units::parse as quantity;
pub use model::*;
pub use schema::schema;
pub use streets::{STREET_POINTS_MAX, Streets};
pub use the_one::{Property, REPORTS, ReportClass, properties};
pub(crate) use toml_file::{Section, algorithm, items, model, named, read_quantity, wrong_type};
pub(crate) use tree::{Node, Value};

//! Scenarios: what is to be run, from TOML files and from The ONE's settings.
//!
//! [`ScenarioFile::read`] reads a file, [`ScenarioFile::points`] resolves it into the experiments of
//! its sweep, and each [`Scenario`] becomes with a [`Seed`] what a world runs: [`Scenario::setup`].
//! The costly part of that, contacts, does not depend on traffic and algorithms; compute it once for
//! each [`Scenario::contacts_key`] with [`Scenario::contacts`] and hand it to
//! [`Scenario::setup_with`].
//!
//! Every error is one line, `FILE:LINE: what is wrong; what would be right`.
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
//! let setup = points[0].scenario.setup(file.seeds()?[0])?;
//! assert_eq!(setup.nodes.len(), 20);
//! # Ok::<(), lightlag_scenario::Error>(())
//! ```
//!
//! # Keys in TOML
//!
//! | table | keys |
//! |---|---|
//! | top | `name` `duration` `seeds`; and for all nodes that do not have their own: `router` `mechanism` `buffer` `receipts` `drop_memory` `mobility` `radio` |
//! | `[limits]` | `events` `memory`: how much a run may take ([`crate::budget`]) |
//! | `[world]` | `tick` `radio` (node, link, direction) `propagation` (pipelined, stop_and_wait) `send_order` (random, fifo, clock) `purge_every` `sample_every` `warmup` `contacts_fail` `nodes_vanish` (0 to 1) |
//! | `[nodes.NAME]` | `count` `first` (number of the first node's name) `buffer` `router` `mechanism` `receipts` `drop_memory` `delete_delivered` `overfill` `deliver_past_buffer` `mobility` `radio` or `radios.NAME` (`range` `rate`) |
//! | `mobility` | `model` = stationary (`at` or `area`), random_waypoint (`area` `speed` `pause` `initial`), random_walk (`area` `speed` `pause` `leg`), shortest_path_map (`map` or `maps` `area` `speed` `pause` `roads` `bounding_box` `largest_part`) |
//! | `[contacts.NAME]` | `kind` (table, the_one, ion, intervals) `file` or `rows` (`a` `b` `start` `end` `rate` `delay`) `rate` `delay` or `delays` `pairs."A B"` or `pairs."A -> B"` (`rate` `delay` `delays`) `first_id` `unknown_nodes` (error, skip) `origin` |
//! | `[traffic.NAME]` | `interval` `arrivals` (whole_seconds, uniform, exponential) `size` `from` `to` `lifetime` `prefix` `start` `end` `shape` (pairs, burst, one_from_each, one_to_each); or `events` (`at` `from` `to` `size` `lifetime` `name`) or `file` (The ONE's `C` lines) |
//!
//! Nodes are chosen by names of nodes or groups, ranges of nodes (`"Sat0..Sat3"`, both ends count),
//! `all`, and lists of these with commas. Intervals in whole seconds and sizes exclude their upper
//! end, as in The ONE.

mod axes;
pub mod budget;
mod build;
mod catalogue;
pub mod contacts;
mod error;
mod failures;
mod file;
mod files;
mod model;
pub mod names;
pub mod packets;
#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
mod the_one;
mod toml_file;
mod traffic;
mod tree;

pub use catalogue::{Build, Catalogue, Entry, Kind};
pub use error::{Error, Place, Result, Wrong, suggestion};
pub use failures::Failures;
pub use file::{Ignored, Point, Points, ScenarioFile, Skipped, Source};
pub use files::{FILE_BYTES_MAX, open as open_file};
pub use lightlag_protocols::units::parse as quantity;
pub use model::*;
pub use the_one::{Property, REPORTS, properties};
pub(crate) use toml_file::{Section, algorithm, named, read_quantity, wrong_type};
pub(crate) use tree::{Node, Value};

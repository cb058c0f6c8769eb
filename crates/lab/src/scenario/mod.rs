//! Scenarios: what is to be run, from TOML files and from The ONE's settings.

pub mod axes;
pub mod catalogue;
pub mod contacts;
pub mod error;
pub mod files;
pub mod model;
pub mod quantity;
mod the_one;
mod toml_file;
pub mod traffic;
pub mod tree;

//! The verbs, one file each.

pub mod bound;
pub mod capture;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod explain;
pub mod list;
pub mod merge;
pub mod new;
pub mod plot;
mod progress;
pub mod report;
pub mod run;
#[cfg(feature = "daemon")]
pub mod sockets;
pub mod study;
pub mod sweep;
pub mod validate;
pub mod view;

use crate::args::Source;
use crate::output::Failure;
use lightlag_lab::sweep::seed_list;
use lightlag_scenario::{Point, Points, ScenarioFile, Seed, notes};
use std::path::Path;

/// Reads a scenario and applies `--set`.
fn read(source: &Source) -> Result<ScenarioFile, Failure> {
    let paths: Vec<&Path> = source.files.iter().map(|path| path.as_path()).collect();
    Ok(read_from(&paths, &source.sets, source.no_defaults)?)
}

/// As [`read`], from these files, with these keys set.
fn read_from(
    paths: &[&Path],
    sets: &[(String, String)],
    no_defaults: bool,
) -> Result<ScenarioFile, lightlag_scenario::Error> {
    let mut file = ScenarioFile::read_with(paths, Default::default(), !no_defaults)?;
    sets.iter().try_for_each(|(key, value)| file.set(key, value))?;
    Ok(file)
}

/// Prints the warnings of a scenario, after everything that can be refused: an error is printed alone.
fn print_warnings(points: &Points) {
    points.warnings().iter().for_each(|line| eprintln!("{line}"));
}

/// Reports once how each recorded trace of contacts was read.
fn tell_traces<'a>(points: impl IntoIterator<Item = &'a Point>) {
    notes(points).iter().for_each(|note| eprintln!("{note}"));
}

/// The scenario as written, followed by the keys set on the command line.
fn text(file: &ScenarioFile) -> String {
    let written: String =
        file.sources().iter().map(|source| String::from_utf8_lossy(&source.bytes)).collect();
    file.overrides().iter().fold(written, |text, (key, value)| text + &format!("# --set {key}={value}\n"))
}

/// A path as a shell takes it.
fn print_path(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=,:@".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The seeds of `--seeds`, or else those of the file.
fn seeds(list: Option<&str>, file: &ScenarioFile) -> Result<Vec<Seed>, Failure> {
    Ok(match list {
        Some(list) => seed_list(list)?,
        None => file.seeds()?,
    })
}

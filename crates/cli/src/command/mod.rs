//! The verbs, one file each.

pub mod compare;
pub mod list;
pub mod report;
pub mod run;
pub mod study;
pub mod sweep;

use crate::args::Source;
use crate::output::Failure;
use lightlag_lab::scenario::ScenarioFile;
use std::path::Path;

/// Reads a scenario and sets what is to be set.
fn read(source: &Source) -> Result<ScenarioFile, Failure> {
    let paths: Vec<&Path> = source.files.iter().map(|path| path.as_path()).collect();
    let mut file = ScenarioFile::read(&paths)?;
    for (key, value) in &source.sets {
        file.set(key, value)?;
    }
    Ok(file)
}

/// Tells once what is ignored; after all that can be refused, so that a refusal is one line.
fn tell_ignored(file: &ScenarioFile) {
    let ignored = file.ignored();
    if let Some(first) = ignored.first() {
        let mut keys: Vec<&str> = ignored.iter().map(|ignored| ignored.key.as_str()).collect();
        keys.dedup();
        eprintln!("{}: ignored, as they mean nothing here: {}", first.place, keys.join(", "));
    }
}

/// The scenario as written, with what was set on the command line.
fn text(source: &Source) -> Result<String, Failure> {
    let mut text = String::new();
    for path in &source.files {
        let bytes = std::fs::read(path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        text += &String::from_utf8_lossy(&bytes);
    }
    for (key, value) in &source.sets {
        text += &format!("# --set {key}={value}\n");
    }
    Ok(text)
}

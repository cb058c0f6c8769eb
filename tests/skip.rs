//! What a test does where it cannot run: each test crate includes this file, as some of them know no other crate.

#![allow(dead_code, reason = "no test needs all of it")]

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Records that the running test is skipped, and why. `make test` sets `LIGHTLAG_SKIPS`, the file of
/// these records, counts and names them, and fails for them if `LIGHTLAG_STRICT=1` (see `tests/skips.txt`).
pub fn skip(reason: impl Display) {
    println!("skipped: {reason}");
    let Some(file) = std::env::var_os("LIGHTLAG_SKIPS") else { return };
    let thread = std::thread::current();
    let program = std::env::args().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo adds a hash to the name.
    let binary = name.rsplit_once('-').map_or(&*name, |parts| parts.0);
    let line = format!("{binary}::{}\t{reason}\n", thread.name().unwrap_or("main"));
    let mut records =
        std::fs::OpenOptions::new().append(true).create(true).open(file).expect("the file of skips opens");
    records.write_all(line.as_bytes()).expect("a skip is recorded");
}

/// Whether a program is on the PATH; without it the test is skipped.
pub fn has(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    if !found {
        skip(format_args!("{program} is not installed"));
    }
    found
}

/// A file or folder of the reference data: below `LIGHTLAG_REFERENCE`, or below `shared/reference`
/// beside the repository. `None` where it is missing: the test is skipped.
pub fn reference(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    let path = std::env::var_os("LIGHTLAG_REFERENCE").map_or(beside, PathBuf::from).join(name);
    if !path.exists() {
        skip(format_args!("no reference data `{name}`; LIGHTLAG_REFERENCE is its folder"));
        return None;
    }
    Some(path)
}

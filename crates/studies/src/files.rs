//! Scenario files of papers, compiled in.

use crate::Error;
use include_dir::{Dir, include_dir};
use std::path::Path;

/// The files of papers, compiled in.
pub(crate) static PAPERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/papers");

/// Puts files that are compiled in where they can be read.
pub(crate) fn unpack(files: &Dir<'_>, folder: &Path) -> Result<(), Error> {
    let wrong = |error| Error::Disk(folder.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(wrong)?;
    files.extract(folder).map_err(wrong)
}

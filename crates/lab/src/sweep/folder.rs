//! Where results go.

use super::manifest::LOCK_FILE;
use super::{Error, JOURNAL_FILE, MANIFEST_FILE};
use std::io;
use std::path::Path;

/// Makes the folder, or takes one that is empty or holds an earlier start of a sweep.
pub(super) fn prepare(out: &Path) -> Result<(), Error> {
    if out.is_file() {
        return Err(Error::IsFile(out.to_path_buf()));
    }
    let disk = |action| move |reason: io::Error| Error::Disk { action, path: out.to_path_buf(), reason };
    std::fs::create_dir_all(out).map_err(disk("make the folder"))?;
    let entries = std::fs::read_dir(out).map_err(disk("read the folder"))?;
    // Another process may be about to write its first file.
    let is_begun = |entry: io::Result<std::fs::DirEntry>| {
        let name = |entry: std::fs::DirEntry| entry.file_name();
        entry.map(name).is_ok_and(|name| name == LOCK_FILE || name.to_string_lossy().ends_with(".part"))
    };
    let empty = entries.into_iter().all(is_begun);
    if !empty && ![MANIFEST_FILE, JOURNAL_FILE].iter().any(|name| out.join(name).is_file()) {
        return Err(Error::Occupied(out.to_path_buf()));
    }
    Ok(())
}

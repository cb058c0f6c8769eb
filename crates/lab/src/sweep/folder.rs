//! Where results go.

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
    let empty = std::fs::read_dir(out).map_err(disk("read the folder"))?.next().is_none();
    if !empty && ![MANIFEST_FILE, JOURNAL_FILE].iter().any(|name| out.join(name).is_file()) {
        return Err(Error::Occupied(out.to_path_buf()));
    }
    Ok(())
}

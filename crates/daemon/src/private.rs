//! What the daemon keeps is for its owner alone.

use lightlag_node::Error;
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Takes from others what they may do with the folder of the state and with the files in it, and sees to it that files
/// that this process makes from now on are its owner's alone. A folder that is not there is made later. Returns what was
/// changed.
///
/// # Errors
/// The folder belongs to another user, or its mode cannot be changed.
pub fn tighten(folder: &Path) -> Result<Vec<String>, Error> {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        Error::Input(format!("{}: {why}; only the owner of the daemon may have access", path.display()))
    };
    let found = match fs::metadata(folder) {
        Ok(found) => found,
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(failed(folder, &why)),
    };
    let own = rustix::process::geteuid();
    if !own.is_root() && found.uid() != own.as_raw() {
        return Err(failed(folder, &"it belongs to another user"));
    }
    let mut all = vec![(folder.to_owned(), found.mode(), 0o700)];
    for entry in fs::read_dir(folder).map_err(|why| failed(folder, &why))?.flatten() {
        // Of a link, only what it leads to has a mode.
        let Ok(kind) = entry.metadata().map(|found| (found.is_file(), found.mode())) else { continue };
        if kind.0 {
            all.push((entry.path(), kind.1, 0o600));
        }
    }
    let mut changed = Vec::new();
    for (path, mode, right) in all.into_iter().filter(|(_, mode, _)| mode & 0o077 != 0) {
        fs::set_permissions(&path, Permissions::from_mode(right)).map_err(|why| failed(&path, &why))?;
        changed.push(format!("{}: {:04o}, now {right:04o}", path.display(), mode & 0o7777));
    }
    Ok(changed)
}

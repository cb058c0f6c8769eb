//! The folder in which a daemon keeps what outlives it, and which life of it this is.

use super::keys::PublicKey;
use crate::Error;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lives are counted from the first second of 2020.
const EPOCH: u64 = 1_577_836_800;
/// No life has a greater number.
const LAST: u32 = u32::MAX / 2 - 1;

/// The folder, held by this daemon alone as long as this is.
pub struct Life {
    folder: PathBuf,
    /// This life: greater than any before, and about the second at which it began.
    number: u32,
    _lock: File,
}

impl Life {
    /// Begins one in a folder, which is made if there is none.
    ///
    /// # Errors
    /// The folder cannot be had, or another daemon has it.
    pub fn begin(folder: &Path) -> Result<Self, Error> {
        let failed = |path: &Path, why: std::io::Error| Error::Input(format!("{}: {why}", path.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|why| failed(folder, why))?;
        let path = folder.join("lock");
        let mut open = OpenOptions::new();
        open.write(true).create(true).truncate(false).mode(0o600);
        let lock = open.open(&path).map_err(|why| failed(&path, why))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Error::Input(format!("{}: another lightlagd runs on this state", folder.display()))
        })?;
        let mut life = Self { folder: folder.to_owned(), number: 0, _lock: lock };
        let before = life.read()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = u32::try_from(now.saturating_sub(EPOCH)).unwrap_or(LAST);
        if before >= LAST {
            return Err(Error::Input(format!("{}: no life is left", life.file().display())));
        }
        life.number = now.max(before + 1);
        life.write(life.number)?;
        Ok(life)
    }
    /// This life as another daemon is to know it. Of two daemons, no life of one has the number of one of the other.
    pub fn incarnation(&self, own: &PublicKey, other: &PublicKey) -> u32 {
        2 * self.number + u32::from(own > other)
    }
    /// The next life must be a later one than that which another daemon knows as `incarnation`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn skip(&self, incarnation: u32) -> Result<(), Error> {
        self.write(incarnation / 2)
    }
    fn file(&self) -> PathBuf {
        self.folder.join("incarnation")
    }
    fn read(&self) -> Result<u32, Error> {
        let path = self.file();
        match fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().map_err(|_| {
                Error::Input(format!("{}: {:?} is no number of a life", path.display(), text.trim()))
            }),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(why) => Err(Error::Input(format!("{}: {why}", path.display()))),
        }
    }
    /// Whoever is cut off while writing leaves the old file.
    fn write(&self, number: u32) -> Result<(), Error> {
        let (path, new) = (self.file(), self.folder.join("incarnation.new"));
        let written = File::create(&new)
            .and_then(|mut file| writeln!(file, "{number}").and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        written.map_err(|why| Error::Input(format!("{}: {why}", path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_life_is_greater_and_two_at_once_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = Life::begin(folder.path()).unwrap();
        assert!(Life::begin(folder.path()).err().unwrap().to_string().contains("another lightlagd"));
        let keys = [PublicKey([1; 32]), PublicKey([2; 32])];
        let before = first.incarnation(&keys[0], &keys[1]);
        assert_ne!(before, first.incarnation(&keys[1], &keys[0]));
        first.skip(before + 1000).unwrap();
        drop(first);
        let second = Life::begin(folder.path()).unwrap();
        assert!(second.incarnation(&keys[0], &keys[1]) > before + 1000);
    }
}

//! The latest epochs of the other daemons, kept for the next epoch of this one: its first datagrams are bound to them, so that
//! they are of use at once. Nothing depends on it but that: where the file is lost or old, the other daemons are asked first.

use super::keys::PublicKey;
use lightlag_node::files;
use lightlag_protocols::wire::session::Epoch;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracing::warn;

/// A file of the state that the daemon reads whole is no larger.
pub const STATE_MOST_BYTES: u64 = 16 << 20;

/// Epochs of other daemons, by the text of their keys.
pub struct Known {
    file: PathBuf,
    epochs: RefCell<BTreeMap<String, Epoch>>,
}

impl Known {
    /// Those that an earlier epoch of this daemon kept in a folder.
    pub fn read(folder: &Path) -> Self {
        let file = folder.join("peers.json");
        let epochs = match files::read_state(&file, STATE_MOST_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|why| {
                warn!(file = %file.display(), %why, "cannot read stored epochs of peers; asking them again");
                BTreeMap::new()
            }),
            Err(_) => BTreeMap::new(),
        };
        Self { file, epochs: RefCell::new(epochs) }
    }
    /// That of one daemon.
    pub fn of(&self, key: &PublicKey) -> Option<Epoch> {
        self.epochs.borrow().get(&key.to_string()).copied()
    }
    /// A daemon has begun an epoch.
    pub fn keep(&self, key: &PublicKey, epoch: Epoch) {
        if self.epochs.borrow_mut().insert(key.to_string(), epoch) == Some(epoch) {
            return;
        }
        if let Err(why) = self.write() {
            warn!(file = %self.file.display(), %why, "cannot store epochs of peers");
        }
    }
    /// A daemon that is cut off while writing leaves the old file.
    fn write(&self) -> std::io::Result<()> {
        files::replace(&self.file, &serde_json::to_vec(&*self.epochs.borrow())?, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn epochs_are_there_in_the_next_run_and_a_damaged_file_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (key, epoch) = (PublicKey([4; 32]), Epoch { number: 8, nonce: u64::MAX });
        assert_eq!(Known::read(folder.path()).of(&key), None);
        Known::read(folder.path()).keep(&key, epoch);
        assert_eq!(Known::read(folder.path()).of(&key), Some(epoch));
        fs::write(folder.path().join("peers.json"), "{\"").unwrap();
        assert_eq!(Known::read(folder.path()).of(&key), None);
    }
}

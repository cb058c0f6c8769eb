//! BLAKE3 of files that are here already. A thread of its own reads them: no opening holds up the listener.

use crate::files::digest_of;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Files that are remembered; of more, the one that was asked for longest ago is forgotten.
const KNOWN_MAX: usize = 4096;
/// Files that wait to be read.
const WAITING_MAX: usize = 64;
/// A file with no more bytes than this is read at once.
const LITTLE_BYTES: u64 = 64 << 10;

/// Length and time of change of a file.
type Stamp = (u64, Option<SystemTime>);
type Digest = Option<[u8; 32]>;

struct Known {
    stamp: Stamp,
    /// `None` inside: the file cannot be read. `None`: it is being read.
    digest: Option<Digest>,
    asked: u64,
}

/// Digests of files, as they were when they were last changed. Clones share them.
#[derive(Clone, Default)]
pub struct Digests(Arc<Mutex<Table>>);

impl Digests {
    /// The digest of a file, `None` inside if it cannot be read. `None`: it is being read; ask again.
    pub fn of(&self, path: &Path, found: &Metadata) -> Option<Digest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).of(path, found)
    }
}

#[derive(Default)]
struct Table {
    known: BTreeMap<PathBuf, Known>,
    asked: u64,
    reader: Option<Reader>,
}

struct Reader {
    to_read: SyncSender<(PathBuf, Stamp)>,
    read: Receiver<(PathBuf, Stamp, Digest)>,
}

impl Reader {
    fn start() -> Self {
        let (to_read, files) = sync_channel::<(PathBuf, Stamp)>(WAITING_MAX);
        let (out, read) = sync_channel(2 * WAITING_MAX);
        // Without a thread, nothing is ever read: the openings that name these files get no answer.
        let _ = std::thread::Builder::new().spawn(move || {
            for (path, stamp) in files {
                let digest = digest_of(&path);
                if out.send((path, stamp, digest)).is_err() {
                    return;
                }
            }
        });
        Self { to_read, read }
    }
}

impl Table {
    fn of(&mut self, path: &Path, found: &Metadata) -> Option<Digest> {
        self.take_read();
        let stamp = (found.len(), found.modified().ok());
        self.asked += 1;
        if let Some(known) = self.known.get_mut(path).filter(|known| known.stamp == stamp) {
            known.asked = self.asked;
            return known.digest;
        }
        let digest = if found.len() <= LITTLE_BYTES {
            Some(digest_of(path))
        } else {
            let reader = self.reader.get_or_insert_with(Reader::start);
            // Where too many wait, this one is asked for again later.
            reader.to_read.try_send((path.to_owned(), stamp)).ok()?;
            None
        };
        if self.known.len() >= KNOWN_MAX {
            self.forget_one();
        }
        self.known.insert(path.to_owned(), Known { stamp, digest, asked: self.asked });
        digest
    }
    fn take_read(&mut self) {
        let Some(reader) = &self.reader else { return };
        for (path, stamp, digest) in reader.read.try_iter() {
            if let Some(known) = self.known.get_mut(&path).filter(|known| known.stamp == stamp) {
                known.digest = Some(digest);
            }
        }
    }
    fn forget_one(&mut self) {
        let oldest = self.known.iter().filter(|(_, known)| known.digest.is_some());
        let oldest = oldest.min_by_key(|(_, known)| known.asked).map(|(path, _)| path.clone());
        oldest.and_then(|path| self.known.remove(&path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn ask(digests: &Digests, path: &Path) -> Option<Digest> {
        digests.of(path, &std::fs::metadata(path).expect("it is there"))
    }

    #[test]
    fn a_large_file_is_read_beside_and_once_until_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let [little, large] = [10, 50_000_000].map(|length| {
            let path = folder.path().join(length.to_string());
            std::fs::write(&path, vec![7; length]).expect("it is written");
            path
        });
        let digests = Digests::default();
        let of = |length| Some(*blake3::hash(&vec![7; length]).as_bytes());
        assert_eq!(ask(&digests, &little), Some(of(10)));
        let began = Instant::now();
        assert_eq!(ask(&digests, &large), None);
        while ask(&digests, &large).is_none() {
            assert!(began.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(ask(&digests, &large), Some(of(50_000_000)));
        std::fs::write(&large, "new").expect("it is written");
        assert_eq!(ask(&digests, &large), Some(Some(*blake3::hash(b"new").as_bytes())));
    }

    #[test]
    fn of_more_files_than_are_remembered_the_one_asked_for_longest_ago_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let digests = Digests::default();
        for number in 0..KNOWN_MAX + 10 {
            let path = folder.path().join(number.to_string());
            std::fs::write(&path, "x").expect("it is written");
            assert!(ask(&digests, &path).is_some());
            assert!(ask(&digests, &folder.path().join("0")).is_some());
        }
        let table = digests.0.lock().expect("the lock is whole");
        assert_eq!(table.known.len(), KNOWN_MAX);
        assert!(table.known.contains_key(&folder.path().join("0")));
        assert!(!table.known.contains_key(&folder.path().join("1")));
    }
}

//! BLAKE3 of files that are here already. A thread of its own reads them: no opening holds up the listener.

use crate::files::{Stamp, digest_of};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Files that are remembered; of more, the one that was asked for longest ago is forgotten.
const KNOWN_MAX: usize = 4096;
/// Files that wait to be read.
const WAITING_MAX: usize = 64;
/// A file with no more bytes than this is read at once.
const LITTLE_BYTES: u64 = 64 << 10;
/// A file that changed while it was read is not read again for this time.
const CHANGING: Duration = Duration::from_secs(5);

type Digest = Option<[u8; 32]>;
/// A file that was read, and what it was.
type Read = (PathBuf, Option<([u8; 32], Stamp)>);

struct Known {
    stamp: Stamp,
    /// `None` inside: the file cannot be read. `None`: it is being read.
    digest: Option<Digest>,
    /// When it was found to change while it was read.
    changed: Option<Instant>,
    asked: u64,
}

/// Digests of files, as they were when they were last changed. Clones share them.
#[derive(Clone, Default)]
pub struct Digests(Arc<Mutex<Table>>);

impl Digests {
    /// The digest of a file, `None` inside if it cannot be read or changes. `None`: it is being read; ask again.
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
    to_read: SyncSender<PathBuf>,
    read: Receiver<Read>,
}

impl Reader {
    fn start() -> Self {
        let (to_read, files) = sync_channel::<PathBuf>(WAITING_MAX);
        let (out, read) = sync_channel(2 * WAITING_MAX);
        // Without a thread, nothing is ever read: the openings that name these files get no answer.
        let _ = std::thread::Builder::new().spawn(move || {
            for path in files {
                let digest = digest_of(&path);
                if out.send((path, digest)).is_err() {
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
        if found.len() <= LITTLE_BYTES {
            return Some(digest_of(path).map(|(digest, _)| digest));
        }
        let stamp = Stamp::of(found);
        self.asked += 1;
        if let Some(known) = self.known.get_mut(path) {
            known.asked = self.asked;
            let changes = known.changed.is_some_and(|at| at.elapsed() < CHANGING);
            if known.stamp == stamp || changes || known.digest.is_none() {
                return known.digest;
            }
        }
        let reader = self.reader.get_or_insert_with(Reader::start);
        // Where too many wait, this one is asked for again later.
        reader.to_read.try_send(path.to_owned()).ok()?;
        if self.known.len() >= KNOWN_MAX {
            self.forget_one();
        }
        self.known.insert(path.to_owned(), Known { stamp, digest: None, changed: None, asked: self.asked });
        None
    }
    fn take_read(&mut self) {
        let Some(reader) = &self.reader else { return };
        for (path, read) in reader.read.try_iter() {
            let Some(known) = self.known.get_mut(&path) else { continue };
            known.digest = Some(read.map(|(digest, _)| digest));
            match read {
                Some((_, stamp)) => known.stamp = stamp,
                None => known.changed = Some(Instant::now()),
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
        let read = |path: &Path| while ask(&digests, path).is_none() {};
        for number in 0..KNOWN_MAX + 10 {
            let path = folder.path().join(number.to_string());
            let file = std::fs::File::create(&path).expect("it is made");
            file.set_len(LITTLE_BYTES + 1).expect("it has room");
            read(&path);
            read(&folder.path().join("0"));
        }
        let table = digests.0.lock().expect("the lock is whole");
        assert_eq!(table.known.len(), KNOWN_MAX);
        assert!(table.known.contains_key(&folder.path().join("0")));
        assert!(!table.known.contains_key(&folder.path().join("1")));
    }

    #[test]
    fn a_file_that_is_replaced_or_changes_is_not_what_was_read_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("file"), folder.path().join("other"));
        let digests = Digests::default();
        let read = || loop {
            if let Some(digest) = ask(&digests, &path) {
                return digest;
            }
        };
        for length in [1000, 300_000_usize] {
            std::fs::write(&path, vec![1; length]).expect("it is written");
            let at = std::fs::metadata(&path).and_then(|found| found.modified()).expect("it has a time");
            assert_eq!(read(), Some(*blake3::hash(&vec![1; length]).as_bytes()));
            std::fs::write(&other, vec![2; length]).expect("it is written");
            let file = std::fs::File::options().append(true).open(&other).expect("it opens");
            file.set_modified(at).expect("the system sets times");
            std::fs::rename(&other, &path).expect("it has the name");
            assert_eq!(read(), Some(*blake3::hash(&vec![2; length]).as_bytes()), "{length}");
        }
        std::fs::write(&path, vec![1; 50_000_000]).expect("it is written");
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let file = std::fs::File::options().append(true).open(&path).expect("it opens");
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    file.set_modified(std::time::SystemTime::now()).expect("the system sets times");
                }
            });
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(read(), None, "what never rests has no digest");
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}

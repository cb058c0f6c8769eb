//! Where bundles are kept that have come: each under the first half of its BLAKE3, so that one that comes
//! twice is one file and no file is ever replaced.

use super::books::{Books, FILE_LEAST};
use super::outgoing::BUNDLES_MOST;
use super::{Bundle, Error, Tag};
use crate::files::{PartFile, disk, make_folder, refusal, sync_folder};
use crate::transfer::sender::random;
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::wire::bundle::{self, Broken};
use lightlag_protocols::wire::ltp::aggregation::{self, bundle_end, capsule_at};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// What is copied at once.
const COPY_BYTES: usize = 256 << 10;
/// What is read at once to find where bundles end.
const WINDOW: u64 = 4 << 10;
/// Bytes of the digest that make a name.
const NAME_BYTES: usize = 16;

/// A folder of bundles.
#[derive(Clone, Debug)]
pub struct BundleStore {
    folder: PathBuf,
    /// Largest bundle that is taken, in bytes.
    pub size_most: u64,
    /// What has not the form of a bundle is kept too.
    is_opaque: bool,
    books: Arc<Books>,
}

/// Why something is not kept.
#[derive(Debug, Error)]
pub enum Unkept {
    /// It has not the form of a bundle.
    #[error("it is not a bundle: {0}")]
    NoBundle(#[from] Broken),
    /// There is no room, or the disk fails.
    #[error("{0}")]
    NoRoom(String),
}

impl From<String> for Unkept {
    fn from(why: String) -> Self {
        Self::NoRoom(why)
    }
}

/// Removes the parts of an earlier listener: they were never acknowledged, and are never resumed. A part that
/// another listener is writing is locked, and stays.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_part = entry.file_name().to_str().is_some_and(is_name_of_part);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_part && is_file && File::open(entry.path()).is_ok_and(|file| lock(&file).is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_name_of_part(name: &str) -> bool {
    let digits = name.strip_suffix(".part");
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Held as long as the file is open.
fn lock(file: &File) -> rustix::io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// What files of a folder take, each [`FILE_LEAST`] or more.
fn taken(folder: &Path) -> u64 {
    let files =
        fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
    let sizes = files.filter(fs::Metadata::is_file).map(|file| file.len().max(FILE_LEAST));
    sizes.fold(0, u64::saturating_add)
}

impl BundleStore {
    /// A folder, made if it is not there. `all_most`: bytes of all files in it together, each counted with at least
    /// 4096, those that are there already and those that are still coming; `None`: half of what they and the free
    /// disk have now.
    ///
    /// # Errors
    /// One line.
    pub fn new(folder: &Path, size_most: u64, all_most: Option<u64>) -> Result<Self, Error> {
        make_folder(folder)?;
        remove_leftovers(folder);
        let taken = taken(folder);
        let half = || disk(folder).map(|(free, _)| free.saturating_add(taken) / 2);
        let most = all_most.or_else(half).unwrap_or(u64::MAX);
        let books = Arc::new(Books::new(most.saturating_sub(taken)));
        Ok(Self { folder: folder.to_owned(), size_most, is_opaque: false, books })
    }
    /// Keeps what has not the form of a bundle too, or does not.
    #[must_use]
    pub fn opaque(self, is_opaque: bool) -> Self {
        Self { is_opaque, ..self }
    }
    /// Why a bundle of `length` bytes is rejected.
    pub fn check(&self, length: u64) -> Result<(), String> {
        let most = self.size_most;
        if length <= most {
            return Ok(());
        }
        Err(format!("it has {length} bytes or more; at most {most} are taken (--max-size)"))
    }
    /// Keeps a bundle that is here whole.
    ///
    /// # Errors
    /// Why it cannot be kept.
    pub fn keep(&self, bytes: &[u8], peer: SocketAddr, tag: Tag) -> Result<Bundle, Unkept> {
        if !self.is_opaque {
            bundle::check(bytes)?;
        }
        self.check(bytes.len() as u64)?;
        let digest = *blake3::hash(bytes).as_bytes();
        let (path, length) = (self.path_of(&digest), bytes.len() as u64);
        if is_there(&path, length) {
            return Ok(Bundle { path, bytes: length, digest, peer, tag, seconds: 0.0, outcome: Ok(()) });
        }
        let mut part = Part::new(self, peer)?;
        part.write(0, bytes)?;
        part.keep(tag)
    }
    fn path_of(&self, digest: &[u8; 32]) -> PathBuf {
        self.folder.join(digest.iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect::<String>())
    }
}

/// A bundle that comes, until it is kept. It is gone when it is dropped before.
pub struct Part {
    store: BundleStore,
    peer: SocketAddr,
    began: Instant,
    file: PartFile,
    /// Its number in the books of the store.
    number: u64,
    here: Ranges,
}

impl Part {
    /// Nothing of it is here yet.
    ///
    /// # Errors
    /// Why there cannot be one.
    pub fn new(store: &BundleStore, peer: SocketAddr) -> Result<Self, String> {
        let chance = || random().map_err(|why| why.to_string());
        let path = store.folder.join(format!("{:08x}{:08x}.part", chance()?, chance()?));
        let file = PartFile::create(path.clone(), true).map_err(|why| of_disk(&why))?;
        // Where the file system has no locks, another listener on this folder may take it for a leftover.
        let _ = lock(file.file());
        let number = store.books.open(path);
        Ok(Self { store: store.clone(), peer, began: Instant::now(), file, number, here: Ranges::default() })
    }
    /// How long ago it began.
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }
    /// What it takes of the disk now: pieces that begin and end in a block of the disk take all of it.
    fn taken(&self) -> u64 {
        let pieces = self.here.total().saturating_add(self.here.len() as u64 * 2 * FILE_LEAST);
        pieces.min(self.extent().0)
    }
    /// These bytes have come. They are counted before they are written.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let end = at.saturating_add(bytes.len() as u64);
        self.store.check(end)?;
        self.here.insert(at, end);
        self.store.books.charge(self.number, self.taken())?;
        self.file.write(at, bytes).map_err(|why| of_disk(&why))
    }
    /// Bytes that are here.
    pub fn here(&self) -> u64 {
        self.here.total()
    }
    /// Bytes up to the last that is here, and those among them that are not.
    pub fn extent(&self) -> (u64, u64) {
        let end = self.here.last().map_or(0, |last| last.1);
        (end, end - self.here.total())
    }
    /// Its bytes without a name: they take no room in the folder any more, and go when they were read.
    ///
    /// # Errors
    /// What the disk says.
    pub fn unnamed(mut self) -> Result<Unnamed, String> {
        let file = self.file.flush().and_then(|()| self.file.file().try_clone());
        let file = file.map_err(|why| of_disk(&why))?;
        Ok(Unnamed { file, length: self.extent().0 })
    }
    /// Appends bytes of a block.
    ///
    /// # Errors
    /// As of [`Part::write`], and what the disk says.
    pub fn copy(&mut self, block: &Unnamed, range: Range<u64>) -> Result<(), String> {
        self.store.check(range.end - range.start)?;
        let (mut at, mut bytes) = (range.start, vec![0; COPY_BYTES]);
        while at < range.end {
            let bytes = &mut bytes[..(range.end - at).min(COPY_BYTES as u64) as usize];
            block.file.read_exact_at(bytes, at).map_err(|why| of_disk(&why))?;
            self.write(at - range.start, bytes)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }
    /// Where the bundles end that it is.
    ///
    /// # Errors
    /// It is not bundles, or what the disk says.
    pub fn ends(&mut self) -> Result<Vec<u64>, Unkept> {
        self.file.flush().map_err(|why| of_disk(&why))?;
        let mut read = |at, out: &mut [u8]| self.file.read(at, out).is_ok();
        Ok(bundle::ends(self.extent().0, BUNDLES_MOST, &mut read)?)
    }
    /// It is here, as far as it comes: it gets its name.
    ///
    /// # Errors
    /// It is not a bundle, the store is full, or the disk failed.
    pub fn keep(mut self, tag: Tag) -> Result<Bundle, Unkept> {
        self.file.flush().map_err(|why| of_disk(&why))?;
        self.check_form()?;
        let bytes = self.extent().0;
        let digest = self.file.digest(bytes).map_err(|why| of_disk(&why))?;
        let path = self.store.path_of(&digest);
        let is_promised = !matches!(tag, Tag::Datagram);
        self.name(&path, bytes, is_promised)?;
        let seconds = self.began.elapsed().as_secs_f64();
        Ok(Bundle { path, bytes, digest, peer: self.peer, tag, seconds, outcome: Ok(()) })
    }
    /// Checks that it has the form of a bundle; if bytes are missing, checks only its primary block.
    fn check_form(&self) -> Result<(), Broken> {
        let (length, lacks) = self.extent();
        let mut read = |at, out: &mut [u8]| self.file.read(at, out).is_ok();
        match (self.store.is_opaque, lacks) {
            (true, _) => Ok(()),
            (false, 0) => bundle::check_with(length, &mut read),
            (false, _) => bundle::check_primary(length, &mut read),
        }
    }
    /// Renames it; if the sender gets an acknowledgement, syncs file and folder to disk, so that a power failure
    /// loses neither. A file already there under this name is the same.
    fn name(&mut self, path: &Path, length: u64, is_promised: bool) -> Result<(), String> {
        if is_promised {
            self.file.file().sync_all().map_err(|why| of_disk(&why))?;
        }
        let rename = || self.file.finish(path, true, false).map_err(|why| of_disk(&why));
        self.store.books.settle(self.number, length, || is_there(path, length), rename)?;
        if is_promised { sync_folder(path).map_err(|why| of_disk(&why)) } else { Ok(()) }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.store.books.close(self.number);
    }
}

/// A block that has come and has no name any more.
pub struct Unnamed {
    file: File,
    length: u64,
}

/// What is done with a capsule: the block, the service that its unit is for, and where that is.
type WithCapsule<'a> = dyn FnMut(&Unnamed, u64, Range<u64>) -> Result<(), Unkept> + 'a;

impl Unnamed {
    /// Hands over each capsule of an aggregated block (CCSDS 734.1-B-1, section 7). Little of it is in memory.
    ///
    /// # Errors
    /// The first capsule whose end cannot be found, or that `with` rejects.
    pub fn each_capsule(&self, with: &mut WithCapsule) -> Result<(), Unkept> {
        let (mut at, mut window) = (0, (0, Vec::new()));
        while at < self.length {
            let mut byte = |place: u64| self.byte(place, &mut window);
            let (service, unit) = capsule_at(at, &mut byte).map_err(|why| why.to_string())?;
            let end = bundle_end(unit, self.length, &mut byte).filter(|end| *end > unit);
            let end = end.ok_or(aggregation::Broken::Unit { at: at as usize, service });
            let end = end.map_err(|why| why.to_string())?;
            with(self, service, unit..end)?;
            at = end;
        }
        Ok(())
    }
    fn byte(&self, at: u64, window: &mut (u64, Vec<u8>)) -> Option<u8> {
        let (start, bytes) = window;
        if at < *start || at - *start >= bytes.len() as u64 {
            *start = at;
            bytes.resize(self.length.saturating_sub(at).min(WINDOW) as usize, 0);
            if self.file.read_exact_at(bytes, at).is_err() {
                bytes.clear();
            }
        }
        bytes.get((at - *start) as usize).copied()
    }
}

/// Whether a bundle of `length` bytes is there already.
fn is_there(path: &Path, length: u64) -> bool {
    fs::metadata(path).is_ok_and(|found| found.len() == length)
}

fn of_disk(why: &std::io::Error) -> String {
    refusal("", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_a_killed_listener_has_left_go_and_those_of_a_living_one_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let left = File::create(path("0123456789abcdef.part")).expect("it is made");
        // Without data, so it takes nothing of the disk, but 20 GB by its length.
        left.set_len(20 << 30).expect("the file system has sparse files");
        drop(left);
        fs::write(path("mine.part"), "x").expect("it is written");
        let peer = SocketAddr::from(([127, 0, 0, 1], 9));
        let first = BundleStore::new(folder.path(), 1 << 20, Some(1 << 20)).expect("a store");
        let mut part = Part::new(&first, peer).expect("there is room");
        part.write(0, &[1; 1000]).expect("there is room");
        let second = BundleStore::new(folder.path(), 1 << 20, Some(1 << 20)).expect("a store");
        assert!(
            !path("0123456789abcdef.part").exists()
                && path("mine.part").exists()
                && part.file.path().exists()
        );
        let mut other = Part::new(&second, peer).expect("there is room");
        assert_eq!(other.write(0, &[1; 900_000]), Ok(()));
    }
}

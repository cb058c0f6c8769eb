//! Where bundles are kept that have come: each under the first half of its BLAKE3, so that one that comes
//! twice is one file and no file is ever replaced.

use super::{Bundle, Error, Tag};
use crate::transfer::sender::random;
use lightlag_protocols::transport::ranges::Ranges;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Bytes that follow each other are written together, up to so many.
const STAGE_BYTES: usize = 256 << 10;
const HASH_BYTES: usize = 1 << 20;
/// Bytes of the digest that make a name.
const NAME_BYTES: usize = 16;

/// A folder of bundles.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
    /// Largest bundle that is taken, in bytes.
    pub size_most: u64,
    /// Bytes that are still taken, of all bundles together.
    left: Arc<AtomicU64>,
}

/// A file takes as many bytes of a disk, however small it is.
const FILE_LEAST: u64 = 4096;

impl Shelf {
    /// A folder, made if it is not there. `all_most`: bytes of all bundles together that are taken, each counted with
    /// at least 4096; `None`: half of what is free on the disk now.
    ///
    /// # Errors
    /// One line.
    pub fn new(folder: &Path, size_most: u64, all_most: Option<u64>) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|why| {
            let folder = folder.display();
            Error::Input(format!("{folder}: {why}; name a folder that can be written with --folder"))
        })?;
        let half = || {
            let disk = rustix::fs::statvfs(folder).ok()?;
            Some(disk.f_bavail.saturating_mul(disk.f_frsize) / 2)
        };
        let left = Arc::new(AtomicU64::new(all_most.or_else(half).unwrap_or(u64::MAX)));
        Ok(Self { folder: folder.to_owned(), size_most, left })
    }
    /// Why a bundle of so many bytes is not taken.
    pub fn check(&self, length: u64) -> Result<(), String> {
        let most = self.size_most;
        if length <= most {
            return Ok(());
        }
        Err(format!("it has {length} bytes or more; at most {most} are taken (--max-size)"))
    }
    /// So many bytes more are kept.
    fn spend(&self, length: u64) -> Result<(), String> {
        let cost = length.max(FILE_LEAST);
        let spent =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(cost));
        spent
            .map(drop)
            .map_err(|_| "no more is kept: the folder has all that it may (--max-stored)".to_owned())
    }
    /// Keeps a bundle that is here whole.
    ///
    /// # Errors
    /// Why it cannot be kept.
    pub fn keep(&self, bytes: &[u8], peer: SocketAddr, tag: Tag) -> Result<Bundle, String> {
        let digest = *blake3::hash(bytes).as_bytes();
        let (path, length) = (self.path_of(&digest), bytes.len() as u64);
        if fs::metadata(&path).is_ok_and(|found| found.len() == length) {
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
    shelf: Shelf,
    peer: SocketAddr,
    began: Instant,
    file: File,
    path: PathBuf,
    here: Ranges,
    /// Bytes that are to be written, and where.
    stage: (u64, Vec<u8>),
}

impl Part {
    /// Nothing of it is here yet.
    ///
    /// # Errors
    /// Why there cannot be one.
    pub fn new(shelf: &Shelf, peer: SocketAddr) -> Result<Self, String> {
        let chance = || random().map_err(|why| why.to_string());
        let path = shelf.folder.join(format!("{:08x}{:08x}.part", chance()?, chance()?));
        let mut how = OpenOptions::new();
        let file = how.read(true).write(true).create_new(true).open(&path).map_err(|why| of_disk(&why))?;
        let (shelf, began, here) = (shelf.clone(), Instant::now(), Ranges::default());
        Ok(Self { shelf, peer, began, file, path, here, stage: (0, Vec::new()) })
    }
    /// These bytes have come.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let end = at.saturating_add(bytes.len() as u64);
        self.shelf.check(end)?;
        self.here.insert(at, end);
        if at != self.stage.0 + self.stage.1.len() as u64 || self.stage.1.len() >= STAGE_BYTES {
            self.flush()?;
            self.stage.0 = at;
        }
        self.stage.1.extend_from_slice(bytes);
        Ok(())
    }
    fn flush(&mut self) -> Result<(), String> {
        let written = self.file.write_all_at(&self.stage.1, self.stage.0);
        self.stage.1.clear();
        written.map_err(|why| of_disk(&why))
    }
    /// Bytes up to the last that is here, and those among them that are not.
    pub fn extent(&self) -> (u64, u64) {
        let end = self.here.last().map_or(0, |last| last.1);
        (end, end - self.here.total())
    }
    /// The bytes, of a small one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn bytes(&mut self) -> Result<Vec<u8>, String> {
        self.flush()?;
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0)).map_err(|why| of_disk(&why))?;
        self.file.read_to_end(&mut bytes).map_err(|why| of_disk(&why))?;
        Ok(bytes)
    }
    /// It is here, as far as it comes: it gets its name.
    ///
    /// # Errors
    /// What the disk says.
    pub fn keep(mut self, tag: Tag) -> Result<Bundle, String> {
        self.flush()?;
        let (digest, bytes) = self.digest().map_err(|why| of_disk(&why))?;
        let path = self.shelf.path_of(&digest);
        if !path.exists() {
            self.shelf.spend(bytes)?;
        }
        let is_promised = !matches!(tag, Tag::Datagram);
        self.name(&path, is_promised).map_err(|why| of_disk(&why))?;
        let seconds = self.began.elapsed().as_secs_f64();
        Ok(Bundle { path, bytes, digest, peer: self.peer, tag, seconds, outcome: Ok(()) })
    }
    /// Gives it its name; where its sender will be told that it is kept, so that neither is lost with the power.
    /// What is there already under it is the same.
    fn name(&self, path: &Path, is_promised: bool) -> io::Result<()> {
        if !is_promised {
            return fs::rename(&self.path, path);
        }
        self.file.sync_all()?;
        fs::rename(&self.path, path)?;
        File::open(&self.shelf.folder)?.sync_all()
    }
    fn digest(&mut self) -> io::Result<([u8; 32], u64)> {
        let (mut hasher, mut bytes, mut length) = (blake3::Hasher::new(), vec![0; HASH_BYTES], 0);
        self.file.seek(SeekFrom::Start(0))?;
        loop {
            let count = self.file.read(&mut bytes)?;
            if count == 0 {
                return Ok((*hasher.finalize().as_bytes(), length));
            }
            hasher.update(&bytes[..count]);
            length += count as u64;
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Once it has its name there is none to remove.
        let _ = fs::remove_file(&self.path);
    }
}

fn of_disk(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; make room there".to_owned()
        }
        _ => format!("it cannot be kept: {why}"),
    }
}

//! Files that come in: written beside their final name, checked, and renamed when they are whole; and files that are sent.

use crate::Error;
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Adjacent bytes are collected and written together, up to this many.
const STAGE_BYTES: usize = 256 << 10;
/// What is read at once to be hashed.
const HASH_BYTES: usize = 1 << 20;
/// The end of the name under which [`replace`] writes.
pub const NEW: &str = ".new";
/// Left free on the disk.
const SPARE_BYTES: u64 = 1 << 20;

/// A file that grows under a temporary name. Dropped before its end it is removed, unless it can be resumed.
pub struct PartFile {
    file: File,
    path: PathBuf,
    /// Bytes to write, and their offset.
    stage: (u64, Vec<u8>),
    hasher: blake3::Hasher,
    /// Bytes from its start that are in the hash.
    hashed: u64,
    /// It stays when it is dropped.
    stays: bool,
}

impl PartFile {
    /// Empty, and locked: of two programs with one name for it, the second gets an error. What was there under this name
    /// is truncated, or with `is_new` an error; so is anything that is not a file, and a link.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::ResourceBusy`] if it is locked.
    pub fn create(path: PathBuf, is_new: bool) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
        let how = if is_new { how.create_new(true) } else { how.create(true).truncate(false) };
        let file = how.open(&path)?;
        lock(&file, &path)?;
        file.set_len(0)?;
        Ok(Self::of(file, path, false))
    }
    /// With what was there under this name, and locked as by [`PartFile::create`]; it stays when it is dropped.
    ///
    /// # Errors
    /// As of [`PartFile::create`].
    pub fn resume(path: PathBuf) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
        let file = how.create(true).truncate(false).open(&path)?;
        lock(&file, &path)?;
        Ok(Self::of(file, path, true))
    }
    fn of(file: File, path: PathBuf, stays: bool) -> Self {
        Self { file, path, stage: (0, Vec::new()), hasher: blake3::Hasher::new(), hashed: 0, stays }
    }
    /// The open file, for locks and for readers that outlive the name.
    pub fn file(&self) -> &File {
        &self.file
    }
    /// Its temporary name.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Gives it another temporary name.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::AlreadyExists`] if that name is taken.
    pub fn move_to(&mut self, path: PathBuf) -> io::Result<()> {
        rename(&self.path, &path, false)?;
        self.path = path;
        Ok(())
    }
    /// Somebody else has its name now: it is not removed.
    pub fn let_go(&mut self) {
        self.stays = true;
    }
    /// These bytes have come.
    ///
    /// # Errors
    /// What the system says; a full disk among it.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if at != self.stage.0 + self.stage.1.len() as u64 || self.stage.1.len() >= STAGE_BYTES {
            self.flush()?;
            self.stage.0 = at;
        }
        self.stage.1.extend_from_slice(bytes);
        Ok(())
    }
    /// Hands to the system what was collected. Bytes in their order are hashed at once.
    ///
    /// # Errors
    /// What the system says; a full disk among it.
    pub fn flush(&mut self) -> io::Result<()> {
        let (at, bytes) = (self.stage.0, &self.stage.1);
        self.file.write_all_at(bytes, at)?;
        if at == self.hashed && !self.stays {
            self.hasher.update(bytes);
            self.hashed += bytes.len() as u64;
        }
        self.stage.0 += bytes.len() as u64;
        self.stage.1.clear();
        Ok(())
    }
    /// Writes at a place, past what is collected.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_through(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }
    /// Fills `out` from a place; [`PartFile::flush`] comes first.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, at)
    }
    /// Hashes at most the next 1 MiB below `end`; false if all of it is hashed.
    ///
    /// # Errors
    /// What the system says.
    pub fn hash_some(&mut self, end: u64) -> io::Result<bool> {
        if self.hashed >= end {
            return Ok(false);
        }
        self.flush()?;
        let mut bytes = vec![0; (end - self.hashed).min(HASH_BYTES as u64) as usize];
        self.file.read_exact_at(&mut bytes, self.hashed)?;
        self.hasher.update(&bytes);
        self.hashed += bytes.len() as u64;
        Ok(true)
    }
    /// BLAKE3 of its first `length` bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn digest(&mut self, length: u64) -> io::Result<[u8; 32]> {
        self.flush()?;
        while self.hash_some(length)? {}
        Ok(*self.hasher.finalize().as_bytes())
    }
    /// BLAKE3 of what was hashed, if that are its first `length` bytes.
    pub fn hashed(&self, length: u64) -> Option<[u8; 32]> {
        (self.hashed == length).then(|| *self.hasher.finalize().as_bytes())
    }
    /// Gives it its final name; `lasts` if its bytes must survive a loss of power from now on. So that its name does,
    /// [`sync_folder`] follows.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::AlreadyExists`] if that name is taken and may not be replaced;
    /// [`io::ErrorKind::ResourceBusy`] if another file has its temporary name now.
    pub fn finish(&mut self, name: &Path, replaces: bool, lasts: bool) -> io::Result<()> {
        self.flush()?;
        check_named(&self.file, &self.path)?;
        if lasts {
            self.file.sync_all()?;
        }
        rename(&self.path, name, replaces)?;
        self.stays = true;
        Ok(())
    }
}

/// Locks a file that grows for the descriptor that opened it, and checks that it still has its name.
fn lock(file: &File, path: &Path) -> io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::new(io::ErrorKind::ResourceBusy, "another program writes it"))?;
    check_named(file, path)
}

fn check_named(file: &File, path: &Path) -> io::Result<()> {
    let renamed = || io::Error::new(io::ErrorKind::ResourceBusy, "another program has renamed or removed it");
    let (opened, named) = (file.metadata()?, fs::symlink_metadata(path).map_err(|_| renamed())?);
    let is_same = named.is_file() && (opened.dev(), opened.ino()) == (named.dev(), named.ino());
    if is_same { Ok(()) } else { Err(renamed()) }
}

/// Removes a file that grew, unless somebody has it open to write it: whether it is gone.
pub fn remove_part(path: &Path) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    match OpenOptions::new().read(true).write(true).custom_flags(flags).open(path) {
        // It is removed before its lock goes.
        Ok(file) => lock(&file, path).is_ok() && fs::remove_file(path).is_ok(),
        Err(why) => why.kind() == io::ErrorKind::NotFound,
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.stays {
            // What is gone already need not go.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn rename(from: &Path, to: &Path, replaces: bool) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    if replaces {
        return fs::rename(from, to);
    }
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if !to.exists() => fs::rename(from, to),
        done => Ok(done?),
    }
}

/// A file that must stay as it is while it is sent.
pub struct SentFile {
    file: File,
    path: PathBuf,
    was: Identity,
}

/// Length, and time of the last change in s and ns.
type Identity = (u64, i64, i64);

fn identity(found: &Metadata) -> Identity {
    (found.len(), found.mtime(), found.mtime_nsec())
}

impl SentFile {
    /// Opens it.
    ///
    /// # Errors
    /// One line: it is not there, cannot be opened, or is not a file; or it has other bytes than its length says, as
    /// those of `/proc` have.
    pub fn open(path: &Path) -> Result<Self, Error> {
        // A pipe must not be opened: that waits for its writer.
        let found = fs::metadata(path).map_err(|why| Self::cannot(path, why))?;
        if !found.is_file() {
            return Err(Self::cannot(path, "it is not a file"));
        }
        let file = File::open(path).map_err(|why| Self::cannot(path, why))?;
        let was = identity(&file.metadata().map_err(|why| Self::cannot(path, why))?);
        let sent = Self { file, path: path.to_owned(), was };
        let last = sent.length().saturating_sub(1);
        let read = sent.file.read_at(&mut [0; 2], last).map_err(|why| Self::cannot(path, why))?;
        if read as u64 == sent.length() - last { Ok(sent) } else { Err(sent.changed()) }
    }
    /// Why a file cannot be sent.
    pub fn cannot(path: &Path, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}; name a file to send", path.display()))
    }
    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Bytes of it.
    pub fn length(&self) -> u64 {
        self.was.0
    }
    /// Fills `out` with the bytes from `at` on.
    ///
    /// # Errors
    /// One line if it can no longer be read as it was.
    pub fn read(&self, at: u64, out: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact_at(out, at).map_err(|why| match why.kind() {
            io::ErrorKind::UnexpectedEof => self.changed(),
            _ => Error::Failed(format!("{}: cannot be read any more: {why}", self.path.display())),
        })
    }
    /// Whether it still is what it was.
    ///
    /// # Errors
    /// One line if it is not.
    pub fn check(&self) -> Result<(), Error> {
        match self.file.metadata() {
            Ok(found) if identity(&found) == self.was => Ok(()),
            _ => Err(self.changed()),
        }
    }
    /// The same file, to be checked beside what sends it.
    ///
    /// # Errors
    /// One line.
    pub fn twin(&self) -> Result<Self, Error> {
        let file = self.file.try_clone().map_err(|_| self.changed())?;
        Ok(Self { file, path: self.path.clone(), was: self.was })
    }
    /// It is not what it was.
    pub fn changed(&self) -> Error {
        let path = self.path.display();
        Error::Failed(format!("{path}: it changed while it was sent; send it again when it stays as it is"))
    }
}

/// Makes the names in the folder of `path` survive a loss of power.
///
/// # Errors
/// What the system says.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Replaces a small file at once, through `PATH.new`: readers see all of it, or what was there before. `lasts`: also
/// after a loss of power.
///
/// # Errors
/// What the system says.
pub fn replace(path: &Path, bytes: &[u8], lasts: bool) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(NEW);
    let new = PathBuf::from(new);
    // What an interrupted program has left; a pipe or a link, too.
    let _ = fs::remove_file(&new);
    let mut part = PartFile::create(new, true)?;
    part.write(0, bytes)?;
    part.finish(path, true, lasts)?;
    if lasts { sync_folder(path) } else { Ok(()) }
}

/// What a small file of a program's own state contains.
///
/// # Errors
/// What the system says; [`io::ErrorKind::InvalidData`] if it is not a regular file or has more than `most` bytes.
pub fn read_state(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let invalid = |why: String| Err(io::Error::new(io::ErrorKind::InvalidData, why));
    // A pipe does not block here.
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return invalid("it is not a regular file".to_owned());
    }
    if found.len() > most {
        return invalid(format!("it has {} bytes; at most {most} are expected", found.len()));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// BLAKE3 of all that a reader gives, and its bytes; `watch` sees the bytes so far.
///
/// # Errors
/// What the system says.
pub fn digest(mut from: impl Read, watch: &mut dyn FnMut(u64)) -> io::Result<([u8; 32], u64)> {
    let (mut hasher, mut bytes, mut done) = (blake3::Hasher::new(), vec![0; HASH_BYTES], 0);
    loop {
        let count = from.read(&mut bytes)?;
        if count == 0 {
            return Ok((*hasher.finalize().as_bytes(), done));
        }
        hasher.update(&bytes[..count]);
        done += count as u64;
        watch(done);
    }
}

/// What distinguishes a file and its content from what has its name later: device, number, length, times of the last
/// changes of its bytes and of its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp([i64; 7]);

impl Stamp {
    /// Of what the system says of a file.
    pub fn of(found: &Metadata) -> Self {
        let (dev, ino, size) = (found.dev() as i64, found.ino() as i64, found.size() as i64);
        Self([dev, ino, size, found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()])
    }
}

/// BLAKE3 of a file, and the file's stamp; `None` if it is not a regular file, cannot be read, or changed meanwhile.
pub fn digest_of(path: &Path) -> Option<([u8; 32], Stamp)> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let before = file.metadata().ok().filter(Metadata::is_file).map(|found| Stamp::of(&found))?;
    let (digest, _) = digest(&file, &mut |_| {}).ok()?;
    (Stamp::of(&file.metadata().ok()?) == before).then_some((digest, before))
}

/// Makes a folder for files that come, unless it is there.
///
/// # Errors
/// One line.
pub fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|why| {
        let folder = folder.display();
        Error::Input(format!("{folder}: {why}; name a folder that can be written with --folder"))
    })
}

/// Bytes of a disk that are free for users, and all that it has; `None` where the system does not say.
pub fn disk(folder: &Path) -> Option<(u64, u64)> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some((disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize)))
}

/// Whether a folder has room for `needs` bytes more.
///
/// # Errors
/// One line, for the sender.
pub fn check_space(folder: &Path, needs: u64) -> Result<(), String> {
    match disk(folder) {
        Some((free, _)) if needs > 0 && needs.saturating_add(SPARE_BYTES) > free => {
            Err(format!("it needs {needs} bytes of disk, the receiver has {free}; make room there"))
        }
        _ => Ok(()),
    }
}

/// What the system says of a file that comes, as its sender can understand it.
pub fn refusal(name: &str, why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("another file called {name} is there; move it away, or listen with --overwrite")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the receiver's disk is full; make room there and send again".to_owned()
        }
        io::ErrorKind::ResourceBusy => format!("the receiver's file: {why}; send again when it has ended"),
        _ => format!("the receiver cannot write: {why}"),
    }
}

//! What durable connections have accepted, on disk: every write is there when it is answered, in the order in which
//! they were asked for (redb: a crash leaves a state between two of them).

mod damage;

use super::keys::PublicKey;
use super::log_limit;
use damage::Unopened;
use lightlag_node::Error;
use lightlag_protocols::wire::session::{ConnectionId, Hints};
use redb::{Builder, Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;
use tracing::{error, info};

/// Of a connection: the other daemon, the epoch and the number.
const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("connections");
/// The same, the direction, and the offset of the first byte.
const BYTES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("bytes");
/// What the store says of itself: [`VERSION`].
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
/// The format of the tables. A store that says none is of version 1, which had the same tables but this one.
const VERSION: u64 = 2;
/// After a write that failed.
const TRY_AGAIN: Duration = Duration::from_secs(1);
/// Bytes of a disk that are kept for what makes room: for records, and for copies of pages while some are dropped.
const RESERVE: u64 = 1 << 20;
/// And those that are kept for data from other daemons.
const RESERVE_IN: u64 = 2 << 20;
/// Bytes are stored in such pieces: with its key, one fits into pages of 64 KiB.
const PIECE: usize = (64 << 10) - 256;
/// Most bytes on disk for each stored byte.
const SPREAD: u64 = 2;
/// Bytes of memory that wait to be written, and those that one application gives at once, at least and at most: each
/// time waits for the disk.
const PENDING_MOST: u64 = 16 << 20;
const STEP: (u64, u64) = (16 << 10, 1 << 20);
/// Memory for what was read and written last.
const CACHE: usize = 16 << 20;

/// Names a durable connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// With whom it is shared.
    pub peer: PublicKey,
    /// Which.
    pub id: ConnectionId,
}

/// One of its two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the other daemon.
    Out,
    /// From it.
    In,
}

/// What is remembered of a durable connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// To what.
    pub target: String,
    /// How it is carried.
    pub hints: Hints,
    /// It was opened from here.
    pub is_ours: bool,
    /// Its target was reached.
    pub is_open: bool,
    /// Bytes for the other daemon: all that were stored, those that it has, and how the stream ended here.
    pub out: (u64, u64, Option<End>),
    /// Bytes from the other daemon: all that were stored, those that the application was given, and how the stream ended.
    pub into: (u64, u64, Option<End>),
    /// Nothing more is heard of it: both streams had come to their ends, or not.
    pub over: Option<bool>,
    /// The application here has been given all and knows how it ended, or is gone.
    pub is_settled: bool,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// As its application wanted.
    Whole,
    /// Its application was cut off.
    Cut,
}

/// A change to the store.
#[derive(Clone, Debug)]
pub enum Write {
    /// More bytes of a stream.
    Bytes(Key, Direction, u64, Vec<u8>),
    /// Bytes of a stream below this are not needed any more.
    Drop(Key, Direction, u64),
    /// What is remembered of a connection.
    Record(Key, Record),
    /// Nothing is remembered of it any more.
    Forget(Key),
}

struct Asked {
    writes: Vec<Write>,
    done: oneshot::Sender<()>,
}

/// The store of one daemon.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
    asks: mpsc::Sender<Asked>,
    quota: u64,
    /// Where it is, with what is left of earlier ones; none in tests.
    folder: Option<PathBuf>,
}

/// What the store and the thread that writes it have between them.
struct Shared {
    /// Where it is.
    name: String,
    /// `None` while it must be opened again.
    base: Mutex<Option<Arc<Database>>>,
    used: AtomicU64,
    /// Bytes that were asked to be written and are not yet.
    pending: AtomicU64,
    /// Bytes of the disk that the store has or may have.
    disk: Box<dyn Fn() -> u64 + Send + Sync>,
    /// Why nothing can be stored now.
    trouble: Mutex<Option<String>>,
    /// Records that cannot be read: they are kept.
    unreadable: usize,
}

impl Key {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.peer.0.to_vec();
        bytes.extend(self.id.incarnation.to_be_bytes());
        bytes.extend(self.id.number.to_be_bytes());
        bytes
    }
    fn read(bytes: &[u8]) -> Option<Self> {
        let (peer, rest) = bytes.split_first_chunk()?;
        let (incarnation, number) = rest.split_first_chunk()?;
        let [incarnation, number] = [*incarnation, number.try_into().ok()?].map(u32::from_be_bytes);
        Some(Self { peer: PublicKey(*peer), id: ConnectionId { incarnation, number } })
    }
    fn at(&self, way: Direction, offset: u64) -> Vec<u8> {
        let mut bytes = self.bytes();
        bytes.push(u8::from(way == Direction::In));
        bytes.extend(offset.to_be_bytes());
        bytes
    }
}

impl Store {
    /// Opens the one in a folder, or makes it; gives what is in it. One that is damaged is set aside: [`Store::losses`].
    ///
    /// # Errors
    /// It cannot be read, or is of a newer version.
    pub fn open(folder: &Path, quota: u64) -> Result<(Self, Vec<(Key, Record)>), Error> {
        damage::prepare(folder)?;
        let opened = match Self::open_file(folder, quota) {
            Err(Unopened::Damaged(why)) => {
                damage::set_aside(folder, &why)?;
                Self::open_file(folder, quota)
            }
            opened => opened,
        };
        match opened {
            Ok((store, found)) => Ok((Self { folder: Some(folder.to_owned()), ..store }, found)),
            Err(Unopened::Failed(why)) => Err(why),
            Err(Unopened::Damaged(why)) => {
                Err(Error::Failed(format!("{}: {why}", folder.join(damage::FILE).display())))
            }
        }
    }
    fn open_file(folder: &Path, quota: u64) -> Result<(Self, Vec<(Key, Record)>), Unopened> {
        let path = folder.join(damage::FILE);
        let name = path.display().to_string();
        let (folder, file) = (folder.to_owned(), path.clone());
        let disk = move || size_of_disk(&folder, &file).unwrap_or(u64::MAX);
        Self::begin(name, move || damage::open(&path), Box::new(disk), quota)
    }
    /// The same, wherever it is; after a write that failed, it is opened again.
    fn begin(
        name: String,
        opens: impl Fn() -> Result<Database, DatabaseError> + Send + 'static,
        disk: Box<dyn Fn() -> u64 + Send + Sync>,
        quota: u64,
    ) -> Result<(Self, Vec<(Key, Record)>), Unopened> {
        let read = || {
            let mut base = opens()?;
            if !base.check_integrity()? {
                return Err(redb::Error::Corrupted("its checksums are wrong".to_owned()));
            }
            let version = version(&base)?;
            if version <= VERSION {
                make_tables(&base)?;
            }
            Ok((version, records(&base)?, sum(&base)?, base))
        };
        let read = damage::contained(read).and_then(|read| read).map_err(|why: redb::Error| {
            let told = format!("{name}: {why}");
            if damage::is_damage(&why) {
                Unopened::Damaged(told)
            } else {
                Unopened::Failed(Error::Failed(told))
            }
        });
        let (version, (records, unreadable), used, base) = read?;
        if version > VERSION {
            return Err(Unopened::Failed(Error::Failed(format!(
                "{name}: its format is version {version}; this lightlagd reads versions 1 to {VERSION}: run the later one, or \
                 move the file away"
            ))));
        }
        if unreadable > 0 {
            error!(path = name, unreadable, "records of durable connections cannot be read; they are kept");
        }
        let shared = Arc::new(Shared {
            name,
            base: Mutex::new(Some(Arc::new(base))),
            used: AtomicU64::new(used),
            pending: AtomicU64::new(0),
            disk,
            trouble: Mutex::new(None),
            unreadable,
        });
        let (asks, asked) = mpsc::channel();
        let store = Self { shared: shared.clone(), asks, quota, folder: None };
        std::thread::spawn(move || shared.write_all(&asked, &opens));
        Ok((store, records))
    }
    /// Bytes that may still be stored.
    pub fn room(&self) -> u64 {
        self.quota.saturating_sub(self.used()).min(self.shared.room_on_disk(RESERVE))
    }
    /// Bytes that applications here may give. Half of the quota is reserved for data from other daemons,
    /// so that two full stores cannot block each other.
    pub fn room_to_accept(&self) -> u64 {
        (self.quota / 2).saturating_sub(self.used()).min(self.shared.room_on_disk(RESERVE + RESERVE_IN))
    }
    /// Bytes to read of an application at once: where many wait to be written, each reads less.
    pub fn step(&self) -> u64 {
        let free = PENDING_MOST.saturating_sub(self.shared.pending.load(Ordering::Relaxed));
        (free / 4).clamp(STEP.0, STEP.1)
    }
    /// Whether applications here may give nothing.
    pub fn is_tight(&self) -> bool {
        self.room_to_accept() == 0
    }
    /// Bytes that are stored.
    pub fn used(&self) -> u64 {
        self.shared.used.load(Ordering::Relaxed)
    }
    /// Why nothing can be stored now, if it is so.
    pub fn trouble(&self) -> Option<String> {
        let is_full = || self.shared.room_on_disk(RESERVE + RESERVE_IN) == 0;
        let full = || format!("{}: its disk is full", self.shared.name);
        held(&self.shared.trouble).clone().or_else(|| is_full().then(full))
    }
    /// What was lost of what was accepted, and what cannot be read: one line each, until its owner has seen to it.
    pub fn losses(&self) -> Vec<String> {
        let mut all = self.folder.as_deref().map(damage::losses).unwrap_or_default();
        let Shared { name, unreadable, .. } = &*self.shared;
        if *unreadable > 0 {
            all.push(format!(
                "{name}: {unreadable} records of durable connections cannot be read; they are kept"
            ));
        }
        all
    }
    /// Writes all of these or none, and comes back when they are on disk, however long that takes.
    pub async fn write(&self, writes: Vec<Write>) {
        let (done, is_done) = oneshot::channel();
        self.shared.pending.fetch_add(length(&writes), Ordering::Relaxed);
        // The writer epochs as long as the process.
        let _ = self.asks.send(Asked { writes, done });
        let _ = is_done.await;
    }
    /// Bytes of a stream from an offset on, of one write; none also while the store cannot be read.
    pub fn read(&self, key: Key, way: Direction, offset: u64) -> Option<Vec<u8>> {
        // Reading does not wait for writers.
        let base = held(&self.shared.base).clone()?;
        let read = || -> Result<Option<Vec<u8>>, redb::Error> {
            let table = base.begin_read()?.open_table(BYTES)?;
            let (first, last) = (key.at(way, 0), key.at(way, offset));
            let Some(found) = table.range(&first[..]..=&last[..])?.next_back() else { return Ok(None) };
            let (place, bytes) = found?;
            let begins = place.value().last_chunk().map_or(0, |offset| u64::from_be_bytes(*offset));
            Ok(bytes.value().get((offset - begins) as usize..).map(<[u8]>::to_vec))
        };
        damage::contained(read).and_then(|read| read).unwrap_or_else(|why| {
            if let Some(suppressed) = log_limit::allow("store") {
                error!(%why, suppressed, path = self.shared.name, "the store cannot be read");
            }
            None
        })
    }
}

/// Bytes of streams.
fn length(writes: &[Write]) -> u64 {
    let length = |write: &Write| if let Write::Bytes(.., bytes) = write { bytes.len() as u64 } else { 0 };
    writes.iter().map(length).sum()
}

/// Bytes of a file on its disk, and free bytes.
fn size_of_disk(folder: &Path, file: &Path) -> std::io::Result<u64> {
    let free = rustix::fs::statvfs(folder)?;
    Ok(free.f_bavail.saturating_mul(free.f_frsize).saturating_add(fs::metadata(file)?.blocks() * 512))
}

fn held<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    builder
}

/// A power failure while one is made leaves no file: half of one could not be opened.
fn make(folder: &Path, path: &Path) -> Result<(), redb::Error> {
    let new = folder.join("custody.redb.new");
    let _ = fs::remove_file(&new);
    make_tables(&builder().create(&new)?)?;
    fs::rename(&new, path)?;
    Ok(File::open(folder)?.sync_all()?)
}

fn make_tables(base: &Database) -> Result<(), redb::Error> {
    let write = base.begin_write()?;
    write.open_table(RECORDS)?;
    write.open_table(BYTES)?;
    write.open_table(META)?.insert("version", VERSION)?;
    write.commit()?;
    Ok(())
}

fn version(base: &Database) -> Result<u64, redb::Error> {
    match base.begin_read()?.open_table(META) {
        Ok(meta) => Ok(meta.get("version")?.map_or(1, |version| version.value())),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(1),
        Err(why) => Err(why.into()),
    }
}

/// All that can be read, and how many cannot.
fn records(base: &Database) -> Result<(Vec<(Key, Record)>, usize), redb::Error> {
    let table = base.begin_read()?.open_table(RECORDS)?;
    let (mut found, mut unreadable) = (Vec::new(), 0);
    for entry in table.iter()? {
        let (key, record) = entry?;
        match Key::read(key.value()).zip(postcard::from_bytes(record.value()).ok()) {
            Some(read) => found.push(read),
            None => unreadable += 1,
        }
    }
    Ok((found, unreadable))
}

fn sum(base: &Database) -> Result<u64, redb::Error> {
    let table = base.begin_read()?.open_table(BYTES)?;
    let mut sum = 0;
    for entry in table.iter()? {
        sum += entry?.1.value().len() as u64;
    }
    Ok(sum)
}

impl Shared {
    /// Writes what is asked for, as much at once as has come, until the daemon ends.
    fn write_all(&self, asked: &mpsc::Receiver<Asked>, opens: &dyn Fn() -> Result<Database, DatabaseError>) {
        while let Ok(first) = asked.recv() {
            let mut all = vec![first];
            all.extend(asked.try_iter());
            while let Err(why) = self.write(&all) {
                self.fail(&why);
                std::thread::sleep(TRY_AGAIN);
                self.open_again(opens);
            }
            if held(&self.trouble).take().is_some() {
                self.count();
                info!(path = self.name, "storing accepted data works again");
            }
            for asked in all {
                self.pending.fetch_sub(length(&asked.writes), Ordering::Relaxed);
                let _ = asked.done.send(());
            }
        }
    }
    fn write(&self, all: &[Asked]) -> Result<(), redb::Error> {
        // The failed open has been reported already.
        let base = held(&self.base).clone().ok_or(redb::Error::DatabaseAlreadyOpen)?;
        let change = damage::contained(|| write(&base, all)).and_then(|change| change)?;
        self.used.store(self.used.load(Ordering::Relaxed).saturating_add_signed(change), Ordering::Relaxed);
        Ok(())
    }
    /// A write may have failed after it was done.
    fn count(&self) {
        if let Some(Ok(Ok(used))) = held(&self.base).clone().map(|base| damage::contained(|| sum(&base))) {
            self.used.store(used, Ordering::Relaxed);
        }
    }
    /// Bytes that there is room for, where some of the disk is kept.
    fn room_on_disk(&self, reserve: u64) -> u64 {
        let taken = self.used.load(Ordering::Relaxed) + self.pending.load(Ordering::Relaxed);
        (self.disk)().saturating_sub(SPREAD * taken + reserve) / SPREAD
    }
    fn fail(&self, why: &redb::Error) {
        let mut trouble = held(&self.trouble);
        if trouble.is_none() {
            error!(%why, path = self.name, "cannot store accepted data; applications with durable connections wait");
            *trouble = Some(format!("{}: {why}", self.name));
        }
    }
    /// After a write that failed the base must be opened again.
    fn open_again(&self, opens: &dyn Fn() -> Result<Database, DatabaseError>) {
        *held(&self.base) = None;
        // Where somebody reads in it yet, this fails once.
        let Ok(Ok(base)) = damage::contained(opens) else { return };
        *held(&self.base) = Some(Arc::new(base));
    }
}

/// How many bytes more are stored now.
fn write(base: &Database, all: &[Asked]) -> Result<i64, redb::Error> {
    let mut transaction = base.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    let mut change = 0;
    {
        let mut records = transaction.open_table(RECORDS)?;
        let mut bytes = transaction.open_table(BYTES)?;
        for write in all.iter().flat_map(|asked| &asked.writes) {
            match write {
                Write::Bytes(key, way, offset, more) => {
                    for (piece, at) in more.chunks(PIECE).zip((*offset..).step_by(PIECE)) {
                        let before = bytes.insert(&key.at(*way, at)[..], piece)?;
                        change += piece.len() as i64 - before.map_or(0, |before| before.value().len() as i64);
                    }
                }
                Write::Drop(key, way, below) => {
                    let (first, last) = (key.at(*way, 0), key.at(*way, *below));
                    change -= drop_range(&mut bytes, &first, &last, Some(*below))?;
                }
                Write::Record(key, record) => {
                    let record = postcard::to_allocvec(record).expect("a record can be written");
                    records.insert(&key.bytes()[..], &record[..])?;
                }
                Write::Forget(key) => {
                    records.remove(&key.bytes()[..])?;
                    for way in [Direction::Out, Direction::In] {
                        let (first, last) = (key.at(way, 0), key.at(way, u64::MAX));
                        change -= drop_range(&mut bytes, &first, &last, None)?;
                    }
                }
            }
        }
    }
    transaction.commit()?;
    Ok(change)
}

/// Removes entries that begin in a range, and end below `below` if given; returns the number of their bytes.
fn drop_range(
    table: &mut redb::Table<&[u8], &[u8]>,
    first: &[u8],
    last: &[u8],
    below: Option<u64>,
) -> Result<i64, redb::Error> {
    let mut dropped = 0;
    table.retain_in(first..last, |place, bytes| {
        let begins = place.last_chunk().map_or(0, |offset| u64::from_be_bytes(*offset));
        let keep = below.is_some_and(|below| begins + bytes.len() as u64 > below);
        if !keep {
            dropped += bytes.len() as i64;
        }
        keep
    })?;
    Ok(dropped)
}

#[cfg(test)]
mod crashes;
#[cfg(test)]
mod damaged;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(number: u32) -> Key {
        Key { peer: PublicKey([7; 32]), id: ConnectionId { incarnation: 4, number } }
    }

    fn record() -> Record {
        let hints = Hints { durable: true, ..Hints::default() };
        let (out, into) = ((5, 0, None), (0, 0, Some(End::Cut)));
        Record {
            target: "a:1".into(),
            hints,
            is_ours: true,
            is_open: false,
            out,
            into,
            over: None,
            is_settled: false,
        }
    }

    fn wait(store: &Store, writes: Vec<Write>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.write(writes));
    }

    #[test]
    fn half_of_a_new_one_is_no_store() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("custody.redb.new"), [0; 5000]).unwrap();
        assert!(Store::open(folder.path(), 100).unwrap().1.is_empty());
        assert!(!folder.path().join("custody.redb.new").exists());
    }

    #[test]
    fn what_was_written_is_there_in_the_next_life() {
        let folder = tempfile::tempdir().unwrap();
        let (store, found) = Store::open(folder.path(), 100).unwrap();
        assert!(found.is_empty());
        let bytes = |offset, more: &[u8]| Write::Bytes(key(1), Direction::Out, offset, more.to_vec());
        wait(&store, vec![Write::Record(key(1), record()), bytes(0, b"abc"), bytes(3, b"de")]);
        wait(&store, vec![Write::Bytes(key(2), Direction::In, 0, vec![1; 10]), Write::Forget(key(2))]);
        assert_eq!((store.used(), store.room()), (5, 95));
        // What a crash leaves: the file as it is, the base not closed.
        let copy = tempfile::tempdir().unwrap();
        std::fs::copy(folder.path().join("custody.redb"), copy.path().join("custody.redb")).unwrap();
        let (again, found) = Store::open(copy.path(), 100).unwrap();
        assert_eq!(found, [(key(1), record())]);
        assert_eq!(again.read(key(1), Direction::Out, 1).as_deref(), Some(&b"bc"[..]));
        assert_eq!(again.read(key(1), Direction::Out, 3).as_deref(), Some(&b"de"[..]));
        assert_eq!(
            (again.read(key(1), Direction::Out, 6), again.read(key(1), Direction::In, 0)),
            (None, None)
        );
        assert_eq!(again.used(), 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_stream_is_read_as_it_was_written(sizes in prop::collection::vec(1_usize..50, 1..12), below in 0_u64..300) {
            let folder = tempfile::tempdir().unwrap();
            let (store, _) = Store::open(folder.path(), 1 << 20).unwrap();
            let whole: Vec<u8> = (0..sizes.iter().sum::<usize>()).map(|at| at as u8).collect();
            let mut at = 0;
            for size in sizes {
                let part = whole[at..at + size].to_vec();
                wait(&store, vec![Write::Bytes(key(1), Direction::In, at as u64, part)]);
                at += size;
            }
            let below = below.min(at as u64);
            wait(&store, vec![Write::Drop(key(1), Direction::In, below)]);
            let mut read = below;
            while let Some(part) = store.read(key(1), Direction::In, read).filter(|part| !part.is_empty()) {
                prop_assert_eq!(&part[..], &whole[read as usize..read as usize + part.len()]);
                read += part.len() as u64;
            }
            prop_assert_eq!(read, whole.len() as u64);
        }
    }
}

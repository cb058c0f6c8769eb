//! What durable connections have accepted, on disk: every write is there when it is answered, in the order in which
//! they were asked for (redb: a crash leaves a state between two of them).

use super::keys::PublicKey;
use crate::Error;
use lightlag_protocols::wire::adaptive::{ConnectionId, Hints};
use redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;
use tracing::{error, info};

/// Of a connection: the other daemon, the life and the number.
const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("connections");
/// The same, the direction, and the offset of the first byte.
const BYTES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("bytes");
/// After a write that failed.
const TRY_AGAIN: Duration = Duration::from_secs(1);
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
pub enum Way {
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
    /// The application here has been given all and knows how it ended, or there is none any more.
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

/// What is to be written.
#[derive(Clone, Debug)]
pub enum Write {
    /// More bytes of a stream.
    Bytes(Key, Way, u64, Vec<u8>),
    /// Bytes of a stream below this are not needed any more.
    Drop(Key, Way, u64),
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
    base: Arc<Mutex<Option<Database>>>,
    asks: mpsc::Sender<Asked>,
    used: Arc<AtomicU64>,
    quota: u64,
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
    fn at(&self, way: Way, offset: u64) -> Vec<u8> {
        let mut bytes = self.bytes();
        bytes.push(u8::from(way == Way::In));
        bytes.extend(offset.to_be_bytes());
        bytes
    }
}

impl Store {
    /// Opens the one in a folder, or makes it; gives what is in it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(folder: &Path, quota: u64) -> Result<(Self, Vec<(Key, Record)>), Error> {
        let path = folder.join("custody.redb");
        let failed = |why: redb::Error| Error::Failed(format!("{}: {why}", path.display()));
        let base = open(&path).map_err(failed)?;
        let records = records(&base).map_err(failed)?;
        let used = Arc::new(AtomicU64::new(sum(&base).map_err(failed)?));
        let base = Arc::new(Mutex::new(Some(base)));
        let (asks, asked) = mpsc::channel();
        let store = Self { base: base.clone(), asks, used: used.clone(), quota };
        std::thread::spawn(move || write_all(&asked, &base, &path, &used));
        Ok((store, records))
    }
    /// Bytes that may still be stored.
    pub fn room(&self) -> u64 {
        self.quota.saturating_sub(self.used.load(Ordering::Relaxed))
    }
    /// Bytes that applications here may still give: what comes from other daemons has the other half for itself, as it
    /// is given away where it stays for ever otherwise.
    pub fn room_to_accept(&self) -> u64 {
        (self.quota / 2).saturating_sub(self.used())
    }
    /// Whether more than half of what may be stored is.
    pub fn is_tight(&self) -> bool {
        self.used() > self.quota / 2
    }
    /// Bytes that are stored.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
    /// Writes all of these or none, and comes back when they are on disk, however long that takes.
    pub async fn write(&self, writes: Vec<Write>) {
        let (done, is_done) = oneshot::channel();
        // The writer lives as long as the process.
        let _ = self.asks.send(Asked { writes, done });
        let _ = is_done.await;
    }
    /// Bytes of a stream from an offset on, of one write.
    pub fn read(&self, key: Key, way: Way, offset: u64) -> Option<Vec<u8>> {
        let base = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || -> Result<Option<Vec<u8>>, redb::Error> {
            let Some(base) = base.as_ref() else { return Ok(None) };
            let table = base.begin_read()?.open_table(BYTES)?;
            let (first, last) = (key.at(way, 0), key.at(way, offset));
            let Some(found) = table.range(&first[..]..=&last[..])?.next_back() else { return Ok(None) };
            let (place, bytes) = found?;
            let begins = place.value().last_chunk().map_or(0, |offset| u64::from_be_bytes(*offset));
            Ok(bytes.value().get((offset - begins) as usize..).map(<[u8]>::to_vec))
        };
        read().unwrap_or_else(|why| {
            error!(%why, "the store cannot be read");
            None
        })
    }
}

fn open(path: &PathBuf) -> Result<Database, redb::Error> {
    let base = Database::builder().set_cache_size(CACHE).create(path)?;
    let write = base.begin_write()?;
    write.open_table(RECORDS)?;
    write.open_table(BYTES)?;
    write.commit()?;
    Ok(base)
}

fn records(base: &Database) -> Result<Vec<(Key, Record)>, redb::Error> {
    let table = base.begin_read()?.open_table(RECORDS)?;
    let mut found = Vec::new();
    for entry in table.iter()? {
        let (key, record) = entry?;
        found.extend(Key::read(key.value()).zip(postcard::from_bytes(record.value()).ok()));
    }
    Ok(found)
}

fn sum(base: &Database) -> Result<u64, redb::Error> {
    let table = base.begin_read()?.open_table(BYTES)?;
    let mut sum = 0;
    for entry in table.iter()? {
        sum += entry?.1.value().len() as u64;
    }
    Ok(sum)
}

/// Writes what is asked for, as much at once as has come, until the daemon ends.
fn write_all(
    asked: &mpsc::Receiver<Asked>,
    base: &Mutex<Option<Database>>,
    path: &PathBuf,
    used: &AtomicU64,
) {
    while let Ok(first) = asked.recv() {
        let mut all = vec![first];
        all.extend(asked.try_iter());
        let mut told = false;
        loop {
            let mut held = base.lock().unwrap_or_else(PoisonError::into_inner);
            match held.as_ref().map(|base| write(base, &all)) {
                Some(Ok(change)) => {
                    used.store(used.load(Ordering::Relaxed).saturating_add_signed(change), Ordering::Relaxed);
                    break;
                }
                Some(Err(why)) if !std::mem::replace(&mut told, true) => {
                    error!(%why, path = %path.display(), "what was accepted cannot be stored; it waits");
                }
                _ => {}
            }
            // After a failed write the base must be opened anew.
            *held = None;
            *held = open(path).ok();
            drop(held);
            std::thread::sleep(TRY_AGAIN);
        }
        if told {
            info!("what was accepted is stored again");
        }
        for asked in all {
            let _ = asked.done.send(());
        }
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
                    bytes.insert(&key.at(*way, *offset)[..], &more[..])?;
                    change += more.len() as i64;
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
                    for way in [Way::Out, Way::In] {
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

/// Removes what begins in a range, and ends below `below` if that is said; tells how many bytes that were.
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
    fn what_was_written_is_there_in_the_next_life() {
        let folder = tempfile::tempdir().unwrap();
        let (store, found) = Store::open(folder.path(), 100).unwrap();
        assert!(found.is_empty());
        let bytes = |offset, more: &[u8]| Write::Bytes(key(1), Way::Out, offset, more.to_vec());
        wait(&store, vec![Write::Record(key(1), record()), bytes(0, b"abc"), bytes(3, b"de")]);
        wait(&store, vec![Write::Bytes(key(2), Way::In, 0, vec![1; 10]), Write::Forget(key(2))]);
        assert_eq!((store.used(), store.room()), (5, 95));
        // What a crash leaves: the file as it is, the base not closed.
        let copy = tempfile::tempdir().unwrap();
        std::fs::copy(folder.path().join("custody.redb"), copy.path().join("custody.redb")).unwrap();
        let (again, found) = Store::open(copy.path(), 100).unwrap();
        assert_eq!(found, [(key(1), record())]);
        assert_eq!(again.read(key(1), Way::Out, 1).as_deref(), Some(&b"bc"[..]));
        assert_eq!(again.read(key(1), Way::Out, 3).as_deref(), Some(&b"de"[..]));
        assert_eq!((again.read(key(1), Way::Out, 6), again.read(key(1), Way::In, 0)), (None, None));
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
                wait(&store, vec![Write::Bytes(key(1), Way::In, at as u64, part)]);
                at += size;
            }
            let below = below.min(at as u64);
            wait(&store, vec![Write::Drop(key(1), Way::In, below)]);
            let mut read = below;
            while let Some(part) = store.read(key(1), Way::In, read).filter(|part| !part.is_empty()) {
                prop_assert_eq!(&part[..], &whole[read as usize..read as usize + part.len()]);
                read += part.len() as u64;
            }
            prop_assert_eq!(read, whole.len() as u64);
        }
    }
}

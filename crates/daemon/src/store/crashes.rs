//! A disk that records writes and syncs in order.

use super::*;
use redb::StorageBackend;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicU32;

/// A disk writes whole ones of these or nothing.
const SECTOR: usize = 512;

#[derive(Clone, Debug)]
enum Told {
    Write(u64, Vec<u8>),
    Length(u64),
    Keep,
    /// This number of steps had been acknowledged.
    Acknowledged(usize),
}

#[derive(Clone, Debug, Default)]
struct Disk {
    now: Arc<Mutex<Vec<u8>>>,
    told: Arc<Mutex<Vec<Told>>>,
    /// Writes that are still accepted; `None`: all.
    room: Arc<Mutex<Option<u32>>>,
    refused: Arc<AtomicU32>,
}

fn apply(bytes: &mut Vec<u8>, told: &Told) {
    match told {
        Told::Write(at, data) => {
            let end = *at as usize + data.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*at as usize..end].copy_from_slice(data);
        }
        Told::Length(length) => bytes.resize(*length as usize, 0),
        Told::Keep | Told::Acknowledged(_) => {}
    }
}

impl Disk {
    /// One with a new store.
    fn new() -> Self {
        let disk = Self::default();
        make_tables(&builder().create_with_backend(disk.clone()).unwrap()).unwrap();
        held(&disk.told).clear();
        disk
    }
    fn with(bytes: Vec<u8>) -> Self {
        Self { now: Arc::new(Mutex::new(bytes)), ..Self::default() }
    }
    fn tell(&self, told: Told) -> io::Result<()> {
        if let Some(room) = held(&self.room).as_mut() {
            if *room == 0 {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return Err(io::ErrorKind::StorageFull.into());
            }
            *room -= 1;
        }
        apply(&mut held(&self.now), &told);
        held(&self.told).push(told);
        Ok(())
    }
    fn store(&self) -> (Store, Vec<(Key, Record)>) {
        let disk = self.clone();
        let opens = move || builder().create_with_backend(disk.clone());
        Store::begin("a disk".to_owned(), opens, Box::new(|| u64::MAX), 1 << 30).unwrap()
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(held(&self.now).len() as u64)
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let now = held(&self.now);
        let found = now.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
    fn set_len(&self, length: u64) -> io::Result<()> {
        self.tell(Told::Length(length))
    }
    fn sync_data(&self) -> io::Result<()> {
        self.tell(Told::Keep)
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.tell(Told::Write(offset, data.to_vec()))
    }
}

/// Chances of a crash, from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// What a store must have.
#[derive(Clone, Default, PartialEq, Debug)]
struct Model {
    records: BTreeMap<Key, Record>,
    bytes: BTreeMap<(Key, bool, u64), Vec<u8>>,
}

impl Model {
    fn write(&mut self, write: &Write) {
        match write {
            Write::Bytes(key, way, at, bytes) => {
                self.bytes.insert((*key, *way == Direction::In, *at), bytes.clone());
            }
            Write::Drop(key, way, below) => self.bytes.retain(|(of, into, at), bytes| {
                (of, *into) != (key, *way == Direction::In) || *at + bytes.len() as u64 > *below
            }),
            Write::Record(key, record) => {
                self.records.insert(*key, record.clone());
            }
            Write::Forget(key) => {
                self.records.remove(key);
                self.bytes.retain(|(of, ..), _| of != key);
            }
        }
    }
    /// Whether a store has that, and nothing else.
    fn is_in(&self, store: &Store, found: &[(Key, Record)]) -> bool {
        let records: Vec<_> = self.records.clone().into_iter().collect();
        let all: usize = self.bytes.values().map(Vec::len).sum();
        let way = |into| if into { Direction::In } else { Direction::Out };
        found == records
            && store.used() == all as u64
            && self
                .bytes
                .iter()
                .all(|((key, into, at), bytes)| store.read(*key, way(*into), *at).as_ref() == Some(bytes))
    }
}

fn key(number: u32) -> Key {
    Key { peer: PublicKey([7; 32]), id: ConnectionId { incarnation: 4, number } }
}

fn wait(store: &Store, writes: Vec<Write>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(store.write(writes));
}

/// What durable connections write, step by step: a step is whole or is not.
fn steps(draws: &mut Draws, count: usize) -> Vec<Vec<Write>> {
    let mut ends: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    let mut step = |_| {
        let (number, side) = (draws.below(4) as u32, draws.below(2));
        let way = [Direction::Out, Direction::In][side];
        let end = ends.entry((number, side)).or_default();
        let mut writes = match draws.below(8) {
            0 => vec![Write::Drop(key(number), way, *end / 2)],
            1 => {
                ends.retain(|(of, _), _| *of != number);
                return vec![Write::Forget(key(number))];
            }
            _ => {
                let more = vec![draws.below(256) as u8; 1 + draws.below(9000)];
                let at = std::mem::replace(end, *end + more.len() as u64);
                vec![Write::Bytes(key(number), way, at, more)]
            }
        };
        let mut record = Record::new(format!("a:{number}"), Hints::default(), true);
        record.out.0 = ends.get(&(number, 0)).copied().unwrap_or(0);
        record.into.0 = ends.get(&(number, 1)).copied().unwrap_or(0);
        writes.push(Write::Record(key(number), record));
        writes
    };
    (0..count).map(&mut step).collect()
}

/// The content of a disk after a power failure: all synced writes, and a random part of the rest, torn.
fn crash(before: &[u8], told: &[Told], draws: &mut Draws) -> Vec<u8> {
    let kept = told.iter().rposition(|told| matches!(told, Told::Keep)).map_or(0, |at| at + 1);
    let mut bytes = before.to_vec();
    told[..kept].iter().for_each(|told| apply(&mut bytes, told));
    // All of the rest, nothing, or some of each.
    let most = [0, 1, 2, 9, 10][draws.below(5)];
    for told in &told[kept..] {
        match told {
            Told::Write(at, data) => {
                for (sector, part) in data.chunks(SECTOR).enumerate() {
                    if draws.below(10) < most {
                        apply(&mut bytes, &Told::Write(at + (sector * SECTOR) as u64, part.to_vec()));
                    }
                }
            }
            other if draws.below(10) < most => apply(&mut bytes, other),
            _ => {}
        }
    }
    bytes
}

#[test]
fn after_a_power_loss_at_any_moment_the_store_has_all_that_was_acknowledged_and_nothing_half() {
    let mut draws = Draws(1);
    let (disk, mut models) = (Disk::new(), vec![Model::default()]);
    let first = held(&disk.now).clone();
    let (store, _) = disk.store();
    for step in steps(&mut draws, 40) {
        let mut model = models.last().unwrap().clone();
        step.iter().for_each(|write| model.write(write));
        models.push(model);
        wait(&store, step);
        held(&disk.told).push(Told::Acknowledged(models.len() - 1));
    }
    let told = held(&disk.told).clone();
    let check = |bytes: Vec<u8>, acknowledged: usize| {
        let after = Disk::with(bytes);
        let (store, found) = after.store();
        let might = models[acknowledged..].iter().take(2).any(|model| model.is_in(&store, &found));
        assert!(might, "not what {acknowledged} steps left");
        held(&after.told).clone()
    };
    for end in 0..=told.len() {
        let acknowledged = told[..end].iter().rev().find_map(|told| match told {
            Told::Acknowledged(step) => Some(*step),
            _ => None,
        });
        for _ in 0..3 {
            let bytes = crash(&first, &told[..end], &mut draws);
            let repaired = check(bytes.clone(), acknowledged.unwrap_or(0));
            // Power may be lost again while it is opened.
            let end = draws.below(repaired.len() + 1);
            check(crash(&bytes, &repaired[..end], &mut draws), acknowledged.unwrap_or(0));
        }
    }
    assert!(told.len() > 200, "{}", told.len());
}

#[test]
fn a_disk_that_is_full_for_a_while_loses_nothing() {
    let play = |room: u32| {
        let mut draws = Draws(u64::from(room));
        let (disk, mut model) = (Disk::new(), Model::default());
        let (store, _) = disk.store();
        let steps = steps(&mut draws, 30);
        *held(&disk.room) = Some(room);
        let (heals, looks) = (disk.clone(), store.clone());
        std::thread::spawn(move || {
            while heals.refused.load(Ordering::Relaxed) < 3 {
                std::thread::sleep(Duration::from_millis(5));
            }
            while looks.trouble().is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            *held(&heals.room) = None;
        });
        for step in steps {
            step.iter().for_each(|write| model.write(write));
            wait(&store, step);
        }
        assert_eq!(store.trouble(), None);
        assert!(disk.refused.load(Ordering::Relaxed) > 0, "it was never full");
        let (again, found) = Disk::with(held(&disk.now).clone()).store();
        assert!(model.is_in(&again, &found), "after {room} writes");
        assert!(model.is_in(&store, &found), "after {room} writes");
    };
    std::thread::scope(|scope| (0..24).for_each(|at| drop(scope.spawn(move || play(at * 7)))));
}

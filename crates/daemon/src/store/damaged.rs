//! Stores that are damaged on disk: the next epoch reads all of it, or says so.

use super::*;
use proptest::prelude::*;

fn key(number: u32) -> Key {
    Key { peer: PublicKey([7; 32]), id: ConnectionId { incarnation: 4, number } }
}

fn wait(store: &Store, writes: Vec<Write>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(store.write(writes));
}

fn bytes(number: u32, at: usize) -> Vec<u8> {
    (0..5000).map(|byte| (byte * 7 + number as usize * 31 + at) as u8).collect()
}

/// A file with eight connections of 20,000 bytes each, each stored by one write: as `kill -9` leaves it, or closed.
fn known(is_closed: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(folder.path(), 1 << 30).unwrap();
    for number in 0..8 {
        let record = Record::new(format!("a:{number}"), Hints::default(), true);
        let mut writes = vec![Write::Record(key(number), record)];
        for at in (0..20_000).step_by(5000) {
            writes.push(Write::Bytes(key(number), Direction::Out, at as u64, bytes(number, at)));
        }
        wait(&store, writes);
    }
    let file = folder.path().join(damage::FILE);
    if is_closed {
        drop(store);
        while builder().open(&file).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    fs::read(file).unwrap()
}

/// At least `least` connections are there, and their bytes are right.
fn is_whole(store: &Store, found: &[(Key, Record)], least: usize) -> bool {
    found.len() >= least
        && found.iter().all(|(of, _)| {
            let number = of.id.number;
            (0..20_000).step_by(5000).all(|at| {
                store.read(key(number), Direction::Out, at as u64).as_deref() == Some(&bytes(number, at)[..])
            })
        })
}

#[derive(Clone, Debug)]
enum Harm {
    Byte(usize, u8),
    Page(usize),
    Cut(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        4 => (any::<usize>(), 1_u8..).prop_map(|(at, by)| Harm::Byte(at, by)),
        2 => any::<usize>().prop_map(Harm::Page),
        1 => any::<usize>().prop_map(Harm::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn a_damaged_store_is_read_whole_or_set_aside_with_a_notice(
        harms in prop::collection::vec(harm(), 1..4),
        is_closed: bool,
    ) {
        static KNOWN: std::sync::OnceLock<[Vec<u8>; 2]> = std::sync::OnceLock::new();
        let mut file = KNOWN.get_or_init(|| [false, true].map(known))[usize::from(is_closed)].clone();
        // After a kill the last write may count as one that was torn before it was acknowledged.
        let least = if is_closed { 8 } else { 7 };
        for harm in harms {
            let length = file.len().max(1);
            match harm {
                Harm::Byte(at, by) => if let Some(byte) = file.get_mut(at % length) { *byte ^= by },
                Harm::Page(at) => {
                    let from = at % length / 4096 * 4096;
                    file.iter_mut().skip(from).take(4096).for_each(|byte| *byte = 0);
                }
                Harm::Cut(at) => file.truncate(at % length),
            }
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(damage::FILE), &file).unwrap();
        // An error names the file; nothing of it is lost then.
        match Store::open(folder.path(), 1 << 30) {
            Ok((store, found)) => {
                prop_assert!(is_whole(&store, &found, least) || !store.losses().is_empty());
                wait(&store, vec![Write::Bytes(key(9), Direction::In, 0, vec![1; 10])]);
                prop_assert_eq!(store.read(key(9), Direction::In, 0), Some(vec![1; 10]));
            }
            Err(why) => {
                prop_assert!(why.to_string().contains("custody.redb"), "{}", why);
                prop_assert!(folder.path().join(damage::FILE).exists());
            }
        }
    }
}

#[test]
fn a_store_that_is_gone_or_empty_is_told_of_until_its_owner_has_seen_to_it() {
    for empties in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        // No `Store`: its writer closes the file some time after it is dropped, and would fill it again.
        damage::prepare(folder.path()).unwrap();
        assert!(damage::losses(folder.path()).is_empty());
        let file = folder.path().join(damage::FILE);
        if empties {
            fs::write(&file, []).unwrap()
        } else {
            fs::remove_file(&file).unwrap()
        }
        let (store, _) = Store::open(folder.path(), 100).unwrap();
        assert_eq!(store.losses().len(), 1);
        // Still in the epoch after that.
        let copy = tempfile::tempdir().unwrap();
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        let (next, _) = Store::open(copy.path(), 100).unwrap();
        let told = next.losses();
        let note = told[0].split("move ").nth(1).unwrap().trim_end_matches(" away");
        fs::remove_file(note).unwrap();
        assert!(next.losses().is_empty());
    }
}

#[test]
fn a_store_without_a_version_is_migrated_and_one_that_is_newer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(damage::FILE);
    let base = builder().create(&path).unwrap();
    let write = base.begin_write().unwrap();
    let record = postcard::to_allocvec(&Record::new("a:1".to_owned(), Hints::default(), true)).unwrap();
    write.open_table(RECORDS).unwrap().insert(&key(1).bytes()[..], &record[..]).unwrap();
    // And one that cannot be read.
    write.open_table(RECORDS).unwrap().insert(&key(2).bytes()[..], &[255; 3][..]).unwrap();
    write.open_table(BYTES).unwrap();
    write.commit().unwrap();
    drop(base);
    let (store, found) = Store::open(folder.path(), 100).unwrap();
    assert_eq!((found.len(), store.losses().len()), (1, 1), "{:?}", store.losses());
    let copy = tempfile::tempdir().unwrap();
    let newer = copy.path().join(damage::FILE);
    fs::copy(&path, &newer).unwrap();
    let base = builder().open(&newer).unwrap();
    assert_eq!((version(&base).unwrap(), records(&base).unwrap().1), (VERSION, 1));
    let write = base.begin_write().unwrap();
    write.open_table(META).unwrap().insert("version", VERSION + 1).unwrap();
    write.commit().unwrap();
    drop(base);
    let why = Store::open(copy.path(), 100).err().unwrap().to_string();
    assert!(why.contains("version 3") && why.contains("versions 1 to 2") && newer.exists(), "{why}");
}

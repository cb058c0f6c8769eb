//! What a store may still take, and what bundles that come take of it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A file takes as many bytes of a disk, however small it is.
pub const FILE_LEAST: u64 = 4096;
/// When there is no room, parts without new data for this long may be dropped.
const STALE: Duration = Duration::from_secs(10);
const FULL: &str = "no more is kept: the folder has all that it may (--max-stored)";

/// Bytes that are still taken, and those that parts take.
#[derive(Debug)]
pub struct Books(Mutex<Account>);

#[derive(Debug)]
struct Account {
    left: u64,
    parts: BTreeMap<u64, Entry>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    charged: u64,
    touched: Instant,
    path: PathBuf,
}

impl Books {
    /// `left` bytes may still be stored.
    pub fn new(left: u64) -> Self {
        Self(Mutex::new(Account { left, parts: BTreeMap::new(), next: 0 }))
    }
    fn account(&self) -> MutexGuard<'_, Account> {
        // An account is right after every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A part that takes nothing yet, in this file; gives its number.
    pub fn open(&self, path: PathBuf) -> u64 {
        let mut account = self.account();
        let number = account.next;
        account.next += 1;
        account.parts.insert(number, Entry { charged: 0, touched: Instant::now(), path });
        number
    }
    /// Sets the total that is charged for a part to `bytes`.
    ///
    /// # Errors
    /// There is no room for it, or it had to make room for another.
    pub fn charge(&self, part: u64, bytes: u64) -> Result<(), String> {
        self.account().charge(part, bytes)
    }
    /// A part is no more; what it took is free.
    pub fn close(&self, part: u64) {
        let mut account = self.account();
        if let Some(entry) = account.parts.remove(&part) {
            account.left = account.left.saturating_add(entry.charged);
        }
    }
    /// Charges a part as a complete file of `bytes` bytes, unless `is_there` returns true, and renames it by
    /// `name`. Parts are settled one at a time, so two equal bundles are charged once.
    ///
    /// # Errors
    /// As of [`Books::charge`], and of `name`.
    pub fn settle(
        &self,
        part: u64,
        bytes: u64,
        is_there: impl FnOnce() -> bool,
        name: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let mut account = self.account();
        let is_new = !is_there();
        if is_new {
            account.charge(part, bytes)?;
        }
        name()?;
        if is_new {
            account.parts.remove(&part);
        }
        Ok(())
    }
}

impl Account {
    fn charge(&mut self, part: u64, bytes: u64) -> Result<(), String> {
        let target = if bytes > 0 { bytes.max(FILE_LEAST) } else { 0 };
        loop {
            let Some(entry) = self.parts.get_mut(&part) else {
                return Err("it waited for more too long, and made room for others (--max-stored)".to_owned());
            };
            entry.touched = Instant::now();
            if let Some(left) = self.left.saturating_add(entry.charged).checked_sub(target) {
                (self.left, entry.charged) = (left, target);
                return Ok(());
            }
            self.make_room(part)?;
        }
    }
    /// Takes back what the part has to which nothing came for longest.
    fn make_room(&mut self, except: u64) -> Result<(), String> {
        let others = self.parts.iter().filter(|(part, entry)| **part != except && entry.charged > 0);
        let stalest = others.min_by_key(|(_, entry)| entry.touched);
        let stalest = stalest.filter(|(_, entry)| entry.touched.elapsed() >= STALE).map(|(part, _)| *part);
        let entry = stalest.and_then(|part| self.parts.remove(&part)).ok_or(FULL)?;
        self.left = self.left.saturating_add(entry.charged);
        // Its owner has it open still, and notices when more comes: the bytes go now.
        let emptied = OpenOptions::new().write(true).truncate(true).open(&entry.path);
        drop(emptied);
        let _ = std::fs::remove_file(&entry.path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_charged_as_they_grow_and_give_back_what_they_took() {
        let books = Books::new(100_000);
        let [one, two] = [0, 1].map(|_| books.open(PathBuf::new()));
        assert_eq!(books.charge(one, 60_000), Ok(()));
        assert_eq!(books.charge(two, 40_001), Err(FULL.to_owned()));
        assert_eq!(books.charge(two, 40_000), Ok(()));
        assert_eq!(books.charge(one, 30_000), Ok(()), "what was estimated may turn out to be less");
        books.close(one);
        assert_eq!(books.charge(two, 100_000), Ok(()));
        assert_eq!(books.settle(two, 50_000, || true, || Ok(())), Ok(()));
        books.close(two);
        let three = books.open(PathBuf::new());
        assert_eq!(books.settle(three, 99_000, || false, || Ok(())), Ok(()));
        books.close(three);
        let four = books.open(PathBuf::new());
        assert_eq!(books.charge(four, 1), Err(FULL.to_owned()), "a file takes 4096 bytes");
    }

    #[test]
    fn a_part_that_waits_for_more_makes_room_for_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("old.part");
        std::fs::write(&path, [0; 9000]).expect("it is written");
        let books = Books::new(10_000);
        let old = books.open(path.clone());
        assert_eq!(books.charge(old, 9000), Ok(()));
        let new = books.open(PathBuf::new());
        assert_eq!(books.charge(new, 5000), Err(FULL.to_owned()), "it is not stale yet");
        if let Some(entry) = books.account().parts.get_mut(&old) {
            entry.touched = Instant::now().checked_sub(STALE).expect("the machine runs for longer");
        }
        assert_eq!(books.charge(new, 5000), Ok(()));
        assert!(!path.exists());
        assert!(books.charge(old, 9001).is_err_and(|why| why.contains("made room")));
    }
}

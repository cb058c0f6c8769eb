//! Repairs that wait for their block to be decoded, on disk, so that they take no memory and outlive
//! the process.
//!
//! A file of slots, each: block 2, symbol 2, first 8 bytes of the BLAKE3 of the digest of the whole, block,
//! symbol and bytes, then the symbol's bytes. Slots of blocks that are whole are used again.

use lightlag_protocols::transport::udpdtn::DIGEST_BYTES;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEAD: usize = 12;

/// Where each repair is.
pub struct Spill {
    file: File,
    digest: [u8; DIGEST_BYTES],
    symbol: usize,
    /// Symbols and their slots, of each block.
    index: BTreeMap<u16, Vec<(u16, u64)>>,
    free: Vec<u64>,
    slots: u64,
}

impl Spill {
    /// Opens the file of a transfer, with what an earlier process has left in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path, digest: [u8; DIGEST_BYTES], symbol: u16) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let symbol = usize::from(symbol);
        let mut spill = Self { file, digest, symbol, index: BTreeMap::new(), free: Vec::new(), slots: 0 };
        spill.load()?;
        Ok(spill)
    }
    fn load(&mut self) -> io::Result<()> {
        let slot = (HEAD + self.symbol) as u64;
        self.slots = self.file.metadata()?.len() / slot;
        let mut bytes = vec![0; slot as usize];
        for at in 0..self.slots {
            self.file.read_exact_at(&mut bytes, at * slot)?;
            let (block, symbol) = (be(&bytes[0..2]), be(&bytes[2..4]));
            let known = self.index.entry(block).or_default();
            let is_right = bytes[4..HEAD] == check(&self.digest, block, symbol, &bytes[HEAD..]);
            if is_right && known.iter().all(|(other, _)| *other != symbol) {
                known.push((symbol, at));
            } else {
                self.free.push(at);
            }
        }
        self.index.retain(|_, known| !known.is_empty());
        Ok(())
    }
    /// Which repairs are here.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.index.iter().flat_map(|(&block, known)| known.iter().map(move |(symbol, _)| (block, *symbol)))
    }
    /// Keeps a repair.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, block: u16, symbol: u16, bytes: &[u8]) -> io::Result<()> {
        let mut slot = Vec::with_capacity(HEAD + bytes.len());
        slot.extend_from_slice(&block.to_be_bytes());
        slot.extend_from_slice(&symbol.to_be_bytes());
        slot.extend_from_slice(&check(&self.digest, block, symbol, bytes));
        slot.extend_from_slice(bytes);
        let at = self.free.last().copied().unwrap_or(self.slots);
        self.file.write_all_at(&slot, at * slot.len() as u64)?;
        if self.free.pop().is_none() {
            self.slots += 1;
        }
        self.index.entry(block).or_default().push((symbol, at));
        Ok(())
    }
    /// The repairs of a block.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, block: u16) -> io::Result<Vec<(u32, Vec<u8>)>> {
        let known = self.index.get(&block).map_or(&[][..], Vec::as_slice);
        let read = |&(symbol, at): &(u16, u64)| {
            let mut bytes = vec![0; self.symbol];
            let start = at * (HEAD + self.symbol) as u64 + HEAD as u64;
            self.file.read_exact_at(&mut bytes, start).map(|()| (symbol.into(), bytes))
        };
        known.iter().map(read).collect()
    }
    /// A block needs its repairs no longer.
    pub fn release(&mut self, block: u16) {
        let slots = self.index.remove(&block).unwrap_or_default();
        self.free.extend(slots.into_iter().map(|(_, at)| at));
    }
}

fn be(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u16::from(*byte))
}

fn check(digest: &[u8; DIGEST_BYTES], block: u16, symbol: u16, bytes: &[u8]) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(digest).update(&block.to_be_bytes()).update(&symbol.to_be_bytes()).update(bytes);
    let mut check = [0; 8];
    check.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_outlive_the_process_and_torn_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("repairs");
        let mut spill = Spill::open(&path, [3; 32], 5).unwrap();
        for symbol in 0..10 {
            spill.write(symbol % 2, symbol + 100, &[symbol as u8; 5]).unwrap();
        }
        spill.release(1);
        spill.write(7, 9, b"seven").unwrap();
        drop(spill);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(b"x", 2 * 17 + 14).unwrap();
        let again = Spill::open(&path, [3; 32], 5).unwrap();
        assert_eq!(again.read(7).unwrap(), [(9, b"seven".to_vec())]);
        let even: Vec<u32> = again.read(0).unwrap().into_iter().map(|(symbol, _)| symbol).collect();
        assert_eq!(even, [100, 104, 106, 108]);
        assert_eq!(Spill::open(&path, [4; 32], 5).unwrap().iter().count(), 0, "of another file");
    }
}

//! The file that is sent.

use super::Error;
use super::repairs::{Job, Repairer, Repairs};
use crate::files::{SentFile, digest};
use lightlag_protocols::transport::udpdtn::{Cut, DIGEST_BYTES};
use std::collections::VecDeque;
use std::path::Path;

/// What is read at once.
const READ_BYTES: usize = 256 << 10;
/// Repairs that are kept, in bytes.
const REPAIRS_MOST_BYTES: usize = 64 << 20;
/// Repairs made at once of a block at first; twice as many each time that they do not suffice.
const REPAIRS_FIRST: u32 = 32;
const REPAIRS_MOST: u32 = 1024;
/// Blocks of which repairs are made before they are asked for.
const AHEAD_MOST: usize = 4;

/// A file, and its digest.
pub struct Source {
    file: SentFile,
    digest: [u8; DIGEST_BYTES],
    /// Bytes of the file that are in memory, and where.
    window: (u64, Vec<u8>),
    repairer: Repairer,
    repairs: VecDeque<Repairs>,
    repairs_bytes: usize,
}

impl Source {
    /// Opens a file and reads it once; `watch` is called with the bytes read so far and the length.
    ///
    /// # Errors
    /// One line: it is not there, cannot be read, or is not a file.
    pub fn open(path: &Path, watch: &mut dyn FnMut(u64, u64)) -> Result<Self, Error> {
        let file = SentFile::open(path)?;
        let read = digest(file.file(), &mut |done| watch(done, file.length()));
        let (digest, done) = read.map_err(|why| SentFile::cannot(path, why))?;
        file.check()?;
        if done != file.length() {
            return Err(file.changed());
        }
        let clone = file.file().try_clone().map_err(|why| SentFile::cannot(path, why))?;
        Ok(Self {
            repairer: Repairer::start(clone),
            file,
            digest,
            window: (0, Vec::new()),
            repairs: VecDeque::new(),
            repairs_bytes: 0,
        })
    }
    /// What the file is called, without its folder.
    pub fn name(&self) -> String {
        self.file.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
    /// Bytes of the whole.
    pub fn length(&self) -> u64 {
        self.file.length()
    }
    /// BLAKE3 of the whole.
    pub fn digest(&self) -> [u8; DIGEST_BYTES] {
        self.digest
    }
    /// Whether it still is what it was.
    ///
    /// # Errors
    /// One line if it is not.
    pub fn check(&self) -> Result<(), Error> {
        self.file.check()
    }
    /// The same check, as a function that can outlive the source.
    ///
    /// # Errors
    /// One line.
    pub fn checker(&self) -> Result<impl Fn() -> Result<(), Error> + use<>, Error> {
        let twin = self.file.twin()?;
        Ok(move || twin.check())
    }

    /// Appends a symbol of a block, one of the file or a repair.
    ///
    /// # Errors
    /// One line if the file can no longer be read as it was.
    pub fn symbol(
        &mut self,
        cut: &Cut,
        size: u16,
        block: u32,
        symbol: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let symbols = cut.symbols_of(block);
        if symbol >= symbols {
            return self.repair(cut, size, block, symbol, out);
        }
        let at = (cut.start_of(block) + u64::from(symbol)) * u64::from(size);
        let end = out.len() + usize::from(size);
        let length = (self.length() - at.min(self.length())).min(size.into()) as usize;
        let within = at >= self.window.0 && at + length as u64 <= self.window.0 + self.window.1.len() as u64;
        if !within {
            self.read(at, READ_BYTES)?;
        }
        let from = (at - self.window.0) as usize;
        out.extend_from_slice(&self.window.1[from..from + length]);
        out.resize(end, 0);
        Ok(())
    }
    /// Fills `out` with the bytes from `at` on, which are there.
    ///
    /// # Errors
    /// One line if the file can no longer be read as it was.
    pub fn read_at(&mut self, mut at: u64, mut out: &mut [u8]) -> Result<(), Error> {
        while !out.is_empty() {
            let known = at.checked_sub(self.window.0).and_then(|from| self.window.1.get(from as usize..));
            let Some(known) = known.filter(|known| !known.is_empty()) else {
                self.check()?;
                self.read(at, READ_BYTES)?;
                if self.window.1.is_empty() {
                    return Err(self.file.changed());
                }
                continue;
            };
            let count = known.len().min(out.len());
            let (now, later) = std::mem::take(&mut out).split_at_mut(count);
            now.copy_from_slice(&known[..count]);
            (at, out) = (at + count as u64, later);
        }
        Ok(())
    }
    fn read(&mut self, at: u64, bytes: usize) -> Result<(), Error> {
        let length = self.length().saturating_sub(at).min(bytes as u64) as usize;
        self.window.0 = at;
        self.window.1.resize(length, 0);
        self.file.read(at, &mut self.window.1)
    }
    fn repair(
        &mut self,
        cut: &Cut,
        size: u16,
        block: u32,
        symbol: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        loop {
            let known = self.repairs.iter().position(|known| known.block == block);
            if let Some(index) = known {
                let known = &self.repairs[index];
                let found = symbol.checked_sub(known.first).and_then(|at| known.symbols.get(at as usize));
                if let Some(bytes) = found {
                    out.extend_from_slice(bytes);
                    return Ok(());
                }
            }
            if !self.repairer.is_pending(block) {
                let before = known.and_then(|index| self.repairs.remove(index));
                let count = before.map_or(REPAIRS_FIRST, |before| {
                    self.repairs_bytes -= before.bytes();
                    (before.symbols.len() as u32 * 2).clamp(REPAIRS_FIRST, REPAIRS_MOST)
                });
                self.repairer.ask(job(cut, size, block, symbol, count));
            }
            let made = self.repairer.wait();
            self.keep(made)?;
        }
    }
    fn keep(&mut self, made: Option<std::io::Result<Repairs>>) -> Result<(), Error> {
        let gone = || Error::Failed("the thread that makes repairs is gone".to_owned());
        let made = made.ok_or_else(gone)?.map_err(|_| self.file.changed())?;
        self.repairs_bytes += made.bytes();
        self.repairs.retain(|known| known.block != made.block);
        self.repairs.push_back(made);
        while self.repairs_bytes > REPAIRS_MOST_BYTES && self.repairs.len() > 1 {
            self.repairs_bytes -= self.repairs.pop_front().map_or(0, |gone| gone.bytes());
        }
        Ok(())
    }
    /// Starts making repairs of a block that was just sent, as it will probably need about this many at this
    /// loss rate.
    ///
    /// # Errors
    /// One line if the file can no longer be read as it was.
    pub fn prepare(&mut self, cut: &Cut, size: u16, block: u32, loss: f64) -> Result<(), Error> {
        while let Some(made) = self.repairer.try_wait() {
            self.keep(Some(made))?;
        }
        let symbols = cut.symbols_of(block);
        let count = (f64::from(symbols) * loss * 1.5) as u32 + 12;
        let bytes = count as usize * usize::from(size);
        if self.repairer.pending() < AHEAD_MOST
            && self.repairs_bytes + bytes <= REPAIRS_MOST_BYTES
            && self.repairs.iter().all(|known| known.block != block)
            && !self.repairer.is_pending(block)
        {
            self.repairer.ask(job(cut, size, block, symbols, count.min(REPAIRS_MOST)));
        }
        Ok(())
    }
}

fn job(cut: &Cut, size: u16, block: u32, first: u32, count: u32) -> Job {
    let symbols = cut.symbols_of(block);
    Job { block, at: cut.start_of(block) * u64::from(size), symbols, size, first, count }
}

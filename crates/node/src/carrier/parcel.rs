//! What a way carries to the receiver: a header, then the file.

use super::Error;
use super::header::{HEADER_BYTES, Header};
use crate::transfer::Progress;
use crate::transfer::source::Source;
use std::path::Path;

/// A header, then the file.
pub struct Parcel {
    header: [u8; HEADER_BYTES],
    source: Source,
}

impl Parcel {
    /// Reads the file once, to know its digest.
    ///
    /// # Errors
    /// One line: it is not there, cannot be read, or is no file.
    pub fn open(path: &Path, watch: &mut dyn FnMut(Progress)) -> Result<Self, Error> {
        let source = Source::open(path, &mut |done, all| watch(Progress::Reading(done, all)))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let header = Header { name, length: source.length(), digest: source.digest() };
        Ok(Self { header: header.to_bytes(), source })
    }
    /// Bytes of header and file.
    pub fn total(&self) -> u64 {
        HEADER_BYTES as u64 + self.length()
    }
    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.source.length()
    }
    /// BLAKE3 of the file.
    pub fn digest(&self) -> [u8; 32] {
        self.source.digest()
    }
    /// Fills `out` with the bytes from `at` on; header and file have so many.
    ///
    /// # Errors
    /// One line if the file can no longer be read as it was.
    pub fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let first = at.min(HEADER_BYTES as u64) as usize;
        let (head, rest) = out.split_at_mut((HEADER_BYTES - first).min(out.len()));
        head.copy_from_slice(&self.header[first..first + head.len()]);
        if rest.is_empty() {
            return Ok(());
        }
        self.source.read_at(at + head.len() as u64 - HEADER_BYTES as u64, rest)
    }
    /// Asks whether the file still is what it was.
    ///
    /// # Errors
    /// One line if it cannot be asked.
    pub fn checker(&self) -> Result<impl Fn() -> Result<(), Error> + use<>, Error> {
        self.source.checker()
    }
}

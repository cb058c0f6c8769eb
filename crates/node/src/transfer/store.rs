//! Where a transfer is kept until it is whole.

use super::fec;
use super::journal::Journal;
use super::spill::Spill;
use crate::files::{self, PartFile};
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::transport::udpdtn::{Cut, DIGEST_BYTES, Receiver};
use lightlag_protocols::wire::udpdtn::cut_text;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A journal is no larger than this: of a terabyte it would be one in which every other symbol is missing.
const JOURNAL_LEAST_BYTES: u64 = 1 << 20;

/// A file to receive, and how it is cut.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Bytes of the whole.
    pub length: u64,
    /// BLAKE3 of the whole.
    pub digest: [u8; DIGEST_BYTES],
    /// Size of a symbol.
    pub symbol: u16,
    /// Blocks and symbols.
    pub cut: Cut,
}

impl Shape {
    /// Names the code: of a file that is cut differently, repairs are others.
    fn code(&self) -> [u8; DIGEST_BYTES] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.digest).update(&self.symbol.to_be_bytes()).update(&self.cut.blocks.to_be_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Symbols of each block that are here.
pub type Here = BTreeMap<u32, Ranges>;

/// The file that grows, and what is known of it.
pub struct Store {
    shape: Shape,
    file: PartFile,
    spill: Spill,
    place: Place,
}

/// Names of the files of a transfer: `NAME.HASH.part`, `.part.state` and `.part.repairs`. The hash is of digest and
/// length of the whole, its name and the key, so that contents and keys never share a file.
#[derive(Clone, Debug)]
pub struct Place {
    /// The final path.
    pub name: PathBuf,
    part: PathBuf,
    state: PathBuf,
    repairs: PathBuf,
}

/// Longer names are truncated to this many bytes in the names of these files.
const PART_NAME_MOST: usize = 180;
const PART: &str = ".part";
const STATE: &str = ".part.state";
/// What a kill while the state was written leaves.
const STATE_NEW: &str = ".part.state.new";
const REPAIRS: &str = ".part.repairs";
/// Before these ends in names of what may be a recording.
const UNPROVEN: &str = ".unproven";
/// What may be a recording and did not grow for this long goes.
const UNPROVEN_LONGEST: Duration = Duration::from_secs(60);

impl Place {
    /// Of a file of this name in this folder. `key` names the key by which it is authenticated.
    pub fn new(
        folder: &Path,
        name: &str,
        digest: &[u8; DIGEST_BYTES],
        length: u64,
        key: Option<&[u8; 32]>,
    ) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(key.unwrap_or(&[0; 32]))
            .update(digest)
            .update(&length.to_be_bytes())
            .update(name.as_bytes());
        let hash = hasher.finalize().to_hex();
        let stem = format!("{}.{}", cut_text(name, PART_NAME_MOST), &hash[..32]);
        Self::of(folder.join(name), &folder.join(stem))
    }
    fn of(name: PathBuf, stem: &Path) -> Self {
        let [part, state, repairs] = [PART, STATE, REPAIRS].map(|end| with_end(stem, end));
        Self { name, part, state, repairs }
    }
    /// Where it grows until it is known to be no recording. [`drop_unproven`] removes what a killed program leaves of it.
    pub fn unproven(&self) -> Self {
        let stem = self.part.with_extension("");
        Self::of(self.name.clone(), &with_end(&stem, UNPROVEN))
    }
    /// What is kept of the same content under other names is taken up: that of an earlier version of this program, under
    /// the name alone, and what was here before it was known to be no recording.
    pub fn adopt(&self, digest: &[u8; DIGEST_BYTES], length: u64) {
        self.take_over(&Self::of(self.name.clone(), &self.name), digest, length);
        self.take_over(&self.unproven(), digest, length);
    }
    fn take_over(&self, old: &Self, digest: &[u8; DIGEST_BYTES], length: u64) {
        if self.is_there()
            || old.journal(digest, length).is_none()
            || PartFile::resume(old.part.clone()).is_err()
        {
            return;
        }
        for (from, to) in [(&old.repairs, &self.repairs), (&old.part, &self.part), (&old.state, &self.state)]
        {
            // What cannot be taken up is received again.
            let _ = fs::rename(from, to);
        }
    }
    /// Where it grows.
    pub fn part(&self) -> &Path {
        &self.part
    }
    /// Whether it is of the same content, name and key.
    pub fn is_same(&self, other: &Self) -> bool {
        self.part == other.part
    }
    /// Whether something is kept of it.
    pub fn is_there(&self) -> bool {
        self.part.exists()
    }
    /// Bytes of disk that what is here occupies.
    pub fn occupied(&self) -> u64 {
        fs::metadata(&self.part).map_or(0, |found| found.blocks().saturating_mul(512))
    }
    /// Forgets what is here, unless somebody writes it now.
    pub fn clear(&self) {
        if files::remove_part(&self.part) {
            self.clear_notes();
        }
    }
    /// Forgets all but the bytes.
    fn clear_notes(&self) {
        for path in [&self.state, &with_end(&self.state, files::NEW), &self.repairs] {
            // What is not there need not go.
            let _ = fs::remove_file(path);
        }
    }
    fn journal(&self, digest: &[u8; DIGEST_BYTES], length: u64) -> Option<Journal> {
        let bytes = files::read_state(&self.state, length.saturating_add(JOURNAL_LEAST_BYTES)).ok()?;
        let is_there = fs::metadata(&self.part).is_ok_and(|part| part.len() == length);
        let journal = Journal::from_bytes(&bytes)?;
        (is_there && journal.digest == *digest && journal.length == length).then_some(journal)
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Removes from a folder what a killed program has left of sessions that may have been recordings.
pub fn drop_unproven(folder: &Path) {
    let ends = [PART, STATE, STATE_NEW, REPAIRS].map(|end| format!("{UNPROVEN}{end}"));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, found) = (entry.file_name(), entry.metadata());
        let is_unproven = ends.iter().any(|end| name.to_string_lossy().ends_with(end));
        let is_old = found.ok().filter(fs::Metadata::is_file).and_then(|found| found.modified().ok());
        let is_old = is_old.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > UNPROVEN_LONGEST);
        if is_unproven && is_old {
            // What cannot be removed is looked at again later.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Unfinished files in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// How many.
    pub count: usize,
    /// Bytes of disk that they occupy.
    pub bytes: u64,
}

/// Counts the unfinished files in a folder. Those of which less than `little` bytes are here and nothing has come for
/// `long` are removed if that is said.
pub fn kept(folder: &Path, drop: Option<(u64, Duration)>) -> Kept {
    let mut kept = Kept::default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(found) = entry.metadata() else { continue };
        let bytes = found.blocks().saturating_mul(512);
        if [REPAIRS, STATE, STATE_NEW].iter().any(|end| name.ends_with(end)) {
            kept.bytes = kept.bytes.saturating_add(bytes);
        }
        if !is_part(&name) || !found.is_file() {
            continue;
        }
        let age = found.modified().ok().and_then(|at| at.elapsed().ok());
        if drop.is_some_and(|(little, long)| bytes < little && age.is_some_and(|age| age > long)) {
            let stem = folder.join(&name[..name.len() - PART.len()]);
            Place::of(stem.clone(), &stem).clear();
            continue;
        }
        kept.count += 1;
        kept.bytes = kept.bytes.saturating_add(bytes);
    }
    kept
}

/// Whether [`Place`] gives such names.
fn is_part(name: &str) -> bool {
    let hash = name.strip_suffix(PART).and_then(|stem| stem.rsplit_once('.')).map(|(_, hash)| hash);
    hash.is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Store {
    /// Opens what is kept of a transfer, or begins it.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::ResourceBusy`] if another program writes it.
    pub fn open(place: Place, shape: Shape) -> io::Result<(Self, Here)> {
        // Locked first: what another program writes is left alone.
        let file = PartFile::resume(place.part.clone())?;
        let journal = place.journal(&shape.digest, shape.length);
        if journal.is_none() {
            place.clear_notes();
            file.file().set_len(0)?;
        }
        file.file().set_len(shape.length)?;
        let spill = Spill::open(&place.repairs, shape.code(), shape.symbol)?;
        let mut here = Here::new();
        for (first, end) in journal.iter().flat_map(|journal| journal.here.iter()) {
            add_bytes(&mut here, &shape, first, end);
        }
        for (block, symbol) in spill.iter().filter(|(block, _)| u32::from(*block) < shape.cut.blocks) {
            if u32::from(symbol) >= shape.cut.symbols_of(block.into()) {
                let known = here.entry(block.into()).or_default();
                known.insert(symbol.into(), u64::from(symbol) + 1);
            }
        }
        Ok((Self { shape, file, spill, place }, here))
    }
    /// Names of its files.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Lets go of it and forgets what is here.
    pub fn discard(self) {
        let place = self.place.clone();
        drop(self);
        place.clear();
    }

    /// Keeps a symbol.
    ///
    /// # Errors
    /// What the system says; a full disk among it.
    pub fn write(&mut self, block: u16, symbol: u16, bytes: &[u8]) -> io::Result<()> {
        if u32::from(symbol) >= self.shape.cut.symbols_of(block.into()) {
            return self.spill.write(block, symbol, bytes);
        }
        let at = self.offset(block.into(), symbol.into());
        let bytes = &bytes[..(self.shape.length.saturating_sub(at)).min(bytes.len() as u64) as usize];
        self.file.write(at, bytes)
    }
    fn offset(&self, block: u32, symbol: u32) -> u64 {
        (self.shape.cut.start_of(block) + u64::from(symbol)) * u64::from(self.shape.symbol)
    }

    /// Decodes a block and writes its missing symbols; false if too few symbols are here. `here`: its source
    /// symbols that are here.
    ///
    /// # Errors
    /// What the system says.
    pub fn decode(&mut self, block: u32, here: &Ranges) -> io::Result<bool> {
        self.file.flush()?;
        let (symbols, symbol) = (self.shape.cut.symbols_of(block), usize::from(self.shape.symbol));
        let mut own = vec![0; symbols as usize * symbol];
        let at = self.offset(block, 0);
        let there = (self.shape.length - at).min(own.len() as u64) as usize;
        self.file.read(at, &mut own[..there])?;
        let repairs = self.spill.read(block as u16)?;
        let kept = own.chunks(symbol).zip(0_u32..).filter(|(_, id)| here.around((*id).into()).is_some());
        let all =
            kept.map(|(bytes, id)| (id, bytes)).chain(repairs.iter().map(|(id, b)| (*id, b.as_slice())));
        let Some(decoded) = fec::decode(symbols, self.shape.symbol, all) else { return Ok(false) };
        let mut from = 0;
        while let Some((start, end)) = here.gap(from, symbols.into()) {
            let (first, last) = (start as usize * symbol, (end as usize * symbol).min(there));
            self.file.write_through(at + first as u64, &decoded[first.min(last)..last])?;
            from = end;
        }
        self.spill.release(block as u16);
        Ok(true)
    }

    /// Writes down what is here, after it was written itself.
    ///
    /// # Errors
    /// What the system says.
    pub fn save(&mut self, machine: &Receiver) -> io::Result<()> {
        self.file.flush()?;
        let journal =
            Journal { digest: self.shape.digest, length: self.shape.length, here: self.bytes_here(machine) };
        files::replace(&self.place.state, &journal.to_bytes(), false)
    }
    fn bytes_here(&self, machine: &Receiver) -> Ranges {
        let (cut, mut bytes) = (&self.shape.cut, Ranges::default());
        let mut insert = |first: u64, end: u64| {
            let of = |symbol: u64| (symbol * u64::from(self.shape.symbol)).min(self.shape.length);
            bytes.insert(of(first), of(end));
        };
        let (whole, partial) = machine.here();
        whole.iter().for_each(|(first, end)| insert(cut.start_of(first as u32), cut.start_of(end as u32)));
        for (block, here) in partial.filter(|(block, _)| *block < cut.blocks) {
            let (start, symbols) = (cut.start_of(block), u64::from(cut.symbols_of(block)));
            here.iter().for_each(|(first, end)| insert(start + first.min(symbols), start + end.min(symbols)));
        }
        bytes
    }

    /// Hashes the next part of the prefix that is complete; false if it is hashed already.
    ///
    /// # Errors
    /// What the system says.
    pub fn hash_some(&mut self, whole_below: u32) -> io::Result<bool> {
        let end =
            (self.shape.cut.start_of(whole_below) * u64::from(self.shape.symbol)).min(self.shape.length);
        self.file.hash_some(end)
    }
    /// Whether what is here is what was meant. To be asked when all is hashed.
    pub fn is_right(&self) -> bool {
        self.file.hashed(self.shape.length) == Some(self.shape.digest)
    }
    /// Gives the file its name; `lasts` if it must survive a loss of power from now on.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::AlreadyExists`] if there is a file of this name and
    /// it is not to be replaced.
    pub fn finish(&mut self, overwrite: bool, lasts: bool) -> io::Result<()> {
        self.file.finish(&self.place.name, overwrite, lasts)?;
        self.place.clear_notes();
        if lasts { files::sync_folder(&self.place.name) } else { Ok(()) }
    }
}

/// Symbols that lie wholly in a range of bytes are here.
fn add_bytes(here: &mut Here, shape: &Shape, first: u64, end: u64) {
    let symbol = u64::from(shape.symbol);
    let last = if end == shape.length { u64::from(shape.cut.symbols) } else { end / symbol };
    let mut at = first.div_ceil(symbol);
    while at < last {
        let block = shape.cut.block_of(at);
        let start = shape.cut.start_of(block);
        let stop = last.min(start + u64::from(shape.cut.symbols_of(block)));
        here.entry(block).or_default().insert(at - start, stop - start);
        at = stop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn what_kills_leave_of_a_little_or_an_unproven_transfer_is_removed_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place::new(folder.path(), "file", &[1; 32], 1000, None);
        let other = Place::new(folder.path(), "other", &[2; 32], 1000, None);
        let old = SystemTime::now() - UNPROVEN_LONGEST * 2;
        for place in [&place, &other.unproven()] {
            for path in [&place.state, &with_end(&place.state, files::NEW), &place.repairs, &place.part] {
                fs::write(path, "x").expect("it is written");
                let file = fs::File::options().append(true).open(path).expect("it opens");
                file.set_modified(old).expect("the system sets times");
            }
        }
        fs::write(folder.path().join("file"), "whole").expect("it is written");
        assert_eq!(kept(folder.path(), Some((1 << 20, UNPROVEN_LONGEST * 3))).count, 1, "too early");
        assert_eq!(kept(folder.path(), Some((1 << 20, UNPROVEN_LONGEST))).count, 0);
        drop_unproven(folder.path());
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

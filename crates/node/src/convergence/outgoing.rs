//! Bundles to send.

use super::{Bundle, Error, Progress, Tag};
use crate::files::digest;
use crate::transports::stopped;
use lightlag_protocols::transport::ltp::Aggregator;
use lightlag_protocols::wire::bundle;
use lightlag_protocols::wire::ltp::aggregation::{self, BUNDLE_SERVICE, bundle_length};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most bundles of a block: each is a file at the receiver.
pub const BUNDLES_MOST: usize = 1 << 16;

/// A file that is a bundle. It is open only while it leaves.
pub struct Item {
    path: PathBuf,
    /// Bytes of it.
    pub length: u64,
    digest: [u8; 32],
    modified: Option<SystemTime>,
    file: Option<File>,
}

impl Item {
    /// Reads the file once, to know its digest.
    fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |why: io::Error| Error::Input(format!("{}: {why}; name a file", path.display()));
        let file = File::open(path).map_err(cannot)?;
        let found = file.metadata().map_err(cannot)?;
        if !found.is_file() {
            return Err(Error::Input(format!("{}: it is not a file; name a file", path.display())));
        }
        let (digest, length) = digest(&file, &mut |_| {}).map_err(cannot)?;
        if length == 0 {
            return Err(Error::Input(format!("{}: it is empty; a bundle has bytes", path.display())));
        }
        Ok(Self { path: path.to_owned(), length, digest, modified: found.modified().ok(), file: None })
    }
    /// Fills `out` with the bytes from `at` on.
    pub fn read(&mut self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(File::open(&self.path)?);
        }
        let Some(file) = &self.file else { return Err(io::ErrorKind::NotFound.into()) };
        file.read_exact_at(out, at)
    }
    /// All of it.
    fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.length as usize];
        let read = self.read(0, &mut bytes);
        read.map_err(|why| Error::Failed(format!("{}: {why}", self.name())))?;
        self.close();
        Ok(bytes)
    }
    /// It has left, or does not leave.
    pub fn close(&mut self) {
        self.file = None;
    }
    /// Whether the file still is what it was.
    fn check(&self) -> Result<(), Error> {
        let path = self.path.display();
        let found = std::fs::metadata(&self.path).map_err(|why| Error::Failed(format!("{path}: {why}")))?;
        if found.len() == self.length && found.modified().ok() == self.modified {
            return Ok(());
        }
        Err(Error::Failed(format!("{path}: it changed while it was sent; send it again")))
    }
    /// What became of it.
    pub fn bundle(&self, peer: SocketAddr, tag: Tag, seconds: f64, outcome: Result<(), String>) -> Bundle {
        let (path, bytes, digest) = (self.path.clone(), self.length, self.digest);
        Bundle { path, bytes, digest, peer, tag, seconds, outcome }
    }
    /// Its path, for messages.
    pub fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }
}

/// Bundles in the order in which they leave.
///
/// # Errors
/// The first that cannot be read, in one line.
pub fn open(files: &[PathBuf], watch: &mut dyn FnMut(Progress) -> bool) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for (count, path) in files.iter().enumerate() {
        if !watch(Progress::Reading(count as u64, files.len() as u64)) {
            return Err(stopped());
        }
        items.push(Item::open(path)?);
    }
    Ok(items)
}

/// Asks of all whether they still are what they were.
pub fn checker(items: &[Item]) -> impl Fn() -> Result<(), Error> + use<> {
    let copy = |item: &Item| Item { path: item.path.clone(), file: None, ..*item };
    let items: Vec<Item> = items.iter().map(copy).collect();
    move || items.iter().try_for_each(Item::check)
}

/// The content of one LTP block.
pub struct Block {
    /// The bundles of it, by their places in the stock.
    pub items: Vec<usize>,
    /// Its bytes, if it is not simply a file.
    pub bytes: Option<Vec<u8>>,
    /// Bytes of it.
    pub length: u64,
}

/// One block for each bundle, or blocks of about `aggregate` bytes: for client service 2 of capsules (CCSDS 734.1-B-1,
/// section 7), for others of bundles behind each other, as ION has them.
///
/// # Errors
/// One line, if a file to aggregate is not a bundle, so that a receiver could not find its end.
pub fn blocks(items: &mut [Item], aggregate: Option<u64>, service: u64) -> Result<Vec<Block>, Error> {
    let Some(size) = aggregate else {
        let single =
            |(at, item): (usize, &mut Item)| Block { items: vec![at], bytes: None, length: item.length };
        return Ok(items.iter_mut().enumerate().map(single).collect());
    };
    if service != aggregation::SERVICE {
        return concatenated(items, size);
    }
    let mut collected = Aggregator::new(size, lightlag_protocols::time::Duration::MAX);
    let (mut blocks, mut waiting) = (Vec::new(), Vec::new());
    let finished = |items: Vec<usize>, bytes: Vec<u8>| {
        let length = bytes.len() as u64;
        Block { items, bytes: Some(bytes), length }
    };
    for (at, item) in items.iter_mut().enumerate() {
        let bytes = item.bytes()?;
        if bundle_length(&bytes) != Some(bytes.len()) {
            let what = "not a bundle of version 7, which --aggregate needs to find its end";
            return Err(Error::Input(format!("{}: {what}; leave --aggregate out", item.name())));
        }
        waiting.push(at);
        if let Some(block) = collected.push(lightlag_protocols::time::Instant::ZERO, BUNDLE_SERVICE, &bytes) {
            blocks.push(finished(std::mem::take(&mut waiting), block));
        }
    }
    blocks.extend(collected.flush().map(|block| finished(waiting, block)));
    Ok(blocks)
}

/// A block is full at `size` bytes or a little more, or at [`BUNDLES_MOST`] bundles.
fn concatenated(items: &mut [Item], size: u64) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    let mut block = Block { items: Vec::new(), bytes: Some(Vec::new()), length: 0 };
    for (at, item) in items.iter_mut().enumerate() {
        let bytes = item.bytes()?;
        bundle::check(&bytes).map_err(|why| {
            let what = "--aggregate takes bundles only, whose end a receiver can find; leave it out";
            Error::Input(format!("{}: {why}; {what}", item.name()))
        })?;
        block.items.push(at);
        block.length += item.length;
        block.bytes.get_or_insert_default().extend(bytes);
        if block.length >= size || block.items.len() == BUNDLES_MOST {
            let empty = Block { items: Vec::new(), bytes: Some(Vec::new()), length: 0 };
            blocks.push(std::mem::replace(&mut block, empty));
        }
    }
    blocks.extend(Some(block).filter(|block| block.length > 0));
    Ok(blocks)
}

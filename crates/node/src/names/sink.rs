//! Where segments go: to their places in a file, or in order to a stream.

use crate::Error;
use crate::files::PartFile;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Most bytes of segments that wait for one before them, where they must leave in order.
const WAITING_MOST: usize = 512 << 20;

/// Where segments go.
pub enum Sink {
    /// To their places in a file, which has its name only when it is whole.
    File(Box<PartFile>, PathBuf),
    /// In order to a stream.
    Stream(InOrder),
}

impl Sink {
    /// To a file, which has its name only when it is whole; where the name leads to a device or a pipe, in
    /// order into that. Links are followed.
    ///
    /// # Errors
    /// One line that names it.
    pub fn file(path: &Path) -> Result<Self, Error> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let cannot = |path: &Path, why: io::Error| {
            Error::Input(format!("cannot write {}: {why}; name a place that can be written", path.display()))
        };
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                return Err(Error::Input(format!("{}: it is a folder; name a file", path.display())));
            }
            Ok(found) if !found.is_file() => {
                let out = OpenOptions::new().write(true).open(&path).map_err(|why| cannot(&path, why))?;
                return Ok(Self::stream(Box::new(out)));
            }
            _ => {}
        }
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = PartFile::create(part.clone(), false).map_err(|why| cannot(&part, why))?;
        Ok(Self::File(Box::new(file), path))
    }
    /// To a stream.
    pub fn stream(out: Box<dyn Write>) -> Self {
        Self::Stream(InOrder { out, next: 0, waiting: BTreeMap::new(), bytes: 0 })
    }
    /// Keeps a segment that begins at this byte of the whole. Each comes once.
    ///
    /// # Errors
    /// One line: there is no room for it, or the reader has closed the stream.
    pub fn write(&mut self, at: u64, content: &[u8]) -> Result<(), Error> {
        match self {
            Self::File(file, _) => file.write(at, content).map_err(|why| cannot_write(file.path(), &why)),
            Self::Stream(stream) => stream.write(at, content),
        }
    }
    /// All is here.
    ///
    /// # Errors
    /// As of [`Sink::write`].
    pub fn finish(&mut self) -> Result<(), Error> {
        match self {
            Self::File(file, path) => {
                file.finish(path, true, false).map_err(|why| cannot_write(file.path(), &why))
            }
            Self::Stream(stream) => stream.out.flush().map_err(|why| cannot_print(&why)),
        }
    }
}

fn cannot_write(path: &Path, why: &io::Error) -> Error {
    Error::Failed(format!("cannot write {}: {why}", path.display()))
}

/// A stream, and the segments that wait for earlier ones.
pub struct InOrder {
    out: Box<dyn Write>,
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
}

impl InOrder {
    fn write(&mut self, at: u64, content: &[u8]) -> Result<(), Error> {
        if at != self.next {
            self.bytes += content.len();
            if self.bytes > WAITING_MOST {
                let most = WAITING_MOST >> 20;
                let what = format!("more than {most} MiB wait for a segment that does not come");
                return Err(Error::Failed(format!("{what}; write to a file with -o")));
            }
            self.waiting.insert(at, content.to_vec());
            return Ok(());
        }
        self.print(content)?;
        while let Some(content) = self.waiting.remove(&self.next) {
            self.bytes -= content.len();
            self.print(&content)?;
            if content.is_empty() {
                break;
            }
        }
        Ok(())
    }
    fn print(&mut self, content: &[u8]) -> Result<(), Error> {
        self.out.write_all(content).map_err(|why| cannot_print(&why))?;
        self.next += content.len() as u64;
        Ok(())
    }
}

fn cannot_print(why: &io::Error) -> Error {
    Error::Failed(format!("cannot write to standard output: {why}"))
}

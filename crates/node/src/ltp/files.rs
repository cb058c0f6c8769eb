//! Blocks that are files.

use super::Blocks;
use lightlag_protocols::transport::ltp::{Event, SessionId};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Files that are sent, and a folder for blocks that come: each is `ORIGINATOR.NUMBER.part` until its red
/// part is here, then `ORIGINATOR.NUMBER`.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    outgoing: BTreeMap<SessionId, File>,
    incoming: BTreeMap<SessionId, File>,
    /// What has happened, but for the arrival of bytes.
    pub told: Vec<Event>,
}

impl Files {
    /// Blocks that come are put into `folder`, which is there.
    pub fn new(folder: &Path) -> Self {
        let folder = folder.to_path_buf();
        Self { folder, outgoing: BTreeMap::new(), incoming: BTreeMap::new(), told: Vec::new() }
    }
    /// A file is a block of this session.
    pub fn send(&mut self, session: SessionId, file: File) {
        self.outgoing.insert(session, file);
    }
    /// Where a block is that has come.
    pub fn path_of(&self, session: SessionId) -> PathBuf {
        self.folder.join(session.to_string())
    }
    fn part_of(&self, session: SessionId) -> PathBuf {
        self.folder.join(format!("{session}.part"))
    }
}

impl Blocks for Files {
    fn read(&mut self, session: SessionId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let file = self.outgoing.get(&session).ok_or(io::ErrorKind::NotFound)?;
        file.read_exact_at(out, offset)
    }
    fn write(&mut self, session: SessionId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let part = self.part_of(session);
        let file = match self.incoming.entry(session) {
            std::collections::btree_map::Entry::Occupied(file) => file.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let mut how = OpenOptions::new();
                place.insert(how.write(true).create(true).truncate(true).open(part)?)
            }
        };
        file.write_all_at(bytes, offset)
    }
    fn tell(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::RedPart { session, .. } => {
                std::fs::rename(self.part_of(*session), self.path_of(*session))?;
            }
            Event::Sent(session) => drop(self.outgoing.remove(session)),
            Event::Closed(session) => drop(self.incoming.remove(session)),
            Event::Cancelled { session, .. } => {
                self.outgoing.remove(session);
                if self.incoming.remove(session).is_some() {
                    // It may be whole already, and is kept then.
                    let _ = std::fs::remove_file(self.part_of(*session));
                }
            }
            Event::Transmitted(_) | Event::Arrived { .. } => {}
        }
        self.told.push(*event);
        Ok(())
    }
}

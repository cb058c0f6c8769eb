//! A stream that comes in parts, from whatever carries them.

use crate::transport::ranges::Ranges;
use crate::wire::adaptive::Why;
use std::collections::BTreeMap;

/// Parts that are kept though they do not follow each other; one more is not kept.
const PARTS_MAX: usize = 262_144;

/// What has come, until the application has taken it.
#[derive(Debug)]
pub struct Incoming {
    /// Parts by their offset; none overlaps another.
    parts: BTreeMap<u64, Vec<u8>>,
    received: Ranges,
    /// Everything before this was given to the driver.
    read: u64,
    /// Everything before this is with the application, or stored; the end of the stream counts as one.
    taken: u64,
    /// Where it ends.
    end: Option<u64>,
    /// How much may come beyond what was taken: at first, and at most.
    room: (u64, u64),
}

/// For each byte that the application took, so many more may come: who reads gets room, who does not has none.
const GROWTH: u64 = 4;

impl Incoming {
    /// Nothing came yet. How many bytes may wait to be taken at first, and at most, as the application takes more.
    pub fn new(first: u64, most: u64) -> Self {
        let room = (first, most.max(first));
        let (parts, received) = (BTreeMap::new(), Ranges::default());
        Self { parts, received, read: 0, taken: 0, end: None, room }
    }
    /// An earlier life of this daemon has taken so much, and the end of the stream too if it `ended` there.
    pub fn resumed(taken: u64, ended: bool, first: u64, most: u64) -> Self {
        let end = ended.then_some(taken);
        Self { read: taken, taken: taken + u64::from(ended), end, ..Self::new(first, most) }
    }
    /// Everything before this is in safe hands.
    pub fn taken(&self) -> u64 {
        self.taken
    }
    /// Everything came, and was taken.
    pub fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| self.taken > end)
    }
    /// Everything came and was read; the application may not have taken it.
    pub fn is_at_end(&self) -> bool {
        self.end == Some(self.read)
    }
    /// The window as the other side is to be told.
    pub fn window(&self) -> u64 {
        let (first, most) = self.room;
        self.taken + first.saturating_add(GROWTH.saturating_mul(self.taken)).min(most)
    }
    /// Bytes came. False if they could not be kept, and must come again.
    ///
    /// # Errors
    /// [`Why::Broken`]: beyond the window or the end, or another end.
    pub fn on_data(&mut self, offset: u64, bytes: &[u8], ends: bool) -> Result<bool, Why> {
        let to = offset + bytes.len() as u64;
        let beyond = self.end.is_some_and(|end| to > end || (ends && to != end)) || to > self.window();
        let before = self.received.last().map_or(self.read, |last| last.1.max(self.read));
        if beyond || (ends && to < before) {
            return Err(Why::Broken);
        }
        if self.parts.len() >= PARTS_MAX && offset > self.read {
            return Ok(false);
        }
        if ends {
            self.end = Some(to);
        }
        let mut at = offset.max(self.read);
        while let Some((from, until)) = self.received.gap(at, to) {
            self.received.insert(from, until);
            self.parts.insert(from, bytes[(from - offset) as usize..(until - offset) as usize].to_vec());
            at = until;
        }
        Ok(true)
    }
    /// Whether [`Incoming::read`] would give something.
    pub fn is_readable(&self) -> bool {
        self.parts.first_key_value().is_some_and(|(from, _)| *from == self.read)
    }
    /// The next bytes in order.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let first = self.parts.first_entry().filter(|entry| *entry.key() == self.read)?;
        let bytes = first.remove();
        self.read += bytes.len() as u64;
        self.received.remove_below(self.read);
        Some(bytes)
    }
    /// Everything before `offset` is with the application, or stored.
    pub fn take(&mut self, offset: u64) {
        self.taken = self.taken.max(offset.min(self.read));
    }
    /// The application knows that the stream has ended, after everything in it.
    pub fn take_end(&mut self) {
        if let Some(end) = self.end.filter(|end| *end == self.taken) {
            self.taken = end + 1;
        }
    }
}

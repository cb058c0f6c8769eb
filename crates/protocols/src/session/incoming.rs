//! A stream that comes in parts, from whatever carries them.

use super::WINDOW_LEAST;
use crate::transport::ranges::Ranges;
use crate::wire::session::CloseReason;
use std::collections::BTreeMap;

/// Parts that are kept though they do not follow each other; one more is not kept.
const PARTS_MAX: usize = 262_144;
/// A shorter part is appended to the one before it, up to the second.
const SHORT: (usize, usize) = (512, 16 * 1024);
/// Bytes of memory that a part takes beside its own.
const PART_COST: u64 = 64;

/// Received bytes of a stream, until the application has taken them.
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
    /// Bytes that may arrive beyond `taken`: at first, and at most.
    room: (u64, u64),
    /// The highest window advertised to the other side, or the initial one.
    advertised: u64,
}

/// Bytes of window for each byte that the application takes: only a reading application gets a wider one.
const GROWTH: u64 = 4;

impl Incoming {
    /// Nothing came yet. How many bytes may wait to be taken at first, and at most, as the application takes
    /// more.
    pub fn new(first: u64, most: u64) -> Self {
        let room = (first, most.max(first));
        let (parts, received) = (BTreeMap::new(), Ranges::default());
        Self { parts, received, read: 0, taken: 0, end: None, room, advertised: first.min(WINDOW_LEAST) }
    }
    /// An earlier epoch of this daemon took `taken` bytes, and the end of the stream too if it `ended` there.
    pub fn resumed(taken: u64, ended: bool, first: u64, most: u64) -> Self {
        let end = ended.then_some(taken);
        let advertised = taken + first.min(WINDOW_LEAST);
        Self { read: taken, taken: taken + u64::from(ended), end, advertised, ..Self::new(first, most) }
    }
    /// Everything before this is with the application, or stored.
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
    /// The highest possible window. The other side may have sent up to it: it may know no window yet, or one
    /// from an earlier epoch of this daemon.
    pub fn limit(&self) -> u64 {
        let (first, most) = self.room;
        self.taken + first.saturating_add(GROWTH.saturating_mul(self.taken)).min(most)
    }
    /// The window to advertise, where `share` bytes may wait here. It never shrinks.
    pub fn advertise(&mut self, share: u64) -> u64 {
        let window = self.limit().min(self.taken.saturating_add(share.max(WINDOW_LEAST)));
        self.advertised = self.advertised.max(window);
        self.advertised
    }
    /// Whether bytes came beyond the windows that were advertised.
    pub fn is_beyond(&self) -> bool {
        self.highest() > self.advertised
    }
    /// Behind the last byte that came.
    fn highest(&self) -> u64 {
        self.received.last().map_or(self.read, |last| last.1.max(self.read))
    }
    /// Bytes of memory that it takes, or may take by what was advertised.
    pub fn memory(&self) -> u64 {
        self.advertised.max(self.highest()).saturating_sub(self.taken) + self.parts.len() as u64 * PART_COST
    }
    /// Bytes came. False if they could not be kept, and must come again.
    ///
    /// # Errors
    /// [`CloseReason::Broken`]: beyond the window or the end, or another end.
    pub fn on_data(&mut self, offset: u64, bytes: &[u8], ends: bool) -> Result<bool, CloseReason> {
        let to = offset + bytes.len() as u64;
        let beyond = self.end.is_some_and(|end| to > end || (ends && to != end)) || to > self.limit();
        if beyond || (ends && to < self.highest()) {
            return Err(CloseReason::Broken);
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
            self.keep(from, &bytes[(from - offset) as usize..(until - offset) as usize]);
            at = until;
        }
        Ok(true)
    }
    /// Many short parts would take more memory than their bytes.
    fn keep(&mut self, from: u64, bytes: &[u8]) {
        if bytes.len() < SHORT.0
            && let Some((begins, last)) = self.parts.range_mut(..from).next_back()
            && begins + last.len() as u64 == from
            && last.len() + bytes.len() <= SHORT.1
        {
            last.extend_from_slice(bytes);
            return;
        }
        self.parts.insert(from, bytes.to_vec());
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

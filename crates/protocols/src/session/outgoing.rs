//! A stream on its way to the other side, whatever carries its parts.

use super::{Stack, WINDOW_LEAST};
use crate::transport::ranges::{Range, Ranges};
use std::collections::{BTreeMap, VecDeque};

/// Pieces of one write are kept together up to this size, so that small writes make few frames.
const CHUNK: usize = 16 * 1024;

/// What the application gave, until the other side has it. The end of the stream counts as one position
/// behind the last byte.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// Bytes, and where they begin.
    chunks: VecDeque<(u64, Vec<u8>)>,
    /// Behind the last byte that was given.
    end: u64,
    finished: bool,
    /// Acknowledged: everything before this.
    below: u64,
    /// Bytes before this may be sent.
    window: u64,
    /// End of the window that the other side has advertised, or of the initial one.
    advertised: u64,
    /// The highest that was sent, as far as the other side may know of it.
    sent: u64,
    /// Bytes of memory that chunks take.
    memory: u64,
    /// Nothing from here on was ever carried.
    next: u64,
    to_repeat: Ranges,
    /// It arrived, but the other side may still lose it.
    arrived: Ranges,
    carried: BTreeMap<Stack, Ranges>,
    /// Bytes that an earlier epoch of this daemon had; it may have sent them and the end.
    had: Option<u64>,
}

/// A part of a stream to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Of its first byte.
    pub offset: u64,
    /// Behind its last byte.
    pub to: u64,
    /// The stream ends behind it.
    pub ends: bool,
}

impl Piece {
    /// Its positions, the end of the stream included.
    pub fn range(&self) -> Range {
        (self.offset, self.to + u64::from(self.ends))
    }
}

impl Outgoing {
    /// Nothing was given yet; `window` bytes may be sent before the other side answers.
    pub fn new(window: u64) -> Self {
        Self { window, advertised: window.min(WINDOW_LEAST), ..Self::default() }
    }
    /// An earlier epoch of this daemon had `had` bytes, and of them the other side has `below`; what is given
    /// next follows these.
    pub fn resumed(below: u64, had: u64, window: u64) -> Self {
        let below = below.min(had);
        Self {
            window: below.saturating_add(window),
            advertised: below.saturating_add(window.min(WINDOW_LEAST)),
            sent: below,
            end: below,
            below,
            next: below,
            had: Some(had),
            ..Self::default()
        }
    }
    /// Bytes that were given: where the next ones begin.
    pub fn given(&self) -> u64 {
        self.end
    }
    /// Bytes that are kept until they are acknowledged.
    pub fn kept(&self) -> u64 {
        self.end - self.below.min(self.end)
    }
    /// Bytes that the other side has.
    pub fn acknowledged(&self) -> u64 {
        self.below.min(self.end)
    }
    /// Bytes that were never carried.
    pub fn unsent(&self) -> u64 {
        self.end - self.next.min(self.end)
    }
    /// Bytes that the application may give: what the other side takes now, and `ahead` for when it takes
    /// more; but where `share` bytes may wait here, no more than these.
    pub fn room(&self, ahead: u64, share: u64) -> u64 {
        let wanted = self.window.saturating_add(ahead).saturating_sub(self.end);
        if self.finished { 0 } else { wanted.min(share.saturating_sub(self.memory)) }
    }
    /// Bytes of memory that it takes.
    pub fn memory(&self) -> u64 {
        self.memory
    }
    /// Bytes that may be sent, or were, though the other side has not said that it takes them.
    pub fn unadvertised(&self) -> u64 {
        self.window.saturating_sub(self.advertised)
    }
    /// Nothing was ever carried from here on.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// Whether the application has ended it.
    pub fn is_finished(&self) -> bool {
        self.finished
    }
    /// The other side has all of it, and its end.
    pub fn is_complete(&self) -> bool {
        self.finished && self.below > self.end
    }
    /// More of it.
    pub fn write(&mut self, bytes: &[u8]) {
        match self.chunks.back_mut().filter(|(_, last)| last.len() + bytes.len() <= CHUNK) {
            Some((_, last)) => {
                let before = last.capacity();
                last.extend_from_slice(bytes);
                self.memory += (last.capacity() - before) as u64;
            }
            None if !bytes.is_empty() => self.push(self.end, bytes.to_vec()),
            None => {}
        }
        self.end += bytes.len() as u64;
    }
    /// The same, without a copy. For long writes only: each is carried by a frame of its own.
    pub fn give(&mut self, bytes: Vec<u8>) {
        let begins = self.end;
        self.end += bytes.len() as u64;
        if !bytes.is_empty() {
            self.push(begins, bytes);
        }
    }
    fn push(&mut self, begins: u64, bytes: Vec<u8>) {
        self.memory += bytes.capacity() as u64;
        self.chunks.push_back((begins, bytes));
    }
    /// It ends here.
    pub fn finish(&mut self) {
        self.finished = true;
    }
    fn positions(&self) -> u64 {
        self.end + u64::from(self.finished)
    }
    /// The next piece to send, of at most `room` bytes: lost bytes first, then new ones.
    pub fn next_piece(&self, room: u64) -> Option<Piece> {
        let (from, to) = match self.to_repeat.first() {
            Some(range) => range,
            None => (self.next, self.positions()),
        };
        if from >= to {
            return None;
        }
        let chunk_ends = self.chunk_at(from).map_or(self.end, |(begins, chunk)| begins + chunk.len() as u64);
        let bytes_to = to.min(chunk_ends).min(from.saturating_add(room)).min(self.window.max(from));
        let ends = self.finished && bytes_to == self.end && to > self.end;
        (bytes_to > from || ends).then_some(Piece { offset: from, to: bytes_to, ends })
    }
    fn chunk_at(&self, offset: u64) -> Option<&(u64, Vec<u8>)> {
        let behind = self.chunks.partition_point(|(begins, _)| *begins <= offset);
        let chunk = self.chunks.get(behind.checked_sub(1)?)?;
        (offset < chunk.0 + chunk.1.len() as u64).then_some(chunk)
    }
    /// The bytes of a piece.
    pub fn bytes(&self, piece: &Piece) -> &[u8] {
        match self.chunk_at(piece.offset) {
            Some((begins, chunk)) if piece.to > piece.offset => {
                &chunk[(piece.offset - begins) as usize..(piece.to - begins) as usize]
            }
            _ => &[],
        }
    }
    /// A piece was sent.
    pub fn on_carried(&mut self, stack: Stack, piece: &Piece) {
        let (from, to) = piece.range();
        self.to_repeat.remove(from, to);
        self.next = self.next.max(to);
        self.sent = self.sent.max(piece.to);
        self.carried.entry(stack).or_default().insert(from, to);
    }
    /// A part came there, though the far daemon may still forget it.
    pub fn on_arrived(&mut self, stack: Stack, (from, to): Range) {
        if let Some(carried) = self.carried.get_mut(&stack) {
            carried.remove(from, to);
        }
        if to > self.below {
            self.arrived.insert(from.max(self.below), to);
        }
        self.to_repeat.remove(from, to);
    }
    /// A part was lost.
    pub fn on_lost(&mut self, stack: Stack, (from, to): Range) {
        if let Some(carried) = self.carried.get_mut(&stack) {
            carried.remove(from, to);
        }
        self.repeat(from, to);
    }
    /// Everything in flight over this stack must be sent again.
    pub fn reclaim(&mut self, stack: Stack) {
        let Some(carried) = self.carried.remove(&stack) else { return };
        let parts: Vec<Range> = carried.iter().collect();
        parts.into_iter().for_each(|(from, to)| self.repeat(from, to));
    }
    /// The far daemon has restarted: it has only acknowledged bytes, and has advertised nothing. `window`
    /// bytes may be sent before it answers.
    pub fn on_forgotten(&mut self, window: u64) {
        self.window = self.below.saturating_add(window);
        self.advertised = self.below.saturating_add(window.min(WINDOW_LEAST));
        self.sent = self.below;
        self.arrived.clear();
        self.carried.clear();
        self.to_repeat.clear();
        if self.next > self.below {
            self.to_repeat.insert(self.below, self.next);
        }
    }
    fn repeat(&mut self, from: u64, to: u64) {
        let mut at = from.max(self.below);
        while let Some((gap, ends)) = self.arrived.gap(at, to) {
            self.to_repeat.insert(gap, ends);
            at = ends;
        }
    }
    /// The other side has everything before `below`, and takes bytes before `window`. False if that was never
    /// sent.
    pub fn on_ack(&mut self, below: u64, window: u64) -> bool {
        if below > self.next && self.had.is_none_or(|had| below > had + 1) {
            return false;
        }
        if below > self.next {
            // An earlier epoch sent more than this one has read of what it had.
            self.end = self.end.max(below.min(self.had.unwrap_or_default()));
            self.next = below;
        }
        // What may be sent without a word is what was sent until the first word.
        self.advertised = self.advertised.max(window);
        self.window = self.advertised.max(self.window.min(self.sent));
        if below <= self.below {
            return true;
        }
        self.below = below;
        self.to_repeat.remove_below(below);
        self.arrived.remove_below(below);
        self.carried.values_mut().for_each(|carried| {
            carried.remove_below(below);
        });
        self.carried.retain(|_, carried| !carried.is_empty());
        while self.chunks.front().is_some_and(|(begins, chunk)| begins + chunk.len() as u64 <= below) {
            let dropped = self.chunks.pop_front().map_or(0, |(_, chunk)| chunk.capacity());
            self.memory -= dropped as u64;
        }
        true
    }
}

//! Packets that are larger than a link takes go in fragments (NDNLPv2).

use super::lp::{Headers, LpPacket, Part, fragment_overhead};
use super::{Malformed, PACKET_MOST};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Most fragments of a packet.
const FRAGMENTS_MOST: u64 = 512;
/// Packets that may be incomplete at a time; one more drops the one that began first.
const PARTIAL_MOST: usize = 64;
/// Bytes of fragments of incomplete packets; with more, those that began first are dropped.
const HELD_MOST: usize = 128 << 10;
/// Least link on which a packet of every size fits into the most fragments.
pub const MTU_LEAST: usize = 128;

/// A packet cut for a link.
#[derive(Clone, Copy, Debug)]
pub struct Fragments<'a> {
    packet: &'a [u8],
    headers: Headers,
    /// Of the first fragment.
    sequence: u64,
    count: usize,
    /// Payload of all but the first, which has the headers, and the last.
    payload: usize,
    first: usize,
}

impl<'a> Fragments<'a> {
    /// Cuts a packet for a link that takes `mtu` bytes at once, at least [`MTU_LEAST`]. The link numbers
    /// its fragments; this packet takes [`Fragments::count`] numbers from `sequence` on.
    pub fn new(packet: &'a [u8], headers: Headers, mtu: usize, sequence: u64) -> Self {
        let mtu = mtu.max(MTU_LEAST);
        let beside = headers.size();
        let whole = packet.len() + beside + if beside > 0 { 8 } else { 0 };
        if whole <= mtu {
            let (payload, first) = (packet.len(), packet.len());
            return Self { packet, headers, sequence, count: 1, payload, first };
        }
        let payload = mtu - fragment_overhead(mtu);
        let first = payload.saturating_sub(beside);
        let count = 1 + packet.len().saturating_sub(first).div_ceil(payload);
        Self { packet, headers, sequence, count, payload, first }
    }
    /// How many they are.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Appends one of them, counted from 0.
    pub fn write(&self, index: usize, out: &mut Vec<u8>) {
        let start = if index == 0 { 0 } else { self.first + (index - 1) * self.payload };
        let end = (self.first + index * self.payload).min(self.packet.len());
        let number = index as u64;
        let part =
            Part { sequence: self.sequence.wrapping_add(number), index: number, count: self.count as u64 };
        let headers = if index == 0 { self.headers } else { Headers::default() };
        let part = (self.count > 1).then_some(part);
        LpPacket { headers, part, payload: &self.packet[start..end] }.write(out);
    }
}

/// A packet and its link headers.
pub type Whole<'a> = (Headers, Cow<'a, [u8]>);

/// A packet of which fragments are missing.
#[derive(Clone, Debug)]
struct Partial {
    /// The number of its first fragment names it.
    sequence: u64,
    headers: Headers,
    count: u64,
    /// Index and end in `bytes` of each fragment that is here, as they came: memory grows with what was received,
    /// not with the number that a fragment claims.
    pieces: Vec<(u16, u32)>,
    /// Fragments as they came.
    bytes: Vec<u8>,
    in_order: bool,
}

/// Makes packets of the fragments that come over one link, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Reassembler {
    partial: VecDeque<Partial>,
    /// Bytes of all of them.
    held: usize,
    dropped: u64,
}

impl Reassembler {
    /// Takes a received fragment; returns the packet if it is complete now. Headers are those of its first
    /// fragment; a congestion mark counts on any.
    ///
    /// # Errors
    /// [`Malformed`] if the fragment does not fit the others of its packet, or those that a packet may
    /// have.
    pub fn take<'a>(&mut self, came: LpPacket<'a>) -> Result<Option<Whole<'a>>, Malformed> {
        let Some(part) = came.part.filter(|part| part.count > 1) else {
            let is_whole = !came.payload.is_empty();
            return Ok(is_whole.then_some((came.headers, Cow::Borrowed(came.payload))));
        };
        if part.count > FRAGMENTS_MOST {
            return Err(Malformed::TooLarge);
        }
        let place = self.find_or_begin(&part);
        match self.partial[place].add(&part, &came) {
            Ok(bytes) => self.held += bytes,
            Err(why) => {
                self.remove(place);
                self.dropped += 1;
                return Err(why);
            }
        }
        if self.partial[place].is_whole() {
            let whole = self.remove(place);
            return Ok(whole.map(|whole| (whole.headers, Cow::Owned(whole.into_bytes()))));
        }
        while self.held > HELD_MOST {
            self.drop_first();
        }
        Ok(None)
    }
    fn remove(&mut self, place: usize) -> Option<Partial> {
        self.partial.remove(place).inspect(|gone| self.held -= gone.bytes.len())
    }
    fn drop_first(&mut self) {
        self.remove(0);
        self.dropped += 1;
    }
    /// Packets that were given up: other fragments came instead of theirs.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
    fn find_or_begin(&mut self, part: &Part) -> usize {
        let sequence = part.sequence.wrapping_sub(part.index);
        // It is nearly always the one that began last.
        if let Some(place) = self.partial.iter().rposition(|known| known.sequence == sequence) {
            return place;
        }
        if self.partial.len() == PARTIAL_MOST {
            self.drop_first();
        }
        self.partial.push_back(Partial {
            sequence,
            headers: Headers::default(),
            count: part.count,
            pieces: Vec::new(),
            bytes: Vec::new(),
            in_order: true,
        });
        self.partial.len() - 1
    }
}

impl Partial {
    /// Takes a fragment; returns the bytes that it adds, 0 if it was here before.
    fn add(&mut self, part: &Part, came: &LpPacket) -> Result<usize, Malformed> {
        if part.count != self.count || part.index >= part.count || came.payload.is_empty() {
            return Err(Malformed::Value(80));
        }
        let index = part.index as u16;
        let is_next = self.in_order && usize::from(index) == self.pieces.len();
        if !is_next && self.pieces.iter().any(|(here, _)| *here == index) {
            return Ok(0);
        }
        if self.bytes.len() + came.payload.len() > PACKET_MOST {
            return Err(Malformed::TooLarge);
        }
        self.in_order = is_next;
        self.bytes.extend_from_slice(came.payload);
        self.pieces.push((index, self.bytes.len() as u32));
        let mark = self.headers.mark.max(came.headers.mark);
        if index == 0 {
            self.headers = came.headers;
        }
        self.headers.mark = mark;
        Ok(came.payload.len())
    }
    fn is_whole(&self) -> bool {
        self.pieces.len() as u64 == self.count
    }
    fn into_bytes(self) -> Vec<u8> {
        if self.in_order {
            return self.bytes;
        }
        let starts = std::iter::once(0).chain(self.pieces.iter().map(|(_, end)| *end));
        let mut pieces: Vec<_> =
            self.pieces.iter().zip(starts).map(|(&(index, end), start)| (index, start..end)).collect();
        pieces.sort_unstable_by_key(|(index, _)| *index);
        pieces.iter().flat_map(|(_, at)| &self.bytes[at.start as usize..at.end as usize]).copied().collect()
    }
}

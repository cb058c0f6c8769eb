//! Headers of TCP (RFC 9293), as far as they were kept.

use super::notes::Note;

/// Most blocks that fit (RFC 2018, section 3).
pub const BLOCKS_MAX: usize = 4;

/// What a segment says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First sequence number.
    pub sequence: u32,
    /// What is awaited, if `ack`.
    pub acknowledged: u32,
    /// FIN 1, SYN 2, RST 4, PSH 8, ACK 16.
    flags: u8,
    /// As the header has it, not scaled.
    pub window: u16,
    /// Bytes of payload that it had.
    pub length: u32,
    /// Of an opening segment: how far windows are shifted (RFC 7323, section 2).
    pub shift: Option<u8>,
    /// Of an opening segment (RFC 9293, section 3.7.1).
    pub largest: Option<u16>,
    /// It has an option of Multipath TCP (RFC 8684).
    pub multipath: bool,
    blocks: [(u32, u32); BLOCKS_MAX],
    block_count: u8,
}

impl Segment {
    /// Closes its direction.
    pub fn fin(&self) -> bool {
        self.flags & 1 != 0
    }
    /// Opens its direction.
    pub fn syn(&self) -> bool {
        self.flags & 2 != 0
    }
    /// Ends the connection.
    pub fn reset(&self) -> bool {
        self.flags & 4 != 0
    }
    /// Acknowledges.
    pub fn ack(&self) -> bool {
        self.flags & 16 != 0
    }
    /// SACK blocks: data received beyond the cumulative acknowledgement, as [from, to).
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.block_count)]
    }
    /// How much of the space of sequence numbers it takes.
    pub fn space(&self) -> u32 {
        self.length + u32::from(self.syn()) + u32::from(self.fin())
    }

    /// Reads the kept part of a segment of `length` bytes.
    ///
    /// # Errors
    /// Why it is skipped.
    #[inline]
    pub fn read(bytes: &[u8], length: usize) -> Result<Self, Note> {
        let head: &[u8; 20] = bytes.first_chunk().ok_or(Note::HeaderCut)?;
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let header = usize::from(head[12] >> 4) * 4;
        if header < 20 || header > length {
            return Err(Note::BadHeader);
        }
        let mut made = Self {
            sequence: word(4),
            acknowledged: word(8),
            flags: head[13],
            window: u16::from_be_bytes([head[14], head[15]]),
            length: (length - header) as u32,
            ..Self::default()
        };
        // Options that were not kept say nothing.
        made.read_options(&bytes[20..header.min(bytes.len())]);
        Ok(made)
    }

    #[inline]
    fn read_options(&mut self, mut options: &[u8]) {
        while let [kind, rest @ ..] = options {
            match kind {
                0 => return,
                1 => {
                    options = rest;
                    continue;
                }
                _ => {}
            }
            let Some(&length) = rest.first() else { return };
            let Some(value) = options.get(2..usize::from(length)) else { return };
            self.read_option(*kind, value);
            options = &options[usize::from(length)..];
        }
    }

    #[inline]
    fn read_option(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (2, [high, low]) => self.largest = Some(u16::from_be_bytes([*high, *low])),
            (30, _) => self.multipath = true,
            (3, [shift]) => self.shift = Some((*shift).min(14)),
            (5, blocks) => {
                for block in blocks.chunks_exact(8).take(BLOCKS_MAX) {
                    let word = |at: usize| {
                        u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
                    };
                    self.blocks[usize::from(self.block_count)] = (word(0), word(4));
                    self.block_count += 1;
                }
            }
            _ => {}
        }
    }
}

/// Sequence numbers without wraps: the number that is nearest to the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwrap {
    last: Option<u64>,
}

/// Where the first number of a direction is put: far enough from zero to go back.
const ORIGIN: u64 = 1 << 40;

impl Unwrap {
    /// The number without wraps, of `bits` bits; it becomes the last one if it is higher.
    #[inline]
    pub fn follow(&mut self, number: u64, bits: u32) -> u64 {
        let made = self.near(number, bits);
        if self.last.is_none_or(|last| made > last) {
            self.last = Some(made);
        }
        made
    }
    /// The number without wraps that is nearest to the last one.
    #[inline]
    pub fn near(&self, number: u64, bits: u32) -> u64 {
        let Some(last) = self.last else { return (ORIGIN << (bits.saturating_sub(32))) + number };
        let shift = 64 - bits;
        let step = ((number.wrapping_sub(last) << shift) as i64) >> shift;
        last.saturating_add_signed(step)
    }
    /// Whether a first number is known.
    pub fn is_known(&self) -> bool {
        self.last.is_some()
    }
}

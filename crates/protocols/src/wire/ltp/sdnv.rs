//! Self-delimiting numeric values (RFC 5326, section 3; RFC 6256): seven bits a byte, the most
//! significant first, and a set top bit on every byte but the last.

use super::Malformed;

/// Bytes of the longest value that is read, 2^64 - 1.
pub const LENGTH_MOST: usize = 10;

/// How many bytes a value takes.
pub const fn length(value: u64) -> usize {
    let bits = (u64::BITS - value.leading_zeros()) as usize;
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

/// Appends a value in its shortest form.
pub fn write(value: u64, out: &mut Vec<u8>) {
    for index in (0..length(value)).rev() {
        let more = if index > 0 { 0x80 } else { 0 };
        out.push((value >> (7 * index)) as u8 & 0x7f | more);
    }
}

/// Takes fields off the front, and knows where it is.
pub(super) struct Reader<'a> {
    whole: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(whole: &'a [u8]) -> Self {
        Self { whole, at: 0 }
    }
    /// The place of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.whole[self.at..]
    }
    pub(super) fn byte(&mut self, field: &'static str) -> Result<u8, Malformed> {
        self.bytes(1, field).map(|one| one[0])
    }
    pub(super) fn bytes(&mut self, count: u64, field: &'static str) -> Result<&'a [u8], Malformed> {
        let lacks = Malformed::Ends { field, at: self.at };
        let count = usize::try_from(count).map_err(|_| lacks)?;
        let taken = self.rest().get(..count).ok_or(lacks)?;
        self.at += count;
        Ok(taken)
    }
    /// A value of at most 64 bits; leading zeros are read, as the RFC forbids none.
    pub(super) fn sdnv(&mut self, field: &'static str) -> Result<u64, Malformed> {
        let (at, mut value) = (self.at, 0_u64);
        for _ in 0..LENGTH_MOST {
            let byte = self.byte(field).map_err(|_| Malformed::Ends { field, at })?;
            if value > u64::MAX >> 7 {
                break;
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed::TooLarge { field, at })
    }
}

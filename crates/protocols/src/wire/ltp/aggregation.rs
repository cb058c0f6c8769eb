//! Aggregation of service data (CCSDS 734.1-B-1, section 7): many small units in one block, for one
//! report instead of many.
//!
//! A block of client service 2 is a series of capsules: the number of the client service that a unit is for,
//! as an SDNV, and the unit. There is no length field, so a unit must show where it ends, and the reader of
//! a block must supply that rule. [`bundle_length`] is the rule of bundles.

use super::Malformed;
use super::sdnv::{self, Reader};
use thiserror::Error;

/// The client service of aggregated blocks.
pub const SERVICE: u64 = 2;
/// The client service of the Bundle Protocol.
pub const BUNDLE_SERVICE: u64 = 1;

/// Why a block is not a row of capsules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Broken {
    /// The number of a client service cannot be read.
    #[error("capsule at byte {at}: the client service {why}")]
    Service {
        /// Where the capsule begins.
        at: usize,
        /// What is wrong with it.
        why: Malformed,
    },
    /// The end of the unit is unknown, or not within the block.
    #[error("capsule at byte {at}: the end of the unit for client service {service} is not found")]
    Unit {
        /// Where the capsule begins.
        at: usize,
        /// For whom it is.
        service: u64,
    },
}

/// Bytes of a capsule.
pub fn capsule_size(service: u64, unit: &[u8]) -> u64 {
    (sdnv::length(service) + unit.len()) as u64
}

/// Appends a capsule.
pub fn write_capsule(service: u64, unit: &[u8], out: &mut Vec<u8>) {
    sdnv::write(service, out);
    out.extend_from_slice(unit);
}

/// The units of a block, with the service that each is for. `length` returns the length of the unit that
/// some bytes begin with.
///
/// # Errors
/// The first capsule that cannot be read.
pub fn read_capsules(
    block: &[u8],
    length: impl Fn(u64, &[u8]) -> Option<usize>,
) -> Result<Vec<(u64, &[u8])>, Broken> {
    let mut reader = Reader::new(block);
    let mut units = Vec::new();
    while !reader.rest().is_empty() {
        let at = reader.at();
        let service = reader.sdnv("number").map_err(|why| Broken::Service { at, why })?;
        let found = length(service, reader.rest()).filter(|length| *length > 0);
        let unit = found.and_then(|length| reader.bytes(length as u64, "unit").ok());
        units.push((service, unit.ok_or(Broken::Unit { at, service })?));
    }
    Ok(units)
}

/// Nested deeper than this is not a bundle.
const DEPTH_MOST: usize = 16;

/// How long the bundle is that some bytes begin with: one item of CBOR (RFC 9171, section 4.1; RFC 8949).
pub fn bundle_length(bytes: &[u8]) -> Option<usize> {
    let mut byte = |at: u64| bytes.get(usize::try_from(at).ok()?).copied();
    bundle_end(0, bytes.len() as u64, &mut byte).map(|end| end as usize)
}

/// Where the bundle ends that begins at byte `at` of a block of `length` bytes, of which `byte` reads any;
/// none if it is no item of CBOR, or does not end within the block.
pub fn bundle_end(at: u64, length: u64, byte: &mut dyn FnMut(u64) -> Option<u8>) -> Option<u64> {
    let mut items = Items { at, length, byte };
    // Items that are still to come at each level; none where a break ends them.
    let mut levels: Vec<Option<u64>> = vec![Some(1)];
    while let Some(level) = levels.last_mut() {
        match level {
            Some(0) => {
                levels.pop();
                continue;
            }
            Some(left) => *left -= 1,
            None if items.peek() == Some(0xff) => {
                items.at += 1;
                levels.pop();
                continue;
            }
            None => {}
        }
        levels.extend(items.item()?);
        if levels.len() > DEPTH_MOST {
            return None;
        }
    }
    Some(items.at)
}

/// Where the unit begins of the capsule at byte `at`, and for which service it is; `byte` reads any byte of
/// the block.
///
/// # Errors
/// The number of the service cannot be read.
pub fn capsule_at(at: u64, byte: &mut dyn FnMut(u64) -> Option<u8>) -> Result<(u64, u64), Broken> {
    let head: Vec<u8> = (0..sdnv::LENGTH_MOST as u64).map_while(|more| byte(at + more)).collect();
    let mut reader = Reader::new(&head);
    let service = reader.sdnv("number").map_err(|why| Broken::Service { at: at as usize, why })?;
    Ok((service, at + reader.at() as u64))
}

/// Items of CBOR, one after the other.
struct Items<'a, 'b> {
    at: u64,
    length: u64,
    byte: &'a mut (dyn FnMut(u64) -> Option<u8> + 'b),
}

impl Items<'_, '_> {
    fn peek(&mut self) -> Option<u8> {
        (self.at < self.length).then(|| (self.byte)(self.at))?
    }
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
    /// Goes behind the head of an item and the bytes of a string; returns how many items it holds, if it
    /// does.
    fn item(&mut self) -> Option<Option<Option<u64>>> {
        let head = self.next()?;
        let argument = match head & 31 {
            small @ 0..=23 => Some(u64::from(small)),
            size @ 24..=27 => {
                let mut value = 0;
                for _ in 0..1 << (size - 24) {
                    value = value << 8 | u64::from(self.next()?);
                }
                Some(value)
            }
            31 => None,
            _ => return None,
        };
        match (head >> 5, argument) {
            (0 | 1 | 7, Some(_)) => Some(None),
            (2 | 3, Some(length)) => {
                self.at = self.at.checked_add(length).filter(|end| *end <= self.length)?;
                Some(None)
            }
            (4, Some(count)) => Some(Some(Some(count))),
            (5, Some(pairs)) => Some(Some(Some(pairs.checked_mul(2)?))),
            (6, Some(_)) => Some(Some(Some(1))),
            (2..=5, None) => Some(Some(None)),
            _ => None,
        }
    }
}

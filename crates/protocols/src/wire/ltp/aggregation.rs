//! Aggregation of service data (CCSDS 734.1-B-1, section 7): many small units in one block, for one
//! report instead of many.
//!
//! A block of client service 2 is a row of capsules: the number of the client service that a unit is for,
//! as an SDNV, and the unit. No length is told, so a unit must say by itself where it ends; whoever reads
//! a block brings that knowledge along. [`bundle_length`] knows it of bundles.

use super::Malformed;
use super::sdnv::{self, Reader};
use thiserror::Error;

/// The client service of aggregated blocks.
pub const SERVICE: u64 = 2;
/// The client service of the Bundle Protocol.
pub const BUNDLE_SERVICE: u64 = 1;

/// Why a block is no row of capsules.
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
    /// Nobody knows where the unit ends, or it does not end within the block.
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

/// The units of a block, with the service that each is for. `length` tells how long the unit is that
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

/// Nested deeper than this is no bundle.
const DEPTH_MOST: usize = 16;

/// How long the bundle is that some bytes begin with: one item of CBOR (RFC 9171, section 4.1; RFC 8949).
pub fn bundle_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    // Items that are still to come at each level; none where a break ends them.
    let mut levels: Vec<Option<u64>> = vec![Some(1)];
    while let Some(level) = levels.last_mut() {
        match level {
            Some(0) => {
                levels.pop();
                continue;
            }
            Some(left) => *left -= 1,
            None if bytes.get(at) == Some(&0xff) => {
                at += 1;
                levels.pop();
                continue;
            }
            None => {}
        }
        let inner = item(bytes, &mut at)?;
        levels.extend(inner);
        if levels.len() > DEPTH_MOST {
            return None;
        }
    }
    Some(at)
}

/// Goes behind the head of an item and the bytes of a string; tells how many items it holds, if it does.
fn item(bytes: &[u8], at: &mut usize) -> Option<Option<Option<u64>>> {
    let head = *bytes.get(*at)?;
    *at += 1;
    let argument = match head & 31 {
        small @ 0..=23 => Some(u64::from(small)),
        size @ 24..=27 => {
            let count = 1 << (size - 24);
            let taken = bytes.get(*at..at.checked_add(count)?)?;
            *at += count;
            Some(taken.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        }
        31 => None,
        _ => return None,
    };
    match (head >> 5, argument) {
        (0 | 1 | 7, Some(_)) => Some(None),
        (2 | 3, Some(length)) => {
            *at = at.checked_add(usize::try_from(length).ok()?).filter(|end| *end <= bytes.len())?;
            Some(None)
        }
        (4, Some(count)) => Some(Some(Some(count))),
        (5, Some(pairs)) => Some(Some(Some(pairs.checked_mul(2)?))),
        (6, Some(_)) => Some(Some(Some(1))),
        (2..=5, None) => Some(Some(None)),
        _ => None,
    }
}

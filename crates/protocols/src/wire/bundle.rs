//! The form of bundles: version 7 (RFC 9171) and version 6 (RFC 5050).
//!
//! A convergence layer carries bundles as they are. [`check`] rejects other data that reach its port: it
//! reads the heads of all blocks and skips their data, so it takes time by the number of blocks and holds 4
//! KiB of a bundle. It compares no checksums and reads no block-type-specific data: it is no protection from
//! forged bundles.

use thiserror::Error;

/// More blocks than this are no bundle.
const BLOCKS_MOST: usize = 1 << 16;
/// CBOR that is nested deeper than this is no part of an endpoint.
const DEPTH_MOST: usize = 8;
/// What is read at once.
const WINDOW: u64 = 4 << 10;
const PAYLOAD: u64 = 1;

/// Why bytes are no bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Broken {
    /// They begin like none: neither the array of version 7 nor the number 6.
    #[error("it begins as no bundle of version 6 or 7")]
    Version,
    /// A field is not what it must be.
    #[error("{field} at byte {at} is not as it must be")]
    Field {
        /// Which.
        field: &'static str,
        /// Where it begins.
        at: u64,
    },
    /// They end in the middle of a field.
    #[error("it ends at byte {0}, in the middle of a block")]
    Ends(u64),
    /// More bundles follow each other than are taken.
    #[error("more than {most} bundles follow each other; the next begins at byte {at}")]
    TooMany {
        /// How many are taken.
        most: usize,
        /// Where the next one begins.
        at: u64,
    },
    /// Bytes follow the last block.
    #[error("bytes follow its last block at byte {0}")]
    Follows(u64),
}

/// Reads bytes of a bundle from a place on; false if they cannot be read.
pub type Read<'a> = dyn FnMut(u64, &mut [u8]) -> bool + 'a;

/// Checks the form of a whole bundle, all blocks up to its end.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(bytes: &[u8]) -> Result<(), Broken> {
    check_with(bytes.len() as u64, &mut of(bytes))
}

/// As [`check`], of a bundle of `length` bytes that is elsewhere, such as in a file.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_with(length: u64, read: &mut Read) -> Result<(), Broken> {
    let end = Cursor::new(length, read).bundle()?;
    if end == length { Ok(()) } else { Err(Broken::Follows(end)) }
}

/// Where the bundles end that follow each other in `length` bytes, as ION aggregates them in a block of LTP; at most
/// `most` of them. Each has the form that [`check`] wants.
///
/// # Errors
/// The first thing that is wrong, and where.
pub fn ends(length: u64, most: usize, read: &mut Read) -> Result<Vec<u64>, Broken> {
    let mut cursor = Cursor::new(length, read);
    let mut ends = Vec::new();
    while ends.is_empty() || cursor.at < length {
        if ends.len() == most {
            return Err(Broken::TooMany { most, at: cursor.at });
        }
        ends.push(cursor.bundle()?);
    }
    Ok(ends)
}

/// Checks the primary block only, of a bundle whose later bytes are missing.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_primary(length: u64, read: &mut Read) -> Result<(), Broken> {
    Cursor::new(length, read).primary().map(drop)
}

/// What distinguishes a bundle from others (RFC 9171, section 4.3.1: source, creation timestamp, fragment).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// 6 or 7.
    pub version: u8,
    /// The source as it is encoded; of version 6 the offsets or numbers of all endpoints.
    pub source: Vec<u8>,
    /// When it was created: milliseconds, of version 6 seconds, since 2000 (UTC). Zero: its source has no clock.
    pub created: u64,
    /// The sequence number of its creation timestamp.
    pub sequence: u64,
    /// Of a fragment: where it begins.
    pub offset: Option<u64>,
}

impl Head {
    /// When it was created, in milliseconds since 2000 (UTC); none if its source has no clock.
    pub fn created_ms(&self) -> Option<u64> {
        let unit_ms = if self.version == 6 { 1000 } else { 1 };
        Some(self.created.saturating_mul(unit_ms)).filter(|created| *created > 0)
    }
}

/// Reads the primary block, with which a bundle begins; later bytes may be missing.
///
/// # Errors
/// The first thing that is wrong.
pub fn head(bytes: &[u8]) -> Result<Head, Broken> {
    let mut read = of(bytes);
    let mut cursor = Cursor::new(bytes.len() as u64, &mut read);
    let Primary { head, source_at: (from, to) } = cursor.primary()?;
    let source = bytes.get(from as usize..to as usize).unwrap_or_default().to_vec();
    Ok(Head { source, ..head })
}

/// A primary block: what it says, and where the source is in its bytes.
struct Primary {
    head: Head,
    source_at: (u64, u64),
}

fn of(bytes: &[u8]) -> impl FnMut(u64, &mut [u8]) -> bool {
    move |at, out| {
        let from = at as usize;
        bytes.get(from..from + out.len()).is_some_and(|part| {
            out.copy_from_slice(part);
            true
        })
    }
}

struct Cursor<'a, 'b> {
    length: u64,
    at: u64,
    read: &'a mut Read<'b>,
    /// Bytes that have been read, and where they begin.
    window: (u64, Vec<u8>),
}

impl<'a, 'b> Cursor<'a, 'b> {
    fn new(length: u64, read: &'a mut Read<'b>) -> Self {
        Self { length, at: 0, read, window: (0, Vec::new()) }
    }
    fn peek(&mut self) -> Result<u8, Broken> {
        let (start, bytes) = &mut self.window;
        if self.at < *start || self.at - *start >= bytes.len() as u64 {
            let ends = Broken::Ends(self.at);
            let count = self.length.saturating_sub(self.at).min(WINDOW) as usize;
            *start = self.at;
            bytes.resize(count, 0);
            if count == 0 || !(self.read)(self.at, bytes) {
                bytes.clear();
                return Err(ends);
            }
        }
        Ok(bytes[(self.at - *start) as usize])
    }
    fn byte(&mut self) -> Result<u8, Broken> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }
    fn skip(&mut self, count: u64) -> Result<(), Broken> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.length);
        self.at = end.ok_or(Broken::Ends(self.length))?;
        Ok(())
    }
    /// A bundle; returns where it ends.
    fn bundle(&mut self) -> Result<u64, Broken> {
        if self.primary()?.head.version == 7 {
            self.blocks_7()?;
        } else {
            self.blocks_6()?;
        }
        Ok(self.at)
    }
    /// The primary block. Of version 7 the array of blocks has begun before.
    fn primary(&mut self) -> Result<Primary, Broken> {
        match self.peek() {
            Ok(0x9f) => self.primary_7(),
            Ok(6) => self.primary_6(),
            _ => Err(Broken::Version),
        }
    }

    // --- version 7 --------------------------------------------------------------------------

    /// The head of an item of CBOR (RFC 8949, section 3): its major type and argument, none if it is
    /// indefinite.
    fn head(&mut self, field: &'static str) -> Result<(u8, Option<u64>), Broken> {
        let at = self.at;
        let head = self.byte()?;
        let argument = match head & 31 {
            small @ 0..=23 => Some(u64::from(small)),
            size @ 24..=27 => {
                let mut value = 0;
                for _ in 0..1 << (size - 24) {
                    value = value << 8 | u64::from(self.byte()?);
                }
                Some(value)
            }
            31 => None,
            _ => return Err(Broken::Field { field, at }),
        };
        Ok((head >> 5, argument))
    }
    /// An item of a major type and definite length, whose argument is in a range.
    fn item(
        &mut self,
        major: u8,
        argument: std::ops::RangeInclusive<u64>,
        field: &'static str,
    ) -> Result<u64, Broken> {
        let at = self.at;
        match self.head(field)? {
            (found, Some(value)) if found == major && argument.contains(&value) => Ok(value),
            _ => Err(Broken::Field { field, at }),
        }
    }
    fn number(&mut self, field: &'static str) -> Result<u64, Broken> {
        self.item(0, 0..=u64::MAX, field)
    }
    /// A checksum (RFC 9171, section 4.2.1) of 2 or 4 bytes.
    fn crc(&mut self, kind: u64) -> Result<(), Broken> {
        let bytes = if kind == 1 { 2 } else { 4 };
        self.item(2, bytes..=bytes, "the CRC")?;
        self.skip(bytes)
    }
    /// An endpoint: scheme and what is specific to it (section 4.2.5.1).
    fn endpoint(&mut self, field: &'static str) -> Result<(), Broken> {
        self.item(4, 2..=2, field)?;
        self.number(field)?;
        self.any(field, DEPTH_MOST)
    }
    /// An item of any kind, of definite length.
    fn any(&mut self, field: &'static str, depth: usize) -> Result<(), Broken> {
        let at = self.at;
        match self.head(field)? {
            (0 | 1, Some(_)) => Ok(()),
            (2 | 3, Some(length)) => self.skip(length),
            (4, Some(count)) if depth > 0 && count <= WINDOW => {
                (0..count).try_for_each(|_| self.any(field, depth - 1))
            }
            _ => Err(Broken::Field { field, at }),
        }
    }
    /// Section 4.3.1.
    fn primary_7(&mut self) -> Result<Primary, Broken> {
        self.byte()?;
        let at = self.at;
        let count = self.item(4, 8..=11, "the primary block")?;
        self.item(0, 7..=7, "the version")?;
        let flags = self.number("the flags of the bundle")?;
        let crc = self.item(0, 0..=2, "the CRC type")?;
        let is_fragment = flags & 1 > 0;
        if count != 8 + 2 * u64::from(is_fragment) + u64::from(crc > 0) {
            return Err(Broken::Field { field: "the number of fields of the primary block", at });
        }
        self.endpoint("the destination")?;
        let from = self.at;
        self.endpoint("the source")?;
        let source_at = (from, self.at);
        self.endpoint("the report-to endpoint")?;
        self.item(4, 2..=2, "the creation timestamp")?;
        let created = self.number("the creation timestamp")?;
        let sequence = self.number("the sequence number")?;
        self.number("the lifetime")?;
        let offset = is_fragment.then(|| self.number("the fragment offset")).transpose()?;
        if offset.is_some() {
            self.number("the length of the application data unit")?;
        }
        if crc > 0 {
            self.crc(crc)?;
        }
        Ok(Primary { head: Head { version: 7, source: Vec::new(), created, sequence, offset }, source_at })
    }
    /// The blocks behind the primary one; the last is the payload (sections 4.1 and 4.3.2).
    fn blocks_7(&mut self) -> Result<(), Broken> {
        for _ in 0..BLOCKS_MOST {
            let at = self.at;
            let count = self.item(4, 5..=6, "a block")?;
            let kind = self.number("the type of a block")?;
            self.number("the number of a block")?;
            self.number("the flags of a block")?;
            let crc = self.item(0, 0..=2, "the CRC type of a block")?;
            if count != 5 + u64::from(crc > 0) {
                return Err(Broken::Field { field: "the number of fields of a block", at });
            }
            let length = self.item(2, 0..=u64::MAX, "the data of a block")?;
            self.skip(length)?;
            if crc > 0 {
                self.crc(crc)?;
            }
            if kind == PAYLOAD {
                let at = self.at;
                return match self.byte()? {
                    0xff => Ok(()),
                    _ => Err(Broken::Field { field: "what follows the payload", at }),
                };
            }
        }
        Err(Broken::Field { field: "the number of blocks", at: self.at })
    }

    // --- version 6 --------------------------------------------------------------------------

    /// A number in groups of seven bits (RFC 5050, section 4.1).
    fn sdnv(&mut self, field: &'static str) -> Result<u64, Broken> {
        let (at, mut value) = (self.at, 0_u64);
        loop {
            let byte = self.byte()?;
            if value > u64::MAX >> 7 {
                return Err(Broken::Field { field, at });
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            if self.at - at >= 10 {
                return Err(Broken::Field { field, at });
            }
        }
    }
    /// Section 4.5.1.
    fn primary_6(&mut self) -> Result<Primary, Broken> {
        self.byte()?;
        let flags = self.sdnv("the flags of the bundle")?;
        let length = self.sdnv("the length of the primary block")?;
        let begin = self.at;
        let mut offsets = [0; 8];
        for offset in &mut offsets {
            *offset = self.sdnv("an offset into the dictionary")?;
        }
        let source_at = (begin, self.at);
        let created = self.sdnv("the creation timestamp")?;
        let sequence = self.sdnv("the sequence number")?;
        self.sdnv("the lifetime")?;
        let at = self.at;
        let dictionary = self.sdnv("the length of the dictionary")?;
        // Without one the offsets are numbers of endpoints (RFC 6260, section 2.2).
        if dictionary > 0 && offsets.iter().any(|offset| *offset >= dictionary) {
            return Err(Broken::Field { field: "the length of the dictionary", at });
        }
        self.skip(dictionary)?;
        let offset = (flags & 1 > 0).then(|| self.sdnv("the fragment offset")).transpose()?;
        if offset.is_some() {
            self.sdnv("the length of the application data unit")?;
        }
        if self.at - begin == length {
            return Ok(Primary {
                head: Head { version: 6, source: Vec::new(), created, sequence, offset },
                source_at,
            });
        }
        Err(Broken::Field { field: "the length of the primary block", at: begin })
    }
    /// The blocks behind the primary one: one flag marks the last, and one is the payload (sections 4.1 and
    /// 4.5.2).
    fn blocks_6(&mut self) -> Result<(), Broken> {
        const LAST: u64 = 1 << 3;
        const REFERENCES: u64 = 1 << 6;
        let mut payloads = 0;
        for _ in 0..BLOCKS_MOST {
            payloads += usize::from(u64::from(self.byte()?) == PAYLOAD);
            let flags = self.sdnv("the flags of a block")?;
            if flags & REFERENCES > 0 {
                let at = self.at;
                let count = self.sdnv("the references of a block")?;
                if count > WINDOW {
                    return Err(Broken::Field { field: "the references of a block", at });
                }
                for _ in 0..2 * count {
                    self.sdnv("a reference of a block")?;
                }
            }
            let length = self.sdnv("the length of a block")?;
            self.skip(length)?;
            if flags & LAST > 0 {
                let at = self.at;
                return if payloads == 1 { Ok(()) } else { Err(Broken::Field { field: "the payload", at }) };
            }
        }
        Err(Broken::Field { field: "the number of blocks", at: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ltp::sdnv;
    use proptest::prelude::*;

    /// A bundle of version 7: from ipn:2.1 to ipn:1.1, with a hop count before the payload.
    fn version_7(payload: &[u8], is_fragment: bool, crc: bool) -> Vec<u8> {
        let fields = 8 + 2 * u8::from(is_fragment) + u8::from(crc);
        let mut bytes = vec![0x9f, 0x80 + fields, 7, u8::from(is_fragment), u8::from(crc)];
        bytes.extend([0x82, 2, 0x82, 1, 1, 0x82, 1, 0x65, b'/', b'/', b'a', b'/', b'b', 0x82, 1, 0]);
        bytes.extend([0x82, 0, 0, 0x19, 0x27, 0x10]);
        bytes.extend(is_fragment.then_some([5, 9]).into_iter().flatten());
        bytes.extend(crc.then_some([0x42, 1, 2]).into_iter().flatten());
        bytes.extend([0x85, 10, 2, 0, 0, 0x43, 0x82, 30, 0]);
        bytes.extend([0x85 + u8::from(crc), 1, 1, 0, 2 * u8::from(crc), 0x59]);
        bytes.extend((payload.len() as u16).to_be_bytes());
        bytes.extend(payload);
        bytes.extend(crc.then_some([0x44, 1, 2, 3, 4]).into_iter().flatten());
        bytes.push(0xff);
        bytes
    }

    /// A bundle of version 6: with a dictionary or, by RFC 6260, without.
    fn version_6(payload: &[u8], is_fragment: bool, dictionary: &[u8]) -> Vec<u8> {
        let mut primary = vec![0; 8];
        let numbers = [900_000_000, 1, 86_400, dictionary.len() as u64];
        numbers.into_iter().for_each(|value| sdnv::write(value, &mut primary));
        primary.extend(dictionary);
        primary.extend(is_fragment.then_some([5, 9]).into_iter().flatten());
        let mut bytes = vec![6, u8::from(is_fragment)];
        sdnv::write(primary.len() as u64, &mut bytes);
        bytes.extend(primary);
        // A block with two references before the payload.
        bytes.extend([20, 0x40, 2, 0, 0, 0, 0, 1, 7]);
        bytes.extend([1, 8]);
        sdnv::write(payload.len() as u64, &mut bytes);
        bytes.extend(payload);
        bytes
    }

    fn any_bundle() -> impl Strategy<Value = Vec<u8>> {
        let parts =
            (prop::collection::vec(any::<u8>(), 0..6000), any::<bool>(), any::<bool>(), any::<bool>());
        parts.prop_map(|(payload, is_fragment, other, is_old)| match is_old {
            true => version_6(&payload, is_fragment, if other { b"dtn\0none\0" } else { b"" }),
            false => version_7(&payload, is_fragment, other),
        })
    }

    proptest! {
        #[test]
        fn bundles_of_both_versions_pass_and_nothing_shorter_or_longer_does(
            bundle in any_bundle(),
            cut in any::<prop::sample::Index>(),
            more in any::<u8>(),
        ) {
            prop_assert_eq!(check(&bundle), Ok(()));
            prop_assert!(check(&bundle[..cut.index(bundle.len())]).is_err());
            let longer = [&bundle[..], &[more]].concat();
            prop_assert_eq!(check(&longer), Err(Broken::Follows(bundle.len() as u64)));
            let length = bundle.len() as u64;
            prop_assert_eq!(check_primary(length, &mut of(&bundle)), Ok(()));
        }

        #[test]
        fn bundles_behind_each_other_are_found_and_the_first_that_is_none_is_named(
            bundles in prop::collection::vec(any_bundle(), 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let all = bundles.concat();
            let sums: Vec<u64> = bundles.iter().scan(0, |at, one| { *at += one.len() as u64; Some(*at) }).collect();
            let ends = |bytes: &[u8], most| super::ends(bytes.len() as u64, most, &mut of(bytes));
            prop_assert_eq!(ends(&all, bundles.len()), Ok(sums.clone()));
            let fewer = bundles.len() - 1;
            let at = sums.iter().rev().nth(1).copied().unwrap_or(0);
            prop_assert_eq!(ends(&all, fewer), Err(Broken::TooMany { most: fewer, at }));
            // A block that is cut is whole bundles or none.
            let short = cut.index(all.len());
            match ends(&all[..short], 8) {
                Ok(found) => prop_assert_eq!(found.last(), Some(&(short as u64))),
                Err(_) => prop_assert!(!sums.contains(&(short as u64))),
            }
            let noise = [&all[..], &[0x42]].concat();
            prop_assert!(ends(&noise, 9).is_err());
        }

        #[test]
        fn any_bytes_are_read_without_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..300), first in 0..4_usize) {
            if let Some(byte) = bytes.first_mut() {
                *byte = [6, 0x9f, *byte, 7][first];
            }
            // Noise has the form of version 6 with a chance of one in billions.
            prop_assert!(check(&bytes).is_err());
        }

        #[test]
        fn a_bundle_of_which_a_byte_is_changed_is_read_without_harm(
            mut bundle in any_bundle(),
            place in any::<prop::sample::Index>(),
            flip in 1..=255_u8,
        ) {
            *place.get_mut(&mut bundle) ^= flip;
            let _ = check(&bundle);
        }
    }

    #[test]
    fn cbor_that_is_no_bundle_is_told_apart() {
        for bytes in [
            &[0x9f, 0xff][..],
            &[],
            &[6],
            &[0x9f, 0x88, 6, 0, 0],
            &[0x9f, 0x87, 7, 0, 0],
            &[0x9f, 0x82, 7, 0, 0xff],
            &[6, 0, 1, 0],
            &[6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert!(check(bytes).is_err(), "{bytes:?}");
        }
        let endless = [&[0x9f][..], &vec![0x9f; 5000]].concat();
        assert!(check(&endless).is_err());
    }
}

//! What is here of a file that is not whole yet, as it is kept on disk.
//!
//! `LLPART1\n`, digest of the whole 32, its length 8, then 16 for each range of bytes that is here (first,
//! end), then the BLAKE3 of all that; numbers are big-endian. It does not depend on how the sender cuts
//! the file, so that a transfer can be taken up with other packets.

use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::transport::udpdtn::DIGEST_BYTES;

const MAGIC: &[u8; 8] = b"LLPART1\n";

/// What is here of which file.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// BLAKE3 of the whole.
    pub digest: [u8; DIGEST_BYTES],
    /// Bytes of the whole.
    pub length: u64,
    /// Ranges of bytes that are here.
    pub here: Ranges,
}

impl Journal {
    /// As it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(80 + 16 * self.here.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.digest);
        bytes.extend_from_slice(&self.length.to_be_bytes());
        for (first, end) in self.here.iter() {
            bytes.extend_from_slice(&first.to_be_bytes());
            bytes.extend_from_slice(&end.to_be_bytes());
        }
        let sum = blake3::hash(&bytes);
        bytes.extend_from_slice(sum.as_bytes());
        bytes
    }
    /// Reads what [`Journal::to_bytes`] wrote; nothing if a bit of it is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<32>()?;
        if blake3::hash(body) != blake3::Hash::from_bytes(*sum) {
            return None;
        }
        let (digest, rest) = body.strip_prefix(MAGIC)?.split_first_chunk::<DIGEST_BYTES>()?;
        let (length, mut rest) = rest.split_first_chunk::<8>()?;
        let length = u64::from_be_bytes(*length);
        let mut here = Ranges::default();
        while let Some((range, after)) = rest.split_first_chunk::<16>() {
            let range = u128::from_be_bytes(*range);
            let (first, end) = ((range >> 64) as u64, range as u64);
            let ascends = here.last().is_none_or(|last| last.1 < first);
            if !ascends || first >= end || end > length {
                return None;
            }
            here.insert(first, end);
            rest = after;
        }
        rest.is_empty().then_some(Self { digest: *digest, length, here })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_journal_that_was_written_can_be_read(digest: [u8; 32], steps in prop::collection::vec((1_u64..1000, 1_u64..1000), 0..50)) {
            let (mut here, mut at) = (Ranges::default(), 0);
            for (gap, length) in steps {
                here.insert(at + gap, at + gap + length);
                at += gap + length;
            }
            let journal = Journal { digest, length: at, here };
            prop_assert_eq!(Journal::from_bytes(&journal.to_bytes()), Some(journal));
        }
    }

    #[test]
    fn a_torn_or_spoiled_journal_is_none() {
        let mut here = Ranges::default();
        here.insert(3, 9);
        let bytes = Journal { digest: [7; 32], length: 10, here }.to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(Journal::from_bytes(&bytes[..end]), None);
        }
        for at in 0..bytes.len() {
            let mut spoiled = bytes.clone();
            spoiled[at] ^= 1;
            assert_eq!(Journal::from_bytes(&spoiled), None);
        }
    }
}

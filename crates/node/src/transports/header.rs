//! What stands before a file, and what the receiver answers when it has it.

use super::bench::Measured;
use lightlag_protocols::transport::ranges::Ranges;
use lightlag_protocols::wire::udpdtn::cut_text;
use thiserror::Error;

/// Bytes of a header: always as many, so that what follows has its place before the header has come.
pub const HEADER_BYTES: usize = 300;
/// Longest name.
pub const NAME_MOST: usize = HEADER_BYTES - FIXED_BYTES;
/// Longest receipt.
pub const RECEIPT_MOST: usize = RECEIPT_FIXED + TEXT_MOST;

const HEADER_MAGIC: &[u8; 8] = b"llfile01";
const RECEIPT_MAGIC: &[u8; 4] = b"llr1";
/// Magic, length, digest, length of the name.
const FIXED_BYTES: usize = 8 + 8 + 32 + 1;
/// Magic, whether it is here, digest.
const RECEIPT_FIXED: usize = 4 + 1 + 32;
const TEXT_MOST: usize = 500;

/// Why bytes are no header or no receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Somebody else's.
    #[error("it does not begin as one of `lightlag transfer`; both sides must name the same --over")]
    Magic,
    /// Fewer bytes than it takes.
    #[error("it ends too early")]
    Ends,
    /// No UTF-8, or longer than there is room for.
    #[error("its text is invalid")]
    Text,
}

/// What a file is: 8 bytes of magic, length (8), BLAKE3 (32), length of the name (1), name, zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the sender calls it.
    pub name: String,
    /// Bytes of it.
    pub length: u64,
    /// BLAKE3 of it.
    pub digest: [u8; 32],
}

impl Header {
    /// Its bytes; a name that is too long is cut.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let name = cut_text(&self.name, NAME_MOST).as_bytes();
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(HEADER_MAGIC);
        bytes[8..16].copy_from_slice(&self.length.to_be_bytes());
        bytes[16..48].copy_from_slice(&self.digest);
        bytes[48] = name.len() as u8;
        bytes[FIXED_BYTES..FIXED_BYTES + name.len()].copy_from_slice(name);
        bytes
    }
    /// Reads one.
    ///
    /// # Errors
    /// Why it is malformed.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let (magic, rest) = bytes.split_first_chunk::<8>().ok_or(Malformed::Ends)?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or(Malformed::Ends)?;
        let (digest, rest) = rest.split_first_chunk::<32>().ok_or(Malformed::Ends)?;
        let (size, rest) = rest.split_first().ok_or(Malformed::Ends)?;
        if magic != HEADER_MAGIC {
            return Err(Malformed::Magic);
        }
        let name = rest.get(..usize::from(*size)).ok_or(Malformed::Text)?;
        let name = std::str::from_utf8(name).map_err(|_| Malformed::Text)?;
        Ok(Self { name: name.to_owned(), length: u64::from_be_bytes(*length), digest: *digest })
    }
}

/// A header that comes in any order.
#[derive(Default)]
pub struct Head {
    bytes: Vec<u8>,
    here: Ranges,
}

impl Head {
    /// Takes what is the header's of bytes from `at` on; returns the header as soon as all of it is here, and the rest.
    pub fn take<'a>(&mut self, at: u64, bytes: &'a [u8]) -> (Option<[u8; HEADER_BYTES]>, &'a [u8]) {
        let (head, rest) =
            bytes.split_at((HEADER_BYTES as u64).saturating_sub(at).min(bytes.len() as u64) as usize);
        if head.is_empty() || self.here.total() == HEADER_BYTES as u64 {
            return (None, rest);
        }
        self.bytes.resize(HEADER_BYTES, 0);
        self.bytes[at as usize..at as usize + head.len()].copy_from_slice(head);
        self.here.insert(at, at + head.len() as u64);
        let is_whole = self.here.total() == HEADER_BYTES as u64;
        (self.bytes.first_chunk().copied().filter(|_| is_whole), rest)
    }
}

/// What the receiver says in the end: 4 bytes of magic, 0 or 1, BLAKE3 of what is here, and why it is not, or
/// what was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// BLAKE3 of the file that is meant; zeros where the receiver does not know.
    pub digest: [u8; 32],
    /// The file is here whole and has its name; or why it is not.
    pub outcome: Result<(), String>,
    /// What was counted, if it was no file.
    pub measured: Option<Measured>,
}

impl Receipt {
    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = RECEIPT_MAGIC.to_vec();
        bytes.push(self.outcome.is_err().into());
        bytes.extend_from_slice(&self.digest);
        match (&self.outcome, &self.measured) {
            (Err(why), _) => bytes.extend_from_slice(cut_text(why, TEXT_MOST).as_bytes()),
            (Ok(()), Some(measured)) => measured.write(&mut bytes),
            (Ok(()), None) => {}
        }
        bytes
    }
    /// Reads one; control characters in its text are replaced.
    ///
    /// # Errors
    /// Why it is malformed.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let (magic, rest) = bytes.split_first_chunk::<4>().ok_or(Malformed::Ends)?;
        let (failed, rest) = rest.split_first().ok_or(Malformed::Ends)?;
        let (digest, text) = rest.split_first_chunk::<32>().ok_or(Malformed::Ends)?;
        if magic != RECEIPT_MAGIC {
            return Err(Malformed::Magic);
        }
        if text.len() > TEXT_MOST {
            return Err(Malformed::Text);
        }
        if *failed == 0 {
            return Ok(Self { digest: *digest, outcome: Ok(()), measured: Measured::read(text) });
        }
        let text = std::str::from_utf8(text).map_err(|_| Malformed::Text)?.replace(char::is_control, " ");
        Ok(Self { digest: *digest, outcome: Err(text), measured: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_come_back_as_they_were_written(name in "\\PC{0,60}", length: u64, digest: [u8; 32]) {
            let header = Header { name, length, digest };
            prop_assert_eq!(Header::read(&header.to_bytes()), Ok(header));
        }
        #[test]
        fn receipts_come_back_as_they_were_written(
            why in "[a-zA-Z :;ä]{0,100}",
            good: bool,
            digest: [u8; 32],
            fields: Option<[u64; 5]>,
        ) {
            let measured = fields.filter(|_| good).map(|[bytes, span_ns, deviation, least, most]| {
                Measured { bytes, span_ns, deviation, least, most }
            });
            let receipt = Receipt { digest, outcome: if good { Ok(()) } else { Err(why) }, measured };
            prop_assert_eq!(Receipt::read(&receipt.to_bytes()), Ok(receipt));
        }
        #[test]
        fn bytes_of_strangers_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
            let mut header = [0; HEADER_BYTES];
            let count = bytes.len().min(HEADER_BYTES);
            header[..count].copy_from_slice(&bytes[..count]);
            header[..8].copy_from_slice(HEADER_MAGIC);
            let _ = Header::read(&header);
            let _ = Receipt::read(&[RECEIPT_MAGIC, &bytes[..]].concat());
            let _ = Receipt::read(&bytes);
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_between_characters() {
        let header = Header { name: "ä".repeat(200), length: 1, digest: [7; 32] };
        let read = Header::read(&header.to_bytes()).expect("it is one");
        assert!(read.name.len() <= NAME_MOST && header.name.starts_with(&read.name));
    }
}

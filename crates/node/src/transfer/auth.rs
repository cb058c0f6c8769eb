//! Tags that only those can make who have the key.

use constant_time_eq::constant_time_eq_16;
use std::path::Path;

/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;
/// Shorter keys are guessed.
pub const KEY_LEAST_BYTES: usize = 16;
/// A key file is no data file.
const KEY_MOST_BYTES: u64 = 1 << 20;
const CONTEXT: &str = "lightlag udpdtn 1 datagram tag";

/// Authenticates datagrams: keyed BLAKE3 over the whole datagram, cut to 128 bits.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// From whatever is in a file; a line feed at its end does not count.
    ///
    /// # Errors
    /// One line: where, what, what would be right.
    pub fn read(path: &Path) -> Result<Self, String> {
        Ok(Self::new(&Self::secret(path)?))
    }
    /// The secret itself.
    ///
    /// # Errors
    /// As of [`Key::read`].
    pub fn secret(path: &Path) -> Result<Vec<u8>, String> {
        let right = "name a file with at least 16 random bytes, for example from `head -c 32 /dev/urandom`";
        let wrong = |what: String| format!("{}: {what}; {right}", path.display());
        let found = std::fs::metadata(path).map_err(|why| wrong(why.to_string()))?;
        if !found.is_file() && found.len() == 0 && found.is_dir() {
            return Err(wrong("it is a folder".to_owned()));
        }
        if found.len() > KEY_MOST_BYTES {
            return Err(wrong(format!("it has {} bytes", found.len())));
        }
        let text = std::fs::read(path).map_err(|why| wrong(why.to_string()))?;
        let secret = text.strip_suffix(b"\n").unwrap_or(&text);
        let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
        if secret.len() < KEY_LEAST_BYTES {
            return Err(wrong(format!("a key of {} bytes is too short", secret.len())));
        }
        Ok(secret.to_vec())
    }
    /// From a secret.
    pub fn new(secret: &[u8]) -> Self {
        Self(blake3::derive_key(CONTEXT, secret))
    }
    fn tag(&self, bytes: &[u8]) -> [u8; TAG_BYTES] {
        let hash = blake3::keyed_hash(&self.0, bytes);
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&hash.as_bytes()[..TAG_BYTES]);
        tag
    }
    /// Appends the tag of what `out` holds from `start` on.
    pub fn seal(&self, out: &mut Vec<u8>, start: usize) {
        let tag = self.tag(&out[start..]);
        out.extend_from_slice(&tag);
    }
    /// The datagram without its tag, if that is right.
    pub fn open<'a>(&self, datagram: &'a [u8]) -> Option<&'a [u8]> {
        let (bytes, tag) = datagram.split_last_chunk::<TAG_BYTES>()?;
        constant_time_eq_16(tag, &self.tag(bytes)).then_some(bytes)
    }
}

/// What of a datagram is to be read: all of it where there is no key.
pub fn open<'a>(key: Option<&Key>, datagram: &'a [u8]) -> Option<&'a [u8]> {
    match key {
        Some(key) => key.open(datagram),
        None => Some(datagram),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_with_a_wrong_bit_anywhere_is_refused() {
        let key = Key::new(b"a secret of the two of us");
        let mut sealed = b"datagram".to_vec();
        key.seal(&mut sealed, 0);
        assert_eq!(key.open(&sealed), Some(&b"datagram"[..]));
        for bit in 0..sealed.len() * 8 {
            let mut spoiled = sealed.clone();
            spoiled[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(&spoiled), None, "bit {bit}");
        }
        assert_eq!(Key::new(b"a secret of two others!").open(&sealed), None);
        assert_eq!(key.open(b"short"), None);
    }
}

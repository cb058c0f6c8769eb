//! Authentication of segments (RFC 5327, section 2.1).
//!
//! A header extension names the ciphersuite and the key, a trailer extension carries the authentication
//! value. It covers the whole segment but that value, which is written last. Other segments than the first
//! of a session may do without the header extension, and a segment may carry values by several keys while
//! keys change: one that is right is enough.
//!
//! | ciphersuite | here |
//! |---|---|
//! | 0, HMAC-SHA1-80 | written and checked |
//! | 1, RSA-SHA256 | recognized, and refused by name: a signature of 256 B for each segment of 1,400 B |
//! | 255, NULL | written and checked: HMAC-SHA1-80 under a public key value, against damage only |
//!
//! No value is registered for an HMAC of SHA-256, so it is not supported.

use super::{Extension, Packet};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::ops::Range;
use thiserror::Error;

/// Marks both extensions.
pub const TAG: u8 = 0;
/// HMAC-SHA1 cut to 80 bits (section 2.1).
pub const HMAC_SHA1_80: u8 = 0;
/// RSA with SHA-256.
pub const RSA_SHA256: u8 = 1;
/// HMAC-SHA1-80 with [`NULL_KEY`].
pub const NULL: u8 = 255;
/// Bytes of an authentication value of HMAC-SHA1-80.
pub const VALUE_BYTES: usize = 10;
/// The key of the NULL ciphersuite, as the RFC prints it.
pub const NULL_KEY: [u8; 20] = [
    0xc3, 0x7b, 0x7e, 0x64, 0x92, 0x58, 0x43, 0x40, 0xbe, 0xd1, 0x22, 0x07, 0x80, 0x89, 0x41, 0x15, 0x50,
    0x68, 0xf7, 0x38,
];

/// How segments are authenticated.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// By nothing but a checksum that everybody can compute.
    Null,
    /// By a secret that both ends hold.
    Hmac {
        /// Names the secret, if it needs a name.
        id: Vec<u8>,
        /// The secret: 20 bytes of chance are as good as any.
        secret: Vec<u8>,
    },
}

impl std::fmt::Debug for Key {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Hmac { id, .. } => f.debug_struct("Hmac").field("id", id).finish_non_exhaustive(),
        }
    }
}

/// Why a segment is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unauthentic {
    /// No authentication value in its trailer, or only empty names in its header.
    #[error("the segment carries no authentication")]
    Missing,
    /// Another ciphersuite than that of the key.
    #[error("the segment is authenticated by ciphersuite {0}, not by that of the key")]
    Ciphersuite(u8),
    /// Another key.
    #[error("the segment is authenticated by another key")]
    OtherKey,
    /// Not computed with the key, or the segment was changed.
    #[error("the authentication value is wrong")]
    Wrong,
}

impl Key {
    /// The number of its ciphersuite.
    pub fn ciphersuite(&self) -> u8 {
        match self {
            Self::Null => NULL,
            Self::Hmac { .. } => HMAC_SHA1_80,
        }
    }
    fn id(&self) -> &[u8] {
        match self {
            Self::Null => &[],
            Self::Hmac { id, .. } => id,
        }
    }
    /// Bytes that authentication adds to a segment.
    pub fn overhead(&self) -> u64 {
        let value = 1 + self.id().len() as u64;
        1 + super::sdnv::length(value) as u64 + value + 2 + VALUE_BYTES as u64
    }
    /// Of the bytes that lie in none of the ascending ranges.
    fn mac(&self, bytes: &[u8], left_out: &[Range<usize>]) -> Hmac<Sha1> {
        let secret = match self {
            Self::Null => &NULL_KEY[..],
            Self::Hmac { secret, .. } => secret,
        };
        let mut mac = Hmac::<Sha1>::new_from_slice(secret).expect("HMAC takes keys of every length");
        let mut at = 0;
        for range in left_out {
            mac.update(&bytes[at..range.start]);
            at = range.end;
        }
        mac.update(&bytes[at..]);
        mac
    }
    /// Appends the bytes of a packet, authenticated by this key, without its earlier authentication.
    pub fn seal(&self, packet: &Packet, out: &mut Vec<u8>) {
        let mut named = vec![self.ciphersuite()];
        named.extend_from_slice(self.id());
        let mut packet = packet.clone();
        packet.header.retain(|extension| extension.tag != TAG);
        packet.trailer.retain(|extension| extension.tag != TAG);
        packet.header.insert(0, Extension { tag: TAG, value: &named });
        packet.trailer.push(Extension { tag: TAG, value: &[0; VALUE_BYTES] });
        let begin = out.len();
        packet.write(out);
        let value = out.len() - VALUE_BYTES;
        let computed = self.mac(&out[begin..value], &[]).finalize().into_bytes();
        out[value..].copy_from_slice(&computed[..VALUE_BYTES]);
    }
    /// Checks that a holder of the key wrote these bytes, of which `packet` was read.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, packet: &Packet, bytes: &[u8]) -> Result<(), Unauthentic> {
        let trailers = packet.trailer.iter().filter(|extension| extension.tag == TAG);
        let values: Option<Vec<_>> = trailers.map(|one| place(one.value, bytes)).collect();
        let values = values.filter(|values| !values.is_empty()).ok_or(Unauthentic::Missing)?;
        self.check_names(packet)?;
        let is_right = |value: &Range<usize>| {
            let agrees = |left_out: &[Range<usize>]| {
                self.mac(bytes, left_out).verify_truncated_left(&bytes[value.clone()]).is_ok()
            };
            // Where there are several, the RFC does not say whether they cover each other.
            value.len() == VALUE_BYTES
                && (agrees(std::slice::from_ref(value)) || values.len() > 1 && agrees(&values))
        };
        if values.iter().any(is_right) { Ok(()) } else { Err(Unauthentic::Wrong) }
    }
    /// Whether this key is named, or none is.
    fn check_names(&self, packet: &Packet) -> Result<(), Unauthentic> {
        let named = packet.header.iter().filter(|extension| extension.tag == TAG);
        let mut wrong = None;
        for extension in named {
            let (suite, id) = match extension.value.split_first() {
                Some((suite, id)) => (*suite, id),
                None => {
                    wrong.get_or_insert(Unauthentic::Missing);
                    continue;
                }
            };
            match (suite == self.ciphersuite(), id == self.id()) {
                (true, true) => return Ok(()),
                (false, _) => wrong.get_or_insert(Unauthentic::Ciphersuite(suite)),
                (true, false) => wrong.get_or_insert(Unauthentic::OtherKey),
            };
        }
        wrong.map_or(Ok(()), Err)
    }
}

/// Where a part lies in the bytes of which it was read.
fn place(part: &[u8], bytes: &[u8]) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    let end = start.checked_add(part.len()).filter(|end| *end <= bytes.len())?;
    Some(start..end)
}

//! What is signed, and by what (packet format v0.3, section 5).

use super::Malformed;
use super::interest::to_ms;
#[cfg(feature = "ecdsa")]
use super::keys::{self, SigningKey, TrustedKey};
use super::name::{NAME, Name};
use super::tlv::{Fields, Reader, write_container, write_element, write_number_element};
use crate::time::Duration;
use sha2::{Digest, Sha256};
use thiserror::Error;

pub(super) const DATA_INFO: u32 = 22;
pub(super) const DATA_VALUE: u32 = 23;
pub(super) const INTEREST_INFO: u32 = 44;
pub(super) const INTEREST_VALUE: u32 = 46;
const SIGNATURE_TYPE: u32 = 27;
const KEY_LOCATOR: u32 = 28;
const NONCE: u32 = 38;
const TIME: u32 = 40;
const SEQUENCE: u32 = 42;
/// Of certificates, which all have one (certificate format v2).
const VALIDITY_PERIOD: u32 = 253;
const ORDER: &[u32] = &[SIGNATURE_TYPE, KEY_LOCATOR, NONCE, TIME, SEQUENCE, VALIDITY_PERIOD];

/// Types of signatures.
pub mod kind {
    /// SHA-256 of what is signed: says that it is whole, not from whom it is.
    pub const DIGEST_SHA256: u64 = 0;
    /// RSA with SHA-256.
    pub const RSA: u64 = 1;
    /// ECDSA with SHA-256.
    pub const ECDSA: u64 = 3;
    /// HMAC with SHA-256.
    pub const HMAC: u64 = 4;
    /// Ed25519.
    pub const ED25519: u64 = 5;
}

/// SHA-256 of parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// A signature as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// One of [`kind`], or another.
    pub kind: u64,
    /// The name of the key, if given.
    pub key: Option<Name<'a>>,
    /// What it consists of.
    pub value: &'a [u8],
    /// The bytes that are signed.
    pub portion: &'a [u8],
}

impl<'a> Signature<'a> {
    pub(super) fn read(info: &'a [u8], value: &'a [u8], portion: &'a [u8]) -> Result<Self, Malformed> {
        let (mut kind, mut key) = (None, None);
        let mut fields = Fields::new(info, ORDER);
        while let Some(field) = fields.read()? {
            match field.kind {
                SIGNATURE_TYPE => kind = Some(field.natural()?),
                KEY_LOCATOR => key = read_locator(field.value)?,
                // What else it says is of no use to who verifies Data.
                _ => {}
            }
        }
        Ok(Self { kind: kind.ok_or(Malformed::Missing(SIGNATURE_TYPE))?, key, value, portion })
    }
}

/// The name in a key locator; other kinds of locators name no key that we could find.
fn read_locator(value: &[u8]) -> Result<Option<Name<'_>>, Malformed> {
    let found = Reader::new(value).read()?.filter(|element| element.kind == NAME);
    found.map(|element| Name::read(element.value)).transpose()
}

/// What a signature of an Interest says to make it new each time (section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Bytes drawn at random.
    pub nonce: [u8; 8],
    /// Time since 1970, in whole milliseconds.
    pub time: Duration,
}

/// What signs.
pub enum Signer {
    /// SHA-256: no key.
    Digest,
    /// ECDSA with P-256, and the name of the key.
    #[cfg(feature = "ecdsa")]
    Ecdsa(Box<SigningKey>, Name<'static>),
}

impl Signer {
    /// One of [`kind`].
    pub fn kind(&self) -> u64 {
        match self {
            Self::Digest => kind::DIGEST_SHA256,
            #[cfg(feature = "ecdsa")]
            Self::Ecdsa(..) => kind::ECDSA,
        }
    }
    pub(super) fn write_info(&self, field: u32, info: Option<&Info>, out: &mut Vec<u8>) {
        write_container(field, out, |out| {
            write_number_element(SIGNATURE_TYPE, self.kind(), out);
            #[cfg(feature = "ecdsa")]
            if let Self::Ecdsa(_, name) = self {
                write_container(KEY_LOCATOR, out, |out| name.write(out));
            }
            if let Some(info) = info {
                write_element(NONCE, &info.nonce, out);
                write_number_element(TIME, to_ms(info.time), out);
            }
        });
    }
    /// The signature of parts, one after the other.
    pub(super) fn sign(&self, parts: &[&[u8]]) -> Vec<u8> {
        let digest = sha256(parts);
        match self {
            Self::Digest => digest.to_vec(),
            #[cfg(feature = "ecdsa")]
            Self::Ecdsa(key, _) => keys::sign(key, &digest),
        }
    }
}

/// Why a signature does not convince.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Untrusted {
    /// The digest is not that of these bytes.
    #[error("it was altered: its digest is wrong")]
    Digest,
    /// It is not signed by the trusted key, and names another.
    #[error("it is signed by another key than the trusted one: by {0}")]
    OtherKey(Name<'static>),
    /// It names the trusted key, which has not signed these bytes.
    #[error("it was altered: it names the trusted key, but the signature is wrong")]
    Altered,
    /// It is not signed by the trusted key, and names none.
    #[error("its signature is wrong, and names no key")]
    Wrong,
    /// Anybody could have made it.
    #[error("it is signed without a key")]
    NoKey,
    /// There is no way to verify signatures of this type here.
    #[error("its signature has type {0}, which cannot be verified here; ECDSA with P-256 can")]
    Kind(u64),
}

/// What signatures are verified with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verifier {
    /// No key: digests must be right, other signatures are not checked.
    Nobody,
    /// Only what this key has signed convinces.
    #[cfg(feature = "ecdsa")]
    Ecdsa(Box<TrustedKey>),
}

impl Verifier {
    /// Whether a signature convinces.
    ///
    /// # Errors
    /// [`Untrusted`] if not.
    pub fn verify(&self, signature: &Signature) -> Result<(), Untrusted> {
        let digest = || sha256(&[signature.portion]);
        match (self, signature.kind) {
            (_, kind::DIGEST_SHA256) if digest() != signature.value => Err(Untrusted::Digest),
            (Self::Nobody, _) => Ok(()),
            #[cfg(feature = "ecdsa")]
            (Self::Ecdsa(_), kind::DIGEST_SHA256) => Err(Untrusted::NoKey),
            #[cfg(feature = "ecdsa")]
            (Self::Ecdsa(trusted), kind::ECDSA) => trusted.verify(signature, &digest()),
            #[cfg(feature = "ecdsa")]
            (Self::Ecdsa(_), other) => Err(Untrusted::Kind(other)),
        }
    }
}

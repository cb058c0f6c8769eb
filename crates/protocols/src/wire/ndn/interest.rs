//! Interest packets (packet format v0.3, sections 3 and 5.4).

use super::name::{Component, NAME, Name, kind};
use super::signature::{INTEREST_INFO, INTEREST_VALUE, Info, Signer, sha256};
use super::tlv::{Fields, only, write_container, write_element, write_number_element};
use super::{Malformed, tlv};
use crate::time::Duration;

/// Type of an Interest.
pub const INTEREST: u32 = 5;
const NONCE: u32 = 10;
const LIFETIME: u32 = 12;
const MUST_BE_FRESH: u32 = 18;
const FORWARDING_HINT: u32 = 30;
const CAN_BE_PREFIX: u32 = 33;
const HOP_LIMIT: u32 = 34;
const PARAMETERS: u32 = 36;

const ORDER: &[u32] = &[
    NAME,
    CAN_BE_PREFIX,
    MUST_BE_FRESH,
    FORWARDING_HINT,
    NONCE,
    LIFETIME,
    HOP_LIMIT,
    PARAMETERS,
    INTEREST_INFO,
    INTEREST_VALUE,
];

/// How long an Interest waits that does not say it.
pub const LIFETIME_DEFAULT: Duration = Duration::from_secs(4);

/// A request for Data. A forwarding hint is skipped when it is read; a signature only counts for the
/// digest of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest<'a> {
    /// What is asked for.
    pub name: Name<'a>,
    /// Data whose name is longer will do.
    pub can_be_prefix: bool,
    /// A cache may answer only with what is still fresh.
    pub must_be_fresh: bool,
    /// Distinguishes it from others of its name.
    pub nonce: Option<u32>,
    /// How long it waits for Data, in whole milliseconds; 4 s if it does not say.
    pub lifetime: Option<Duration>,
    /// Over how many links it may still go.
    pub hop_limit: Option<u8>,
    /// ApplicationParameters for the producer; their digest is in the name.
    pub parameters: Option<&'a [u8]>,
}

impl<'a> Interest<'a> {
    /// Reads one.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let packet = only(bytes)?;
        if packet.kind != INTEREST {
            return Err(Malformed::Kind(packet.kind));
        }
        let (mut interest, mut name) = (Interest::default(), None);
        let mut fields = Fields::new(packet.value, ORDER);
        let mut signed = None;
        while let Some(field) = fields.read()? {
            match field.kind {
                NAME => name = Some(Name::read(field.value)?),
                CAN_BE_PREFIX => interest.can_be_prefix = field.flag()?,
                MUST_BE_FRESH => interest.must_be_fresh = field.flag()?,
                NONCE => interest.nonce = Some(u32::from_be_bytes(field.array()?)),
                LIFETIME => interest.lifetime = Some(from_ms(field.natural()?)),
                HOP_LIMIT => interest.hop_limit = Some(field.array::<1>()?[0]),
                PARAMETERS => {
                    interest.parameters = Some(field.value);
                    let size = tlv::element_size(field.kind, field.value.len());
                    signed = Some(&packet.value[packet.value.len() - fields.rest().len() - size..]);
                }
                _ => {}
            }
        }
        interest.name = name.ok_or(Malformed::Missing(NAME))?;
        check_digest(&interest.name, signed)?;
        Ok(interest)
    }
    /// Appends it. With parameters it also needs a signer: see [`write_signed`].
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_named(out, |out| self.name.write(out));
    }
    /// Appends it, for its name with one more component: the number of a segment.
    pub fn write_segment(&self, segment: u64, out: &mut Vec<u8>) {
        self.write_named(out, |out| self.name.write_with_number(kind::SEGMENT, segment, out));
    }
    fn write_named(&self, out: &mut Vec<u8>, name: impl FnOnce(&mut Vec<u8>)) {
        write_container(INTEREST, out, |out| {
            name(out);
            self.write_guiders(out);
        });
    }
    fn write_guiders(&self, out: &mut Vec<u8>) {
        if self.can_be_prefix {
            write_element(CAN_BE_PREFIX, &[], out);
        }
        if self.must_be_fresh {
            write_element(MUST_BE_FRESH, &[], out);
        }
        if let Some(nonce) = self.nonce {
            write_element(NONCE, &nonce.to_be_bytes(), out);
        }
        if let Some(lifetime) = self.lifetime {
            write_number_element(LIFETIME, to_ms(lifetime), out);
        }
        if let Some(limit) = self.hop_limit {
            write_element(HOP_LIMIT, &[limit], out);
        }
    }
    /// Whether Data of this name may answer it.
    pub fn is_answered_by(&self, name: &Name) -> bool {
        if self.can_be_prefix { name.starts_with(&self.name) } else { *name == self.name }
    }
}

/// Appends a signed Interest: what `interest` says, its parameters (or none), and a signature; the digest
/// of the parameters is appended to the name, which is returned.
pub fn write_signed(interest: &Interest, info: &Info, signer: &Signer, out: &mut Vec<u8>) -> Name<'static> {
    let mut tail = Vec::new();
    write_element(PARAMETERS, interest.parameters.unwrap_or_default(), &mut tail);
    signer.write_info(INTEREST_INFO, Some(info), &mut tail);
    let signature = signer.sign(&[interest.name.bytes(), &tail]);
    write_element(INTEREST_VALUE, &signature, &mut tail);
    let digest = sha256(&[&tail]);
    let name = interest.name.with(Component { kind: kind::PARAMETERS_DIGEST, value: &digest });
    write_container(INTEREST, out, |out| {
        name.write(out);
        interest.write_guiders(out);
        out.extend_from_slice(&tail);
    });
    name
}

/// An Interest with parameters has their digest in its name, and one without has none (section 3.1).
fn check_digest(name: &Name, signed: Option<&[u8]>) -> Result<(), Malformed> {
    let mut digests = name.components().filter(|part| part.kind == kind::PARAMETERS_DIGEST);
    let (first, more) = (digests.next(), digests.next());
    let is_right = match (first, signed) {
        (None, None) => true,
        (Some(digest), Some(signed)) => digest.value == sha256(&[signed]),
        _ => false,
    };
    if is_right && more.is_none() { Ok(()) } else { Err(Malformed::Digest) }
}

/// Milliseconds of the wire; more than 292 years are 292 years.
pub(super) fn from_ms(ms: u64) -> Duration {
    // Whole milliseconds, however many, so that what is read is what would be written.
    Duration::from_nanos(i64::try_from(ms).unwrap_or(i64::MAX).min(i64::MAX / 1_000_000) * 1_000_000)
}

pub(super) fn to_ms(span: Duration) -> u64 {
    u64::try_from(span.as_nanos() / 1_000_000).unwrap_or(0)
}

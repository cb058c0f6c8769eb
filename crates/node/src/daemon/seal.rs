//! Datagrams that only the two daemons can read and make, without a handshake: over minutes of delay the first one
//! carries data.
//!
//! Both keys agree on a secret (X25519); of it, of who sends, and of the sender's life comes a key (HKDF-SHA-256,
//! RFC 5869) for each direction and life, and each datagram of a life has a number that is its nonce (AES-256-GCM,
//! RFC 5116). A life never comes again, so neither does a nonce.

use super::keys::{Identity, PublicKey};
use lightlag_protocols::wire::adaptive::Serial;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf;

/// Bytes before the sealed part: who sends (4), and which datagram it is.
const OPEN: usize = 4 + Serial::LENGTH;
/// Bytes that sealing adds.
pub const OVERHEAD: usize = OPEN + 16;
/// Of a public key's hash, these name the sender.
pub type Name = [u8; 4];

/// How a daemon is named in the open part of its datagrams.
pub fn name(key: &PublicKey) -> Name {
    let hash = blake3::hash(&key.0);
    std::array::from_fn(|at| hash.as_bytes()[at])
}

/// Who seems to have sent a datagram.
pub fn sender(datagram: &[u8]) -> Option<Name> {
    if datagram.len() < OVERHEAD { None } else { datagram.first_chunk().copied() }
}

/// Seals what goes to one daemon and opens what comes from it.
pub struct Seal {
    secret: hkdf::Prk,
    ours: Name,
    theirs: Name,
    incarnation: u32,
    sealing: LessSafeKey,
    /// All numbers below have been used.
    next: u64,
    opening: Option<Opening>,
}

/// The latest life of the other that was heard.
struct Opening {
    incarnation: u32,
    key: LessSafeKey,
    /// The highest number that came.
    highest: u64,
}

/// What a datagram carried.
pub struct Opened<'a> {
    /// As the other daemon sealed it.
    pub plain: &'a [u8],
    /// Which it is.
    pub serial: Serial,
    /// None that left later has come.
    pub is_newest: bool,
}

impl Seal {
    /// Between this daemon, in this life, and another. None if the other key is not one that a secret can be had of.
    pub fn new(identity: &Identity, other: &PublicKey, incarnation: u32) -> Option<Self> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"lightlag udpdtn 1");
        let secret = salt.extract(&identity.agree(other)?);
        let (ours, theirs) = (name(&identity.public()), name(other));
        let sealing = derive(&secret, &ours, incarnation);
        Some(Self { secret, ours, theirs, incarnation, sealing, next: 0, opening: None })
    }
    /// The datagram that carries `plain`; it replaces what `out` held. Its number was never used before.
    pub fn seal(&mut self, serial: Serial, plain: &[u8], out: &mut Vec<u8>) {
        let is_unused = serial.incarnation == self.incarnation && serial.number >= self.next;
        assert!(is_unused && serial.number < Serial::NUMBERS, "a nonce is used once: {serial:?}");
        self.next = serial.number + 1;
        out.clear();
        out.extend_from_slice(&self.ours);
        out.extend_from_slice(&serial.to_bytes());
        let open: [u8; OPEN] = std::array::from_fn(|at| out[at]);
        out.extend_from_slice(plain);
        let tag = self
            .sealing
            .seal_in_place_separate_tag(nonce(serial.number), Aad::from(open), &mut out[OPEN..])
            .expect("a datagram is not too long to be sealed");
        out.extend_from_slice(tag.as_ref());
    }
    /// What a datagram carries; none if it is not of the other daemon, or of an earlier life of it.
    pub fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<Opened<'a>> {
        let (open, sealed) = datagram.split_first_chunk_mut::<OPEN>()?;
        let (name, rest) = open.split_first_chunk::<4>()?;
        let serial = Serial::from_bytes(*rest.first_chunk()?);
        let Serial { incarnation: life, number } = serial;
        if *name != self.theirs {
            return None;
        }
        let aad = Aad::from(*open);
        match &mut self.opening {
            Some(known) if known.incarnation > life => None,
            Some(known) if known.incarnation == life => {
                let plain = &*known.key.open_in_place(nonce(number), aad, sealed).ok()?;
                let is_newest = number > known.highest;
                known.highest = known.highest.max(number);
                Some(Opened { plain, serial, is_newest })
            }
            _ => {
                let key = derive(&self.secret, &self.theirs, life);
                let plain = &*key.open_in_place(nonce(number), aad, sealed).ok()?;
                self.opening = Some(Opening { incarnation: life, key, highest: number });
                Some(Opened { plain, serial, is_newest: true })
            }
        }
    }
}

struct KeyLength;

impl hkdf::KeyType for KeyLength {
    fn len(&self) -> usize {
        32
    }
}

fn derive(secret: &hkdf::Prk, sender: &Name, incarnation: u32) -> LessSafeKey {
    let mut key = [0; 32];
    let life = incarnation.to_be_bytes();
    let info: [&[u8]; 2] = [sender, &life];
    let filled = secret.expand(&info, KeyLength).and_then(|made| made.fill(&mut key));
    filled.expect("so many bytes can be derived");
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key has 32 bytes"))
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair() -> (Seal, Seal) {
        let [here, there] = [Identity::generate().unwrap(), Identity::generate().unwrap()];
        let seal = |own: &Identity, other: &Identity, life| Seal::new(own, &other.public(), life).unwrap();
        (seal(&here, &there, 7), seal(&there, &here, 9))
    }

    proptest! {
        #[test]
        fn what_is_sealed_is_opened_by_the_other_only(plain in prop::collection::vec(any::<u8>(), 0..300), number in 0..Serial::NUMBERS) {
            let ((mut here, mut there), (mut stranger, _)) = (pair(), pair());
            let mut datagram = Vec::new();
            let serial = Serial { incarnation: 7, number };
            here.seal(serial, &plain, &mut datagram);
            prop_assert_eq!(datagram.len(), plain.len() + OVERHEAD);
            prop_assert!(stranger.open(&mut datagram.clone()).is_none());
            prop_assert!(here.open(&mut datagram.clone()).is_none());
            let opened = there.open(&mut datagram).map(|opened| (opened.serial, opened.plain));
            prop_assert_eq!(opened, Some((serial, &plain[..])));
        }

        #[test]
        fn no_changed_datagram_is_opened(at in 0_usize..24 + OVERHEAD, flip in 1_u8..) {
            let (mut here, mut there) = pair();
            let mut datagram = Vec::new();
            here.seal(Serial { incarnation: 7, number: 0 }, &[5; 24], &mut datagram);
            datagram[at] ^= flip;
            prop_assert!(there.open(&mut datagram).is_none());
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = sender(&bytes);
            prop_assert!(pair().0.open(&mut bytes).is_none());
        }
    }
}

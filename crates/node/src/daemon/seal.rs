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

/// Names the sender: with the first bit clear by its public key's hash, with that bit set in one of its lives.
pub type Name = [u8; 4];
const NAME: usize = 4;
const IN_A_LIFE: u8 = 0x80;
const TAG: usize = 16;
/// Bytes that sealing adds: the name, which datagram it is, and what proves it. Where that is short it adds less.
pub const OVERHEAD: usize = NAME + Serial::WHOLE + TAG;

/// How a daemon is named in the open part of its datagrams.
pub fn name(key: &PublicKey) -> Name {
    let hash = blake3::hash(&key.0);
    let [first, others @ ..]: Name = *hash.as_bytes().first_chunk().expect("a hash is longer");
    let [second, third, fourth] = others;
    [first & !IN_A_LIFE, second, third, fourth]
}

/// Who seems to have sent a datagram.
pub fn sender(datagram: &[u8]) -> Option<Name> {
    if datagram.len() < NAME + Serial::SHORT + TAG { None } else { datagram.first_chunk().copied() }
}

/// Seals what goes to one daemon and opens what comes from it.
pub struct Seal {
    secret: hkdf::Prk,
    ours: Name,
    theirs: Name,
    incarnation: u32,
    sealing: Keys,
    /// All numbers below have been used.
    next: u64,
    opening: Option<Opening>,
}

/// The latest life of the other that was heard.
struct Opening {
    incarnation: u32,
    keys: Keys,
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
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"lightlag udpdtn 2");
        let secret = salt.extract(&identity.agree(other)?);
        let (ours, theirs) = (name(&identity.public()), name(other));
        let sealing = Keys::of(&secret, &ours, incarnation);
        Some(Self { secret, ours, theirs, incarnation, sealing, next: 0, opening: None })
    }
    /// The datagram that carries `plain`; it replaces what `out` held. Its number was never used before.
    pub fn seal(&mut self, serial: Serial, plain: &[u8], out: &mut Vec<u8>) {
        let is_unused = serial.incarnation == self.incarnation && serial.number >= self.next;
        assert!(is_unused && serial.number < Serial::NUMBERS, "a nonce is used once: {serial:?}");
        self.next = serial.number + 1;
        out.clear();
        out.extend_from_slice(if serial.is_short { &self.sealing.short } else { &self.ours });
        serial.write(out);
        let open = out.len();
        out.extend_from_slice(plain);
        let (open, sealed) = out.split_at_mut(open);
        let tag = self
            .sealing
            .key
            .seal_in_place_separate_tag(nonce(serial.number), Aad::from(&*open), sealed)
            .expect("a datagram is not too long to be sealed");
        out.extend_from_slice(tag.as_ref());
    }
    /// Whether the other daemon is named so in the life that was heard last.
    pub fn is_short_name(&self, name: Name) -> bool {
        self.opening.as_ref().is_some_and(|known| known.keys.short == name)
    }
    /// What a datagram carries; none if it is not of the other daemon, or of an earlier life of it.
    pub fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<Opened<'a>> {
        let serial = self.serial(datagram)?;
        let Serial { incarnation: life, number, .. } = serial;
        let (open, sealed) = datagram.split_at_mut(NAME + serial.length());
        let aad = Aad::from(&*open);
        match &mut self.opening {
            Some(known) if known.incarnation > life => None,
            Some(known) if known.incarnation == life => {
                let plain = &*known.keys.key.open_in_place(nonce(number), aad, sealed).ok()?;
                let is_newest = number > known.highest;
                known.highest = known.highest.max(number);
                Some(Opened { plain, serial, is_newest })
            }
            _ => {
                let keys = Keys::of(&self.secret, &self.theirs, life);
                let plain = &*keys.key.open_in_place(nonce(number), aad, sealed).ok()?;
                self.opening = Some(Opening { incarnation: life, keys, highest: number });
                Some(Opened { plain, serial, is_newest: true })
            }
        }
    }
    /// Which datagram of the other daemon it says it is.
    fn serial(&self, datagram: &[u8]) -> Option<Serial> {
        let (name, rest) = datagram.split_first_chunk()?;
        if *name == self.theirs {
            return Some(Serial::from_whole(*rest.first_chunk()?));
        }
        let known = self.opening.as_ref().filter(|known| known.keys.short == *name)?;
        Some(Serial::from_short(*rest.first_chunk()?, known.incarnation, known.highest))
    }
}

/// What seals the datagrams of a life, and how its sender is named in those that are short.
struct Keys {
    key: LessSafeKey,
    short: Name,
}

impl Keys {
    fn of(secret: &hkdf::Prk, sender: &Name, incarnation: u32) -> Self {
        let life = incarnation.to_be_bytes();
        let mut key = [0; 32];
        derive(secret, &[sender, &life], &mut key);
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key has 32 bytes"));
        let mut short = [0; NAME];
        derive(secret, &[sender, &life, b"name"], &mut short);
        short[0] |= IN_A_LIFE;
        Self { key, short }
    }
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive(secret: &hkdf::Prk, info: &[&[u8]], out: &mut [u8]) {
    let filled = secret.expand(info, Length(out.len())).and_then(|made| made.fill(out));
    filled.expect("so many bytes can be derived");
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
            let serial = Serial { incarnation: 7, number, is_short: false };
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
            here.seal(Serial { incarnation: 7, ..Serial::default() }, &[5; 24], &mut datagram);
            datagram[at] ^= flip;
            prop_assert!(there.open(&mut datagram).is_none());
        }

        #[test]
        fn once_a_life_is_known_short_names_and_numbers_are_enough(number in 0..Serial::NUMBERS - (1 << 31), ahead in 2_u64..1 << 30) {
            let ((mut here, mut there), mut datagram) = (pair(), Vec::new());
            let serial = |number, is_short| Serial { incarnation: 7, number, is_short };
            here.seal(serial(number, true), &[1], &mut datagram);
            prop_assert!(there.open(&mut datagram).is_none(), "the life is not known");
            here.seal(serial(number + 1, false), &[1], &mut datagram);
            prop_assert!(!there.is_short_name(sender(&datagram).unwrap()));
            there.open(&mut datagram).unwrap();
            here.seal(serial(number + ahead, true), &[2; 9], &mut datagram);
            prop_assert_eq!(datagram.len(), 9 + NAME + Serial::SHORT + TAG);
            prop_assert!(there.is_short_name(sender(&datagram).unwrap()));
            let opened = there.open(&mut datagram).map(|opened| (opened.serial, opened.plain));
            prop_assert_eq!(opened, Some((serial(number + ahead, true), &[2; 9][..])));
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = sender(&bytes);
            prop_assert!(pair().0.open(&mut bytes).is_none());
        }
    }
}

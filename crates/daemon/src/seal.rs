//! Sealed datagrams: only the two daemons can read or make them, without a handshake before the first one.
//!
//! Both identity keys agree on a secret (X25519, RFC 7748). From it, the sender's name and the sender's [`Epoch`] comes a key
//! (HKDF-SHA-256, RFC 5869) for AES-256-GCM (RFC 5116); a datagram's number within the epoch is its nonce. The epoch has 64
//! random bits, so no key is derived twice, though the clock or the stored state is lost. The receiver's epoch for which the
//! datagram was made is authenticated with it: whether that is the present one,
//! [`Datagrams`](lightlag_protocols::session::Datagrams) decides. What follows from this is in `docs/guide/security.md`.

use super::keys::{Identity, PublicKey};
use lightlag_protocols::wire::session::{Epoch, Serial};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf;

/// Identifies the sender in the open: by its public key, or, with the first bit set, by its epoch and the receiver's.
pub type Name = [u8; 4];
const NAME: usize = 4;
/// The first bit of a name by epochs.
const SHORT: u8 = 0x80;
/// The version of this format, in the two bits that follow the first one in a name by a public key.
const VERSION: u8 = 2 << 5;
const VERSIONS: u8 = 3 << 5;
const TAG: usize = 16;
/// Bytes that sealing adds to a datagram whose serial is whole.
pub const OVERHEAD: usize = NAME + Serial::WHOLE + TAG;

/// How a daemon is named in the open part of its datagrams.
pub fn name(key: &PublicKey) -> Name {
    let hash = blake3::hash(&key.0);
    let [first, others @ ..]: Name = *hash.as_bytes().first_chunk().expect("a hash is longer");
    let [second, third, fourth] = others;
    [first & !(SHORT | VERSIONS) | VERSION, second, third, fourth]
}

/// The name of the daemon that seems to have sent a datagram. `None`: it is too short.
pub fn sender(datagram: &[u8]) -> Option<Name> {
    if datagram.len() < NAME + Serial::SHORT + TAG { None } else { datagram.first_chunk().copied() }
}

/// The same name in this version of the format, if it is that of another version.
pub fn of_other_version(name: Name) -> Option<Name> {
    let [first, others @ ..] = name;
    let [second, third, fourth] = others;
    let is_other = first & SHORT == 0 && first & VERSIONS != VERSION;
    is_other.then_some([first & !VERSIONS | VERSION, second, third, fourth])
}

/// Seals datagrams for one other daemon and opens those that come from it.
pub struct Seal {
    secret: hkdf::Prk,
    ours: Name,
    theirs: Name,
    own: Epoch,
    sealing: LessSafeKey,
    /// All numbers below have been used.
    next: u64,
    /// The receiver's nonce of the last datagram that was sealed, and the short name that goes with it.
    bound: (u64, Name),
    opening: Option<Opening>,
    /// What opened the last datagram of another epoch than `opening` is for.
    candidate: Option<(Epoch, LessSafeKey)>,
}

/// The latest epoch of the other daemon of which a datagram was accepted.
struct Opening {
    key: LessSafeKey,
    short: Name,
    /// The accepted datagram with the highest number.
    newest: Serial,
}

/// What a datagram carries.
pub struct Opened<'a> {
    /// As the other daemon sealed it.
    pub plain: &'a [u8],
    /// Which it is.
    pub serial: Serial,
}

impl Seal {
    /// Between this daemon, in its present epoch, and another one. `None`: the other key is weak.
    pub fn new(identity: &Identity, other: &PublicKey, own: Epoch) -> Option<Self> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"lightlag udpdtn 3");
        let secret = salt.extract(&identity.agree(other)?);
        let (ours, theirs) = (name(&identity.public()), name(other));
        let sealing = key(&secret, &ours, own);
        let bound = (0, short_name(&secret, &ours, own, 0));
        Some(Self { secret, ours, theirs, own, sealing, next: 0, bound, opening: None, candidate: None })
    }
    /// Replaces what `out` held with the datagram that carries `plain`. Panics if its number was used before: a nonce of
    /// the cipher must not repeat.
    pub fn seal(&mut self, serial: Serial, plain: &[u8], out: &mut Vec<u8>) {
        let is_unused = serial.epoch == self.own && serial.number >= self.next;
        assert!(is_unused && serial.number < Serial::NUMBERS, "a nonce is used once: {serial:?}");
        self.next = serial.number + 1;
        if self.bound.0 != serial.bound {
            self.bound = (serial.bound, short_name(&self.secret, &self.ours, self.own, serial.bound));
        }
        out.clear();
        out.extend_from_slice(if serial.is_short { &self.bound.1 } else { &self.ours });
        serial.write(out);
        let open = out.len();
        out.extend_from_slice(plain);
        let tag = self
            .sealing
            .seal_in_place_separate_tag(nonce(serial), authenticated(&self.ours, serial), &mut out[open..])
            .expect("a datagram is not too long to be sealed");
        out.extend_from_slice(tag.as_ref());
    }
    /// Whether the other daemon is named so by its key.
    pub fn is_name(&self, name: Name) -> bool {
        self.theirs == name
    }
    /// Whether the other daemon is named so in the epoch that was accepted last.
    pub fn is_short_name(&self, name: Name) -> bool {
        self.opening.as_ref().is_some_and(|known| known.short == name)
    }
    /// What a datagram carries. `None`: the other daemon did not make it, or it is short and of an epoch that is not known.
    pub fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<Opened<'a>> {
        let serial = self.serial(datagram)?;
        let sealed = &mut datagram[NAME + serial.length()..];
        let aad = authenticated(&self.theirs, serial);
        let known = self.opening.as_ref().filter(|known| known.newest.epoch == serial.epoch);
        if let Some(known) = known {
            let plain = &*known.key.open_in_place(nonce(serial), aad, sealed).ok()?;
            return Some(Opened { plain, serial });
        }
        let key = key(&self.secret, &self.theirs, serial.epoch);
        let plain = &*key.open_in_place(nonce(serial), aad, sealed).ok()?;
        self.candidate = Some((serial.epoch, key));
        Some(Opened { plain, serial })
    }
    /// A datagram that was opened was accepted: what follows it may be short.
    pub fn accept(&mut self, serial: Serial) {
        match &mut self.opening {
            Some(known) if known.newest.epoch == serial.epoch => {
                known.newest.number = known.newest.number.max(serial.number);
            }
            _ => {
                let candidate = self.candidate.take().filter(|(epoch, _)| *epoch == serial.epoch);
                let key =
                    candidate.map_or_else(|| key(&self.secret, &self.theirs, serial.epoch), |(_, key)| key);
                let short = short_name(&self.secret, &self.theirs, serial.epoch, serial.bound);
                self.opening = Some(Opening { key, short, newest: serial });
            }
        }
    }
    /// Which datagram of the other daemon it says it is.
    fn serial(&self, datagram: &[u8]) -> Option<Serial> {
        let (name, rest) = datagram.split_first_chunk()?;
        if *name == self.theirs {
            let whole = Serial::from_whole(*rest.first_chunk()?);
            return (rest.len() >= Serial::WHOLE + TAG).then_some(whole);
        }
        let known = self.opening.as_ref().filter(|known| known.short == *name)?;
        Some(Serial::from_short(*rest.first_chunk()?, known.newest))
    }
}

/// All that identifies a datagram is authenticated, whether it is sent or not.
fn authenticated(sender: &Name, serial: Serial) -> Aad<[u8; NAME + Serial::WHOLE]> {
    let mut bytes = [0; NAME + Serial::WHOLE];
    bytes[..NAME].copy_from_slice(sender);
    bytes[NAME..].copy_from_slice(&serial.whole());
    Aad::from(bytes)
}

fn key(secret: &hkdf::Prk, sender: &Name, epoch: Epoch) -> LessSafeKey {
    let mut key = [0; 32];
    let (number, nonce) = (epoch.number.to_be_bytes(), epoch.nonce.to_be_bytes());
    derive(secret, &[b"key", sender, &number, &nonce], &mut key);
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key has 32 bytes"))
}

fn short_name(secret: &hkdf::Prk, sender: &Name, epoch: Epoch, bound: u64) -> Name {
    let mut name = [0; NAME];
    let (number, nonce) = (epoch.number.to_be_bytes(), epoch.nonce.to_be_bytes());
    derive(secret, &[b"name", sender, &number, &nonce, &bound.to_be_bytes()], &mut name);
    name[0] |= SHORT;
    name
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive(secret: &hkdf::Prk, info: &[&[u8]], out: &mut [u8]) {
    let filled = secret.expand(info, Length(out.len())).and_then(|made| made.fill(out));
    filled.expect("this length can be derived");
}

fn nonce(serial: Serial) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&serial.number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HERE: Epoch = Epoch { number: 7, nonce: 70 };
    const THERE: Epoch = Epoch { number: 9, nonce: 90 };

    fn pair() -> (Seal, Seal) {
        let [here, there] = [Identity::generate().unwrap(), Identity::generate().unwrap()];
        let seal = |own: &Identity, other: &Identity, epoch| Seal::new(own, &other.public(), epoch).unwrap();
        (seal(&here, &there, HERE), seal(&there, &here, THERE))
    }

    fn serial(number: u64, is_short: bool) -> Serial {
        Serial { epoch: HERE, bound: THERE.nonce, number, is_short }
    }

    proptest! {
        #[test]
        fn what_is_sealed_is_opened_by_the_other_only(plain in prop::collection::vec(any::<u8>(), 0..300), number in 0..Serial::NUMBERS) {
            let ((mut here, mut there), (mut stranger, _)) = (pair(), pair());
            let mut datagram = Vec::new();
            let serial = serial(number, false);
            here.seal(serial, &plain, &mut datagram);
            prop_assert_eq!(datagram.len(), plain.len() + OVERHEAD);
            prop_assert!(stranger.open(&mut datagram.clone()).is_none());
            prop_assert!(here.open(&mut datagram.clone()).is_none());
            let opened = there.open(&mut datagram).map(|opened| (opened.serial, opened.plain));
            prop_assert_eq!(opened, Some((serial, &plain[..])));
        }

        #[test]
        fn no_changed_datagram_is_opened(at in 0_usize..24 + OVERHEAD, flip in 1_u8.., number in 0_u64..1000, is_short: bool) {
            let (mut here, mut there) = pair();
            let mut datagram = Vec::new();
            there.accept(serial(number, false));
            here.seal(serial(number, is_short), &[5; 24], &mut datagram);
            let at = at % datagram.len();
            datagram[at] ^= flip;
            prop_assert!(there.open(&mut datagram).is_none());
        }

        #[test]
        fn once_an_epoch_is_accepted_short_names_and_numbers_are_enough(number in 0..Serial::NUMBERS - (1 << 31), ahead in 2_u64..1 << 30) {
            let ((mut here, mut there), mut datagram) = (pair(), Vec::new());
            here.seal(serial(number, true), &[1], &mut datagram);
            prop_assert!(there.open(&mut datagram).is_none(), "the epoch is not known");
            here.seal(serial(number + 1, false), &[1], &mut datagram);
            prop_assert!(!there.is_short_name(sender(&datagram).unwrap()));
            let serial_of = there.open(&mut datagram).unwrap().serial;
            there.accept(serial_of);
            here.seal(serial(number + ahead, true), &[2; 9], &mut datagram);
            prop_assert_eq!(datagram.len(), 9 + NAME + Serial::SHORT + TAG);
            prop_assert!(there.is_short_name(sender(&datagram).unwrap()));
            let opened = there.open(&mut datagram).map(|opened| (opened.serial, opened.plain));
            prop_assert_eq!(opened, Some((serial(number + ahead, true), &[2; 9][..])));
        }

        #[test]
        fn epochs_with_one_number_but_other_nonces_share_no_key_and_no_name(nonces: [u64; 2], plain: [u8; 32]) {
            prop_assume!(nonces[0] != nonces[1]);
            let [own, other] = [Identity::generate().unwrap(), Identity::generate().unwrap()];
            let sealed = nonces.map(|nonce| {
                let epoch = Epoch { nonce, ..HERE };
                let mut seal = Seal::new(&own, &other.public(), epoch).unwrap();
                let [mut whole, mut short] = [Vec::new(), Vec::new()];
                seal.seal(Serial { epoch, ..serial(0, false) }, &plain, &mut whole);
                seal.seal(Serial { epoch, ..serial(1, true) }, &plain, &mut short);
                (whole[NAME + Serial::WHOLE..].to_vec(), short[..NAME].to_vec())
            });
            prop_assert_ne!(&sealed[0].0, &sealed[1].0, "the key stream would be the same");
            prop_assert_ne!(&sealed[0].1, &sealed[1].1);
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80), is_named: bool) {
            let (mut here, there) = pair();
            if is_named && bytes.len() >= NAME {
                bytes[..NAME].copy_from_slice(&there.ours);
            }
            let _ = sender(&bytes);
            prop_assert!(here.open(&mut bytes).is_none());
        }
    }

    #[test]
    fn a_name_of_another_version_is_recognised() {
        let name = name(&PublicKey([3; 32]));
        assert_eq!(of_other_version(name), None);
        let [first, second, third, fourth] = name;
        assert_eq!(of_other_version([first ^ VERSIONS, second, third, fourth]), Some(name));
    }
}

//! Tags that only those can make who have the key.

use constant_time_eq::constant_time_eq_16;
use std::path::Path;

/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;
/// Shorter keys are guessed.
pub const KEY_LEAST_BYTES: usize = 16;
/// A key file is no data file.
const KEY_MOST_BYTES: u64 = 1 << 20;
const FROM_SENDER: &str = "lightlag udpdtn 2 datagram of the sender";
const FROM_LISTENER: &str = "lightlag udpdtn 2 datagram of the listener";
const FINGERPRINT: &str = "lightlag udpdtn 2 name of the key";
const LISTENERS_STATE: &str = "lightlag udpdtn 2 state of the listener";
/// Bytes of an [`Id`] and of a [`Token`].
pub const ID_BYTES: usize = 16;
const OPENING_BYTES: usize = 2 * ID_BYTES + 8;
const AGAIN_BYTES: usize = 2 * ID_BYTES;
/// Kinds of datagrams that say more under a key (upper three bits of the first byte).
const OPENING: u8 = 2;
const UNKNOWN: u8 = 4;

/// Names a run of a sender, drawn at its start: the 4 bytes of a session number are too few to be unique.
pub type Id = [u8; ID_BYTES];
/// What an opening shows to prove that it is no recording.
pub type Token = [u8; ID_BYTES];

/// What an opening says under a key, behind what [`lightlag_protocols::wire::udpdtn::Opening`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fresh {
    /// The run of the sender.
    pub id: Id,
    /// Nanoseconds since 1970 by the sender's clock, higher than in all earlier runs that the sender remembers.
    pub stamp: u64,
    /// The name of the listener's state, or the answer to a [`Challenge`]; zeros if the sender knows neither.
    pub token: Token,
}

/// What the listener says with "unknown session" under a key: the opening must be sent again, with `token`.
/// Zeros in both fields where only the session is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// For the next opening of this run.
    pub token: Token,
    /// The name of the listener's state: the token of later runs.
    pub state: Token,
}

/// Authenticates datagrams: keyed BLAKE3 over the whole datagram, cut to 128 bits. Each side has a key of its
/// own, so that nothing can be sent back to where it came from. What the listener says is bound to the run
/// that it is said to: no recorded answer is valid in another one.
#[derive(Clone)]
pub struct Key {
    from_sender: [u8; 32],
    from_listener: [u8; 32],
    state: [u8; 32],
    fingerprint: [u8; 32],
}

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
        Self {
            from_sender: blake3::derive_key(FROM_SENDER, secret),
            from_listener: blake3::derive_key(FROM_LISTENER, secret),
            state: blake3::derive_key(LISTENERS_STATE, secret),
            fingerprint: blake3::derive_key(FINGERPRINT, secret),
        }
    }
    /// Identifies the key without revealing it.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }
    /// Authenticates what a listener keeps on disk.
    pub fn sum(&self, bytes: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.state, bytes).as_bytes()
    }

    /// Appends to a sender's datagram, which `out` holds from `start` on, what an opening must show, and the tag.
    pub fn seal_sent(&self, out: &mut Vec<u8>, start: usize, fresh: &Fresh) {
        if kind(&out[start..]) == OPENING {
            out.extend_from_slice(&fresh.id);
            out.extend_from_slice(&fresh.stamp.to_be_bytes());
            out.extend_from_slice(&fresh.token);
        }
        let tag = cut(&blake3::keyed_hash(&self.from_sender, &out[start..]));
        out.extend_from_slice(&tag);
    }
    /// A sender's datagram without its tag, if that is right, and what an opening shows.
    pub fn open_sent<'a>(&self, datagram: &'a [u8]) -> Option<(&'a [u8], Option<Fresh>)> {
        let (bytes, tag) = datagram.split_last_chunk::<TAG_BYTES>()?;
        if !constant_time_eq_16(tag, &cut(&blake3::keyed_hash(&self.from_sender, bytes))) {
            return None;
        }
        if kind(bytes) != OPENING {
            return Some((bytes, None));
        }
        let (bytes, rest) = bytes.split_last_chunk::<OPENING_BYTES>()?;
        let (id, rest) = rest.split_first_chunk::<ID_BYTES>()?;
        let (stamp, token) = rest.split_first_chunk::<8>()?;
        let fresh = Fresh { id: *id, stamp: u64::from_be_bytes(*stamp), token: *token.first_chunk()? };
        Some((bytes, Some(fresh)))
    }
    /// Appends to a listener's datagram its challenge, if it says that a session is unknown, and the tag. `to` is
    /// the run of the sender; zeros if that is not known.
    pub fn seal_answer(&self, out: &mut Vec<u8>, start: usize, to: &Id, challenge: &Challenge) {
        if kind(&out[start..]) == UNKNOWN {
            out.extend_from_slice(&challenge.token);
            out.extend_from_slice(&challenge.state);
        }
        let tag = self.answer_tag(to, &out[start..]);
        out.extend_from_slice(&tag);
    }
    /// A listener's datagram without its tag, if that is right and it was said to this run, and its challenge.
    /// That a session is unknown may have been said to any.
    pub fn open_answer<'a>(&self, to: &Id, datagram: &'a [u8]) -> Option<(&'a [u8], Option<Challenge>)> {
        let (bytes, tag) = datagram.split_last_chunk::<TAG_BYTES>()?;
        let is_ours = constant_time_eq_16(tag, &self.answer_tag(to, bytes));
        if kind(bytes) != UNKNOWN {
            return is_ours.then_some((bytes, None));
        }
        if !is_ours && !constant_time_eq_16(tag, &self.answer_tag(&Id::default(), bytes)) {
            return None;
        }
        let (bytes, rest) = bytes.split_last_chunk::<AGAIN_BYTES>()?;
        let (token, state) = rest.split_first_chunk::<ID_BYTES>()?;
        let challenge = Challenge { token: *token, state: *state.first_chunk()? };
        Some((bytes, (is_ours && challenge != Challenge::default()).then_some(challenge)))
    }
    fn answer_tag(&self, to: &Id, bytes: &[u8]) -> [u8; TAG_BYTES] {
        cut(&blake3::Hasher::new_keyed(&self.from_listener).update(to).update(bytes).finalize())
    }
}

fn kind(datagram: &[u8]) -> u8 {
    datagram.first().map_or(u8::MAX, |first| first >> 5)
}

fn cut(hash: &blake3::Hash) -> [u8; TAG_BYTES] {
    let mut tag = [0; TAG_BYTES];
    tag.copy_from_slice(&hash.as_bytes()[..TAG_BYTES]);
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: u8 = 0;
    const REPORT: u8 = 3;

    #[test]
    fn a_datagram_with_a_wrong_bit_anywhere_is_refused() {
        let key = Key::new(b"a secret of the two of us");
        let (to, fresh, challenge) = (
            [7; 16],
            Fresh { id: [1; 16], stamp: 2, token: [3; 16] },
            Challenge { token: [4; 16], state: [5; 16] },
        );
        for kind in [DATA, OPENING, REPORT, UNKNOWN] {
            let plain = [&[kind << 5][..], b"datagram"].concat();
            let (mut sent, mut answer) = (plain.clone(), plain.clone());
            key.seal_sent(&mut sent, 0, &fresh);
            key.seal_answer(&mut answer, 0, &to, &challenge);
            assert_eq!(key.open_sent(&sent), Some((&plain[..], (kind == OPENING).then_some(fresh))));
            assert_eq!(
                key.open_answer(&to, &answer),
                Some((&plain[..], (kind == UNKNOWN).then_some(challenge)))
            );
            assert_eq!(key.open_answer(&[8; 16], &answer), None, "it was said to another run");
            assert_eq!(
                (key.open_sent(&answer), key.open_answer(&to, &sent)),
                (None, None),
                "it was sent back"
            );
            for bit in 0..sent.len() * 8 {
                let mut spoiled = sent.clone();
                spoiled[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(key.open_sent(&spoiled), None, "bit {bit}");
            }
            for bit in 0..answer.len() * 8 {
                let mut spoiled = answer.clone();
                spoiled[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(key.open_answer(&to, &spoiled), None, "bit {bit}");
            }
            assert_eq!(Key::new(b"a secret of two others!").open_sent(&sent), None);
        }
        assert_eq!(key.open_sent(b"short"), None);
        assert_eq!(key.open_answer(&to, b"short"), None);
    }
    #[test]
    fn that_a_session_is_unknown_is_heard_by_every_run_and_challenges_none() {
        let key = Key::new(b"a secret of the two of us");
        let mut answer = vec![UNKNOWN << 5, 1, 2, 3, 4];
        key.seal_answer(&mut answer, 0, &Id::default(), &Challenge::default());
        assert_eq!(key.open_answer(&[9; 16], &answer), Some((&[UNKNOWN << 5, 1, 2, 3, 4][..], None)));
    }
}

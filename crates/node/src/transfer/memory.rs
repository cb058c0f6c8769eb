//! What a sender with a key remembers of a listener from run to run.

use super::auth::{Key, Token};
use crate::files;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const MAGIC: &[u8; 8] = b"LLSENT1\n";
const BYTES: usize = 8 + 16 + 8 + 32;

/// A file of its own for each listener and key. Without it each run takes one round trip more.
pub struct Memory {
    path: Option<PathBuf>,
    key: Key,
    /// The name of the listener's state; zeros if it is not known.
    pub token: Token,
    /// The highest stamp that was used.
    stamp: u64,
}

impl Memory {
    /// What is remembered in this folder; nothing without one.
    pub fn open(folder: Option<&Path>, key: &Key, to: SocketAddr) -> Self {
        let name = |to: SocketAddr| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(key.fingerprint()).update(to.to_string().as_bytes());
            format!("listener-{}", &hasher.finalize().to_hex()[..32])
        };
        let path = folder.map(|folder| folder.join(name(to)));
        let mut memory = Self { path, key: key.clone(), token: Token::default(), stamp: 0 };
        let bytes = memory.path.as_ref().and_then(|path| files::read_state(path, BYTES as u64).ok());
        let bytes = bytes.unwrap_or_default();
        if let Some((token, stamp)) = parse(key, &bytes) {
            (memory.token, memory.stamp) = (token, stamp);
        }
        memory
    }
    /// A stamp for a new run: the time of day, or more, if a higher one was used.
    pub fn next_stamp(&mut self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        self.stamp = u64::try_from(now).unwrap_or(u64::MAX).max(self.stamp.saturating_add(1));
        self.save();
        self.stamp
    }
    /// The listener has sent the name of its state.
    pub fn learn(&mut self, token: Token) {
        if self.token != token {
            self.token = token;
            self.save();
        }
    }
    /// What cannot be remembered costs a round trip later, and nothing else.
    fn save(&self) {
        let Some(path) = &self.path else { return };
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.token);
        bytes.extend_from_slice(&self.stamp.to_be_bytes());
        let sum = self.key.sum(&bytes);
        bytes.extend_from_slice(&sum);
        let new = path.with_extension(std::process::id().to_string());
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = made.and_then(|()| fs::write(&new, &bytes)).and_then(|()| fs::rename(&new, path));
    }
}

fn parse(key: &Key, bytes: &[u8]) -> Option<(Token, u64)> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    let (body, sum) = bytes.split_last_chunk::<32>()?;
    (key.sum(body) == *sum).then_some(())?;
    let (token, stamp) = body.strip_prefix(MAGIC)?.split_first_chunk::<16>()?;
    Some((*token, u64::from_be_bytes(*stamp.first_chunk()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_grow_from_run_to_run_whatever_the_clock_says() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::new(b"a secret of the two of us");
        let to: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let mut first = Memory::open(Some(folder.path()), &key, to);
        first.stamp = u64::MAX / 2;
        first.learn([7; 16]);
        let mut again = Memory::open(Some(folder.path()), &key, to);
        assert_eq!((again.token, again.next_stamp()), ([7; 16], u64::MAX / 2 + 1));
        assert_eq!(Memory::open(Some(folder.path()), &key, "127.0.0.1:2".parse().unwrap()).token, [0; 16]);
        assert_eq!(Memory::open(None, &key, to).token, [0; 16]);
        let path = again.path.clone().unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut spoiled = whole.clone();
            spoiled[at] ^= 1;
            fs::write(&path, spoiled).unwrap();
            assert_eq!(Memory::open(Some(folder.path()), &key, to).stamp, 0);
        }
    }
}

//! Which sessions a listener with a key has accepted, so that no recording of an earlier one is accepted again.
//!
//! An opening under a key shows the run of its sender, a stamp that grows from run to run, and a token. It is
//! accepted
//!
//! 1. if it is of the run that was accepted last for this name: the transfer resumes; or
//! 2. if its token names this state, so that it was made after the state was, and its stamp is higher than that
//!    of every run accepted for this name; or
//! 3. if its token answers a challenge: a hash, under a key of this run of the listener, of the run and of what was
//!    accepted last for the name. So a challenge is met once, by one run, before anything else is accepted.
//!
//! Every opening that 1 and 2 do not accept is challenged. Clocks are compared only with themselves within the life
//! of one state, and a wrong clock or a lost state costs a round trip, nothing else. The state is a file in the
//! folder, written and synchronised before a session counts as accepted. A state restored from a backup is the one
//! thing that breaks 2: it names itself rightly and has forgotten; so it must not be restored.

use super::auth::{Fresh, ID_BYTES, Id, Key, Token};
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"LLSEEN1\n";
/// Names that are remembered; of others only the highest stamp.
const NAMES_MOST: usize = 4096;
/// A larger file is not ours.
const STATE_MOST_BYTES: u64 = 8 << 20;

/// The last session that was accepted for a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    /// Highest stamp of all sessions accepted for this name.
    stamp: u64,
    id: Id,
    digest: [u8; 32],
    /// The file got its name.
    done: bool,
    /// Sessions accepted before it, of all names.
    number: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Names it, drawn when it was made.
    token: Token,
    /// Sessions that were accepted.
    count: u64,
    /// Highest stamp of those names that were forgotten, and how many sessions had been accepted then.
    floor: (u64, u64),
    names: BTreeMap<String, Last>,
}

/// What an opening is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is no recording of an earlier session.
    Fresh,
    /// It is of the last session of its name.
    Same,
    /// It is of the last session of its name, which has delivered its file.
    Delivered,
    /// Freshness unknown: it must come again with this token.
    Challenged(Token),
}

/// Remembers what was accepted.
pub struct Accepted {
    path: PathBuf,
    key: Key,
    state: State,
    /// Makes the challenges of this run of the listener.
    secret: [u8; 32],
    /// Locked, so that two listeners do not share the state.
    _lock: File,
}

impl Accepted {
    /// The state of this key in a folder.
    ///
    /// # Errors
    /// One line: it cannot be read or written, or another listener has it.
    pub fn open(folder: &Path, key: &Key) -> Result<Self, String> {
        let name: String = key.fingerprint()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!(".lightlag-accepted-{name}"));
        let lock = path.with_extension("lock");
        let wrong = |path: &Path, why: io::Error| format!("{}: {why}; it must be writable", path.display());
        let file = File::options().create(true).truncate(false).write(true).open(&lock);
        let file = file.map_err(|why| wrong(&lock, why))?;
        file.try_lock().map_err(|_| {
            format!(
                "{}: another listener with this key has this folder; name another one with --folder",
                folder.display()
            )
        })?;
        let mut secret = [0; 32];
        let mut token = [0; ID_BYTES];
        for bytes in [&mut secret[..], &mut token[..]] {
            getrandom::fill(bytes).map_err(|why| format!("the system gives no random numbers: {why}"))?;
        }
        let state = match read(&path).map_err(|why| wrong(&path, why))? {
            None => None,
            Some(bytes) => Some(parse(key, &bytes).ok_or_else(|| {
                format!(
                    "{}: it is damaged; remove it: the next session of each sender then takes one round trip more",
                    path.display()
                )
            })?),
        };
        let is_new = state.is_none();
        let state = state.unwrap_or_else(|| State { token, ..State::default() });
        let accepted = Self { path, key: key.clone(), state, secret, _lock: file };
        if is_new {
            let write = accepted.write();
            write.map_err(|why| wrong(&accepted.path, why))?;
        }
        Ok(accepted)
    }
    /// Names the state: who shows it has made its opening after the state was made.
    pub fn token(&self) -> Token {
        self.state.token
    }

    /// What an opening for this name is worth.
    pub fn judge(&self, name: &str, digest: &[u8; 32], fresh: &Fresh) -> Verdict {
        let last = self.state.names.get(name);
        if let Some(last) = last.filter(|last| last.id == fresh.id && last.digest == *digest) {
            return if last.done { Verdict::Delivered } else { Verdict::Same };
        }
        let above = last.map_or(self.state.floor.0, |last| last.stamp);
        let is_later = fresh.token == self.state.token && fresh.stamp > above;
        let answer = self.challenge(name, &fresh.id);
        // A guess at the token is right once in 2^128, so the timing of this comparison leaks nothing useful.
        if is_later || fresh.token == answer { Verdict::Fresh } else { Verdict::Challenged(answer) }
    }
    fn challenge(&self, name: &str, id: &Id) -> Token {
        let number = self.state.names.get(name).map_or(self.state.floor.1, |last| last.number);
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(id).update(&number.to_be_bytes()).update(name.as_bytes());
        let mut token = [0; ID_BYTES];
        token.copy_from_slice(&hasher.finalize().as_bytes()[..ID_BYTES]);
        token
    }
    /// Accepts a session that [`Accepted::judge`] found fresh. Once this has returned, no session accepted before is
    /// accepted again, whatever happens to this process or machine.
    ///
    /// # Errors
    /// What the system says; it is not accepted then.
    pub fn accept(&mut self, name: &str, digest: &[u8; 32], fresh: &Fresh) -> io::Result<()> {
        let before = self.state.clone();
        self.state.count += 1;
        let number = self.state.count;
        let above = self.state.names.get(name).map_or(self.state.floor.0, |last| last.stamp);
        let last = Last { stamp: fresh.stamp.max(above), id: fresh.id, digest: *digest, done: false, number };
        self.state.names.insert(name.to_owned(), last);
        while self.state.names.len() > NAMES_MOST {
            self.forget_oldest();
        }
        self.write().inspect_err(|_| self.state = before)
    }
    fn forget_oldest(&mut self) {
        let oldest =
            self.state.names.iter().min_by_key(|(_, last)| last.number).map(|(name, _)| name.clone());
        if let Some(last) = oldest.and_then(|name| self.state.names.remove(&name)) {
            self.state.floor = (self.state.floor.0.max(last.stamp), self.state.count);
        }
    }
    /// Whether a later session of this name than that of `id` has delivered its file.
    pub fn is_overtaken(&self, name: &str, id: &Id) -> bool {
        self.state.names.get(name).is_some_and(|last| last.id != *id && last.done)
    }
    /// The session has delivered its file, which is on the disk: it is not taken up again.
    ///
    /// # Errors
    /// What the system says.
    pub fn deliver(&mut self, name: &str, id: &Id) -> io::Result<()> {
        match self.state.names.get_mut(name).filter(|last| last.id == *id && !last.done) {
            Some(last) => last.done = true,
            None => return Ok(()),
        }
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes = postcard::to_extend(&self.state, bytes).map_err(io::Error::other)?;
        let sum = self.key.sum(&bytes);
        bytes.extend_from_slice(&sum);
        files::replace(&self.path, &bytes, true)
    }
}

/// `None` if it is missing; a file that is not a state is a damaged one.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match files::read_state(path, STATE_MOST_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) if why.kind() == io::ErrorKind::InvalidData => Ok(Some(Vec::new())),
        Err(why) => Err(why),
    }
}

fn parse(key: &Key, bytes: &[u8]) -> Option<State> {
    let (body, sum) = bytes.split_last_chunk::<32>()?;
    (key.sum(body) == *sum).then_some(())?;
    postcard::from_bytes(body.strip_prefix(MAGIC)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use tempfile::tempdir;

    fn key() -> Key {
        Key::new(b"a secret of the two of us")
    }
    /// What a sender that knows the state shows at this time, and then what it was challenged with.
    fn take(accepted: &mut Accepted, name: &str, fresh: &mut Fresh) -> Verdict {
        let mut verdict = accepted.judge(name, &[fresh.id[0]; 32], fresh);
        if let Verdict::Challenged(token) = verdict {
            fresh.token = token;
            verdict = accepted.judge(name, &[fresh.id[0]; 32], fresh);
        }
        assert_eq!(verdict, Verdict::Fresh);
        accepted.accept(name, &[fresh.id[0]; 32], fresh).unwrap();
        verdict
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Honest runs with clocks that step, restarts, losses of the state: no opening that was ever recorded is
        /// fresh again, and of a name only the last run is taken up.
        #[test]
        fn no_recorded_opening_is_accepted_again(
            runs in prop::collection::vec((0_u8..3, 0_u64..6, any::<bool>(), 0_u8..6), 1..40),
        ) {
            let folder = tempdir().unwrap();
            let mut accepted = Accepted::open(folder.path(), &key()).unwrap();
            let (mut recorded, mut last) = (Vec::new(), BTreeMap::new());
            for (run, (name, stamp, knows, event)) in (1_u8..).zip(runs) {
                let name = name.to_string();
                match event {
                    0 => {
                        drop(accepted);
                        accepted = Accepted::open(folder.path(), &key()).unwrap();
                    }
                    1 => {
                        fs::remove_file(&accepted.path).unwrap();
                        drop(accepted);
                        accepted = Accepted::open(folder.path(), &key()).unwrap();
                        last.clear();
                    }
                    _ => {}
                }
                let token = if knows { accepted.token() } else { Token::default() };
                let mut fresh = Fresh { id: [run; 16], stamp, token };
                recorded.push((name.clone(), fresh));
                take(&mut accepted, &name, &mut fresh);
                recorded.push((name.clone(), fresh));
                last.insert(name.clone(), run);
                if event == 2 {
                    accepted.deliver(&name, &fresh.id).unwrap();
                }
                for (name, old) in &recorded {
                    let verdict = accepted.judge(name, &[old.id[0]; 32], old);
                    let is_last = last.get(name) == Some(&old.id[0]);
                    let right = match verdict {
                        Verdict::Fresh => false,
                        Verdict::Same | Verdict::Delivered => is_last,
                        Verdict::Challenged(_) => !is_last,
                    };
                    prop_assert!(right, "{name} {old:?} {verdict:?}");
                }
            }
        }
    }

    #[test]
    fn a_thousand_times_more_names_than_are_remembered_are_refused_all_the_same() {
        let folder = tempdir().unwrap();
        let mut accepted = Accepted::open(folder.path(), &key()).unwrap();
        let token = accepted.token();
        let of = |run: u64| Fresh { id: u128::from(run).to_be_bytes(), stamp: run, token };
        let most = NAMES_MOST as u64;
        // Written straight into the map: synchronising so often would take minutes.
        for run in 1..=most {
            let last = Last { stamp: run, id: of(run).id, digest: [0; 32], done: true, number: run };
            accepted.state.names.insert(run.to_string(), last);
        }
        accepted.state.count = most;
        for run in most + 1..most + 9 {
            accepted.accept(&run.to_string(), &[0; 32], &of(run)).unwrap();
        }
        assert_eq!(accepted.state.names.len(), NAMES_MOST);
        for run in 1..9 {
            assert!(
                matches!(accepted.judge(&run.to_string(), &[0; 32], &of(run)), Verdict::Challenged(_)),
                "{run}"
            );
        }
        assert!(fs::metadata(&accepted.path).unwrap().len() < STATE_MOST_BYTES);
    }

    #[test]
    fn a_damaged_state_and_a_second_listener_are_refused() {
        let folder = tempdir().unwrap();
        let first = Accepted::open(folder.path(), &key()).unwrap();
        let path = first.path.clone();
        let refused = |words: &str| {
            let line = Accepted::open(folder.path(), &key()).err().unwrap();
            assert!(line.contains(words), "{line}");
        };
        refused("another listener");
        assert!(Accepted::open(folder.path(), &Key::new(b"a secret of two others!")).is_ok());
        drop(first);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut spoiled = whole.clone();
            spoiled[at] ^= 1;
            fs::write(&path, &spoiled).unwrap();
            refused("it is damaged; remove it");
        }
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            refused("it is damaged; remove it");
        }
    }
}

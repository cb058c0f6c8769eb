//! The folder in which a daemon keeps what outlives it, and its epoch: one run from start to end.

use super::keys::PublicKey;
use super::known::Known;
use lightlag_node::{Error, files};
use lightlag_protocols::wire::session::Epoch;
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::warn;

/// Epochs are numbered by the second of their start, from the first one of 2020.
const ORIGIN: u64 = 1_577_836_800;
/// The clock gives no greater number, whatever it says (this one is in 2054): after it every restart counts one up, and
/// there are twice as many left.
const CLOCK_MOST: u32 = 1 << 30;
/// Greatest number that is believed from another daemon: enough numbers for restarts always remain.
const BELIEVED_MOST: u32 = CLOCK_MOST + (1 << 29);
/// No epoch has a greater number: with the bit of [`EpochState::epoch`] it must fit into 32 bits.
const LAST: u32 = u32::MAX / 2 - 1;

/// The file of the number is no larger.
const NUMBER_MOST_BYTES: u64 = 64;

/// The folder, held by this daemon alone as long as this is, and the daemon's present epoch.
pub struct EpochState {
    folder: PathBuf,
    /// Greater than in any earlier epoch of which the folder knows.
    number: u32,
    nonce: u64,
    /// Of the other daemons.
    pub known: Rc<Known>,
    _lock: File,
}

impl EpochState {
    /// Begins an epoch in a folder, which is created if missing.
    ///
    /// # Errors
    /// The folder cannot be used, or another daemon has it, or the system has no random numbers.
    pub fn begin(folder: &Path) -> Result<Self, Error> {
        let failed = |path: &Path, why: std::io::Error| Error::Input(format!("{}: {why}", path.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|why| failed(folder, why))?;
        let path = folder.join("lock");
        let mut open = OpenOptions::new();
        // Readable, so that a pipe of this name does not block.
        open.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = open.open(&path).map_err(|why| failed(&path, why))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Error::Input(format!("{}: another lightlagd runs on this state", folder.display()))
        })?;
        let known = Rc::new(Known::read(folder));
        let mut life = Self { folder: folder.to_owned(), number: 0, nonce: nonce()?, known, _lock: lock };
        let before = life.read()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = u32::try_from(now.saturating_sub(ORIGIN)).unwrap_or(CLOCK_MOST).min(CLOCK_MOST);
        if before >= LAST {
            return Err(Error::Input(format!(
                "{}: {before} is not an epoch number; it must be below {LAST}: put 0 into it",
                life.file().display()
            )));
        }
        life.number = now.max(before + 1);
        life.write(life.number)?;
        Ok(life)
    }
    /// This epoch as another daemon knows it. Of two daemons, no epoch of one has the number of one of the other.
    pub fn epoch(&self, own: &PublicKey, other: &PublicKey) -> Epoch {
        Epoch { number: 2 * self.number + u32::from(own > other), nonce: self.nonce }
    }
    /// The next epoch must follow one that another daemon knows by this number. False: no honest daemon knows such a one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn follow(&self, known: u32) -> Result<bool, Error> {
        let known = known / 2;
        if known > BELIEVED_MOST {
            return Ok(false);
        }
        self.write(known.max(self.number)).map(|()| true)
    }
    fn file(&self) -> PathBuf {
        self.folder.join("incarnation")
    }
    fn read(&self) -> Result<u32, Error> {
        let path = self.file();
        match files::read_state(&path, NUMBER_MOST_BYTES) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().parse().unwrap_or_else(|_| {
                // As after a loss of the state: the clock gives the number.
                warn!(file = %path.display(), "the file is damaged: taking the epoch number from the clock");
                0
            })),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(why) => Err(Error::Input(format!("{}: {why}", path.display()))),
        }
    }
    /// Writes the number; an interrupted write leaves the old file.
    fn write(&self, number: u32) -> Result<(), Error> {
        let path = self.file();
        let written = files::replace(&path, format!("{number}\n").as_bytes(), true);
        written.map_err(|why| Error::Input(format!("{}: {why}", path.display())))
    }
}

/// 64 random bits, not all zero.
fn nonce() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|why| Error::Failed(format!("random numbers: {why}")))?;
    Ok(u64::from_le_bytes(bytes).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const KEYS: [PublicKey; 2] = [PublicKey([1; 32]), PublicKey([2; 32])];

    fn begin(folder: &Path) -> EpochState {
        EpochState::begin(folder).unwrap()
    }

    #[test]
    fn each_epoch_is_later_and_two_at_once_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = begin(folder.path());
        assert!(EpochState::begin(folder.path()).err().unwrap().to_string().contains("another lightlagd"));
        let before = first.epoch(&KEYS[0], &KEYS[1]);
        assert_ne!(before.number, first.epoch(&KEYS[1], &KEYS[0]).number);
        assert!(first.follow(before.number + 1000).unwrap());
        drop(first);
        let second = begin(folder.path()).epoch(&KEYS[0], &KEYS[1]);
        assert!(second.number > before.number + 1000 && second.nonce != before.nonce);
    }

    #[test]
    fn epochs_with_one_number_differ_though_the_state_is_lost() {
        let epochs: Vec<Epoch> =
            (0..20).map(|_| begin(tempfile::tempdir().unwrap().path()).epoch(&KEYS[0], &KEYS[1])).collect();
        for (at, epoch) in epochs.iter().enumerate() {
            assert!(epoch.nonce != 0 && epochs[..at].iter().all(|other| other.nonce != epoch.nonce));
        }
    }

    #[test]
    fn a_damaged_number_is_a_lost_one() {
        let number = begin(tempfile::tempdir().unwrap().path()).number;
        for text in [&b""[..], b"\n", b"-1", b"18446744073709551616", b"4294967296", b"a7", b"\xb1\x37"] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("incarnation"), text).unwrap();
            assert!(begin(folder.path()).number >= number, "{text:?}");
        }
    }

    #[test]
    fn a_pipe_in_place_of_a_file_of_the_state_is_an_error_or_is_replaced() {
        let pipe = |name: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
                .unwrap();
            EpochState::begin(folder.path()).map(drop).map_err(|why| why.to_string())
        };
        assert!(pipe("incarnation").unwrap_err().ends_with("incarnation: it is not a regular file"));
        for name in ["incarnation.new", "peers.json", "lock"] {
            assert_eq!(pipe(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn no_clock_and_no_other_daemon_can_use_the_numbers_up() {
        let folder = tempfile::tempdir().unwrap();
        // As a clock of 2156 leaves it.
        fs::write(folder.path().join("incarnation"), CLOCK_MOST.to_string()).unwrap();
        for restart in 1..5 {
            let life = begin(folder.path());
            assert_eq!(life.number, CLOCK_MOST + restart);
            assert!(!life.follow(u32::MAX).unwrap() && !life.follow(2 * BELIEVED_MOST + 2).unwrap());
        }
        let life = begin(folder.path());
        assert!(life.follow(2 * BELIEVED_MOST).unwrap());
        drop(life);
        let life = begin(folder.path());
        assert_eq!(life.number, BELIEVED_MOST + 1);
        assert!(u64::from(LAST - life.number) > 500_000_000, "restarts that are left");
    }
}

//! A store that is damaged or gone: nothing of it is lost without a word.

use super::{builder, make};
use lightlag_node::Error;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::error;

/// The store.
pub const FILE: &str = "custody.redb";
/// There was a store in this folder.
const MARK: &str = "custody.made";
/// What is left of one that cannot be used, or says that one is gone: the name, and the time in seconds.
const LEFT: [&str; 2] = ["custody.redb.corrupt-", "custody.redb.lost-"];

/// Why a store cannot be opened.
#[derive(Debug)]
pub enum Unopened {
    /// Its content is wrong: why.
    Damaged(String),
    /// Something else.
    Failed(Error),
}

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Does something that may panic on damaged pages.
///
/// # Errors
/// It did.
pub fn contained<R>(work: impl FnOnce() -> R) -> Result<R, redb::Error> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_CONTAINED.get() {
                before(info);
            }
        }));
    });
    let was = IS_CONTAINED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CONTAINED.set(was);
    done.map_err(|_| redb::Error::Corrupted("a page cannot be read".to_owned()))
}

/// Whether an error means that the content of the file is wrong.
pub fn is_damage(why: &redb::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match why {
        redb::Error::Io(why) => matches!(why.kind(), InvalidData | InvalidInput | UnexpectedEof),
        redb::Error::Corrupted(_)
        | redb::Error::RepairAborted
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TableIsNotMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }
        | redb::Error::TableDoesNotExist(_) => true,
        _ => false,
    }
}

fn failed(place: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Failed(format!("{}: {why}", place.display()))
}

/// A name that was not used yet.
fn place(folder: &Path, left: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let places = (now..).map(|at| folder.join(format!("{left}{at}")));
    places.into_iter().find(|place| !place.exists()).unwrap_or_default()
}

/// Creates a missing store; leaves a note where there was one before.
///
/// # Errors
/// It cannot be made.
pub fn prepare(folder: &Path) -> Result<(), Error> {
    let (path, mark) = (folder.join(FILE), folder.join(MARK));
    let length = fs::metadata(&path).map(|file| file.len());
    if matches!(length, Ok(1..)) {
        return File::create(&mark).map(drop).map_err(|why| failed(&mark, &why));
    }
    if mark.exists() || length.is_ok() {
        let note = place(folder, LEFT[1]);
        let told = format!("{} was gone or empty when lightlagd started\n", path.display());
        let written = File::create(&note).and_then(|mut file| file.write_all(told.as_bytes()));
        written.map_err(|why| failed(&note, &why))?;
        error!(path = %path.display(), "the store is gone: a new one begins without what was accepted before");
    }
    make(folder, &path).map_err(|why| failed(&path, &why))?;
    // Another kind of file of this name marks it as well, and a pipe would block.
    if mark.exists() { Ok(()) } else { File::create(&mark).map(drop).map_err(|why| failed(&mark, &why)) }
}

/// Puts a damaged store aside, and makes a new one.
///
/// # Errors
/// It cannot be moved, or none can be made.
pub fn set_aside(folder: &Path, why: &str) -> Result<(), Error> {
    let path = folder.join(FILE);
    let aside = place(folder, LEFT[0]);
    fs::rename(&path, &aside).map_err(|why| failed(&aside, &why))?;
    error!(path = %path.display(), aside = %aside.display(), why, "the store is damaged: it is set aside, and a new one begins without what was accepted before");
    make(folder, &path).map_err(|why| failed(&path, &why))
}

/// What was lost, one line each, until its owner moves the files away.
pub fn losses(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| file.file_name().into_string().ok());
    let mut all: Vec<String> = names
        .filter(|name| LEFT.iter().any(|left| name.starts_with(left)))
        .map(|name| {
            let what = if name.starts_with(LEFT[0]) { "was damaged and is set aside" } else { "was gone" };
            let file = folder.join(&name);
            format!(
                "the store {what}; what it had was not delivered; to end this notice, move {} away",
                file.display()
            )
        })
        .collect();
    all.sort();
    all
}

/// Opens the store in a file, which must be whole.
///
/// # Errors
/// It cannot be read, or is damaged.
pub fn open(path: &Path) -> Result<redb::Database, redb::DatabaseError> {
    builder().open(path)
}

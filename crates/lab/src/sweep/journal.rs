//! Finished runs, one line each, so that nothing is lost when the process dies.

use super::manifest::{Identity, Manifest, Values};
use super::{Error, Job};
pub(super) use crate::results::Metrics;
use crate::results::{Name, Row, replace_file};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the journal in a sweep's folder.
pub const JOURNAL_FILE: &str = "runs.jsonl";

/// A line after the first, which is the [`Identity`]: a finished run. A metric without a value, or with an infinite one, is null: neither JSON nor a mean can carry it.
#[derive(Serialize, Deserialize)]
struct Line<N> {
    /// In the plan of its process.
    point: usize,
    values: Values,
    seed: u64,
    metrics: Vec<(N, Option<f64>)>,
}

impl<'m> Line<&'m str> {
    fn new(point: usize, values: &Values, seed: u64, metrics: &'m Metrics) -> Self {
        let metrics = metrics.iter().map(|(name, number)| (&**name, Some(*number).filter(|n| n.is_finite())));
        Self { point, values: values.clone(), seed, metrics: metrics.collect() }
    }
}

/// A finished run.
pub(super) struct Finished {
    /// What makes its point.
    pub values: Values,
    pub seed: u64,
    pub metrics: Metrics,
}

/// The journal, open for appending and locked.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens a journal of a folder, or starts it.
    pub(super) fn open(path: PathBuf, manifest: &Manifest) -> Result<Self, Error> {
        let mut file = lock(&path)?;
        let whole = parse(&file, &path, manifest, |_| Ok(()))?;
        truncate(&mut file, whole, &path)?;
        if whole == 0 {
            append_line(&mut file, &path, &manifest.identity)?;
        }
        Ok(Self { file, path })
    }

    /// Adds a finished run.
    pub(super) fn append(&mut self, job: &Job, metrics: &Metrics) -> Result<(), Error> {
        append_line(&mut self.file, &self.path, &Line::new(job.point, &job.values, job.seed, metrics))
    }
}

/// Gives the runs in a journal that another process may be writing, one by one.
pub(super) fn read(
    path: &Path,
    manifest: &Manifest,
    each: impl FnMut(Finished) -> Result<(), Error>,
) -> Result<(), Error> {
    let file = File::open(path).map_err(|reason| disk("read", path, reason))?;
    parse(&file, path, manifest, each).map(drop)
}

/// Writes a journal again, whole or not at all.
pub(super) fn write_all(path: &Path, manifest: &Manifest, rows: &[Row]) -> Result<(), Error> {
    let mut bytes = Vec::new();
    append_line(&mut bytes, path, &manifest.identity)?;
    for row in rows {
        append_line(&mut bytes, path, &Line::new(row.point, &row.values, row.seed, &row.metrics))?;
    }
    Ok(replace_file(path, &bytes)?)
}

/// Opens a file that no other process may open so. One that was replaced or removed before it was locked is opened again: what
/// is written to it would be lost.
pub(super) fn lock(path: &Path) -> Result<File, Error> {
    loop {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(|reason| disk("write", path, reason))?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(path.to_path_buf())),
            Err(TryLockError::Error(reason)) => return Err(disk("lock", path, reason)),
        }
    }
}

/// Whether an open file is the one at a path; elsewhere than on Unix an open file is neither replaced nor removed.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let [Ok(open), Ok(there)] = [file.metadata(), std::fs::metadata(path)] else { return false };
        (open.dev(), open.ino()) == (there.dev(), there.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Gives the finished runs one by one; returns the length up to the last line that was written whole: a process may have died
/// inside a line.
fn parse(
    file: &File,
    path: &Path,
    manifest: &Manifest,
    mut each: impl FnMut(Finished) -> Result<(), Error>,
) -> Result<u64, Error> {
    let (mut reader, mut line, mut names) = (BufReader::new(file), Vec::new(), Names::default());
    let mut whole = 0;
    for number in 1.. {
        line.clear();
        reader.read_until(b'\n', &mut line).map_err(|reason| disk("read", path, reason))?;
        if line.last() != Some(&b'\n') {
            break;
        }
        if number == 1 {
            let found = serde_json::from_slice(&line)
                .map_err(|_| damaged(path, 1, "this is not the beginning of a journal", ANOTHER_FOLDER))?;
            check(&found, &manifest.identity, path)?;
        } else {
            let run: Line<String> = serde_json::from_slice(&line)
                .map_err(|_| damaged(path, number, "the line is damaged", DELETE_LINE))?;
            each(names.of(run))?;
        }
        whole += line.len() as u64;
    }
    Ok(whole)
}

/// The names of the metrics of the run before: they are nearly always those of the next one, which shares them.
#[derive(Default)]
struct Names(Vec<Name>);

impl Names {
    fn of(&mut self, Line { values, seed, metrics, .. }: Line<String>) -> Finished {
        let known = std::mem::take(&mut self.0);
        let shared = |(at, (name, number)): (usize, (String, Option<f64>))| {
            let name =
                known.get(at).filter(|known| ***known == *name).cloned().unwrap_or_else(|| name.into());
            (name, number.unwrap_or(f64::NAN))
        };
        let metrics: Metrics = metrics.into_iter().enumerate().map(shared).collect();
        self.0 = metrics.iter().map(|(name, _)| name.clone()).collect();
        Finished { values, seed, metrics }
    }
}

const ANOTHER_FOLDER: &str = "name another folder";
const DELETE_LINE: &str = "delete the line, and its run is done again";

fn check(found: &Identity, wanted: &Identity, path: &Path) -> Result<(), Error> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::OtherSweep { path: path.to_path_buf(), difference: found.difference(wanted) })
}

fn truncate(file: &mut File, length: u64, path: &Path) -> Result<(), Error> {
    file.set_len(length)
        .and_then(|()| file.seek(SeekFrom::Start(length)))
        .map(|_| ())
        .map_err(|reason| disk("write", path, reason))
}

/// One write per line, straight to the system: what was written survives the death of the process.
fn append_line(file: &mut impl Write, path: &Path, line: &impl Serialize) -> Result<(), Error> {
    let mut bytes = serde_json::to_vec(line).expect("lines are plain text and numbers");
    bytes.push(b'\n');
    file.write_all(&bytes).and_then(|()| file.flush()).map_err(|reason| disk("write", path, reason))
}

fn disk(action: &'static str, path: &Path, reason: io::Error) -> Error {
    Error::Disk { action, path: path.to_path_buf(), reason }
}

fn damaged(path: &Path, line: usize, reason: &str, right: &'static str) -> Error {
    Error::Damaged { path: path.to_path_buf(), line, reason: reason.to_owned(), right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_in_one_line() {
        let mut full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = append_line(&mut full, Path::new("out/runs.jsonl"), &1).unwrap_err().to_string();
        assert!(said.starts_with("cannot write out/runs.jsonl: No space left"), "{said}");
        assert!(!said.contains('\n'));
    }

    #[test]
    #[cfg(unix)]
    fn a_journal_that_was_replaced_or_removed_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let first = lock(&path).unwrap();
        assert!(is_at(&first, &path));
        replace_file(&path, b"other").unwrap();
        assert!(!is_at(&first, &path), "another file has its name");
        let second = lock(&path).unwrap();
        assert!(is_at(&second, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&second, &path), "it has no name");
    }
}

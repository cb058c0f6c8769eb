//! Reading files: bounded in size, and each only once.

use super::error::{Error, Place, Result, Wrong, quoted};
use super::given::{self, GivenFiles};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// No input file is larger; a larger one is more likely a mistake than a scenario.
pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Nor are all files of a scenario together.
const ALL_BYTES_MAX: u64 = 4 * FILE_BYTES_MAX;

/// Files that have been read.
#[derive(Debug, Default)]
pub struct Files(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Of all together.
    bytes: u64,
}

impl Files {
    /// The bytes of a file that is named at `place`.
    ///
    /// # Errors
    /// If it cannot be read or is too large.
    pub fn read(&self, path: &Path, place: &Place) -> Result<Arc<[u8]>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = known.files.get(path) {
            return Ok(bytes.clone());
        }
        let bytes: Arc<[u8]> = read(path, place)?.into();
        known.bytes = known.bytes.saturating_add(bytes.len() as u64);
        if known.bytes > ALL_BYTES_MAX {
            let what = "the files of the scenario have more than 1 GiB in all";
            return place.refuse(what, "leave out what the run does not need");
        }
        known.files.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

/// The bytes of a file that is named at `place`.
///
/// # Errors
/// If it cannot be read or is too large.
pub fn read(path: &Path, place: &Place) -> Result<Vec<u8>> {
    let bytes = read_within(path, place, FILE_BYTES_MAX + 1)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return place.refuse(
            format!("{} is larger than 256 MiB", quoted(&path.display().to_string())),
            "split it or leave out what the run does not need",
        );
    }
    Ok(bytes)
}

/// The first bytes of a file that is named at `place`, `most` at most; of one whose name ends in `.gz`, of what was compressed.
///
/// # Errors
/// If it cannot be read.
pub fn read_within(path: &Path, place: &Place, most: u64) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| {
        Error::new(
            place,
            format!("cannot read {}: {error}", quoted(&path.display().to_string())),
            "name a file that can be read",
        )
    };
    let (mut bytes, file) = (Vec::new(), reader(path).map_err(failed)?);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        flate2::read::MultiGzDecoder::new(file).take(most).read_to_end(&mut bytes)
    } else {
        file.take(most).read_to_end(&mut bytes)
    }
    .map_err(failed)?;
    with_line_feeds(&mut bytes);
    Ok(bytes)
}

/// Ends lines of text as everybody does, where they end as on old Macs: by a carriage return alone.
fn with_line_feeds(bytes: &mut [u8]) {
    let has = |end: u8, bytes: &[u8]| bytes.contains(&end);
    if !has(b'\n', bytes) && has(b'\r', bytes) && std::str::from_utf8(bytes).is_ok() {
        bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    }
}

/// A file to read to its end. Pipes, devices and what the kernel makes up may be silent for ever: they are read with
/// [`Patient`].
fn reader(path: &Path) -> std::io::Result<Box<dyn Read>> {
    if let Some(given) = GivenFiles::now() {
        let bytes = given.get(path).cloned().ok_or(std::io::ErrorKind::NotFound)?;
        return Ok(Box::new(Cursor::new(bytes)));
    }
    given::name(path);
    let file = open(path)?;
    let known = file.metadata()?;
    // Files of the kernel have no length.
    if known.is_file() && known.len() > 0 {
        return Ok(Box::new(file));
    }
    Ok(Box::new(Patient::new(file, SILENCE)))
}

/// The longest time that a pipe or a device may be silent.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// A reader that fails once the other side has been silent for too long. The thread that reads stays behind until the
/// process ends, as reading cannot be interrupted.
struct Patient {
    chunks: Receiver<std::io::Result<Vec<u8>>>,
    chunk: Cursor<Vec<u8>>,
    silence: std::time::Duration,
}

impl Patient {
    fn new(mut from: impl Read + Send + 'static, silence: std::time::Duration) -> Self {
        const CHUNK: usize = 1 << 16;
        let (to, chunks) = sync_channel(4);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = from.read(&mut chunk);
                let ends = !matches!(&read, Ok(1..));
                let sent = match read {
                    Ok(0) => break,
                    Ok(length) => {
                        chunk.truncate(length);
                        to.send(Ok(chunk))
                    }
                    Err(error) => to.send(Err(error)),
                };
                if ends || sent.is_err() {
                    break;
                }
            }
        });
        Self { chunks, chunk: Cursor::default(), silence }
    }
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.chunk.position() == self.chunk.get_ref().len() as u64 {
            self.chunk = match self.chunks.recv_timeout(self.silence) {
                Ok(chunk) => Cursor::new(chunk?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!("no data came within {} s", self.silence.as_secs_f64());
                    return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, what));
                }
            };
        }
        self.chunk.read(into)
    }
}

/// Opens a file to read. A named pipe must have a writer within 10 s.
///
/// # Errors
/// If it cannot be opened, or the pipe has no writer by then.
pub fn open(path: &Path) -> std::io::Result<File> {
    if !std::fs::metadata(path).is_ok_and(|found| is_pipe(&found)) {
        return File::open(path);
    }
    // Opening a pipe blocks until a writer opens it too, and `open` has no time limit of its own.
    let (to, opened) = std::sync::mpsc::channel();
    let pipe = path.to_owned();
    std::thread::spawn(move || to.send(File::open(pipe)));
    opened.recv_timeout(WRITER_WAIT).unwrap_or_else(|_| {
        let what = format!("no program has opened the pipe for writing within {} s", WRITER_WAIT.as_secs());
        Err(std::io::Error::new(std::io::ErrorKind::TimedOut, what))
    })
}

/// Time for the writer of a named pipe to open it.
const WRITER_WAIT: std::time::Duration = std::time::Duration::from_secs(10);

#[cfg(unix)]
fn is_pipe(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

/// The first of `folders` in which the file is; without one, where it should have been.
pub fn locate(name: &str, folders: &[PathBuf]) -> PathBuf {
    let places = || folders.iter().map(|folder| folder.join(name));
    places()
        .find(|path| given::is_file(path))
        .or_else(|| places().next())
        .unwrap_or_else(|| PathBuf::from(name))
}

/// A key that sorts names as people do: `day2` before `day10`.
pub fn in_order(name: &str) -> Vec<(String, u128, usize)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, number) = rest.split_at(digits);
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        // Of two equal numbers the one with fewer zeros before it is first.
        parts.push((word.to_owned(), number[..end].parse().unwrap_or(u128::MAX), end));
        rest = &number[end..];
    }
    parts
}

/// A name that makes a file or a folder, and one that stays where it is put.
///
/// # Errors
/// What is wrong with it.
pub fn check_file_name(name: &str) -> std::result::Result<(), Wrong> {
    let plain = name.chars().all(|c| !c.is_control() && !"/\\".contains(c));
    if plain && !name.trim_matches(['.', ' ']).is_empty() && name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(Wrong::new(
        format!("the name is {}", quoted(name)),
        format!("files are called by it: give 1 to {NAME_BYTES_MAX} characters without / and \\"),
    ))
}

/// File systems take 255 bytes; reports add the name of their class.
const NAME_BYTES_MAX: usize = 150;

/// Bytes as text, without the mark that some programs put before it.
///
/// # Errors
/// At the first line that is not UTF-8.
pub fn utf8<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
        let place = Place::Line(file.into(), u32::try_from(line).unwrap_or(u32::MAX));
        Error::new(&place, "the text is not UTF-8", "save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_an_error_at_the_place_that_names_it() {
        let place = Place::Line("a.toml".into(), 7);
        let error = Files::default().read(Path::new("/missing/at/all"), &place).unwrap_err().to_string();
        assert!(error.starts_with("a.toml:7: cannot read `/missing/at/all`: "), "{error}");
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        let path = std::env::temp_dir().join(format!("lightlag-huge-{}", std::process::id()));
        File::create(&path).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        let error = read(&path, &Place::File("x".into())).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert!(error.what.ends_with("is larger than 256 MiB"), "{error}");
    }

    #[test]
    fn compressed_files_are_read_within_the_same_limit() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.dat.gz");
        let mut to = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        to.write_all(b"0 1 2\n").unwrap();
        to.finish().unwrap();
        let place = Place::File("x".into());
        assert_eq!(read(&path, &place).unwrap(), b"0 1 2\n");
        let mut to = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        let zeros = vec![0; 1 << 20];
        (0..=FILE_BYTES_MAX >> 20).for_each(|_| to.write_all(&zeros).unwrap());
        to.finish().unwrap();
        assert!(read(&path, &place).unwrap_err().what.ends_with("is larger than 256 MiB"));
        std::fs::write(&path, "0 1 2\n").unwrap();
        assert!(read(&path, &place).unwrap_err().what.contains("cannot read"));
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_a_silent_one_is_given_up() {
        use std::io::Write;
        let wait = std::time::Duration::from_millis(50);
        let (from, mut to) = std::io::pipe().unwrap();
        to.write_all(b"0 1 2\n").unwrap();
        let mut bytes = [0; 9];
        let mut patient = Patient::new(from, wait);
        assert_eq!(patient.read(&mut bytes).unwrap(), 6);
        assert_eq!(patient.read(&mut bytes).unwrap_err().to_string(), "no data came within 0.05 s");
        let (from, mut to) = std::io::pipe().unwrap();
        let all = vec![7; 200_000];
        let written = all.clone();
        let writer = std::thread::spawn(move || to.write_all(&written).unwrap());
        let mut read = Vec::new();
        Patient::new(from, wait * 100).read_to_end(&mut read).unwrap();
        writer.join().unwrap();
        assert_eq!(read, all);
    }

    #[test]
    fn lines_that_end_as_on_old_macs_are_lines() {
        let read = |text: &[u8]| {
            let mut bytes = text.to_vec();
            with_line_feeds(&mut bytes);
            bytes
        };
        assert_eq!(read(b"1 2\r3 4\r"), b"1 2\n3 4\n");
        for other in [&b"1 2\r\n3 4"[..], b"\xff\r", b"", b"1 2"] {
            assert_eq!(read(other), other);
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_told_with_its_line() {
        assert_eq!(
            utf8("f", b"a\n\xff").unwrap_err().to_string(),
            "f:2: the text is not UTF-8; save the file as UTF-8"
        );
    }
}

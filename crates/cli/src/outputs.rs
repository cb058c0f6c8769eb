//! Files that must not be written over: what is read, and what another option writes.

use crate::output::{Done, Failure};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Refuses outputs that are the file that is read (`what` it is), or one file twice, by whatever paths and links.
/// To be called before the first is opened.
///
/// # Errors
/// One line that names the option.
pub fn keep_apart(read: &Path, what: &str, outputs: &[(&str, Option<&Path>)]) -> Done {
    let mut known = vec![(which(source(read)), format!("is {what}"))];
    for (option, path) in outputs {
        let Some((path, file)) = path.and_then(|path| Some((path, which(path)?))) else { continue };
        if let Some((_, whose)) = known.iter().find(|other| other.0.as_ref() == Some(&file)) {
            let line = format!("{option}: {} {whose}; name another file", path.display());
            return Err(Failure::Input(line));
        }
        known.push((Some(file), format!("is what {option} writes")));
    }
    Ok(())
}

/// Standard input may be a file as well.
fn source(path: &Path) -> &Path {
    if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path }
}

/// What makes a file this one.
#[derive(PartialEq, Eq)]
enum File {
    There { device: u64, inode: u64 },
    ToBeMade(PathBuf),
}

/// None of what holds nothing that could be lost, as terminals and pipes.
fn which(path: &Path) -> Option<File> {
    match path.metadata() {
        Ok(known) => known.is_file().then(|| File::There { device: known.dev(), inode: known.ino() }),
        Err(_) => Some(File::ToBeMade(place(path))),
    }
}

fn place(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = whole.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(whole.file_name()).map_or(whole.clone(), |(folder, name)| folder.join(name))
}

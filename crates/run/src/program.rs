//! Whether anything can be loaded into a program.

use object::{Object, ObjectSection};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program's file.
pub struct Program(PathBuf);

impl Program {
    /// Finds it as execvp(3) does, and in place of a script its interpreter.
    pub fn find(name: &OsStr) -> Option<Self> {
        const SCRIPTS_MAX: usize = 4;
        let mut path = located(name)?;
        for _ in 0..SCRIPTS_MAX {
            match interpreter(&path).and_then(|name| located(&name)) {
                Some(next) => path = next,
                None => break,
            }
        }
        Some(Self(path))
    }
    /// Why nothing can be loaded into it, if so.
    pub fn refuses(&self) -> Option<&'static str> {
        const SET_ID: u32 = 0o6000;
        if fs::metadata(&self.0).ok()?.permissions().mode() & SET_ID != 0 {
            return Some("it runs as somebody else (set-user-ID)");
        }
        let bytes = fs::read(&self.0).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        if file.section_by_name(".interp").is_none_or(|section| section.size() == 0) {
            return Some("it is linked statically");
        }
        file.section_by_name(".go.buildinfo").map(|_| "Go asks the kernel itself")
    }
}

fn located(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    let can_run = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| can_run(path))
}

/// What a script's first line names; behind `env` what that runs.
fn interpreter(path: &Path) -> Option<OsString> {
    let bytes = fs::read(path).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    let is_env = first.ends_with(b"/env");
    let behind = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    behind.filter(|_| is_env).or(Some(first)).map(|word| OsStr::from_bytes(word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_followed_to_their_interpreters() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        for (line, wanted) in [("#!/bin/sh -e\n", "/bin/sh"), ("#! /usr/bin/env -S A=1 sh -e\n", "sh")] {
            fs::write(&script, line).unwrap();
            assert_eq!(interpreter(&script), Some(wanted.into()));
            let found = Program::find(script.as_os_str()).unwrap();
            assert_eq!(found.0.file_name(), Some(OsStr::new("sh")));
            assert_eq!(found.refuses(), None, "a shell is linked dynamically");
        }
        fs::write(&script, "#!\n").unwrap();
        assert_eq!(interpreter(&script), None);
    }
}

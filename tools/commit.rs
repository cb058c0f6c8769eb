//! The build script of crates/cli and crates/python: tells them which commit they are built from.

use std::process::Command;

/// What git prints; `None` without git or outside of a checkout.
fn git(words: &[&str]) -> Option<String> {
    let asked = Command::new("git").args(words).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8(asked.stdout).ok()?.trim().to_owned())
}

/// Prints the commit for `env!("LIGHTLAG_COMMIT")`, and when to ask for it again.
pub fn main() {
    println!("cargo:rerun-if-changed=../../tools/commit.rs");
    // Every commit and checkout of this work tree adds a line.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    println!("cargo:rustc-env=LIGHTLAG_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

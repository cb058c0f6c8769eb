//! The build script of crates/cli and, by a link, of crates/python: which commit they are built from.

use std::process::Command;

/// What cargo writes into a packaged crate; it names the commit.
const PACKAGED: &str = ".cargo_vcs_info.json";

/// What git prints; `None` without git or outside of a checkout.
fn git(words: &[&str]) -> Option<String> {
    let asked = Command::new("git").args(words).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8(asked.stdout).ok()?.trim().to_owned())
}

/// The commit of a packaged crate; `None` in a checkout.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(PACKAGED).ok()?;
    let commit = text.split("\"sha1\": \"").nth(1)?;
    commit.get(..12).map(str::to_owned)
}

/// Prints the commit for `env!("LIGHTLAG_COMMIT")`, and when to ask for it again.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit = packaged().or_else(|| {
        // Every commit and checkout of this work tree adds a line.
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo:rerun-if-changed={log}");
        }
        git(&["rev-parse", "--short=12", "HEAD"])
    });
    println!("cargo:rustc-env=LIGHTLAG_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

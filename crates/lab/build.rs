//! Tells the program which commit it was built from.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/refs/heads");
    let asked = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = asked.ok().filter(|done| done.status.success()).map(|done| done.stdout);
    let commit = commit.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let commit = if commit.trim().is_empty() { "unknown" } else { commit.trim() };
    println!("cargo:rustc-env=LIGHTLAG_COMMIT={commit}");
}

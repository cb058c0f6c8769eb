//! Texts under version control: a change of behaviour is a visible diff.

use std::path::PathBuf;

/// Compares with what is kept, or keeps it where `UPDATE_GOLDEN` is set.
pub fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the folder can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        kept == text,
        "{name} has changed (UPDATE_GOLDEN=1 rewrites it), first at\n  kept {:?}\n  now  {:?}",
        differs.map(|d| d.0),
        differs.map(|d| d.1)
    );
}

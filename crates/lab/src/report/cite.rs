//! How to cite.

use crate::results::Build;

/// This program as a BibTeX entry, with the version and the commit of the results.
pub fn program(build: &Build) -> String {
    let Build { version, commit } = build;
    format!(
        "@software{{lightlag,\n  title = {{{{Lightlag: a laboratory for congestion control under delay and disruption}}}},\n  \
         author = {{{{The Lightlag developers}}}},\n  year = {{2026}},\n  version = {{{version}}},\n  \
         note = {{commit {commit}}},\n  license = {{Apache-2.0 OR MIT}},\n  url = {{https://github.com/lightlag/lightlag}}\n}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_that_of_the_guide_with_the_commit() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/cite.md");
        let guide = std::fs::read_to_string(page).expect("the guide is there");
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let made = program(&Build { version, commit: "abc".into() }).replace("\n  note = {commit abc},", "");
        assert!(guide.contains(&made), "{made}");
    }
}

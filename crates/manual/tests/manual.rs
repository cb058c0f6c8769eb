//! Manual pages in the repository are those of the programs.

use std::path::Path;

#[test]
fn manual_pages_are_those_of_the_command_lines() {
    for page in lightlag_manual::pages().expect("memory can be written") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page.path);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&file, &page.text).expect("the page can be written");
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        let advice = "UPDATE_DOCS=1 cargo test --workspace --test manual";
        assert!(found == page.text, "{} is stale: {advice}", page.path);
    }
}

#[test]
fn the_page_of_the_laboratory_has_every_command_with_its_options() {
    let pages = lightlag_manual::pages().expect("memory can be written");
    let page = pages.iter().find(|page| page.path.ends_with("lightlag.1")).expect("there is one");
    for words in ["lightlag run", "lightlag sweep", "lightlag transfer", "lightlag bundles send"] {
        assert!(page.text.contains(&format!(".SS \"{words}\"\n")), "{words}");
    }
    assert!(page.text.contains("\\-\\-shard"));
    // What the built program prints of itself would make the page stale with every commit.
    assert!(!page.text.contains(env!("CARGO_PKG_VERSION")));
}

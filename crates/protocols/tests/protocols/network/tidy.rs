//! The repository lints itself: one name per algorithm everywhere, and a page that lists all its
//! parameters.

use lightlag_protocols::dtn::{Entry, Kind};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Checks a folder of algorithms against its table and the docs.
///
/// # Panics
/// With the first thing that is missing.
pub fn tidy<A: ?Sized + Kind>(folder: &str, table: &[Entry<A>]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(root.join("src/dtn").join(folder)).expect("the folder is there");
    let files: BTreeSet<String> = files
        .filter_map(|file| file.ok()?.path().file_name()?.to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "mod")
        .collect();
    let names: BTreeSet<String> = table.iter().map(|entry| entry.name.to_owned()).collect();
    assert_eq!(files, names, "one file and one line in the table for each of {folder}");
    for entry in table {
        let path = root.join("../../docs/algorithms").join(entry.name).with_extension("md");
        let page =
            fs::read_to_string(&path).unwrap_or_else(|_| panic!("`{}` has no page in the docs", entry.name));
        assert!(
            page.starts_with(&format!("# {}\n", entry.name)),
            "the page of `{}` has its name",
            entry.name
        );
        for parameter in entry.parameters {
            let default = parameter.default.as_ref().expect("an algorithm of nodes has defaults").to_string();
            let row = format!("| `{}` | {} |", parameter.name, default.trim_matches('"'));
            assert!(page.contains(&row), "the page of `{}` has no row {row}", entry.name);
        }
    }
}

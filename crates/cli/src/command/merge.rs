//! `lightlag merge`.

use crate::args::Merge;
use crate::output::{Done, print};
use lightlag_lab::results::{RESULTS_FILE, unfinished};
use lightlag_lab::sweep;

pub fn merge(options: &Merge) -> Done {
    let results = sweep::merge(&options.folder)?;
    if let Some(line) = unfinished(&results) {
        eprintln!("{line}");
    }
    print(&format!("{} runs in {}\n", results.rows.len(), options.folder.join(RESULTS_FILE).display()))
}

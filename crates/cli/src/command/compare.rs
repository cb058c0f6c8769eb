//! `lightlag compare`.

use crate::args::Compare;
use crate::output::{Done, print};
use lightlag_lab::compare::{compare as compare_results, terminal_table};
use lightlag_lab::results::Results;

pub fn compare(options: &Compare) -> Done {
    let first = Results::read(&options.first)?;
    let second = Results::read(&options.second)?;
    let compared = compare_results(&first, &second);
    if options.json {
        print(&(serde_json::to_string_pretty(&compared)? + "\n"))?;
    } else {
        print(&(terminal_table(&compared) + "\n"))?;
    }
    Ok(())
}

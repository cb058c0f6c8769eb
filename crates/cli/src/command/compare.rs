//! `lightlag compare`.

use crate::args::Compare;
use crate::output::{Done, print};
use lightlag_lab::compare::{Compared, compare as compare_results, terminal_table};
use lightlag_lab::results::Results;

pub fn compare(options: &Compare) -> Done {
    let first = Results::read(&options.first)?;
    let second = Results::read(&options.second)?;
    let places = format!("{} and {}", options.first.display(), options.second.display());
    let compared = compare_results(&first, &second).map_err(|error| format!("{places}: {error}"))?;
    tell_alone(&compared, options);
    if options.json {
        print(&(serde_json::to_string_pretty(&compared)? + "\n"))?;
    } else {
        print(&(terminal_table(&compared) + "\n"))?;
    }
    Ok(())
}

fn tell_alone(compared: &Compared, options: &Compare) {
    let sides = [
        (compared.only_first, &options.first, &options.second),
        (compared.only_second, &options.second, &options.first),
    ];
    for (count, of, other) in sides.into_iter().filter(|side| side.0 > 0) {
        eprintln!("left out {count} points of {}, as {} has none like them", of.display(), other.display());
    }
}

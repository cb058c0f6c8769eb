//! `lightlag compare`.

use crate::args::Compare;
use crate::output::{Done, print, print_table, tell_unfinished};
use lightlag_lab::compare::{
    Asked, by, compare as compare_results, differing_keys, left_out, terminal_table,
};
use lightlag_lab::results::Results;
use std::path::PathBuf;

pub fn compare(options: &Compare) -> Done {
    let first = Results::read_any(&options.first)?;
    tell_unfinished(&first, &options.first);
    let asked = Asked::from(options.metric.clone());
    let (places, compared) = match (&options.second, &options.by) {
        (Some(second), None) => {
            let path = second;
            let second = Results::read_any(path)?;
            tell_unfinished(&second, path);
            let compared = compare_results(&first, &second, &asked);
            if compared.is_ok() {
                notes(options, &first, &second);
            }
            (options.names().join(" and "), compared)
        }
        (None, Some(axis)) => {
            let compared = by(&first, axis, options.to.as_deref())
                .and_then(|(base, others)| compare_results(&base, &others, &asked));
            (options.names().join(""), compared)
        }
        _ => return Err("compare: name a second folder, or an axis with --by, and not both".into()),
    };
    let compared = compared.map_err(|error| format!("{places}: {error}"))?;
    let heads = options.heads(&first);
    let heads = [heads[0].as_str(), heads[1].as_str()];
    left_out(&compared, heads).iter().for_each(|line| eprintln!("{line}"));
    if options.json {
        print(&(serde_json::to_string_pretty(&compared)? + "\n"))?;
    } else {
        print_table(&(terminal_table(&compared, heads) + "\n"))?;
    }
    Ok(())
}

/// What says that the two may not be those that were meant, a line each.
fn notes(options: &Compare, first: &Results, second: &Results) {
    let same = |path: &PathBuf| path.canonicalize().ok();
    if options.second.as_ref().is_some_and(|second| same(second) == same(&options.first)) {
        eprintln!("note: both are the same: {}", options.first.display());
    }
    let differing = differing_keys(first, second);
    if !differing.is_empty() {
        eprintln!("note: the scenarios differ in: {}", differing.join(", "));
    }
}

impl Compare {
    /// What stands above the figures of both sides: the folders, or the value that others are compared with.
    fn heads(&self, first: &Results) -> [String; 2] {
        match (&self.by, &self.second) {
            (Some(axis), _) => {
                let axis = first.axis(axis).unwrap_or_else(|_| axis.clone());
                let base = first.rows.iter().find_map(|row| row.value(&axis)).map(str::to_owned);
                let base = self.to.clone().or(base).unwrap_or_default();
                [format!("{axis}={base}"), "the other".to_owned()]
            }
            (None, Some(second)) => [&self.first, second].map(|path| path.display().to_string()),
            (None, None) => [self.first.display().to_string(), String::new()],
        }
    }
    /// The folders, as they are named in messages.
    fn names(&self) -> Vec<String> {
        [Some(&self.first), self.second.as_ref()]
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect()
    }
}

//! `lightlag compare`.

use crate::args::Compare;
use crate::output::{Done, print};
use lightlag_lab::compare::{Asked, Compared, by, compare as compare_results, terminal_table};
use lightlag_lab::results::Results;

pub fn compare(options: &Compare) -> Done {
    let first = Results::read(&options.first)?;
    let asked = Asked::from(options.metric.clone());
    let (places, compared) = match (&options.second, &options.by) {
        (Some(second), None) => {
            let second = Results::read(second)?;
            (options.names().join(" and "), compare_results(&first, &second, &asked))
        }
        (None, Some(axis)) => {
            let compared = by(&first, axis, options.base.as_deref())
                .and_then(|(base, others)| compare_results(&base, &others, &asked));
            (options.names().join(""), compared)
        }
        _ => return Err("compare: name a second folder, or an axis with --by, and not both".into()),
    };
    let compared = compared.map_err(|error| format!("{places}: {error}"))?;
    tell_alone(&compared, &options.names());
    if options.json {
        print(&(serde_json::to_string_pretty(&compared)? + "\n"))?;
    } else {
        print(&(terminal_table(&compared) + "\n"))?;
    }
    Ok(())
}

fn tell_alone(compared: &Compared, names: &[String]) {
    let [first, second] = names else { return };
    let sides = [(compared.only_first, first, second), (compared.only_second, second, first)];
    for (count, of, other) in sides.into_iter().filter(|side| side.0 > 0) {
        eprintln!("left out {count} points of {of}, as {other} has none like them");
    }
}

impl Compare {
    /// The folders, as they are named in messages.
    fn names(&self) -> Vec<String> {
        [Some(&self.first), self.second.as_ref()]
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect()
    }
}

//! `lightlag explain`.

use super::progress::Shown;
use super::run::{choose, first_seed, tell_points};
use super::{print_warnings, read, tell_traces};
use crate::args::{Explain, Source};
use crate::output::{Done, Failure, print};
use lightlag_lab::explain::{Asked, Explanation, is_trace, of_run, of_trace};
use lightlag_lab::run::ContactsCache;

pub fn explain(options: &Explain) -> Done {
    let asked = match (options.bundle, options.lost, options.why) {
        (Some(id), ..) => Asked::Bundle(id),
        (None, true, _) => Asked::Lost,
        (None, false, true) => Asked::Why,
        (None, false, false) => Asked::Summary,
    };
    let made = match &options.files[..] {
        [one] if is_trace(one) => {
            refuse_keys_of_runs(options)?;
            of_trace(one, asked)?
        }
        _ => run_again(options, asked)?,
    };
    print(&if options.json { format!("{:#}\n", made.json) } else { made.text })
}

fn run_again(options: &Explain, asked: Asked) -> Result<Explanation, Failure> {
    let Explain { files, sets, no_defaults, .. } = options;
    let source = Source { files: files.clone(), sets: sets.clone(), no_defaults: *no_defaults };
    let file = read(&source)?;
    let mut points = file.points()?;
    let count = points.list.len();
    let point = choose(std::mem::take(&mut points.list), options.which.point)?;
    let seed = first_seed(options.which.seed, &file)?;
    tell_points(count, options.which.point);
    print_warnings(&points);
    tell_traces([&point]);
    let cache = ContactsCache::default();
    let shown = Shown::start(&point.scenario);
    Ok(of_run(&point.scenario, seed, &cache, asked, shown.progress())?)
}

/// A trace is of one run, with its seed and its values.
fn refuse_keys_of_runs(options: &Explain) -> Done {
    let given = [
        ("--seed", options.which.seed.is_some()),
        ("--point", options.which.point.is_some()),
        ("--set", !options.sets.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::Input(format!(
            "{option}: a trace is of one run; name the scenario to run it with other values"
        ))),
    }
}

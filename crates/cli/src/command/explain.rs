//! `lightlag explain`.

use super::progress::Shown;
use super::run::{choose, first_seed, tell_points};
use super::{print_warnings, read, tell_traces};
use crate::args::{Explain, Source};
use crate::output::{Done, Failure, print};
use lightlag_lab::explain::{Asked, Explanation, bundle_of_name, is_trace, of_run, of_trace};
use lightlag_lab::run::ContactsCache;

pub fn explain(options: &Explain) -> Done {
    let made = match &options.files[..] {
        [one] if is_trace(one) => {
            refuse_keys_of_runs(options)?;
            let named = |_: &str| {
                Err(Failure::Input(
                    "--bundle: a trace numbers its bundles; give a number, from 0 on".to_owned(),
                ))
            };
            of_trace(one, asked(options, named)?)?
        }
        _ => named(run_again(options)?, options.bundle.as_deref()),
    };
    print(&if options.json { format!("{:#}\n", made.json) } else { made.text })
}

/// What is asked; `named` finds the number of a bundle that is given by name.
fn asked(options: &Explain, named: impl FnOnce(&str) -> Result<u32, Failure>) -> Result<Asked, Failure> {
    Ok(match (&options.bundle, options.lost, options.why) {
        (Some(id), ..) if options.all => Asked::AllCopies(id.parse().or_else(|_| named(id))?),
        (Some(id), ..) => Asked::Bundle(id.parse().or_else(|_| named(id))?),
        (None, true, _) => Asked::Lost,
        (None, false, true) => Asked::Why,
        (None, false, false) => Asked::Summary,
    })
}

/// An answer about a bundle has the name by which it was asked for.
fn named(made: Explanation, bundle: Option<&str>) -> Explanation {
    match bundle.filter(|name| name.parse::<u32>().is_err()) {
        Some(name) => made.of_name(name),
        None => made,
    }
}

fn run_again(options: &Explain) -> Result<Explanation, Failure> {
    let Explain { files, sets, no_defaults, .. } = options;
    let source = Source { files: files.clone(), sets: sets.clone(), no_defaults: *no_defaults };
    let file = read(&source)?;
    let mut points = file.points()?;
    let count = points.list.len();
    let point = choose(std::mem::take(&mut points.list), options.which.point)?;
    let seed = first_seed(options.which.seed, &file)?;
    tell_points(count, options.which.point, &point);
    print_warnings(&points);
    tell_traces([&point]);
    let asked = asked(options, |name| Ok(bundle_of_name(&point.scenario, seed, name)?))?;
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

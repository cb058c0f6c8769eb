//! `lightlag validate`.

use super::read_from;
use crate::args::Validate;
use crate::output::{Done, Failure, print};
use lightlag_scenario::{Error, Place, Points, ScenarioFile};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub fn validate(options: &Validate) -> Done {
    let layers = options.layers.then(|| vec![options.files.as_slice()]);
    let scenarios = layers.unwrap_or_else(|| options.files.chunks(1).collect());
    let checked: Vec<Checked> = scenarios.into_iter().map(|files| check(files, options)).collect();
    if options.json {
        let all: Vec<Value> = checked.iter().map(Checked::json).collect();
        print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
    } else {
        checked.iter().flat_map(|one| &one.warnings).for_each(|line| eprintln!("{line}"));
        print(&checked.iter().filter_map(Checked::line).collect::<String>())?;
    }
    let errors: Vec<String> = checked.iter().flat_map(Checked::errors).map(line_of).collect();
    match errors[..] {
        [] => Ok(()),
        _ if options.json => Err(Failure::Ended(2)),
        _ => Err(Failure::Input(errors.join("\n"))),
    }
}

/// A scenario, and what is wrong with it.
struct Checked {
    name: String,
    outcome: Result<(Points, usize), Error>,
    warnings: Vec<String>,
}

fn check(files: &[PathBuf], options: &Validate) -> Checked {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let outcome = read_from(&paths, &options.sets, options.no_defaults).and_then(|file| examined(&file));
    let warnings = outcome.as_ref().map_or_else(|_| Vec::new(), |(points, _)| points.warnings());
    Checked { name: names.join(" "), outcome, warnings }
}

/// Its points and the number of its seeds.
fn examined(file: &ScenarioFile) -> Result<(Points, usize), Error> {
    let seeds = file.seeds();
    match (file.points(), seeds) {
        (Ok(points), Ok(seeds)) => Ok((points, seeds.len())),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        (Err(first), Err(second)) => Err(Error::all([first.clone(), second]).unwrap_or(first)),
    }
}

fn line_of(error: &Error) -> String {
    let Error { place, what, right, .. } = error;
    format!("{place}: {what}; {right}")
}

impl Checked {
    /// That it is valid, and what a sweep of it would run.
    fn line(&self) -> Option<String> {
        let (points, seeds) = self.outcome.as_ref().ok()?;
        let count =
            |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let (points, runs) = (points.list.len(), points.list.len() * seeds);
        let [runs, points, seeds] =
            [(runs, "run"), (points, "point"), (*seeds, "seed")].map(|(n, what)| count(n, what));
        Some(format!("{}: valid; {runs} ({points}, {seeds})\n", self.name))
    }
    fn errors(&self) -> impl Iterator<Item = &Error> {
        let first = self.outcome.as_ref().err();
        first.into_iter().flat_map(|first| std::iter::once(first).chain(&first.more))
    }
    fn json(&self) -> Value {
        let errors: Vec<Value> = self.errors().map(json_of).collect();
        let found = self.outcome.as_ref().ok();
        json!({
            "file": self.name,
            "valid": errors.is_empty(),
            "points": found.map(|(points, _)| points.list.len()),
            "seeds": found.map(|(_, seeds)| seeds),
            "errors": errors,
            "warnings": self.warnings,
        })
    }
}

fn json_of(error: &Error) -> Value {
    let (file, line) = match &error.place {
        Place::Line(file, line) => (file.to_string(), Some(line)),
        other => (other.to_string(), None),
    };
    json!({"file": file, "line": line, "what": error.what, "accepted": error.right})
}

//! copy_value against all others on recorded contacts of people, which no node knows in advance.
//!
//! The traces are what their projects publish, put into `out/traces` by the reader of the study; one that was drawn
//! stands in for them where none is there. Cells, treatments and grades are shared with [`crate::universal`].

mod charts;
mod claims;
mod front;
mod plan;
mod tables;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::shared::points::{Points, unpack};
use crate::shared::words::Words;
use crate::shared::{Evidence, Order, Real, Said, Study};
use crate::universal::cells;
use include_dir::{Dir, include_dir};
use lightlag_lab::report::ScenarioText;
use lightlag_lab::run::Outcome;
use plan::{FOLDER, TRACES, Trace};
use std::path::Path;
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios/traces");

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "traces",
    paper: "(ours)",
    summary: "copy_value against every other congestion mechanism on recorded contacts",
    takes: "5 s quick, 11 min with all traces",
    words: &WORDS,
    plan: points,
    metrics: Outcome::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let results = evidence.results;
        let standings = cells::standings(results);
        Ok(Said {
            front: front::front(&standings),
            views: evidence.views(|out| front::views(&standings, &out.join("scenarios").join("traces")))?,
            claims: claims::evaluate(&standings, results),
            figures: charts::all(&standings),
            tables: tables::all(&standings),
            warnings: warning().into_iter().collect(),
            facts: cells::facts(results, &standings),
            ..Said::default()
        })
    },
    real: Real::Nothing,
    judges_controllers: false,
    draws_networks: false,
};

/// Those traces whose files are here.
fn present() -> Vec<&'static Trace> {
    TRACES.iter().filter(|trace| Path::new(FOLDER).join(trace.data).is_file()).collect()
}

/// Writes the scenarios into the folder, and makes the plan from them.
fn points(order: &Order<'_>) -> Result<Points, Error> {
    let folder = order.out.join("scenarios").join("traces");
    unpack(&FILES, &folder)?;
    let points = plan::plan(order.quick, &present(), &folder)?;
    Ok(Points { text: text_of(plan::GENERATED).to_owned(), scenarios: scenarios(), ..points })
}

/// The files that are missing.
fn warning() -> Option<String> {
    let here = present();
    let missing = TRACES.iter().filter(|trace| !here.iter().any(|one| one.data == trace.data));
    let missing: Vec<String> = missing.map(|trace| format!("{} ({})", trace.name, trace.data)).collect();
    let instead = if here.is_empty() { " A trace that was drawn stands in for all." } else { "" };
    (!missing.is_empty()).then(|| {
        format!(
            "Not in {FOLDER}, and so skipped: {}.{instead} The guide on contact traces names their projects.",
            missing.join(", ")
        )
    })
}

fn text_of(name: &str) -> &'static str {
    FILES.get_file(name).and_then(|file| file.contents_utf8()).unwrap_or_default()
}

/// The scenarios that were run, for the report.
fn scenarios() -> Vec<ScenarioText> {
    let here = present();
    let files = here.iter().map(|trace| trace.file).chain(here.is_empty().then_some(plan::GENERATED));
    files.map(|name| ScenarioText { name: name.to_owned(), text: text_of(name).to_owned() }).collect()
}

//! The study of Adaptive Rate Control, run again.
//!
//! "A Congestion Control Algorithm for the Planetary Internet" (Grieco and Mascolo, IFAC 2005): its figures 3, 4
//! and 5 with its TCPs and ARC, and beside them what came since, UDPDTN at the rate of the contact, and the limit.

mod claims;
mod figures;
mod plan;
mod sharing;
mod view;

use crate::points::{Text, violations};
use crate::{Error, Studied};
use lightlag_lab::report::Report;
use lightlag_lab::results::Metrics;
use lightlag_lab::run::Outcome;
use std::path::Path;

/// Heading of the report.
pub const TITLE: &str = "Adaptive Rate Control on planetary links, run again";

/// What a reader must know before believing a quick look.
const QUICK: &str = "This is a quick look, not the study: two seeds instead of ten and fewer points. Run it without \
                     --quick before believing a verdict.";

/// Runs the study into a folder, on so many threads (0: one per core), and goes on where it was stopped.
///
/// # Errors
/// The folder cannot be used.
pub fn run(quick: bool, out: &Path, threads: usize) -> Result<Studied, Error> {
    let points = plan::plan(quick)?;
    let results = points.run((&out.join("runs"), threads), plan::LINK.toml, metrics)?;
    let violations = violations(&results);
    let again = if quick { "lightlag study arc --quick" } else { "lightlag study arc" };
    let report = Report {
        title: TITLE.to_owned(),
        introduction: introduction(),
        warnings: if quick { vec![QUICK.to_owned()] } else { Vec::new() },
        build: results.build.clone(),
        seeds: results.seeds(),
        runs: results.rows.len(),
        again: vec![again.to_owned()],
        claims: claims::evaluate(&results),
        figures: figures::all(&results),
        tables: figures::tables(&results),
        scenarios: [plan::LINK, plan::SHARING, plan::BESIDE].map(Text::shown).to_vec(),
    };
    Ok(Studied { results, report, violations })
}

/// Those of the run, and of two flows of different kinds.
fn metrics(outcome: &Outcome) -> Metrics {
    let mut metrics = outcome.metrics();
    for name in ["ours", "beside"] {
        let goodput = outcome.figures.of_part(name, "goodput_bit_per_s");
        metrics.extend(goodput.map(|bits| (format!("goodput_of_{name}"), bits)));
    }
    metrics
}

fn introduction() -> Vec<String> {
    [
        "One flow sends 1 GB over a link of 1 Mbit/s that loses packets at random in both directions, with a queue of \
         100 packets: the paper's scenario. A run ends with the file or after 400 round trips, at least 20000 s.",
        "ARC is shown under three readings of what the paper leaves open: the window holds while a hole is open (the \
         paper's words, and ours by default), it answers each newly found loss, or it also probes quickly again up to \
         the window of the last event. CUBIC, Hybla and BBR came later; BBR believes its least round-trip time for \
         10 s, as published, or for ever. UDPDTN sends at the rate of the contact, told by the plan or found out. TCP-Planet has a queue with priorities, \
         which it needs.",
        "What the paper does not ask: how flows of UDPDTN share the link with each other and with CUBIC (the last two \
         claims and tables, which are ours).",
        "A point has ten seeds; three where the reading is not the paper's, one where flows share.",
    ]
    .map(str::to_owned)
    .to_vec()
}

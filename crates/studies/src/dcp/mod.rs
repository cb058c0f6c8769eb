//! The study of DCP, run again.
//!
//! "A Delay-Based Congestion-Control Protocol for Information-Centric Networks" (Albalawi and Garcia-Luna-Aceves,
//! 2019): its figures 3, 4 and 5 and its claims, what its readings give, and where it ends; beside it what consumers
//! of named Data use today, and short_queue.

mod claims;
mod curves;
mod figures;
mod ours;
mod plan;
mod reference;
mod tables;
#[cfg(test)]
mod tests;
mod variants;
mod view;

use crate::points::{Text, violations};
use crate::{Error, Studied};
use lightlag_lab::report::Report;
use lightlag_lab::results::Metrics;
use lightlag_lab::run::Outcome;
use std::path::Path;

/// Heading of the report.
pub const TITLE: &str = "DCP: delay-based congestion control for named data, run again";

/// What a reader must know before believing a quick look.
const QUICK: &str = "This is a quick look, not the study: two or three seeds and fewer points. Run it without --quick \
                     before believing a verdict.";

/// Runs the study into a folder, on so many threads (0: one per core), and goes on where it was stopped.
///
/// # Errors
/// The folder cannot be used.
pub fn run(quick: bool, out: &Path, threads: usize) -> Result<Studied, Error> {
    let points = plan::plan(quick)?;
    let results = points.run((&out.join("runs"), threads), plan::SINGLE.toml, metrics)?;
    let curves = curves::all()?;
    let violations = violations(&results);
    let again = if quick { "lightlag study dcp --quick" } else { "lightlag study dcp" };
    let report = Report {
        title: TITLE.to_owned(),
        introduction: introduction(),
        warnings: if quick { vec![QUICK.to_owned()] } else { Vec::new() },
        build: results.build.clone(),
        seeds: results.seeds(),
        runs: results.rows.len(),
        again: vec![again.to_owned()],
        claims: claims::evaluate(&results, &curves),
        figures: figures::all(&results, &curves),
        tables: tables::all(&results),
        scenarios: [plan::SINGLE, plan::CACHING, plan::TWO_FLOWS].map(Text::shown).to_vec(),
    };
    Ok(Studied { results, report, violations })
}

/// Those of the run, and of its consumers.
fn metrics(outcome: &Outcome) -> Metrics {
    let mut metrics = outcome.metrics();
    for consumer in ["one", "two"] {
        for (name, figure) in view::OF_CONSUMERS {
            let value = outcome.figures.of_part(consumer, figure);
            metrics.extend(value.map(|value| (format!("{name}_of_{consumer}"), value)));
        }
    }
    metrics
}

fn introduction() -> Vec<String> {
    [
        "A consumer asks a producer for Data of 1024 B over three links of 10 ms, the middle one of 10 Mbit/s with a \
         queue of 60 packets: the path that follows from the paper's bandwidth-delay product. No more than 9.67 Mbit/s \
         of content fit through it. Where the paper's text leaves a choice, DCP takes the one with which its own \
         figures come out; the table of readings shows the others, beside ndnSIM and a sketch that shares no code with \
         this program.",
        "The paper's TCP-like protocol halves its window at each of the several timeouts of one overflow (\"aimd, each \
         timeout\"); consumers of today cut it once per round trip (\"aimd\"). LEDBAT has DCP's target of 50 ms. The \
         queues of PCON mark what has waited too long. Where there is a store the queue holds 120 packets, which the paper \
         leaves open: one of 60 is full at the target, so that DCP loses a packet now and then and gets 8.1 Mbit/s, whichever \
         site it switches to.",
        "The last claims are ours, on short_queue. Runs without jitter are all alike and have one seed; where chance \
         matters there are five seeds, or twenty.",
    ]
    .map(str::to_owned)
    .to_vec()
}

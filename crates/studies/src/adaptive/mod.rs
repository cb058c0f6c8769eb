//! The study of connections that move between TCP and datagrams.
//!
//! "An Adaptive Architecture to Support Delay Tolerant Networking" (Petz and Julien, University of Texas, 2008): its two
//! scenarios and Figures 7a to 7d, beside a reliable transport that is moved by who knows the delay and by a policy that
//! does not, and fifty delay curves that the paper does not have.

mod claims;
mod curves;
mod figures;
mod plan;
pub mod real;
mod runs;
mod tables;
#[cfg(test)]
mod tests;
mod view;

use crate::points::{Text, violations};
use crate::{Error, Studied};
use lightlag_lab::report::Report;
use lightlag_lab::run::Outcome;
use std::path::Path;

/// Heading of the report.
pub const TITLE: &str = "Connections that stay while what carries them changes";

/// What a reader must know before believing a quick look.
const QUICK: &str = "This is a quick look, not the study: two seeds instead of five, and ten curves instead of fifty. Run it \
                     without --quick before believing a verdict.";

/// Runs the study into a folder, on so many threads (0: one per core), and goes on where it was stopped. What is
/// measured between two kernels takes its own time, and is measured again each time.
///
/// # Errors
/// The folder cannot be used, or kernels cannot be.
pub fn run(quick: bool, real: Option<real::Make>, out: &Path, threads: usize) -> Result<Studied, Error> {
    let (rows, mut runs) = real.map(real::run).transpose().map_err(Error::Real)?.unwrap_or_default();
    let points = plan::plan(quick)?;
    let mut results = points.run((&out.join("runs"), threads), plan::SHORT.toml, Outcome::metrics)?;
    results.rows.extend(rows);
    runs.extend(runs::all()?);
    let violations = violations(&results);
    let mut again = "lightlag study adaptive".to_owned();
    again += if quick { " --quick" } else { "" };
    again += if real.is_some() { " --real" } else { "" };
    let report = Report {
        title: TITLE.to_owned(),
        introduction: introduction(),
        warnings: if quick { vec![QUICK.to_owned()] } else { Vec::new() },
        build: results.build.clone(),
        seeds: results.seeds(),
        runs: results.rows.len(),
        again: vec![again],
        claims: claims::evaluate(&results),
        figures: figures::all(&results, &runs),
        tables: tables::all(&results, &runs),
        scenarios: [plan::SHORT, plan::LONG].map(Text::shown).to_vec(),
    };
    Ok(Studied { results, report, violations })
}

fn introduction() -> Vec<String> {
    [
        "The paper swaps TCP for plain UDP under a connection while the delay is long, told when by who knows the delay, \
         and loses 0.01 % and 1.74 % of the packets. Here connections are streams with offsets that either stack carries: \
         nothing is lost or reordered, and the far end checks every byte. The policy knows what a daemon can know: TCP's \
         round trip, timer, silence and delivery rate, and the datagrams' round trip.",
        "The curves are those with which a kernel's TCP of 2008 delivers what it did in the paper: 72 packets of 1,076 bytes a \
         second with ramps of 90 s, and 90 with ramps of 60 s. The limit is that of a sender that fills the link from the \
         first moment on and repeats what is lost: it is computed from the curve. TCP is that of the world, with CUBIC; its \
         threshold of duplicates is set to 6, as the kernel's grows where packets are reordered.",
        "With --real both scenarios are run between two kernels, too, in twenty minutes: network namespaces with \
         a modelled link between them, and either the kernel's TCP alone, with CUBIC, as it was in 2008 (buffers of 174,760 \
         bytes, neither RACK nor tail loss probes) or as it is, or two lightlagd. Packets are of 1,076 bytes in all; bytes that come \
         in order are counted by 1,024.",
        "The fifty curves are drawn with fixed seeds: plateaus, ramps and flaps between 10 ms and 120 s over twenty minutes, \
         every second one without loss, the others with up to 5 % where the delay is longest; each is run with three seeds.",
    ]
    .map(str::to_owned)
    .to_vec()
}

//! The study of DCCP between DTN nodes.
//!
//! "Analysis of DCCP for Delay/Disruption Tolerant Networking" (Jero, Ohio University, 2010) found DCCP in Linux
//! slower than TCP and UDP, stuck at one packet a round trip, pausing, and inconsistent after losses. Its
//! measurements are made again with DCCP of our own, beside TCP with the same controllers, and beside the faults.

mod claims;
mod curves;
mod figures;
mod plan;
mod seen;
pub mod sockets;
mod tables;
#[cfg(test)]
mod tests;
mod variants;
mod view;

use crate::points::{Text, violations};
use crate::{Error, Studied};
use lightlag_lab::report::Report;
use std::path::Path;

/// Heading of the report.
pub const TITLE: &str = "DCCP for delay-tolerant networks: what the poster needed";

/// What a reader must know before believing a quick look.
const QUICK: &str = "This is a quick look, not the study: six connections instead of thirty, fewer rates, and nothing on real sockets. Run it \
                     without --quick before believing a verdict.";

/// Runs the study into a folder, on so many threads (0: one per core), and goes on where it was stopped. What is
/// measured on real sockets takes its own time, and is measured again each time; a quick look leaves it out.
///
/// # Errors
/// The folder cannot be used.
pub fn run(quick: bool, out: &Path, threads: usize, connect: sockets::Connect) -> Result<Studied, Error> {
    let points = plan::plan(quick)?;
    let mut results = points.run((&out.join("runs"), threads), plan::SATELLITE.toml, seen::metrics)?;
    let mut warnings = Vec::new();
    if quick {
        warnings.push(QUICK.to_owned());
    } else {
        match sockets::run(connect) {
            Ok(rows) => results.rows.extend(rows),
            Err(why) => warnings.push(format!("Nothing was measured on real sockets: {why}.")),
        }
    }
    let (curves, connections) = curves::all()?;
    let violations = violations(&results);
    let again = if quick { "lightlag study dccp --quick" } else { "lightlag study dccp" };
    let report = Report {
        title: TITLE.to_owned(),
        introduction: introduction(),
        warnings,
        build: results.build.clone(),
        seeds: results.seeds(),
        runs: results.rows.len(),
        again: vec![again.to_owned()],
        claims: claims::evaluate(&results),
        figures: figures::all(&results, &curves).into_iter().chain(connections).collect(),
        tables: tables::all(&results),
        scenarios: vec![Text::shown(plan::SATELLITE)],
    };
    Ok(Studied { results, report, violations })
}

fn introduction() -> Vec<String> {
    [
        "One connection without end over a satellite, 1.5 Mbit/s and a round trip of 600 ms, whose queue holds 75 packets: \
         the poster's link. A run lasts five minutes. Without chance all runs would be alike, and their spread nothing: a \
         little traffic beside (20 kbit/s on average, in bursts) and a jitter too small for overtaking make them \
         differ. Losses are then those of a full queue; losses at random are shown beside them, on the same seeds \
         for both transports.",
        "Links from 128 kbit/s to 100 Mbit/s have a round trip of 100 ms, and a queue of a bandwidth-delay product or 20 \
         packets. TCP finds its losses by selective acknowledgements, as Ack Vectors let DCCP find them. UDP is datagrams at \
         the rate of the link, without control. Goodput is what arrived: of 1500 bytes of a packet TCP fills 1460, \
         DCCP 1456.",
        "What a sender does is read from captures of its packets, by the analysis of lightlag capture: losses with \
         the window before and in the second round trip after, times of 200 ms or more without data and \
         what ended them. It knows nothing of the sender's own variables.",
        "Each fault of Linux before version 3.2 is brought back by a switch of the model, so that the same figures stand \
         before and after. The window that stays at one packet, and the receiver that waits for more packets than the \
         window has, show where a timer makes windows one packet: on the poster's link, silent from 10 to 15 s.",
        "On real sockets the same senders and receivers run as thirty pairs at a time, DCCP in UDP (RFC 6773) over loopback, \
         and between each pair the poster's link in real time, with the traffic of the world beside. TCP with the same \
         controllers is that of the world.",
    ]
    .map(str::to_owned)
    .to_vec()
}

//! `lightlag emulate`.

use super::emulate_packets::emulate_packets;
use super::{address, listening_address, read};
use crate::args::sockets::Emulate;
use crate::output::{Done, Failure, print};
use lightlag_node::emulate::{Emulating, Emulator};
use lightlag_node::transfer::PORT;
use lightlag_protocols::link::{Counts, LinkSpec};
use serde_json::json;
use std::time::Instant as Real;

pub fn emulate(options: &Emulate) -> Done {
    match (&options.listen, &options.to) {
        (Some(listen), Some(to)) => datagrams(options, listen, to),
        _ if options.command.is_empty() && options.between.is_empty() => Err(Failure::Input(
            "what is the link between? Name a command after `--`, or --between NETNS NETNS, or --listen and --to"
                .to_owned(),
        )),
        _ => emulate_packets(options),
    }
}

/// A link in both directions, and a seed.
pub fn link(options: &Emulate) -> Result<([LinkSpec; 2], u64), Failure> {
    let file = read(&options.source)?;
    let point = file.points()?.list.into_iter().next();
    let scenario = point.ok_or_else(|| Failure::Input("the scenario has no points".to_owned()))?.scenario;
    let seed = match file.seeds()?.first() {
        Some(lightlag_scenario::Seed::Number(number)) => *number,
        _ => scenario.head().own_seed,
    };
    let network = scenario.packets().ok_or_else(|| {
        Failure::Input(format!(
            "{}: it has no links; name a scenario with [links.NAME]",
            scenario.head().name
        ))
    })?;
    let pair = network.both_ways(options.link.as_deref());
    let pair = pair.map_err(|why| Failure::Input(format!("--link: {why}")))?;
    Ok((pair, options.seed.unwrap_or(seed)))
}

fn datagrams(options: &Emulate, listen: &str, to: &str) -> Done {
    let ([forward, back], seed) = link(options)?;
    let span = options.span;
    let (listen, to) = (listening_address(listen, PORT)?, address(to, PORT)?);
    let emulating = Emulating { listen, to, forward, back, seed };
    let mut emulator = Emulator::new(&emulating)
        .map_err(|why| format!("cannot listen at {}: {why}; name a free address", emulating.listen))?;
    eprintln!("listening at {}", emulator.address()?);
    let began = Real::now();
    let goes_on = || span.is_none_or(|span| began.elapsed().as_nanos() < span.as_nanos() as u128);
    emulator.run(&mut { goes_on }).map_err(|why| Failure::Failed(format!("the socket: {why}")))?;
    let [there, back] = emulator.counts();
    let text = if options.json {
        json!({ "forward": counts(&there), "back": counts(&back) }).to_string()
    } else {
        format!(
            "there: {} of {} datagrams arrived; back: {} of {}",
            there.arrived, there.offered, back.arrived, back.offered
        )
    };
    print(&(text + "\n"))
}

pub fn counts(counts: &Counts) -> serde_json::Value {
    json!({
        "offered": counts.offered,
        "arrived": counts.arrived,
        "dropped": counts.dropped,
        "marked": counts.marked,
        "lost": counts.lost,
        "bytes": counts.left_bytes,
    })
}

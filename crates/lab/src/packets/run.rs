//! A run of packets: figures, and what else was asked for.

use super::{Network, PacketSeries, figures, of_flows};
use crate::capture::Capture;
use crate::metrics::{Figures, TimeSeries};
use crate::run::{Options, Outcome, create_file, place_of, told};
use crate::scenario::{Error, Result, Scenario, Seed};
use crate::trace::TraceError;
use lightlag_worlds::packets::{self, Setup};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Runs a scenario of packets with a seed.
///
/// # Errors
/// What is wrong with the file of the trace.
pub(crate) fn run(scenario: &Scenario, network: &Network, seed: Seed, options: &Options) -> Result<Outcome> {
    let mut setup = network.setup(seed, scenario.own_seed, scenario.duration);
    if !options.series {
        setup.sample_every = None;
    }
    let mut capture = match &options.trace {
        Some(path) => Some(open(path, network, &setup, options)?),
        None => None,
    };
    let samples = options.series && setup.sample_every.is_some();
    let mut series = samples.then(|| PacketSeries::new(network));
    // Who does not want to see packets gets the rest without a look at each of them.
    let outcome = match &mut capture {
        Some(capture) => packets::run(&setup, &mut (capture, &mut series)),
        None => packets::run(&setup, &mut series),
    };
    if let (Some(capture), Some(path)) = (capture, &options.trace) {
        capture.finish().map_err(|what| told(path, &TraceError::Format(what)))?;
    }
    let names = network.flows.iter().map(|flow| flow.name.clone());
    let flows = names.zip(of_flows(&outcome)).collect();
    Ok(Outcome {
        figures: Figures { numbers: figures(&outcome), latencies: Vec::new(), flows },
        violations: Vec::new(),
        violations_total: 0,
        reports: Vec::new(),
        series: series.map(TimeSeries::Packets),
    })
}

fn open(
    path: &Path,
    network: &Network,
    setup: &Setup,
    options: &Options,
) -> Result<Capture<BufWriter<File>>> {
    if path.extension().and_then(|end| end.to_str()) != Some("pcapng") {
        let right = "name it like trace.pcapng";
        return Err(Error::new(&place_of(path), "a trace of packets has no such ending", right));
    }
    let file = create_file(path).map_err(|error| told(path, &TraceError::File(error)))?;
    Capture::new(file, network, setup, &options.capture)
}

//! A run of packets: figures, verdict, series and trace.

use super::{FlowPlan, Network, PacketRow, PacketSeries, figures, of_flows};
use crate::capture::Capture;
use crate::judge::packets::{Event, PacketJudge, PacketRules};
use crate::metrics::{Figures, Part, TimeSeries};
use crate::run::{Options, Outcome, create_file, open_trace, told};
use crate::scenario::{Result, Scenario, Seed};
use crate::trace::{TraceError, TraceWriter};
use lightlag_protocols::time::Instant;
use lightlag_worlds::packets::{self, Observer, Record, Setup};
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
    // First of all: whoever cannot have a trace should not wait for the run.
    let mut trace = match &options.trace {
        Some(path) => Some(Trace::open(path, network, &setup, options)?),
        None => None,
    };
    let mut judge = options.judge.then(|| PacketJudge::new(rules(network, &setup)));
    let mut series = setup.sample_every.map(|_| {
        let links = network.links.iter().map(|link| link.name.clone()).collect();
        PacketSeries::new(network.flows.iter().map(|flow| flow.name.clone()).collect(), links)
    });
    // Who does not want to see packets gets the rest without a look at them. The world is compiled for these
    // two only: with more, less of it is compiled into one piece.
    let outcome = if trace.is_none() && judge.is_none() {
        packets::run(&setup, &mut series)
    } else {
        packets::run(&setup, &mut ((&mut trace, &mut judge), &mut series))
    };
    if let (Some(trace), Some(path)) = (trace, &options.trace) {
        trace.finish(outcome.ended).map_err(|error| told(path, &error))?;
    }
    if let Some(judge) = &mut judge {
        judge.end(outcome.ended);
    }
    let flows = network.flows.iter().zip(of_flows(&outcome));
    let part = |(flow, numbers): (&FlowPlan, _)| Part { kind: "flows", name: flow.name.clone(), numbers };
    let parts = flows.map(part).collect();
    Ok(Outcome {
        figures: Figures { numbers: figures(&outcome), latencies: Vec::new(), parts },
        violations: judge.iter().flat_map(PacketJudge::verdict).map(ToString::to_string).collect(),
        violations_total: judge.as_ref().map_or(0, PacketJudge::total),
        reports: Vec::new(),
        series: series.map(TimeSeries::Packets),
    })
}

/// What the judge is to know, with the names that the scenario gives.
fn rules(network: &Network, setup: &Setup) -> PacketRules {
    PacketRules {
        link_names: network.links.iter().map(|link| link.name.clone()).collect(),
        flow_names: network.flows.iter().map(|flow| flow.name.clone()).collect(),
        ..PacketRules::of(setup)
    }
}

/// Where packets are written to, by the end of the file's name.
enum Trace {
    Capture(Box<Capture<BufWriter<File>>>),
    Rows(TraceWriter<PacketRow, BufWriter<File>>),
}

impl Trace {
    fn open(path: &Path, network: &Network, setup: &Setup, options: &Options) -> Result<Self> {
        if path.extension().is_some_and(|end| end == "pcapng") {
            // A place that is not there leaves no file behind.
            crate::capture::Points::new(network, &options.capture)?;
            let file = create_file(path).map_err(|error| told(path, &TraceError::File(error)))?;
            return Capture::new(file, network, setup, &options.capture)
                .map(|made| Self::Capture(made.into()));
        }
        let names = "trace.pcapng, trace.parquet, or trace.jsonl for people";
        open_trace(path, names).map(Self::Rows)
    }
    fn finish(self, ended: Instant) -> std::result::Result<(), TraceError> {
        match self {
            Self::Capture(capture) => capture.finish().map(drop).map_err(TraceError::Format),
            Self::Rows(mut trace) => {
                trace.put(ended, &Event::End);
                trace.finish().map(drop)
            }
        }
    }
}

impl Observer for Trace {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        match self {
            Self::Capture(capture) => capture.on_record(now, record),
            Self::Rows(trace) => trace.on_record(now, record),
        }
    }
}

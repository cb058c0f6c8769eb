//! A run of packets: figures, verdict, series and trace.

use super::{PacketSeries, figures, of_flows};
use crate::metrics::{Figures, Part, TimeSeries};
use crate::run::{Options, Outcome, create_file, open_trace, told};
use crate::{captured, judged};
use lightlag_capture::analysis::{Analysed, analyse};
use lightlag_capture::{Capture, Where};
use lightlag_judge::packets::{Event, PacketJudge, PacketRules};
use lightlag_judge::trace::{PacketRow, TraceError, TraceWriter};
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_scenario::packets::{FlowPlan, Network};
use lightlag_scenario::{Error, Place, Result, Scenario, Seed};
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
    // First of all: whoever cannot have a trace should not wait for the run.
    let mut traces = Traces::open(network, &setup, options)?;
    let mut judge = options.judge.then(|| PacketJudge::new(rules(network, &setup)));
    let mut series = setup.sample_every.map(|_| {
        let links = network.links.iter().map(|link| link.name.clone()).collect();
        PacketSeries::new(network.flows.iter().map(|flow| flow.name.clone()).collect(), links)
    });
    // Who does not want to see packets gets the rest without a look at them. The world is compiled for these
    // two only: with more, less of it is compiled into one piece.
    let outcome = if traces.is_empty() && judge.is_none() {
        packets::run(&setup, &mut series)
    } else {
        packets::run(&setup, &mut ((&mut traces, &mut judge), &mut series))
    };
    let analysed = traces.finish(outcome.ended, options)?;
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
        analysed,
        changes: outcome.changes.iter().map(|change| change.1).collect(),
    })
}

/// What the judge is to know, with the names that the scenario gives.
fn rules(network: &Network, setup: &Setup) -> PacketRules {
    PacketRules {
        link_names: network.links.iter().map(|link| link.name.clone()).collect(),
        flow_names: network.flows.iter().map(|flow| flow.name.clone()).collect(),
        ..judged::packets(setup)
    }
}

/// Where packets go: to a file, and to memory for their analysis.
struct Traces {
    file: Option<Trace>,
    memory: Option<Box<Capture<Vec<u8>>>>,
}

impl Traces {
    fn open(network: &Network, setup: &Setup, options: &Options) -> Result<Self> {
        let file = options.trace.as_deref().map(|path| Trace::open(path, network, setup, options));
        let memory = || captured::capture(Vec::new(), network, setup, &Where::Senders).map(Box::new);
        Ok(Self { file: file.transpose()?, memory: options.analysis.as_ref().map(|_| memory()).transpose()? })
    }
    fn is_empty(&self) -> bool {
        self.file.is_none() && self.memory.is_none()
    }
    /// Writes what is left; what the capture in memory shows.
    fn finish(self, ended: Instant, options: &Options) -> Result<Option<Analysed>> {
        if let (Some(trace), Some(path)) = (self.file, &options.trace) {
            trace.finish(ended).map_err(|error| told(path, &error))?;
        }
        let (Some(capture), Some(wanted)) = (self.memory, &options.analysis) else { return Ok(None) };
        let told = |what: String| Error::new(&Place::File("capture".into()), what, "capture less");
        let bytes = capture.finish().map_err(told)?;
        analyse(bytes.as_slice(), wanted.clone()).map(Some).map_err(|error| told(error.to_string()))
    }
}

impl Observer for Traces {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.file.on_record(now, record);
        if let Some(memory) = &mut self.memory {
            memory.on_record(now, record);
        }
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
            captured::points(network, &options.capture)?;
            let file = create_file(path).map_err(|error| told(path, &TraceError::File(error)))?;
            return captured::capture(file, network, setup, &options.capture)
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

//! The world of packets.

use super::trace::{TraceFile, packet_trace_names};
use super::{Digest, Options, Outcome, Watchers, World, lines};
use crate::explain::nothing;
use crate::metrics::{Figures, Part, numbers};
use crate::packets::account::Account;
use crate::packets::{FLOWS, PACKETS};
use crate::series::TimeSeries;
use crate::{captured, judged};
use lightlag_capture::analysis::{self, Analysed, analyse};
use lightlag_capture::{Capture, Where};
use lightlag_judge::packets::{Event, PacketJudge, PacketRules};
use lightlag_judge::trace::{PacketRow, TraceError, TraceWriter};
use lightlag_protocols::record::packets::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_scenario::packets::Network;
use lightlag_scenario::{Error, Place, Result, Seed};
use lightlag_worlds::packets::{self, Setup};
use std::fs::File;
use std::io::BufWriter;

impl World for Network {
    const TRACES: &'static str = "trace.pcapng, trace.parquet, or trace.jsonl for people";
    type Setup = Setup;
    type Row = PacketRow;
    type Judge = PacketJudge;
    type Trace = Trace;

    fn check(&self, options: &Options) -> Result<()> {
        if options.traces.iter().any(|path| path.extension().is_some_and(|end| end == "pcapng")) {
            captured::points(self, &options.capture)?;
        }
        Ok(())
    }
    fn setup(&self, seed: Seed, options: &Options) -> Result<Setup> {
        let setup = Network::setup(self, seed);
        Ok(Setup { sample_every: setup.sample_every.filter(|_| options.series || options.account), ..setup })
    }
    fn judge(&self, setup: &Setup) -> PacketJudge {
        PacketJudge::new(PacketRules {
            link_names: self.links.iter().map(|link| link.name.clone()).collect(),
            flow_names: self.flows.iter().map(|flow| flow.name.clone()).collect(),
            ..judged::packets(setup)
        })
    }
    fn trace(&self, file: TraceFile, setup: &Setup, options: &Options) -> Result<Trace> {
        if file.ends_in("pcapng") {
            let capture = captured::capture(file.file, self, setup, &options.capture)?;
            return Ok(Trace::Capture(capture.into()));
        }
        file.rows(packet_trace_names(self)).map(Trace::Rows)
    }
    fn run(
        &self,
        setup: &Setup,
        Watchers { traces, digest, judge }: &mut Watchers<Self>,
        options: &Options,
    ) -> Result<(Outcome, Instant)> {
        let mut progress = options.progress.clone();
        let flows = || self.flows.iter().map(|flow| flow.name.clone()).collect();
        let links = || self.links.iter().map(|link| link.name.clone()).collect();
        let sampled = setup.sample_every.filter(|_| options.series);
        let mut series = sampled.map(|_| TimeSeries::of_flows(flows(), links()));
        let mut account = options.account.then(|| Account::new(flows(), links()));
        let memory = || captured::capture(Vec::new(), self, setup, &Where::Senders);
        let mut memory = Memory(options.analysis.as_ref().map(|_| memory()).transpose()?.map(Box::new));
        // Observers that do not need packets add no cost. The world is compiled for these two only: with more,
        // less of it is compiled into one piece.
        let bare = traces.is_empty() && digest.is_none() && judge.is_none();
        let outcome = if bare && memory.0.is_none() && account.is_none() {
            packets::run(setup, &mut (&mut series, &mut progress))
        } else {
            packets::run(
                setup,
                &mut (((((traces, digest), &mut memory), judge), &mut account), (&mut series, &mut progress)),
            )
        };
        account.iter_mut().for_each(|account| account.end(outcome.ended));
        let made = Outcome {
            figures: figures(self, &outcome),
            series,
            account,
            analysed: options.analysis.as_ref().map_or(Ok(None), |wanted| memory.analysed(wanted))?,
            changes: outcome.changes.iter().map(|change| change.1).collect(),
            ..Outcome::default()
        };
        Ok((made, outcome.ended))
    }
    fn verdict(mut judge: PacketJudge, ended: Instant) -> (Vec<String>, u64) {
        judge.end(ended);
        lines(judge.findings())
    }
    fn close(digest: &mut Digest<PacketRow>, ended: Instant) {
        digest.put(ended, &Event::End);
    }
    fn finish(trace: Trace, ended: Instant) -> std::result::Result<(), TraceError> {
        match trace {
            Trace::Capture(capture) => capture.finish().map(drop).map_err(TraceError::Format),
            Trace::Rows(mut trace) => {
                trace.put(ended, &Event::End);
                trace.finish().map(drop)
            }
        }
    }
}

/// The figures of a run that has ended.
pub fn figures(network: &Network, outcome: &packets::Outcome) -> Figures {
    let flows = network.flows.iter().zip(&outcome.flows);
    let parts = flows.map(|(plan, flow)| Part::new("flows", &plan.name, numbers(FLOWS, flow))).collect();
    let mut figures = Figures { numbers: numbers(PACKETS, outcome), parts, ..Figures::default() };
    figures.why = nothing::packets(&figures.counts());
    figures
}

/// A capture of the run in memory, for its analysis.
struct Memory(Option<Box<Capture<Vec<u8>>>>);

impl Memory {
    fn analysed(self, wanted: &analysis::Options) -> Result<Option<Analysed>> {
        let Some(capture) = self.0 else { return Ok(None) };
        let failed = |what: String| Error::new(&Place::File("capture".into()), what, "capture less");
        let bytes = capture.finish().map_err(failed)?;
        analyse(bytes.as_slice(), wanted.clone()).map(Some).map_err(|error| failed(error.to_string()))
    }
}

impl Observer for Memory {
    const PACKETS: bool = true;
    fn on_record(&mut self, now: Instant, record: &Record) {
        if let Some(capture) = &mut self.0 {
            capture.on_record(now, record);
        }
    }
}

/// Where packets are written to.
pub enum Trace {
    Capture(Box<Capture<BufWriter<File>>>),
    Rows(TraceWriter<PacketRow, BufWriter<File>>),
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

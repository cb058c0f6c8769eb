//! A run of names: figures, verdict, series and trace.

use super::figures::figures;
use crate::judged;
use crate::metrics::TimeSeries;
use crate::packets::{Of, PacketSeries};
use crate::run::{Options, Outcome, open_trace, told};
use lightlag_judge::names::{Event, NamesJudge, NamesRules};
use lightlag_judge::trace::{NameRow, TraceWriter};
use lightlag_protocols::record::names::{Observer, Record};
use lightlag_protocols::time::Instant;
use lightlag_scenario::names::NameNetwork;
use lightlag_scenario::{Result, Scenario, Seed};
use lightlag_worlds::names::{self, Setup};
use std::fs::File;
use std::io::BufWriter;

/// Runs a scenario of names with a seed.
///
/// # Errors
/// What is wrong with the file of the trace.
pub(crate) fn run(
    scenario: &Scenario,
    network: &NameNetwork,
    seed: Seed,
    options: &Options,
) -> Result<Outcome> {
    let mut setup = network.setup(seed, scenario.own_seed, scenario.duration);
    if !options.series {
        setup.sample_every = None;
    }
    // First of all: whoever cannot have a trace should not wait for the run.
    let mut trace: Option<TraceWriter<NameRow, BufWriter<File>>> = match &options.trace {
        Some(path) => Some(open_trace(path, "trace.parquet, or trace.jsonl for people")?),
        None => None,
    };
    let mut judge = options.judge.then(|| NamesJudge::new(rules(network, &setup)));
    let mut series = setup.sample_every.map(|_| {
        let links = network.links.iter().map(|link| link.name.clone()).collect();
        PacketSeries::new(network.consumers.iter().map(|one| one.name.clone()).collect(), links)
    });
    // Who does not want to see packets gets the rest without a look at them.
    let outcome = if trace.is_none() && judge.is_none() {
        names::run(&setup, &mut series)
    } else {
        names::run(&setup, &mut ((&mut trace, &mut judge), &mut series))
    };
    if let (Some(mut trace), Some(path)) = (trace, &options.trace) {
        trace.put(outcome.ended, &Event::End);
        trace.finish().map_err(|error| told(path, &error))?;
    }
    if let Some(judge) = &mut judge {
        judge.end(outcome.ended);
    }
    Ok(Outcome {
        figures: figures(network, &outcome),
        violations: judge.iter().flat_map(NamesJudge::verdict).map(ToString::to_string).collect(),
        violations_total: judge.as_ref().map_or(0, NamesJudge::total),
        reports: Vec::new(),
        series: series.map(TimeSeries::Packets),
        analysed: None,
        changes: Vec::new(),
    })
}

/// What the judge is to know, with the names that the scenario gives.
fn rules(network: &NameNetwork, setup: &Setup) -> NamesRules {
    NamesRules {
        link_names: network.links.iter().map(|link| link.name.clone()).collect(),
        node_names: network.nodes.iter().map(|node| node.name.clone()).collect(),
        consumer_names: network.consumers.iter().map(|one| one.name.clone()).collect(),
        ..judged::names(setup)
    }
}

impl Observer for PacketSeries {
    const PACKETS: bool = false;
    fn on_record(&mut self, now: Instant, record: &Record) {
        match record {
            Record::Consumer(consumer, seen) => self.sample(now, *consumer, seen),
            Record::Backlog(link, waiting) => self.push(now, Of::Link(*link), "queue", *waiting as f64),
            _ => {}
        }
    }
}

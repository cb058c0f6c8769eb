//! The world of bundles.

use super::positions::Positions;
use super::trace::TraceFile;
use super::{ContactsCache, Digest, Options, Outcome, Progress, Watchers, World, lines};
use crate::explain::nothing;
use crate::judged;
use crate::metrics::{Figures, Metrics, the_one};
use crate::series::TimeSeries;
use lightlag_judge::Judge;
use lightlag_judge::trace::{Names, Row, TraceError, TraceWriter};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::{BundleNetwork, Draws, Error, Place, Report, Result, Seed, Seeded};
use lightlag_worlds::messages;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

/// Nodes that store bundles, with contacts that other runs have computed.
pub struct Bundles<'s> {
    pub network: &'s BundleNetwork,
    pub cache: &'s ContactsCache,
}

/// Bundles created earlier do not count.
pub fn counts_from(network: &BundleNetwork) -> Instant {
    Instant::ZERO + network.measure_from
}

/// The congestion mechanism of a scenario, of several the first; `None` where no node has one.
fn mechanism(network: &BundleNetwork) -> Option<&str> {
    network.groups.iter().map(|group| group.mechanism.entry.name.as_str()).find(|name| *name != "none")
}

/// Whether contacts may fail or nodes vanish.
pub fn some_fail(network: &BundleNetwork) -> bool {
    network.failures.contacts > 0.0 || network.failures.nodes > 0.0
}

impl<'s> World for Bundles<'s> {
    type Setup = (messages::Setup, Seeded<'s>);
    type Row = Row;
    type Judge = Judge;
    type Trace = Trace;

    fn setup(&self, seed: Seed, _: &Options) -> Result<Self::Setup> {
        let seeded = self.network.seeded(seed)?;
        Ok((seeded.setup(self.cache.get(&seeded)?), seeded))
    }
    fn judge(&self, (setup, _): &Self::Setup) -> Judge {
        Judge::new(judged::bundles(setup))
    }
    fn trace(&self, file: TraceFile, (_, seeded): &Self::Setup, _: &Options) -> Result<Trace> {
        let nodes = self.network.node_names().map(str::to_owned).collect();
        let moves = self.network.groups.iter().any(|group| group.mobility.is_some());
        let positions = match self.network.positions_every.filter(|_| moves) {
            Some(every) => Some(Positions::new(self.network, seeded.walk()?, every)),
            None => None,
        };
        Ok(Trace { rows: file.rows(Names { nodes, ..Names::default() })?, positions })
    }
    fn run(
        &self,
        (setup, seeded): &Self::Setup,
        watchers: &mut Watchers<Self>,
        options: &Options,
    ) -> Result<(Outcome, Instant)> {
        let reports = if options.reports { the_one_reports(self.network, seeded)? } else { Vec::new() };
        let sampled = options.series && setup.rules.sample_every.is_some();
        let series = sampled.then(TimeSeries::of_nodes);
        let mut extras = Extras { reports, series, progress: options.progress.clone() };
        let mut metrics = Metrics::new(counts_from(self.network));
        let Watchers { traces, digest, judge } = watchers;
        // The common case is compiled for itself: 3 million transfers a run.
        if extras.is_empty() && traces.is_empty() && digest.is_none() {
            messages::run(setup, &mut (&mut metrics, judge));
        } else {
            messages::run(setup, &mut ((&mut metrics, judge), (&mut extras, (traces, digest))));
        }
        let figures = figures(self.network, setup, &metrics);
        let texts = extras.reports.into_iter().map(|(report, path)| (path, report.text()));
        let outcome =
            Outcome { figures, reports: texts.collect(), series: extras.series, ..Outcome::default() };
        Ok((outcome, setup.until))
    }
    fn verdict(mut judge: Judge, _: Instant) -> (Vec<String>, u64) {
        judge.close();
        lines(judge.findings())
    }
    fn close(_: &mut Digest<Row>, _: Instant) {}
    fn finish(trace: Trace, _: Instant) -> std::result::Result<(), TraceError> {
        trace.rows.finish().map(drop)
    }
}

/// The figures of a run that has ended, of what `metrics` has seen.
pub fn figures(network: &BundleNetwork, setup: &messages::Setup, metrics: &Metrics) -> Figures {
    let mut summary = metrics.summary();
    let plan = if setup.revisions.is_empty() { setup.plan.clone() } else { Arc::new(network.plan()) };
    summary.plan_nodes = network.plan_readers(&plan).1.into();
    if network.movement.draws == Draws::TheOne {
        // What The ONE's clock would show.
        summary.sim_time = the_one::shows_at_end(network.rules.tick, network.head.until());
    }
    let mut figures = Figures::from(summary);
    figures.why = nothing::bundles(setup, counts_from(network), some_fail(network), &figures.counts());
    figures.odd = nothing::odd(setup, counts_from(network), mechanism(network), &figures.counts());
    figures
}

/// Observers that few runs have.
struct Extras {
    reports: Vec<(the_one::Report, PathBuf)>,
    series: Option<TimeSeries>,
    progress: Option<Progress>,
}

impl Extras {
    fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.series.is_none() && self.progress.is_none()
    }
}

impl Observer for Extras {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.reports.iter_mut().for_each(|(report, _)| report.on_record(now, record));
        self.series.on_record(now, record);
        self.progress.on_record(now, record);
    }
}

/// Records in a file, and between them the positions of the nodes.
pub struct Trace {
    rows: TraceWriter<Row, BufWriter<File>>,
    positions: Option<Positions>,
}

impl Observer for Trace {
    fn on_record(&mut self, now: Instant, record: &Record) {
        // Nodes are introduced before anything else.
        if let (Some(positions), false) = (&mut self.positions, matches!(record, Record::Node { .. })) {
            positions.until(now, |at, position| self.rows.put(at, position));
        }
        self.rows.put(now, record);
    }
}

/// The report files that the settings list.
fn the_one_reports(network: &BundleNetwork, seeded: &Seeded) -> Result<Vec<(the_one::Report, PathBuf)>> {
    let bundles: Arc<[String]> = seeded.messages.iter().map(|message| message.name.clone()).collect();
    let nodes: Arc<[String]> = network.node_names().map(str::to_owned).collect();
    let report = |wanted: &Report| {
        let text = |key: &str| {
            let given = wanted.settings.iter().find(|(name, _)| name == key);
            given.map(|(_, value)| value.as_str())
        };
        let list = |key: &str| text(key).map(|list| list.split(',').map(|item| item.trim().to_owned()));
        let seconds = |key: &str, otherwise: Duration| {
            text(key).and_then(|value| value.parse().ok()).map_or(otherwise, Duration::from_secs_f64)
        };
        let defaults = the_one::Options::default();
        let options = the_one::Options {
            scenario: network.head.name.clone(),
            precision: wanted.precision as usize,
            warmup: wanted.warmup,
            granularity: seconds("granularity", defaults.granularity),
            occupancy_interval: seconds("occupancyInterval", defaults.occupancy_interval),
            reported_bundles: list("messages").map(Iterator::collect),
            reported_nodes: list("nodes").map(|nodes| nodes.filter_map(|node| node.parse().ok()).collect()),
            hosts: text("nrofHosts").and_then(|count| count.parse().ok()).unwrap_or(defaults.hosts),
            tick: network.rules.tick,
            nodes: nodes.clone(),
            bundles: bundles.clone(),
        };
        let made = the_one::Report::new(&wanted.class, &options);
        let place = Place::File(network.head.name.as_str().into());
        let mut made = made.map_err(|error| Error::new(&place, error.to_string(), "leave the report out"))?;
        if the_one::needs_places(&wanted.class) {
            let every = network.rules.tick.unwrap_or(options.granularity);
            made = made.with_places(Box::new(Positions::new(network, seeded.walk()?, every)));
        }
        Ok((made, wanted.output.clone()))
    };
    network.reports.iter().map(report).collect()
}

//! One run: a scenario and a seed in, figures, verdict and reports out.

use crate::metrics::{Figures, Metrics, Series, TimeSeries, the_one};
use crate::{judged, names, packets};
use lightlag_capture::Where;
use lightlag_capture::analysis::{self, Analysed};
use lightlag_judge::Judge;
use lightlag_judge::trace::{Row, TraceError, TraceRow, TraceWriter};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_scenario::{Draws, Error, Place, Scenario, Seed};
use lightlag_worlds::contacts::Contacts;
use lightlag_worlds::messages::{self, Setup};
use lightlag_worlds::packets::adaptive::Change;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What to make of a run beside its figures.
#[derive(Clone, Debug)]
pub struct Options {
    /// Replay it by the judge.
    pub judge: bool,
    /// Make The ONE's report files that the scenario asks for.
    pub reports: bool,
    /// Collect time series, where the scenario samples.
    pub series: bool,
    /// Write every record here: the name ends in `.parquet`, or in `.jsonl` for lines of JSON; in
    /// scenarios of packets also in `.pcapng`.
    pub trace: Option<PathBuf>,
    /// Where a trace that ends in `.pcapng` is captured.
    pub capture: Where,
    /// In scenarios of packets: analyse what a capture of the run shows, under these options. It is kept in
    /// memory until the run has ended: some 140 bytes a packet.
    pub analysis: Option<analysis::Options>,
}

impl Default for Options {
    /// The judge, and nothing else.
    fn default() -> Self {
        Self {
            judge: true,
            reports: false,
            series: false,
            trace: None,
            capture: Where::default(),
            analysis: None,
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Its figures.
    pub figures: Figures,
    /// The first violations that the judge found, if it was asked, each in a line.
    pub violations: Vec<String>,
    /// How many it found in all.
    pub violations_total: u64,
    /// The ONE's report files: where the settings want them, and their text.
    pub reports: Vec<(PathBuf, String)>,
    /// Time series of buffers, flows, links and algorithms.
    pub series: Option<TimeSeries>,
    /// What a capture of it shows, if that was asked.
    pub analysed: Option<Analysed>,
    /// What carried the connections of adaptive flows, and since when.
    pub changes: Vec<Change>,
}

impl Outcome {
    /// The figures as a row of results has them, and how often the judge said no.
    pub fn metrics(&self) -> crate::results::Metrics {
        let violations = ("violations".to_owned(), self.violations_total as f64);
        let rows = self.figures.rows().into_iter().map(|(name, value)| (name.to_owned(), value));
        rows.chain([violations]).collect()
    }
}

/// Contacts that runs share: mobility does not depend on traffic, router or mechanism, so it is
/// computed once for all runs of a sweep that have the same seed.
#[derive(Debug, Default)]
pub struct ContactsCache(Mutex<Vec<(String, Arc<Contacts>)>>);

/// More than the seeds and mobility models that a study goes through side by side.
const CACHED_MAX: usize = 48;

impl ContactsCache {
    /// The contacts of a scenario under a seed.
    ///
    /// # Errors
    /// If they can't be computed: a map that is none, say.
    pub fn get(&self, scenario: &Scenario, seed: Seed) -> Result<Arc<Contacts>, Error> {
        let key = scenario.contacts_key(seed);
        if let Some(found) = self.find(&key) {
            return Ok(found);
        }
        // Computed without the lock: two threads may do the same work once, none waits for another's.
        let fresh = Arc::new(scenario.contacts(seed)?);
        let mut cached = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if cached.len() >= CACHED_MAX {
            cached.remove(0);
        }
        cached.push((key, fresh.clone()));
        Ok(fresh)
    }
    fn find(&self, key: &str) -> Option<Arc<Contacts>> {
        let cached = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        cached.iter().find(|entry| entry.0 == key).map(|entry| entry.1.clone())
    }
}

/// Runs a scenario with a seed.
///
/// # Errors
/// What is wrong with the scenario, or with the file of the trace.
pub fn run(
    scenario: &Scenario,
    seed: Seed,
    cache: &ContactsCache,
    options: &Options,
) -> Result<Outcome, Error> {
    if let Some(network) = &scenario.packets {
        return packets::run(scenario, network, seed, options);
    }
    if let Some(network) = &scenario.names {
        return names::run(scenario, network, seed, options);
    }
    // First of all: whoever cannot have a trace should not wait for the run.
    let trace = options.trace.as_deref().map(Trace::create).transpose()?;
    let setup = scenario.setup_with(seed, cache.get(scenario, seed)?)?;
    let mut observers = Observers::new(scenario, seed, &setup, options, trace)?;
    // The common case is compiled for itself: 3 million transfers a run.
    if observers.extras.is_empty() && observers.trace.is_none() {
        messages::run(&setup, &mut (&mut observers.metrics, &mut observers.judge));
    } else {
        messages::run(&setup, &mut observers);
    }
    observers.finish()
}

/// What is created before does not count.
pub(crate) fn counts_from(scenario: &Scenario) -> Instant {
    let stats = scenario.reports.iter().find(|report| report.class == "MessageStatsReport");
    Instant::ZERO + stats.map_or(Duration::ZERO, |report| report.warmup)
}

/// All who watch a run.
struct Observers {
    metrics: Metrics,
    judge: Option<Judge>,
    extras: Vec<Extra>,
    trace: Option<Trace>,
    /// What The ONE's clock would show at the end, where settings are its own.
    shows_at_end: Option<f64>,
}

enum Extra {
    Report(the_one::Report, PathBuf),
    Series(Series),
}

struct Trace {
    writer: TraceWriter<Row, BufWriter<File>>,
    path: PathBuf,
}

impl Observers {
    fn new(
        scenario: &Scenario,
        seed: Seed,
        setup: &Setup,
        options: &Options,
        trace: Option<Trace>,
    ) -> Result<Self, Error> {
        let mut extras = Vec::new();
        if options.reports {
            extras.extend(the_one_reports(scenario, seed)?);
        }
        if options.series && setup.rules.sample_every.is_some() {
            extras.push(Extra::Series(Series::new()));
        }
        let shows_at_end = (scenario.movement.draws == Draws::TheOne)
            .then(|| the_one::shows_at_end(scenario.rules.tick, scenario.until()));
        let judge = options.judge.then(|| Judge::new(judged::bundles(setup)));
        Ok(Self { metrics: Metrics::new(counts_from(scenario)), judge, extras, trace, shows_at_end })
    }
    fn finish(mut self) -> Result<Outcome, Error> {
        if let Some(judge) = &mut self.judge {
            judge.close();
        }
        if let Some(trace) = self.trace {
            trace.finish()?;
        }
        let mut summary = self.metrics.summary();
        summary.sim_time = self.shows_at_end.unwrap_or(summary.sim_time);
        let mut outcome = Outcome {
            figures: summary.into(),
            violations: self.judge.iter().flat_map(Judge::verdict).map(ToString::to_string).collect(),
            violations_total: self.judge.as_ref().map_or(0, Judge::total),
            reports: Vec::new(),
            series: None,
            analysed: None,
            changes: Vec::new(),
        };
        for extra in self.extras {
            match extra {
                Extra::Report(report, path) => outcome.reports.push((path, report.text())),
                Extra::Series(series) => outcome.series = Some(TimeSeries::Nodes(series)),
            }
        }
        Ok(outcome)
    }
}

/// The report files that the settings ask for.
fn the_one_reports(scenario: &Scenario, seed: Seed) -> Result<Vec<Extra>, Error> {
    let bundles: Arc<[String]> = scenario.messages(seed)?.into_iter().map(|message| message.name).collect();
    let nodes: Arc<[String]> = scenario.node_names().map(str::to_owned).collect();
    let report = |wanted: &lightlag_scenario::Report| {
        let seconds = |key: &str, otherwise: Duration| {
            let given = wanted.settings.iter().find(|(name, _)| name == key);
            given.and_then(|(_, value)| value.parse().ok()).map_or(otherwise, Duration::from_secs_f64)
        };
        let defaults = the_one::Options::default();
        let options = the_one::Options {
            scenario: scenario.name.clone(),
            precision: wanted.precision as usize,
            warmup: wanted.warmup,
            granularity: seconds("granularity", defaults.granularity),
            occupancy_interval: seconds("occupancyInterval", defaults.occupancy_interval),
            tick: scenario.rules.tick,
            ttl_minutes: None,
            nodes: nodes.clone(),
            bundles: bundles.clone(),
        };
        let made = the_one::Report::new(&wanted.class, &options);
        let place = Place::File(scenario.name.as_str().into());
        made.map(|report| Extra::Report(report, wanted.output.clone()))
            .map_err(|error| Error::new(&place, error.to_string(), "leave the report out"))
    };
    scenario.reports.iter().map(report).collect()
}

impl Observer for Observers {
    fn on_record(&mut self, now: Instant, record: &Record) {
        self.metrics.on_record(now, record);
        self.judge.on_record(now, record);
        for extra in &mut self.extras {
            match extra {
                Extra::Report(report, _) => report.on_record(now, record),
                Extra::Series(series) => series.on_record(now, record),
            }
        }
        if let Some(trace) = &mut self.trace {
            trace.writer.on_record(now, record);
        }
    }
}

impl Trace {
    fn create(path: &Path) -> Result<Self, Error> {
        let writer = open_trace(path, "trace.parquet, or trace.jsonl for people")?;
        Ok(Self { writer, path: path.to_owned() })
    }
    fn finish(self) -> Result<(), Error> {
        self.writer.finish().map(drop).map_err(|error| told(&self.path, &error))
    }
}

/// A trace in a file of one of these `names`.
pub(crate) fn open_trace<R: TraceRow>(
    path: &Path,
    names: &str,
) -> Result<TraceWriter<R, BufWriter<File>>, Error> {
    let made = TraceWriter::create(path).map_err(|error| told(path, &error))?;
    made.ok_or_else(|| {
        Error::new(&place_of(path), "a trace has no such ending", format!("name it like {names}"))
    })
}

pub(crate) fn create_file(path: &Path) -> std::io::Result<BufWriter<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(BufWriter::new(File::create(path)?))
}

pub(crate) fn place_of(path: &Path) -> Place {
    Place::File(path.display().to_string().as_str().into())
}

pub(crate) fn told(path: &Path, error: &TraceError) -> Error {
    Error::new(&place_of(path), error.to_string(), "name a file that can be written")
}

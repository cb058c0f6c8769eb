//! One run: a scenario and a seed in; figures, verdict, reports and a trace out.
//!
//! [`run`] is the same for the three worlds. What differs between them is behind the trait `World`.

mod bundles;
mod names;
mod packets;
mod positions;
mod progress;
mod trace;

use crate::explain::nothing;
use crate::metrics::Figures;
use crate::packets::account::Account;
use crate::series::TimeSeries;
use lightlag_capture::Where;
use lightlag_capture::analysis::{self, Analysed};
use lightlag_judge::trace::{Names, RowDigest, RowWriter, TraceError, TraceRow};
use lightlag_judge::{Findings, Kinds};
use lightlag_protocols::time::Instant;
use lightlag_scenario::{Result, Scenario, Seed, Seeded};
use lightlag_worlds::contacts::Contacts;
use lightlag_worlds::packets::adaptive::Change;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use trace::TraceFile;

pub(crate) use bundles::counts_from;
pub use bundles::figures as bundle_figures;
use bundles::some_fail;
pub use names::figures as name_figures;
pub use packets::figures as packet_figures;
pub use positions::Positions;
pub use progress::{Progress, Stopped};
pub use trace::{name_trace_names, packet_trace_names};

/// Outputs of a run besides its figures.
#[derive(Clone, Debug)]
pub struct Options {
    /// Have the judge check it.
    pub judge: bool,
    /// Make the report files of The ONE that the scenario lists.
    pub reports: bool,
    /// Collect time series, where the scenario samples.
    pub series: bool,
    /// Write every record to each of these files: the name ends in `.parquet`, or in `.jsonl` for lines of JSON; in
    /// scenarios of packets also in `.pcapng`.
    pub traces: Vec<PathBuf>,
    /// Compute the digest of all records.
    pub digest: bool,
    /// Where a trace that ends in `.pcapng` is captured.
    pub capture: Where,
    /// In scenarios of packets: analyse what a capture of the run shows, under these options. It is kept in
    /// memory until the run has ended: about 140 bytes a packet.
    pub analysis: Option<analysis::Options>,
    /// In scenarios of packets and of names: count the packets of each flow or consumer, whenever the scenario samples.
    pub account: bool,
    /// Where the run reports how far it has come.
    pub progress: Option<Progress>,
}

impl Default for Options {
    /// The judge, and nothing else.
    fn default() -> Self {
        Self {
            judge: true,
            reports: false,
            series: false,
            traces: Vec::new(),
            digest: false,
            capture: Where::default(),
            analysis: None,
            account: false,
            progress: None,
        }
    }
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Its figures.
    pub figures: Figures,
    /// The first violations that the judge found, each in a line; empty without a judge.
    pub violations: Vec<String>,
    /// All violations that the judge found.
    pub violations_total: u64,
    /// The ONE's report files: where the settings want them, and their text.
    pub reports: Vec<(PathBuf, String)>,
    /// Time series of buffers, flows, links and algorithms.
    pub series: Option<TimeSeries>,
    /// Analysis of a capture of the run, if requested.
    pub analysed: Option<Analysed>,
    /// Counts of the packets of each flow or consumer over time, if requested.
    pub account: Option<Account>,
    /// SHA-256 of all records, as rows of a trace without names, in hexadecimal digits; if requested. A scenario and a seed
    /// give the same on every machine.
    pub digest: Option<String>,
    /// Transports of the connections of adaptive flows, and since when.
    pub changes: Vec<Change>,
}

#[cfg(feature = "reports")]
impl Outcome {
    /// The figures as a row of results has them, and the number of violations.
    pub fn metrics(&self) -> crate::results::Metrics {
        let violations = ("violations".into(), self.violations_total as f64);
        let rows = self.figures.rows().into_iter().map(|(name, value)| (name.into(), value));
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
    /// If they cannot be computed: a map that cannot be used, for example.
    pub fn get(&self, seeded: &Seeded) -> Result<Arc<Contacts>> {
        let key = seeded.contacts_key();
        if let Some(found) = self.find(&key) {
            return Ok(found);
        }
        // Computed without the lock: two threads may do the same work once, none waits for another's.
        let fresh = Arc::new(seeded.contacts()?);
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
pub fn run(scenario: &Scenario, seed: Seed, cache: &ContactsCache, options: &Options) -> Result<Outcome> {
    match scenario {
        Scenario::Bundles(network) => play(&bundles::Bundles { network, cache }, seed, options),
        Scenario::Packets(network) => play(network, seed, options),
        Scenario::Names(network) => play(network, seed, options),
    }
}

/// Why a run with these figures created or delivered nothing, in a line; nothing if it delivered something.
pub fn why_nothing(
    scenario: &Scenario,
    seed: Seed,
    cache: &ContactsCache,
    figure: nothing::Figure,
) -> Option<String> {
    match scenario {
        Scenario::Bundles(network) => {
            // It ran: neither its traffic nor its contacts can be wrong.
            let seeded = network.seeded(seed).ok()?;
            let setup = seeded.setup(cache.get(&seeded).ok()?);
            nothing::bundles(&setup, counts_from(network), some_fail(network), figure)
        }
        Scenario::Packets(_) => nothing::packets(figure),
        Scenario::Names(_) => nothing::names(figure),
    }
}

/// A world with its scenario.
///
/// [`play`] calls `check` before anything else, then `setup`, then `judge` and `trace` where they are wanted, `run`,
/// and at last `verdict` and `finish`.
trait World {
    /// Ends of names of traces, as an error lists them.
    const TRACES: &'static str = "trace.parquet, or trace.jsonl for people";
    /// All that a run needs.
    type Setup;
    /// A record of this world in a trace.
    type Row: TraceRow;
    /// The judge of this world.
    type Judge;
    /// Where the records of a run are written to.
    type Trace;

    /// Refuses options that do not fit the scenario.
    fn check(&self, _: &Options) -> Result<()> {
        Ok(())
    }
    /// Makes the setup; traffic is drawn only here.
    fn setup(&self, seed: Seed, options: &Options) -> Result<Self::Setup>;
    /// A judge of the run.
    fn judge(&self, setup: &Self::Setup) -> Self::Judge;
    /// A trace of the run in a file.
    fn trace(&self, file: TraceFile, setup: &Self::Setup, options: &Options) -> Result<Self::Trace>;
    /// Runs it, with figures, series and reports in the outcome, and the instant at which it ended.
    fn run(
        &self,
        setup: &Self::Setup,
        watchers: &mut Watchers<Self>,
        options: &Options,
    ) -> Result<(Outcome, Instant)>;
    /// The first violations, a line each, and their number, once the run has ended.
    fn verdict(judge: Self::Judge, ended: Instant) -> (Vec<String>, u64);
    /// Completes the digest of the records.
    fn close(digest: &mut Digest<Self::Row>, ended: Instant);
    /// Completes the trace.
    fn finish(trace: Self::Trace, ended: Instant) -> std::result::Result<(), TraceError>;
}

/// The violations that a judge kept, a line each, and the number of all.
fn lines<K: Kinds>(found: &Findings<K>) -> (Vec<String>, u64) {
    (found.kept().iter().map(ToString::to_string).collect(), found.total())
}

/// The digest of the records of a run.
type Digest<R> = RowWriter<R, RowDigest>;

/// Observers that any world may have.
struct Watchers<W: World + ?Sized> {
    traces: Vec<W::Trace>,
    digest: Option<Digest<W::Row>>,
    judge: Option<W::Judge>,
}

fn play<W: World>(world: &W, seed: Seed, options: &Options) -> Result<Outcome> {
    world.check(options)?;
    // Open the traces first: a bad path must fail before the run.
    let files = options.traces.iter().map(|path| TraceFile::create(path, W::TRACES));
    let files = files.collect::<Result<Vec<_>>>()?;
    let setup = world.setup(seed, options)?;
    let traces = files.into_iter().map(|file| world.trace(file, &setup, options)).collect::<Result<_>>()?;
    let judge = options.judge.then(|| world.judge(&setup));
    let digest = options.digest.then(|| RowWriter::new(RowDigest::default(), Names::default()));
    let mut watchers = Watchers { traces, digest, judge };
    let (outcome, ended) = world.run(&setup, &mut watchers, options)?;
    for (trace, path) in watchers.traces.into_iter().zip(&options.traces) {
        W::finish(trace, ended).map_err(|error| trace::failed(path, &error))?;
    }
    let digest = watchers.digest.map(|mut digest| {
        W::close(&mut digest, ended);
        digest.sink().digits()
    });
    let (violations, violations_total) =
        watchers.judge.map(|judge| W::verdict(judge, ended)).unwrap_or_default();
    Ok(Outcome { violations, violations_total, digest, ..outcome })
}

//! Many runs, on many threads, into one folder, despite failures and interruptions.
//!
//! A finished run is appended to `runs.jsonl` at once. Starting the same sweep again finds it there: a sweep
//! that was killed resumes where it stopped, and ends with the bytes that an undisturbed one gives.

mod folder;
mod journal;
mod plan;

use crate::results::{self, Build, Metrics, Results, Row};
use indicatif::{ProgressBar, ProgressStyle};
use journal::Journal;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use journal::JOURNAL_FILE;
pub use plan::{Plan, Swept, seed_list};

/// One run to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Which point of the sweep.
    pub point: usize,
    /// Seed of the run.
    pub seed: u64,
    /// The scenario's values that distinguish the points.
    pub values: Vec<(String, String)>,
}

/// A sweep and where it goes.
#[derive(Clone, Debug)]
pub struct Sweep<'a> {
    /// The folder of its files; made if need be.
    pub out: &'a Path,
    /// Text of the scenario, kept with the results.
    pub scenario: &'a str,
    /// The program that runs.
    pub build: Build,
    /// What to run; no two with the same point and seed.
    pub jobs: &'a [Job],
    /// How many runs at a time; 0 means one per core.
    pub threads: usize,
    /// Whether to draw a progress bar, if there is a terminal.
    pub progress: bool,
}

/// Why a sweep stopped; one line each.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A point would be run twice with one seed.
    #[error("seeds: seed {0} comes twice; name each seed once")]
    SeedTwice(u64),
    /// The output folder is a file.
    #[error("{} is a file; name a folder for the results", .0.display())]
    IsFile(PathBuf),
    /// The output folder holds other things.
    #[error("{} holds other files; name a new or empty folder for the results", .0.display())]
    Occupied(PathBuf),
    /// The output folder cannot be made or written.
    #[error("cannot {action} {path}: {reason}; name another folder", path = path.display())]
    Disk {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The folder belongs to another sweep.
    #[error("{path} holds runs of {found}, this is {wanted}; name another folder", path = path.display())]
    OtherSweep {
        /// The journal.
        path: PathBuf,
        /// Whose runs it holds.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// Someone else is writing here.
    #[error("another sweep is writing to {}", .0.display())]
    Busy(PathBuf),
    /// A line of the journal makes no sense.
    #[error("{path}:{line}: {reason}; {right}", path = path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Counted from one.
        line: usize,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        right: &'static str,
    },
    /// A run failed.
    #[error("run {point} with seed {seed} failed: {reason}")]
    Run {
        /// Which point.
        point: usize,
        /// Which seed.
        seed: u64,
        /// What it said.
        reason: String,
    },
    /// The table could not be written.
    #[error(transparent)]
    Results(#[from] results::Error),
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Sweep<'_> {
    /// Does what is not done yet, then writes `results.parquet` and `summary.json`.
    ///
    /// # Errors
    /// The folder cannot be used, or a run failed; what was finished until then is kept.
    pub fn run<E: Display>(
        &self,
        runner: impl Fn(&Job) -> Result<Metrics, E> + Sync,
    ) -> Result<Results, Error> {
        check_distinct(self.jobs)?;
        folder::prepare(self.out)?;
        let mut journal = Journal::open(self.out, &self.identity())?;
        let mut finished = journal.take_finished();
        self.check_known(&finished)?;
        let fresh = self.run_missing(&finished, &Mutex::new(journal), runner)?;
        finished.extend(fresh);
        let results = self.results(finished);
        results.write(self.out)?;
        results::write_summary(&results, &[], self.out)?;
        Ok(results)
    }

    fn run_missing<E: Display>(
        &self,
        finished: &BTreeMap<(usize, u64), Metrics>,
        journal: &Mutex<Journal>,
        runner: impl Fn(&Job) -> Result<Metrics, E> + Sync,
    ) -> Result<BTreeMap<(usize, u64), Metrics>, Error> {
        let missing: Vec<&Job> =
            self.jobs.iter().filter(|job| !finished.contains_key(&(job.point, job.seed))).collect();
        let bar = self.bar(finished.len());
        let one = |job: &&Job| {
            let metrics = runner(job).map_err(|reason| Error::Run {
                point: job.point,
                seed: job.seed,
                reason: reason.to_string(),
            })?;
            let metrics = defined(metrics);
            journal.lock().expect("no run panics while it holds the journal").append(job, &metrics)?;
            bar.inc(1);
            Ok(((job.point, job.seed), metrics))
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build()?;
        // Runs differ much in length: one at a time, so that no thread sits on a queue of long ones.
        let fresh = pool.install(|| missing.par_iter().with_max_len(1).map(one).collect());
        bar.finish_and_clear();
        fresh
    }

    fn bar(&self, done: usize) -> ProgressBar {
        if !self.progress || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {eta} left")
            .expect("the template is valid");
        let bar = ProgressBar::new(self.jobs.len() as u64).with_style(style).with_position(done as u64);
        bar.reset_eta();
        bar
    }

    /// What a journal must agree on before its runs may be used.
    fn identity(&self) -> journal::Header {
        let mut hash = Sha256::new();
        hash.update(self.scenario);
        hash.update(serde_json::to_vec(self.jobs).expect("jobs are plain text and numbers"));
        let sweep = hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
            text
        });
        journal::Header::new(sweep, &self.build)
    }

    fn check_known(&self, finished: &BTreeMap<(usize, u64), Metrics>) -> Result<(), Error> {
        let wanted: BTreeSet<(usize, u64)> = self.jobs.iter().map(|job| (job.point, job.seed)).collect();
        match finished.keys().find(|key| !wanted.contains(key)) {
            None => Ok(()),
            Some((point, seed)) => Err(Error::Damaged {
                path: self.out.join(JOURNAL_FILE),
                line: 1,
                reason: format!("the sweep has no point {point} with seed {seed}"),
                right: journal::ANOTHER_FOLDER,
            }),
        }
    }

    fn results(&self, mut finished: BTreeMap<(usize, u64), Metrics>) -> Results {
        let mut rows: Vec<Row> = self
            .jobs
            .iter()
            .map(|job| Row {
                point: job.point,
                seed: job.seed,
                values: job.values.clone(),
                metrics: finished.remove(&(job.point, job.seed)).expect("every job is finished"),
            })
            .collect();
        rows.sort_by_key(|row| (row.point, row.seed));
        Results { build: self.build.clone(), scenario: self.scenario.to_string(), rows }
    }
}

/// An infinite ratio is as undefined as 0/0: neither JSON nor a mean can carry it.
fn defined(metrics: Metrics) -> Metrics {
    let clean = |number: f64| if number.is_finite() { number } else { f64::NAN };
    metrics.into_iter().map(|(name, number)| (name, clean(number))).collect()
}

fn check_distinct(jobs: &[Job]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    match jobs.iter().find(|job| !seen.insert((job.point, job.seed))) {
        Some(job) => Err(Error::SeedTwice(job.seed)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

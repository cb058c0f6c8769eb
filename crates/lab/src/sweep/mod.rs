//! Many runs, on many threads, into one folder, despite failures and interruptions.
//!
//! A finished run is appended to a journal at once. Starting the same sweep again finds it there: a sweep that was killed resumes
//! where it stopped, and ends with the bytes that an undisturbed one gives.
//!
//! A folder belongs to one scenario, but to no list of points and seeds: a sweep with more of them does what is missing. Several
//! processes, on as many machines as reach the folder, each do a part, with a journal and a table of their own.

mod differences;
mod folder;
mod journal;
mod manifest;
mod plan;
mod shard;
mod shown;
mod union;

use crate::results::{self, Build, Metrics, Results};
use crate::run::Progress;
use journal::Journal;
use manifest::{Manifest, Values};
use rayon::prelude::*;
use serde::Serialize;
use shard::{journal_of, table_of};
use shown::Shown;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use differences::differing_keys;
pub use journal::JOURNAL_FILE;
pub use manifest::MANIFEST_FILE;
pub use plan::{Around, Plan, Swept, seed_list};
pub use shard::Shard;
pub use union::{merge, read};

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
    /// What makes it this sweep, whatever points and seeds it has: only runs of one sweep may share a folder.
    pub identity: &'a str,
    /// Which part of the runs this process does; `None`: all.
    pub shard: Option<Shard>,
    /// The program that runs.
    pub build: Build,
    /// What to run; no two with the same values and seed.
    pub jobs: &'a [Job],
    /// How many runs at a time; 0 means one per core.
    pub threads: usize,
    /// Who watches how many runs are done; `None`: standard error shows a bar on a terminal, elsewhere a line a minute.
    pub watch: Option<&'a Progress>,
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
    #[error("{path} holds runs of another sweep: {difference}; name another folder", path = path.display())]
    OtherSweep {
        /// The journal.
        path: PathBuf,
        /// How they differ.
        difference: String,
    },
    /// Someone else is writing here.
    #[error("another sweep is writing to {}", .0.display())]
    Busy(PathBuf),
    /// Two processes ran one run, and it came out differently.
    #[error("{} and {} have different results of one run ({run}): they were not made by the same program and files; delete one of them", .first.display(), .second.display())]
    Disagree {
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// Values and seed.
        run: String,
    },
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
    /// Does what no process has done yet in the folder, then writes `results.parquet` and `summary.json` of all that the folder
    /// holds; of a part, its own table alone.
    ///
    /// # Errors
    /// The folder cannot be used, or a run failed; what was finished until then is kept.
    pub fn run<E: Display>(
        &self,
        runner: impl Fn(&Job) -> Result<Metrics, E> + Sync,
    ) -> Result<Results, Error> {
        let open = self.open()?;
        let missing = open.missing.clone();
        let open = Mutex::new(open);
        self.run_missing(&missing, &open, runner)?;
        self.finish(open.into_inner().expect("no run panics while it holds the journal"))
    }

    /// Opens the folder, for one who runs the jobs elsewhere and adds their results.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn open(&self) -> Result<Open, Error> {
        check_distinct(self.jobs)?;
        folder::prepare(self.out)?;
        let manifest = Manifest::join(self.out, self.identity, &self.build, self.scenario, self.jobs)?;
        let journal = Journal::open(self.out.join(journal_of(self.shard)), &manifest)?;
        let done = union::read(self.out)?.map_or_else(Vec::new, |found| found.rows);
        let known: BTreeSet<(&Values, u64)> = done.iter().map(|row| (&row.values, row.seed)).collect();
        let mine = self.mine().filter(|(_, job)| !known.contains(&(&job.values, job.seed)));
        let missing = mine.map(|(position, _)| position).collect();
        Ok(Open { manifest, journal, missing })
    }

    /// Writes the tables of what the folder holds, or of this part.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(&self, open: Open) -> Result<Results, Error> {
        let Open { manifest, journal, .. } = open;
        drop(journal);
        if self.shard.is_some() {
            return self.write_part(&manifest);
        }
        let results = union::read(self.out)?.expect("the manifest is there");
        results.write(self.out)?;
        results::write_summary(&results, &[], self.out)?;
        Ok(results)
    }

    /// The runs of this process, in their order, each with its position among all.
    fn mine(&self) -> impl Iterator<Item = (usize, &Job)> {
        let is_mine = |position: usize| self.shard.is_none_or(|shard| shard.has(position));
        self.jobs.iter().enumerate().filter(move |(position, _)| is_mine(*position))
    }

    fn run_missing<E: Display>(
        &self,
        missing: &[usize],
        open: &Mutex<Open>,
        runner: impl Fn(&Job) -> Result<Metrics, E> + Sync,
    ) -> Result<(), Error> {
        let all = self.mine().count();
        let shown = Shown::start(self.watch.is_none(), all, all - missing.len());
        self.watch.inspect(|watch| watch.begin(missing.len()));
        let one = |position: &usize| {
            let job = &self.jobs[*position];
            let metrics = runner(job).map_err(|reason| Error::Run {
                point: job.point,
                seed: job.seed,
                reason: reason.to_string(),
            })?;
            open.lock().expect("no run panics while it holds the journal").add(job, metrics)?;
            shown.one_more();
            self.watch.inspect(|watch| watch.count());
            Ok(())
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build()?;
        // Runs differ much in length: one at a time, so that no thread sits on a queue of long ones.
        let done = pool.install(|| missing.par_iter().with_max_len(1).map(one).collect());
        shown.finish();
        done
    }

    /// The table of a part: the runs of its journal.
    fn write_part(&self, manifest: &Manifest) -> Result<Results, Error> {
        let journal = self.out.join(journal_of(self.shard));
        let part = union::of_journal(&journal, manifest)?;
        part.write_table(&table_of(&journal))?;
        Ok(part)
    }
}

/// A folder that a process writes to. What is added goes to disk and is not kept in memory.
pub struct Open {
    manifest: Manifest,
    journal: Journal,
    missing: Vec<usize>,
}

impl Open {
    /// The runs that no process has done yet, by their positions among the jobs.
    pub fn missing(&self) -> &[usize] {
        &self.missing
    }
    /// Keeps what a run has measured, on disk.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn add(&mut self, job: &Job, metrics: Metrics) -> Result<(), Error> {
        self.journal.append(job, &metrics)
    }
}

fn check_distinct(jobs: &[Job]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    match jobs.iter().find(|job| !seen.insert((&job.values, job.seed))) {
        Some(job) => Err(Error::SeedTwice(job.seed)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

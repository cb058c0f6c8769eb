//! From a scenario file to the jobs of its sweep.

use super::manifest::OF_CODE;
use super::{Error, Job, Open, Shard, Sweep};
use crate::results::{Build, Metrics, Results, Row, write_summary};
use crate::run::{ContactsCache, Options, Progress, run, why_nothing};
use crate::view::Written;
use lightlag_scenario::{Place, Points, ScenarioFile, Seed};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All runs of a scenario file.
#[derive(Clone, Debug)]
pub struct Plan {
    text: String,
    written: Written,
    digest: String,
    points: Points,
    jobs: Vec<Job>,
    seeds: Vec<Seed>,
}

/// Calls a run, prepared for it.
pub type Around<'a> = dyn Fn(&mut (dyn FnMut() + Send)) + Sync + 'a;

/// A sweep that is done.
#[derive(Clone, Debug)]
pub struct Swept {
    /// All its runs.
    pub results: Results,
    /// How many of its runs were done by this call; the others were there.
    pub fresh: usize,
    /// How many violations the judge found in all of them.
    pub violations: u64,
    /// Points of which no run delivered anything, and why, a line each.
    pub nothing: Vec<(usize, String)>,
}

impl Plan {
    /// Every point with every seed; `text` is the scenario as written, kept with the results.
    ///
    /// # Errors
    /// What is wrong with the scenario or the seeds.
    pub fn new(file: &ScenarioFile, text: &str, seeds: &[Seed]) -> Result<Self, lightlag_scenario::Error> {
        let points = file.points()?;
        let count = points.list.len().saturating_mul(seeds.len());
        if count > JOBS_MAX {
            let place = Place::File(file.sources().first().map_or("sweep", |source| &source.file).into());
            let what = format!("{} points with {} seeds are {count} runs", points.list.len(), seeds.len());
            let right = format!("a sweep has {JOBS_MAX} at most; sweep fewer values or seeds at a time");
            return Err(lightlag_scenario::Error::new(&place, what, right));
        }
        let mut jobs = Vec::new();
        for (index, point) in points.list.iter().enumerate() {
            for &seed in seeds {
                let seed = point.scenario.head().seed_number(seed);
                jobs.push(Job { point: index, seed, values: point.values.clone() });
            }
        }
        let written = Written::of_sweep(file, text);
        Ok(Self {
            text: text.to_owned(),
            written,
            digest: file.digest(),
            points,
            jobs,
            seeds: seeds.to_vec(),
        })
    }
    /// With a digest of the algorithms that are not part of this program; empty where all are.
    #[must_use]
    pub fn with_code(mut self, code: &str) -> Self {
        if !code.is_empty() {
            self.digest = format!("{}{OF_CODE}{code}", self.digest);
        }
        self
    }
    /// The scenario's name.
    pub fn name(&self) -> &str {
        self.points.list.first().map_or("scenario", |point| &point.scenario.head().name)
    }
    /// Its points, skipped points, and warnings.
    pub fn points(&self) -> &Points {
        &self.points
    }
    /// Runs what is not yet in `out`, or a part of it, on this many threads (0: one per core).
    ///
    /// # Errors
    /// The folder cannot be used, or a run failed.
    pub fn run(&self, out: &Path, shard: Option<Shard>, threads: usize, judge: bool) -> Result<Swept, Error> {
        self.run_until(out, shard, threads, judge, None, &|run| run())
    }
    /// As [`Plan::run`]; `watch` counts the runs that are done, and once it is stopped, runs end at their next record, by
    /// unwinding. Each run is called by `around`, on the thread where it happens.
    ///
    /// # Errors
    /// As [`Plan::run`]; and a run that was not begun failed.
    pub fn run_until(
        &self,
        out: &Path,
        shard: Option<Shard>,
        threads: usize,
        judge: bool,
        watch: Option<&Progress>,
        around: &Around<'_>,
    ) -> Result<Swept, Error> {
        let cache = ContactsCache::default();
        let fresh = AtomicUsize::new(0);
        let results = Sweep { watch, ..self.sweep(out, shard, threads) }.run(|job: &Job| {
            if watch.is_some_and(Progress::is_stopped) {
                return Err("stopped before it began".to_owned());
            }
            let mut measured = Ok(Metrics::new());
            around(&mut || measured = self.measure(job, judge, &cache, watch));
            fresh.fetch_add(1, Ordering::Relaxed);
            measured.map_err(|error| error.to_string())
        })?;
        self.swept(results, fresh.into_inner(), out, shard, &cache)
    }
    /// What of a sweep in a folder is not done yet, for one who runs it elsewhere, with [`Plan::measured`].
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn open(&self, out: &Path, shard: Option<Shard>) -> Result<Open, Error> {
        self.sweep(out, shard, 0).open()
    }
    /// Does one run and gives what it measured.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn measured(
        &self,
        position: usize,
        judge: bool,
        cache: &ContactsCache,
    ) -> Result<Metrics, lightlag_scenario::Error> {
        self.measure(&self.jobs[position], judge, cache, None)
    }
    /// Keeps what a run has measured.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&self, open: &mut Open, position: usize, metrics: Metrics) -> Result<(), Error> {
        open.add(&self.jobs[position], metrics)
    }
    /// Writes the tables.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(&self, open: Open, out: &Path, shard: Option<Shard>) -> Result<Swept, Error> {
        let fresh = open.missing().len();
        let results = self.sweep(out, shard, 0).finish(open)?;
        self.swept(results, fresh, out, shard, &ContactsCache::default())
    }
    fn sweep<'a>(&'a self, out: &'a Path, shard: Option<Shard>, threads: usize) -> Sweep<'a> {
        Sweep {
            out,
            scenario: &self.text,
            identity: &self.digest,
            shard,
            build: Build::this(),
            jobs: &self.jobs,
            threads,
            watch: None,
        }
    }
    fn measure(
        &self,
        job: &Job,
        judge: bool,
        cache: &ContactsCache,
        stop: Option<&Progress>,
    ) -> Result<Metrics, lightlag_scenario::Error> {
        let options = Options { judge, progress: stop.cloned(), ..Options::default() };
        let outcome = run(&self.points.list[job.point].scenario, self.seed(job), cache, &options)?;
        Ok(outcome.metrics())
    }
    fn swept(
        &self,
        results: Results,
        fresh: usize,
        out: &Path,
        shard: Option<Shard>,
        cache: &ContactsCache,
    ) -> Result<Swept, Error> {
        self.written.write(out)?;
        let violations = results.rows.iter().filter_map(|row| row.metric("violations")).sum::<f64>() as u64;
        let nothing = self.nothing(&results, cache);
        if !nothing.is_empty() && shard.is_none() {
            write_summary(&results, &nothing, out)?;
        }
        Ok(Swept { results, fresh, violations, nothing })
    }
    /// Why points delivered nothing under any seed, by their first seed. Computed from the results, so that a sweep that was
    /// resumed gives the same.
    fn nothing(&self, results: &Results, cache: &ContactsCache) -> Vec<(usize, String)> {
        let first = self.jobs.chunk_by(|one, next| one.point == next.point).map(|jobs| &jobs[0]);
        let line = |job: &Job| {
            let mut rows = results.rows.iter().filter(|row| row.point == job.point);
            let delivers = |row: &Row| {
                ["delivered", "delivered_bytes"].map(|name| row.metric(name).unwrap_or(0.0)) != [0.0; 2]
            };
            if rows.clone().any(delivers) {
                return None;
            }
            let row = rows.find(|row| row.seed == job.seed)?;
            let figure = |name: &str| row.metric(name).unwrap_or(0.0).max(0.0) as u64;
            let scenario = &self.points.list[job.point].scenario;
            Some((job.point, why_nothing(scenario, self.seed(job), cache, &figure)?))
        };
        first.filter_map(line).collect()
    }
    /// The ONE's own run is not the run of the same number: its traffic has no seed.
    fn seed(&self, job: &Job) -> Seed {
        let is_own = self.points.list[job.point].scenario.head().own_seed == job.seed;
        if is_own && self.seeds.contains(&Seed::Own) { Seed::Own } else { Seed::Number(job.seed) }
    }
}

/// Seeds from `1,2,5..9`; both ends of a span are included.
///
/// # Errors
/// What is not a number, a span that runs backwards, a seed that comes twice.
pub fn seed_list(list: &str) -> Result<Vec<Seed>, lightlag_scenario::Error> {
    let place = Place::Option("seeds".into());
    let wrong = |what: String| lightlag_scenario::Error::new(&place, what, "seeds are written like 1,2,5..9");
    let number =
        |text: &str| text.trim().parse::<u64>().map_err(|_| wrong(format!("`{text}` is not a seed")));
    let mut seeds = Vec::new();
    let mut known = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = match part.split_once("..") {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if last < first || last - first >= SEEDS_MAX {
            return Err(wrong(format!("`{part}` spans no seeds or more than {SEEDS_MAX}")));
        }
        if seeds.len() as u64 + (last - first) >= SEEDS_MAX {
            return Err(wrong(format!("there are more than {SEEDS_MAX} seeds")));
        }
        for seed in first..=last {
            if !known.insert(seed) {
                return Err(wrong(format!("seed {seed} comes twice")));
            }
            seeds.push(Seed::Number(seed));
        }
    }
    Ok(seeds)
}

/// More than anybody means to run.
const JOBS_MAX: usize = 1_000_000;
/// More than anybody means to name.
const SEEDS_MAX: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_seeds_has_numbers_and_spans() {
        let numbers = |list| {
            seed_list(list)
                .map(|seeds| seeds.iter().map(|s| matches!(s, Seed::Number(_))).collect::<Vec<_>>())
        };
        assert_eq!(numbers("1,5..7").unwrap().len(), 4);
        for wrong in ["", "x", "3..1", "1,1", "1..2,2", "-1", "0..9999999"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }
}

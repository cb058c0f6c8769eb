//! The table of a sweep: one row a run.

mod of_run;
mod parquet;
mod summary;
pub(crate) mod terminal;

pub use crate::metrics::{Build, number};
use crate::statistics::{self, Domain, Estimate};
use crate::sweep;
pub use crate::text_table::table_text;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

pub use self::parquet::COLUMNS;
pub(crate) use summary::summary;
pub use summary::write_summary;
pub use terminal::{SHOWN, SHOWN_OF_PACKETS, interval_text, shown, terminal_table};

/// Name of the table in a sweep's folder.
pub const RESULTS_FILE: &str = "results.parquet";
/// Name of the summary in a sweep's folder.
pub const SUMMARY_FILE: &str = "summary.json";

/// Named numbers of one run; what is undefined is not a number.
pub type Metrics = Vec<(Name, f64)>;

/// The name of a metric; many runs share one.
pub type Name = Arc<str>;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which point of the sweep.
    pub point: usize,
    /// Seed of the run.
    pub seed: u64,
    /// The scenario's values that distinguish the points.
    pub values: Vec<(String, String)>,
    /// What was measured.
    pub metrics: Metrics,
}

impl Row {
    /// The value of a scenario column.
    pub fn value(&self, column: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| name == column).map(|(_, text)| text.as_str())
    }

    /// A metric, where the run has it.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|(known, _)| **known == *name).map(|(_, number)| *number)
    }
}

/// All runs of a sweep, with everything to do them again.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Which program made them.
    pub build: Build,
    /// Text of the scenario.
    pub scenario: String,
    /// Ascending by (point, seed).
    pub rows: Vec<Row>,
    /// How many runs were planned beside these, and are not done yet.
    pub missing: usize,
}

/// One point of a sweep: all its seeds.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// The scenario's values.
    pub values: &'a [(String, String)],
    /// Its runs, ascending by seed.
    pub rows: Vec<&'a Row>,
}

impl Point<'_> {
    /// Mean and interval of a metric over the seeds.
    pub fn estimate(&self, metric: &str) -> Option<Estimate> {
        let values: Vec<f64> = self.rows.iter().filter_map(|row| row.metric(metric)).collect();
        statistics::estimate(&values).map(|made| made.of(Domain::of(metric)))
    }

    /// A metric by seed.
    pub fn by_seed(&self, metric: &str) -> BTreeMap<u64, f64> {
        self.rows.iter().filter_map(|row| Some((row.seed, row.metric(metric)?))).collect()
    }
}

impl Results {
    /// The points, ascending.
    pub fn points(&self) -> Vec<Point<'_>> {
        let mut points: BTreeMap<usize, Point<'_>> = BTreeMap::new();
        for row in &self.rows {
            points
                .entry(row.point)
                .or_insert_with(|| Point { values: &row.values, rows: Vec::new() })
                .rows
                .push(row);
        }
        points.into_values().collect()
    }

    /// Names of the scenario's columns, in the order of their first appearance.
    pub fn value_columns(&self) -> Vec<String> {
        unique(self.rows.iter().flat_map(|row| &row.values).map(|(name, _)| name.as_str()))
    }

    /// The axis that a name stands for: its whole name, or its end where no other axis ends so, as `buffer` stands for
    /// `nodes.walkers.buffer`.
    ///
    /// # Errors
    /// A line: the sweep does not vary it, or several axes end so.
    pub fn axis(&self, name: &str) -> Result<String, String> {
        let known = self.value_columns();
        if known.iter().any(|column| column == name) {
            return Ok(name.to_owned());
        }
        let ends_so = |column: &&String| column.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        let candidates: Vec<String> = known.iter().filter(ends_so).cloned().collect();
        match &candidates[..] {
            [only] => Ok(only.clone()),
            [] if known.is_empty() => Err(format!("the sweep does not vary `{name}`; it varies nothing")),
            [] => Err(format!("the sweep does not vary `{name}`; it varies {}", known.join(", "))),
            _ => Err(format!("`{name}` is ambiguous; name one of {}", candidates.join(", "))),
        }
    }

    /// Names of the metrics, in the order of their first appearance.
    pub fn metric_columns(&self) -> Vec<String> {
        unique(self.rows.iter().flat_map(|row| &row.metrics).map(|(name, _)| &**name))
    }

    /// Every seed that was run, ascending.
    pub fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = self.rows.iter().map(|row| row.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// Reads the runs of a sweep's folder, whichever processes have done them; of a sweep that is not finished, those that
    /// are.
    ///
    /// # Errors
    /// No table there, or one that another program made.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        if let Some(union) = sweep::read(folder).map_err(Box::new)? {
            return Ok(union);
        }
        let path = folder.join(RESULTS_FILE);
        if path.exists() {
            return parquet::read(&path);
        }
        Err(Error::Missing { path, right: "name the folder of a sweep".to_owned() })
    }

    /// Reads what a command has written: the folder of a sweep or of `run --out`, or a file of `run --json`.
    ///
    /// # Errors
    /// Neither of them there.
    pub fn read_any(path: &Path) -> Result<Self, Error> {
        match of_run::read(path) {
            Some(read) => read,
            None => Self::read(path).map_err(|error| match error {
                Error::Missing { path, .. } => Error::Missing {
                    path,
                    right: "name the folder of a sweep or of `run --out`, or a file of `run --json`"
                        .to_owned(),
                },
                other => other,
            }),
        }
    }

    /// Reads one table.
    ///
    /// # Errors
    /// No table there, or one that another program made.
    pub fn read_table(path: &Path) -> Result<Self, Error> {
        parquet::read(path)
    }

    /// Writes the table into a folder, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        self.write_table(&folder.join(RESULTS_FILE))
    }

    /// The table as a Parquet file.
    ///
    /// # Errors
    /// Rows that make no table.
    pub fn parquet(&self) -> Result<Vec<u8>, Error> {
        parquet::bytes(self, Path::new(RESULTS_FILE))
    }

    /// Writes the table to a file, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_table(&self, path: &Path) -> Result<(), Error> {
        parquet::write(self, path)
    }
}

/// That a sweep is not finished, in a line, if so.
pub fn unfinished(results: &Results) -> Option<String> {
    let (done, missing) = (results.rows.len(), results.missing);
    (missing > 0).then(|| format!("the sweep is not finished: {done} of {} runs are done", done + missing))
}

/// Each name once. Most rows have the names of the row before: the next name is looked for beside the last one first.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    let mut next = 0;
    for name in names {
        if seen.get(next).is_none_or(|known| known != name) {
            next = seen.iter().position(|known| known == name).unwrap_or(seen.len());
        }
        if next == seen.len() {
            seen.push(name.to_owned());
        }
        next += 1;
    }
    seen
}

/// Why a table could not be read or written; one line each.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk said no.
    #[error("cannot {action} {path}: {reason}", path = path.display())]
    File {
        /// "read" or "write".
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// There is no table.
    #[error("cannot read {path}: no such file; {right}", path = path.display())]
    Missing {
        /// Which file.
        path: PathBuf,
        /// What to do about it.
        right: String,
    },
    /// Several files that do not fit together.
    #[error(transparent)]
    Sweep(#[from] Box<sweep::Error>),
    /// It is not a table of ours.
    #[error("{path} is not a table of results: {reason}", path = path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
}

/// Replaces a file at once: a reader sees the old bytes or the new ones, never half of them. Processes on several machines may do
/// so at one time; the last one wins.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let part = path.with_extension(format!("{}-{}-{next}.part", std::process::id(), since.as_nanos()));
    let written = write_through(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|reason| {
        let _ = std::fs::remove_file(&part); // the first error is the one to report
        Error::File { action: "write", path: path.to_path_buf(), reason }
    })
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

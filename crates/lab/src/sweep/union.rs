//! A sweep's folder as one table: the union of what all its processes have run.

use super::journal::{self, Finished, Metrics};
use super::manifest::{Manifest, Values, other_program};
use super::shard::{is_journal, is_table, table_of};
use super::{Error, MANIFEST_FILE};
use crate::results::{self, Name, RESULTS_FILE, Results, Row, write_summary};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};

/// The runs of a folder by point and seed, each with the file that it was read from.
struct Union<'m> {
    manifest: &'m Manifest,
    numbers: BTreeMap<&'m Values, usize>,
    /// The files that were read, the last one is being read.
    files: Vec<PathBuf>,
    runs: BTreeMap<(usize, u64), (Row, usize)>,
}

/// Reads all that is finished in a folder. `None`: it is not one of [`super::Sweep`], or an old one with a table alone.
///
/// # Errors
/// Files that cannot be read, or in which a run came out differently.
pub fn read(folder: &Path) -> Result<Option<Results>, Error> {
    let mut known = Manifest::read(folder)?;
    loop {
        let Some(manifest) = known else { return Ok(None) };
        let results = of_plan(folder, &manifest);
        known = results.is_err().then(|| Manifest::read(folder)).transpose()?.flatten();
        // A process that joins writes its plan before its runs: these may be of a newer plan than was read.
        if known.as_ref().is_none_or(|newer| *newer == manifest) {
            return results.map(Some);
        }
    }
}

fn of_plan(folder: &Path, manifest: &Manifest) -> Result<Results, Error> {
    let mut union = Union::of(manifest);
    let (journals, tables) = (files(folder, is_journal)?, files(folder, is_table)?);
    // A table may be older than its journal, or a part of it: only the journal has all that is finished.
    for path in &journals {
        union.add_journal(path)?;
    }
    let alone = |table: &&PathBuf| journals.iter().all(|journal| table_of(journal) != **table);
    for table in tables.iter().filter(alone) {
        union.add_table(table)?;
    }
    Ok(union.results())
}

/// The runs of one journal.
pub(super) fn of_journal(path: &Path, manifest: &Manifest) -> Result<Results, Error> {
    let mut union = Union::of(manifest);
    union.add_journal(path)?;
    Ok(union.results())
}

/// Checks a folder and writes its runs as one journal and one table, in place of all others.
///
/// # Errors
/// As of [`read`]; a folder without a sweep; one in which a process is still running.
pub fn merge(folder: &Path) -> Result<Results, Error> {
    let manifest = Manifest::read(folder)?.ok_or_else(|| {
        let right = "name the folder of a sweep".to_owned();
        results::Error::Missing { path: folder.join(MANIFEST_FILE), right }
    })?;
    let journals = files(folder, is_journal)?;
    // A process that is running holds its journal; none may begin before what it had is in the common one.
    let held: Vec<_> = journals.iter().map(|path| journal::lock(path)).collect::<Result<_, _>>()?;
    let results = of_plan(folder, &manifest)?;
    let whole = folder.join(super::JOURNAL_FILE);
    journal::write_all(&whole, &manifest, &results.rows)?;
    results.write(folder)?;
    write_summary(&results, &[], folder)?;
    let table = folder.join(RESULTS_FILE);
    let others =
        journals.into_iter().chain(files(folder, is_table)?).filter(|path| *path != whole && *path != table);
    for path in others {
        std::fs::remove_file(&path).map_err(|reason| Error::Disk { action: "remove", path, reason })?;
    }
    drop(held);
    Ok(results)
}

/// Files of a folder by name, sorted.
fn files(folder: &Path, wanted: fn(&str) -> bool) -> Result<Vec<PathBuf>, Error> {
    let disk =
        |reason: io::Error| Error::Disk { action: "read the folder", path: folder.to_path_buf(), reason };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(disk)? {
        let path = entry.map_err(disk)?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(wanted) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

impl<'m> Union<'m> {
    fn of(manifest: &'m Manifest) -> Self {
        Self { manifest, numbers: manifest.points(), files: Vec::new(), runs: BTreeMap::new() }
    }
    fn add_table(&mut self, path: &Path) -> Result<(), Error> {
        let table = Results::read_table(path)?;
        if table.build != self.manifest.build() {
            let difference = other_program(&table.build, &self.manifest.build());
            return Err(Error::OtherSweep { path: path.to_path_buf(), difference });
        }
        self.files.push(path.to_path_buf());
        table.rows.into_iter().try_for_each(|row| self.add(row))
    }
    fn add_journal(&mut self, path: &Path) -> Result<(), Error> {
        self.files.push(path.to_path_buf());
        journal::read(path, self.manifest, |Finished { values, seed, metrics }| {
            self.add(Row { point: 0, seed, values, metrics })
        })
    }
    fn add(&mut self, row: Row) -> Result<(), Error> {
        let file = self.files.len() - 1;
        let Some(&point) = self.numbers.get(&row.values) else {
            return Err(Error::Damaged {
                path: self.files[file].clone(),
                line: 1,
                reason: format!("it has a run of a point that was not planned ({})", shown(&row.values)),
                right: "name another folder",
            });
        };
        match self.runs.entry((point, row.seed)) {
            Entry::Vacant(entry) => drop(entry.insert((Row { point, ..row }, file))),
            Entry::Occupied(known) if known.get().1 == file => {
                return Err(Error::Damaged {
                    path: self.files[file].clone(),
                    line: 1,
                    reason: format!("a run is there twice ({}, seed {})", shown(&row.values), row.seed),
                    right: "delete one of its lines",
                });
            }
            Entry::Occupied(known) if agree(&known.get().0.metrics, &row.metrics) => {}
            Entry::Occupied(known) => {
                return Err(Error::Disagree {
                    first: self.files[known.get().1].clone(),
                    second: self.files[file].clone(),
                    run: format!("{}, seed {}", shown(&row.values), row.seed),
                });
            }
        }
        Ok(())
    }
    fn results(self) -> Results {
        let rows: Vec<Row> = self.runs.into_values().map(|(row, _)| row).collect();
        Results {
            build: self.manifest.build(),
            scenario: self.manifest.scenario().to_owned(),
            missing: self.manifest.runs().saturating_sub(rows.len()),
            rows,
        }
    }
}

fn shown(values: &Values) -> String {
    let each: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if each.is_empty() { "the only point".to_owned() } else { each.join(", ") }
}

/// To the bit; what has no value is the same everywhere. A table has no trace of a figure that a run does not have.
fn agree(one: &Metrics, other: &Metrics) -> bool {
    let bits = |metrics: &Metrics| -> BTreeMap<Name, u64> {
        let has_value = metrics.iter().filter(|(_, number)| number.is_finite());
        has_value.map(|(name, number)| (name.clone(), number.to_bits())).collect()
    };
    bits(one) == bits(other)
}

//! What was planned for a folder: which points with which seeds, by all processes that have run there.

use super::differences::differences;
use super::{Error, Job};
use crate::results::{Build, replace_file};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

/// Name of the file.
pub const MANIFEST_FILE: &str = "sweep.json";

/// Name of the file that processes lock while they change the plan; it is empty.
pub const LOCK_FILE: &str = "sweep.lock";

/// Waits until no other process changes the plan of a folder; the file holds the others until it is dropped.
fn alone(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK_FILE);
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let locked = opened.and_then(|file| file.lock().map(|()| file));
    locked.map_err(|reason| Error::Disk { action: "lock", path, reason })
}

/// Between the digest of a scenario and that of algorithms of its author.
pub const OF_CODE: char = '+';

/// The values that make a point.
pub type Values = Vec<(String, String)>;

/// Whose runs these are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    sweep: String,
    version: String,
    commit: String,
}

impl Identity {
    fn build(&self) -> Build {
        Build { version: self.version.clone(), commit: self.commit.clone() }
    }
    /// How runs that are wanted differ from those that are found.
    pub fn difference(&self, wanted: &Self) -> String {
        let (there, here) = (self.build(), wanted.build());
        let scenario = |one: &Self| one.sweep.split(OF_CODE).next().map(str::to_owned);
        if there != here {
            other_program(&there, &here)
        } else if scenario(self) == scenario(wanted) {
            "an algorithm of yours has changed since".to_owned()
        } else {
            "they have another scenario".to_owned()
        }
    }
}

/// That runs were made by another program than this one.
pub fn other_program(there: &Build, here: &Build) -> String {
    let [there, here] = [there, here].map(|one| format!("version {} ({})", one.version, one.commit));
    format!("they were made by {there}, this is {here}")
}

/// Whose runs a folder holds, and which will be there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(flatten)]
    pub identity: Identity,
    /// What was planned, the latest last; none is a part of a later one.
    plans: Vec<Planned>,
}

/// What one process, or several with the same scenario and seeds, will run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Planned {
    scenario: String,
    points: Vec<(Values, Vec<u64>)>,
}

impl Planned {
    fn new(scenario: &str, jobs: &[Job]) -> Self {
        let mut points: Vec<(Values, Vec<u64>)> = Vec::new();
        for of_point in jobs.chunk_by(|one, next| one.point == next.point) {
            points.push((of_point[0].values.clone(), of_point.iter().map(|job| job.seed).collect()));
        }
        Self { scenario: scenario.to_owned(), points }
    }
    fn runs(&self) -> BTreeSet<(&Values, u64)> {
        self.points.iter().flat_map(|(values, seeds)| seeds.iter().map(move |seed| (values, *seed))).collect()
    }
}

impl Manifest {
    /// The manifest of a folder with this plan in it.
    ///
    /// # Errors
    /// The folder holds runs of another sweep or program, or cannot be written.
    pub fn join(
        folder: &Path,
        sweep: &str,
        build: &Build,
        scenario: &str,
        jobs: &[Job],
    ) -> Result<Self, Error> {
        let identity = Identity {
            sweep: sweep.to_owned(),
            version: build.version.clone(),
            commit: build.commit.clone(),
        };
        let _alone = alone(folder)?;
        let mut manifest = match Self::read(folder)? {
            Some(known) if known.identity == identity => known,
            Some(known) => {
                let of_scenario =
                    differences(known.scenario(), scenario).filter(|_| known.build() == identity.build());
                let difference = of_scenario.unwrap_or_else(|| known.identity.difference(&identity));
                return Err(Error::OtherSweep { path: folder.join(MANIFEST_FILE), difference });
            }
            None => Self { identity, plans: Vec::new() },
        };
        let plan = Planned::new(scenario, jobs);
        if manifest.plans.last() != Some(&plan) {
            let runs = plan.runs();
            manifest.plans.retain(|known| !known.runs().is_subset(&runs));
            manifest.plans.push(plan);
            manifest.write(folder)?;
        }
        Ok(manifest)
    }
    /// That of a folder, if it has one.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(MANIFEST_FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(reason) => return Err(Error::Disk { action: "read", path, reason }),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|reason| Error::Damaged {
            path,
            line: reason.line(),
            reason: "this is not a plan of a sweep".to_owned(),
            right: "name another folder",
        })
    }
    fn write(&self, folder: &Path) -> Result<(), Error> {
        let bytes = serde_json::to_vec(self).expect("plans are plain text and numbers");
        Ok(replace_file(&folder.join(MANIFEST_FILE), &bytes)?)
    }
    /// The program that runs it.
    pub fn build(&self) -> Build {
        self.identity.build()
    }
    /// Text of the latest scenario.
    pub fn scenario(&self) -> &str {
        self.plans.last().map_or("", |plan| &plan.scenario)
    }
    /// All points by their values, numbered: those of the latest plan in its order, then those that only earlier ones have.
    pub fn points(&self) -> BTreeMap<&Values, usize> {
        let mut numbers = BTreeMap::new();
        for (values, _) in self.plans.iter().rev().flat_map(|plan| &plan.points) {
            let next = numbers.len();
            numbers.entry(values).or_insert(next);
        }
        numbers
    }
    /// How many runs are planned.
    pub fn runs(&self) -> usize {
        match &self.plans[..] {
            [one] => one.points.iter().map(|(_, seeds)| seeds.len()).sum(),
            all => all.iter().flat_map(Planned::runs).collect::<BTreeSet<_>>().len(),
        }
    }
}

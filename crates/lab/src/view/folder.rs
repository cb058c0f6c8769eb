//! A folder of results: which scenario it is of.

use super::{Chosen, of_scenario};
use crate::results::replace_file;
use lightlag_page::Source;
use lightlag_scenario::{Catalogue, Error, Place, Point, Result, ScenarioFile, Seed};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the file in a folder of results that says of which scenario they are.
pub const SCENARIO_FILE: &str = "scenario.json";

/// A scenario as results keep it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// As it was written, with what was set on the command line as comments at its end.
    pub text: String,
    /// What its file names are relative to.
    pub folder: PathBuf,
    /// Of a run: what makes its point.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// Of a run: its seed; `None` is the first.
    #[serde(default)]
    pub seed: Option<u64>,
}

impl Written {
    /// Of a sweep.
    pub fn of_sweep(file: &ScenarioFile, text: &str) -> Self {
        let folder = file.folder();
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Self { text: text.to_owned(), folder, set: Vec::new(), seed: None }
    }
    /// Of a run.
    ///
    /// # Errors
    /// A point of another scenario.
    pub fn of_run(file: &ScenarioFile, text: &str, point: &Point, seed: Seed) -> Result<Self> {
        let set = if file.is_the_one() { Vec::new() } else { file.settings(point)? };
        let seed = match seed {
            Seed::Own => None,
            Seed::Number(number) => Some(number),
        };
        Ok(Self { set, seed, ..Self::of_sweep(file, text) })
    }
    /// Writes it into a folder.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Path) -> std::result::Result<(), crate::results::Error> {
        let mut text = serde_json::to_string_pretty(self).expect("it is text and numbers");
        text.push('\n');
        replace_file(&folder.join(SCENARIO_FILE), text.as_bytes())
    }
    /// Reads that of a folder, if it has one.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(SCENARIO_FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let wrong = |what: String| Error::new(&place(&path), what, "name the scenario instead of the folder");
        let bytes = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| wrong(format!("it is damaged: {error}")))
    }
    /// The scenario, as it was run.
    fn scenario(&self, name: &str) -> Result<ScenarioFile> {
        let catalogue = || Catalogue::default().into();
        let toml = ScenarioFile::from_toml(name, &self.text, self.folder.clone(), catalogue());
        let mut file = match toml {
            Ok(file) => file,
            Err(error) => {
                ScenarioFile::from_the_one(name, self.text.as_bytes(), self.folder.clone(), catalogue())
                    .map_err(|_| error)?
            }
        };
        let typed = self.text.lines().filter_map(|line| line.strip_prefix("# --set ")?.split_once('='));
        let set = self.set.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        typed.chain(set).try_for_each(|(key, value)| file.set(key, value))?;
        Ok(file)
    }
}

fn place(path: &Path) -> Place {
    Place::File(path.display().to_string().as_str().into())
}

/// One or two runs of a folder of results: that of `run --out`; of a sweep those that [`of_scenario`] chooses.
///
/// # Errors
/// A folder without a scenario, or what is wrong with it.
pub fn of_folder(folder: &Path, chosen: Chosen) -> Result<Vec<Source>> {
    let place = place(folder);
    let results = crate::sweep::read(folder).map_err(|error| {
        Error::new(
            &place,
            error.to_string().replace("; ", ", "),
            "name the folder of a sweep or of `run --out`",
        )
    })?;
    let written = match (Written::read(folder)?, &results) {
        (Some(written), _) => written,
        // A sweep of an older version: its files are looked for here.
        (None, Some(results)) => {
            let (text, folder) = (results.scenario.clone(), PathBuf::from("."));
            Written { text, folder, set: Vec::new(), seed: None }
        }
        (None, None) => {
            return place.refuse(
                "the folder has no scenario",
                "name the folder of a sweep or of `run --out`, a scenario or a trace",
            );
        }
    };
    let file = written.scenario(&folder.display().to_string())?;
    let chosen = Chosen { seed: chosen.seed.or(written.seed), ..chosen };
    of_scenario(&file, chosen, results.as_ref().filter(|results| !results.rows.is_empty()))
}

//! Settings in layers, seen through namespaces at one run index.

use super::notes::Notes;
use super::properties::{properties, readable};
use crate::error::{Error, Place, Result, Wrong, quoted};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// More settings than anyone means to write.
const SETTINGS_MAX: usize = 5_000;
/// More runs than anyone means to index.
const RUNS_MAX: usize = 10_000;
/// Runs times bytes of run arrays, all of which each run reads.
const ARRAY_BYTES_MAX: usize = 1_000_000_000;
/// Of a value with others filled in.
const FILLED_BYTES_MAX: usize = 10_000;

/// A setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where it stands.
    pub place: Place,
    /// The folder of its file.
    folder: PathBuf,
    /// Its value, run arrays and all.
    pub value: String,
    /// Its number in order of appearance.
    order: usize,
}

/// The file that The ONE always reads first, in the working directory.
pub const DEFAULTS: &str = "default_settings.txt";

/// Files of settings, of which later ones override earlier ones, and then single settings.
#[derive(Clone, Debug)]
pub struct Layers {
    settings: BTreeMap<String, Setting>,
    /// The last file, for errors that have no line.
    place: Place,
    /// The folder of what is set in no file.
    here: PathBuf,
    count: usize,
}

impl Layers {
    /// From files: name, folder and bytes each.
    ///
    /// # Errors
    /// A syntax error.
    pub fn parse<'a>(files: impl IntoIterator<Item = (&'a str, PathBuf, &'a [u8])>) -> Result<Self> {
        let (settings, place, here) = (BTreeMap::new(), Place::File("settings".into()), PathBuf::from("."));
        let mut layers = Self { settings, place, here, count: 0 };
        for (name, folder, bytes) in files {
            layers.place = Place::File(name.into());
            for property in properties(name, bytes)? {
                layers.insert(property.key, property.value, property.place, folder.clone());
            }
        }
        if layers.settings.len() > SETTINGS_MAX {
            let what = format!("there are {} settings", layers.settings.len());
            return layers.place().refuse(what, format!("at most {SETTINGS_MAX} are read"));
        }
        layers.check_runs()?;
        Ok(layers)
    }
    /// Overrides one setting.
    ///
    /// # Errors
    /// An empty key.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let place = Place::Set(key.into());
        if key.trim().is_empty() {
            return place.refuse("no key is given", "write --set Group.bufferSize=1M");
        }
        self.insert(key.trim().to_owned(), value.trim().to_owned(), place, PathBuf::from("."));
        self.check_runs()
    }
    fn insert(&mut self, key: String, value: String, place: Place, folder: PathBuf) {
        let setting = Setting { place, folder, value, order: self.count };
        self.count += 1;
        self.settings.insert(key, setting);
    }
    /// Everything that is set, in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        let mut all: Vec<(&str, &Setting)> =
            self.settings.iter().map(|(key, setting)| (key.as_str(), setting)).collect();
        all.sort_by_key(|(_, setting)| setting.order);
        all.into_iter()
    }
    /// What is set under a full key.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.get(key)
    }
    /// The setting that stands at a place.
    pub fn at(&self, place: &Place) -> Option<(&str, &Setting)> {
        let mut settings = self.settings.iter();
        settings.find(|(_, setting)| setting.place == *place).map(|(key, setting)| (key.as_str(), setting))
    }
    /// Where to point when something is missing altogether: the file that may be meant to have it.
    pub fn place(&self) -> Place {
        self.place.clone()
    }
    /// A name for what has none.
    pub fn stem(&self) -> String {
        let Place::File(file) = &self.place else { return "scenario".to_owned() };
        let stem = std::path::Path::new(&**file).file_stem();
        stem.map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
    /// Refuses run arrays that are too long.
    fn check_runs(&self) -> Result<()> {
        let arrays = || self.settings.values().filter(|setting| run_array(&setting.value).is_some());
        let bytes: usize = arrays().map(|setting| setting.value.len()).sum();
        let runs = self.runs();
        let longest = arrays().max_by_key(|setting| setting.value.len());
        if runs <= RUNS_MAX && bytes.saturating_mul(runs) <= ARRAY_BYTES_MAX {
            return Ok(());
        }
        let place = longest.map_or_else(|| self.place(), |setting| setting.place.clone());
        let what = format!("[a; b; c] makes {runs} runs, with {bytes} bytes of such lists");
        place.refuse(what, format!("at most {RUNS_MAX} runs with short lists are read; index fewer"))
    }
    /// How many runs the longest run array has.
    pub fn runs(&self) -> usize {
        self.settings
            .values()
            .filter_map(|setting| run_array(&setting.value))
            .map(|runs| runs.len())
            .max()
            .unwrap_or(1)
    }
}

/// The values of `[a; b; c]`; `None` for anything else, also for brackets of fewer than three characters.
/// As in Java, empty values at the end do not count.
fn run_array(value: &str) -> Option<Vec<&str>> {
    let inside = value.strip_prefix('[')?.strip_suffix(']').filter(|inside| !inside.is_empty())?;
    let mut values: Vec<&str> = inside.split(';').map(str::trim).collect();
    while values.last().is_some_and(|last| last.is_empty()) {
        values.pop();
    }
    if values.is_empty() { None } else { Some(values) }
}

/// All values that a setting takes over the runs.
pub fn values(value: &str) -> Vec<&str> {
    run_array(value).unwrap_or_else(|| vec![value])
}

/// Settings at a run index.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// All settings.
    pub layers: &'a Layers,
    /// The run.
    pub index: usize,
    /// What was noticed so far.
    pub notes: &'a Notes,
}

/// A value that was found.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// Its full key.
    pub key: String,
    /// Its value at this run.
    pub value: &'a str,
    /// Where it stands.
    pub place: &'a Place,
    folder: &'a PathBuf,
}

impl<'a> Run<'a> {
    /// A namespace.
    pub fn space(self, name: &str) -> Space<'a> {
        Space { run: self, names: vec![name.to_owned()] }
    }
    /// A namespace, and where to look for what it does not have.
    pub fn space_or(self, name: &str, fallback: &str) -> Space<'a> {
        Space { run: self, names: vec![name.to_owned(), fallback.to_owned()] }
    }
    /// A value by its full key; empty ones do not count.
    pub fn find(self, key: &str) -> Option<Found<'a>> {
        self.notes.ask(key);
        let setting = self.layers.get(key).filter(|_| !self.notes.is_aside(key, self.index))?;
        let value = match run_array(&setting.value) {
            Some(runs) => runs[self.index % runs.len()],
            None => setting.value.as_str(),
        };
        let found = Found { key: key.to_owned(), value, place: &setting.place, folder: &setting.folder };
        (!value.is_empty()).then_some(found)
    }
    /// Fills in `%%key%%`.
    ///
    /// # Errors
    /// A key that is not set.
    pub fn fill(self, found: &Found) -> Result<String> {
        let mut out = String::new();
        for (index, piece) in found.value.split("%%").enumerate() {
            if index % 2 == 0 {
                out.push_str(piece);
                continue;
            }
            let inner = self.find(piece).ok_or_else(|| {
                Error::new(found.place, format!("%%{piece}%% is not set"), "name a setting between %% and %%")
            })?;
            out.push_str(inner.value);
            if out.len() > FILLED_BYTES_MAX {
                let right = format!("%%...%% fills in at most {FILLED_BYTES_MAX} bytes");
                return Err(found.wrong("is too long with what is filled in", right));
            }
        }
        Ok(readable(&out))
    }
}

/// A namespace of settings, with others behind it.
#[derive(Clone)]
pub struct Space<'a> {
    /// The run.
    pub run: Run<'a>,
    names: Vec<String>,
}

impl<'a> Space<'a> {
    /// The value of a key.
    pub fn find(&self, key: &str) -> Option<Found<'a>> {
        self.names.iter().find_map(|name| self.run.find(&format!("{name}.{key}")))
    }
    /// The value of a key that must be set; where it is not, that is recorded and the example is read instead.
    pub fn need(&self, key: &str, example: &'static str) -> Result<Found<'a>> {
        if let Some(found) = self.find(key) {
            return Ok(found);
        }
        let Run { layers, index, notes } = self.run;
        let name = self.names.last().map_or("", String::as_str);
        let is_aside = self.names.iter().any(|name| notes.is_aside(&format!("{name}.{key}"), index));
        if !is_aside && !notes.is_made_up(name) {
            let right = format!("add `{name}.{key} = {example}`");
            notes.record(Error::new(&layers.place, format!("`{name}.{key}` is not set"), right));
        }
        notes.make_up(example);
        Ok(Found { key: format!("{name}.{key}"), value: example, place: &layers.place, folder: &layers.here })
    }
    /// A value by one of the parsers of [`super::numbers`].
    pub fn parse<T>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> std::result::Result<T, Wrong>,
    ) -> Result<Option<T>> {
        self.find(key).map(|found| found.parse(parse)).transpose()
    }
}

impl Found<'_> {
    /// Its value by one of the parsers of [`super::numbers`].
    pub fn parse<T>(&self, parse: impl Fn(&str) -> std::result::Result<T, Wrong>) -> Result<T> {
        parse(self.value)
            .map_err(|wrong| Error::new(self.place, format!("`{}`: {}", self.key, wrong.what), wrong.right))
    }
    /// A whole number between bounds, both included.
    pub fn whole(&self, low: i32, high: i32, right: &str) -> Result<i32> {
        let number = self.parse(super::numbers::int)?;
        if (low..=high).contains(&number) {
            Ok(number)
        } else {
            Err(self.wrong(format!("is {number}"), right))
        }
    }
    /// An error about it.
    pub fn wrong(&self, what: impl AsRef<str>, right: impl AsRef<str>) -> Error {
        Error::new(self.place, format!("`{}` {}", self.key, what.as_ref()), right)
    }
    /// An error about a value that is not supported.
    pub fn unsupported(&self, supported: &[&str]) -> Error {
        self.wrong(
            format!("is {}, which is not supported", quoted(self.value)),
            format!("supported: {}", supported.join(", ")),
        )
    }
    /// Where a file that it names is looked for: beside the settings, a level above them (The ONE's
    /// own settings lie in a folder below that from which it is started), and where the program was
    /// started.
    pub fn folders(&self) -> Vec<PathBuf> {
        vec![self.folder.clone(), self.folder.join(".."), PathBuf::from(".")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(texts: &[&str]) -> Layers {
        let files = texts.iter().map(|text| ("f", PathBuf::from("."), text.as_bytes()));
        Layers::parse(files).unwrap()
    }

    #[test]
    fn later_files_override_and_empty_values_fall_back() {
        let mut layers =
            layers(&["Group.speed = 1\nGroup1.speed = 2\nGroup2.speed =\n", "Group1.speed = 3\n"]);
        let value = |layers: &Layers, name: &str| {
            let run = Run { layers, index: 0, notes: &Notes::default() };
            run.space_or(name, "Group").find("speed").map(|found| found.value.to_owned())
        };
        assert_eq!(value(&layers, "Group1").as_deref(), Some("3"));
        assert_eq!(value(&layers, "Group2").as_deref(), Some("1"));
        layers.set("Group1.speed", "9").unwrap();
        assert_eq!(value(&layers, "Group1").as_deref(), Some("9"));
        assert!(layers.set(" ", "9").is_err());
    }

    #[test]
    fn run_arrays_are_indexed_and_wrap_around() {
        let layers = layers(&["a.x = [1; 2;3]\na.y = [p;q]\na.z = [;]\na.n = %%a.x%%-%%a.y%%\na.w=[]"]);
        assert_eq!(layers.runs(), 3);
        let notes = Notes::default();
        let run = Run { layers: &layers, index: 2, notes: &notes };
        assert_eq!(run.find("a.x").unwrap().value, "3");
        assert_eq!(run.find("a.y").unwrap().value, "p");
        assert_eq!(run.fill(&run.find("a.n").unwrap()).unwrap(), "3-p");
        assert_eq!(run.find("a.w").unwrap().value, "[]");
    }

    #[test]
    fn what_is_not_set_is_named_with_an_example() {
        let layers = layers(&["a.n = %%b%%"]);
        let notes = Notes::default();
        let run = Run { layers: &layers, index: 0, notes: &notes };
        assert_eq!(run.space("Scenario").need("endTime", "43200").unwrap().value, "43200");
        let error = notes.error().unwrap().to_string();
        assert_eq!(error, "f: `Scenario.endTime` is not set; add `Scenario.endTime = 43200`");
        assert!(run.fill(&run.find("a.n").unwrap()).is_err());
    }
}

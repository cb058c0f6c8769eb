//! A scenario file, its overrides, and the points of its sweep.

use super::axes::{self, Choice};
use super::catalogue::Catalogue;
use super::error::{Error, Place, Result};
use super::files::{self, Files, utf8};
use super::model::{Scenario, Seed};
use super::the_one::{self, Layers};
use super::toml_file::{self, Context, Outcome};
use super::tree::{self, Node};
use crate::budget::Limits;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario as it was written: a TOML file, or The ONE's settings in layers.
///
/// Read it with [`ScenarioFile::read`], change it with [`ScenarioFile::set`], resolve it with
/// [`ScenarioFile::points`].
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    catalogue: Arc<Catalogue>,
    content: Content,
    sources: Vec<Source>,
    overrides: Vec<(String, String)>,
}

/// A text that a scenario was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, as it was given.
    pub file: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

#[derive(Clone, Debug)]
enum Content {
    Toml { tree: Node, name: String, folders: Vec<PathBuf> },
    TheOne(Layers),
}

/// Bytes of a scenario or of settings. TOML takes about 30 times as much memory when it is read.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// One experiment of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Paths of the keys that the sweep varies, and their values here.
    pub values: Vec<(String, String)>,
    /// The experiment.
    pub scenario: Scenario,
}

/// A point that makes no sense: its mechanism refuses its router.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// As of a [`Point`].
    pub values: Vec<(String, String)>,
    /// Why.
    pub reason: Error,
}

/// All points of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Those that make sense, in order.
    pub list: Vec<Point>,
    /// Those that don't.
    pub skipped: Vec<Skipped>,
}

/// A key that means nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Where it stands.
    pub place: Place,
    /// The key.
    pub key: String,
    /// Why it is ignored.
    pub reason: &'static str,
}

impl ScenarioFile {
    /// Reads a TOML file, or one or several files of The ONE's settings, of which later ones
    /// override earlier ones. A file whose name ends in `.toml` is TOML; another is TOML if it
    /// parses as such and has nodes, else it holds The ONE's settings.
    ///
    /// The ONE always reads `default_settings.txt` of the working directory first. Here nothing is
    /// read that is not named: name it as the first file where it is wanted.
    ///
    /// # Errors
    /// A file that cannot be read or has no such syntax.
    pub fn read(paths: &[&Path]) -> Result<Self> {
        Self::read_with(paths, Arc::new(Catalogue::default()))
    }
    /// As [`ScenarioFile::read`], with algorithms of one's own.
    ///
    /// # Errors
    /// As [`ScenarioFile::read`].
    pub fn read_with(paths: &[&Path], catalogue: Arc<Catalogue>) -> Result<Self> {
        let mut texts = Vec::new();
        for path in paths {
            let name = path.display().to_string();
            let place = Place::File(name.as_str().into());
            texts.push((name.clone(), path, files::read_within(path, &place, TEXT_BYTES_MAX as u64 + 1)?));
            check_text(&name, &texts[texts.len() - 1].2)?;
        }
        let Some((name, path, bytes)) = texts.first() else {
            let place = Place::File("scenario".into());
            return place.refuse("no file is named", "name a TOML file or The ONE's settings");
        };
        if texts.len() == 1 && is_toml(path, bytes) {
            return Self::from_toml(name, utf8(name, bytes)?, folder(path), catalogue);
        }
        if let Some((name, ..)) = texts.iter().find(|text| is_toml(text.1, &text.2)) {
            return Place::File(name.as_str().into()).refuse(
                "a TOML file stands among several files",
                "name one TOML file alone; only The ONE's settings have layers",
            );
        }
        let layers = texts.iter().map(|(name, path, bytes)| (name.as_str(), folder(path), &bytes[..]));
        let content = Content::TheOne(Layers::parse(layers)?);
        let sources = texts.iter().map(|(name, _, bytes)| Source::new(name, bytes)).collect();
        Ok(Self { catalogue, content, sources, overrides: Vec::new() })
    }
    /// From TOML text; `folder` is what its file names are relative to.
    ///
    /// # Errors
    /// A syntax error.
    pub fn from_toml(file: &str, text: &str, folder: PathBuf, catalogue: Arc<Catalogue>) -> Result<Self> {
        check_text(file, text.as_bytes())?;
        let tree = tree::parse(file, text)?;
        let stem = Path::new(file).file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy());
        // A name relative to the folder comes before one relative to where the program was started.
        let folders = vec![folder, PathBuf::from(".")];
        let content = Content::Toml { tree, name: stem.into_owned(), folders };
        Ok(Self {
            catalogue,
            content,
            sources: vec![Source::new(file, text.as_bytes())],
            overrides: Vec::new(),
        })
    }
    /// From the bytes of The ONE's settings; `folder` is that of the file.
    ///
    /// # Errors
    /// A syntax error.
    pub fn from_the_one(
        file: &str,
        bytes: &[u8],
        folder: PathBuf,
        catalogue: Arc<Catalogue>,
    ) -> Result<Self> {
        check_text(file, bytes)?;
        let content = Content::TheOne(Layers::parse([(file, folder, bytes)])?);
        Ok(Self { catalogue, content, sources: vec![Source::new(file, bytes)], overrides: Vec::new() })
    }
    /// The same text, with the algorithms that are known by now.
    pub fn with_catalogue(mut self, catalogue: Arc<Catalogue>) -> Self {
        self.catalogue = catalogue;
        self
    }
    /// Sets a key, as `--set path.to.key=value` does: in TOML a value as TOML writes it, a bare word
    /// being a string and a list an axis; in The ONE's settings a value as they write it.
    ///
    /// # Errors
    /// An unknown path.
    pub fn set(&mut self, path: &str, value: &str) -> Result<()> {
        match &mut self.content {
            Content::Toml { tree, .. } => tree::set(tree, path, tree::parse_argument(path, value))?,
            Content::TheOne(layers) => layers.set(path, value)?,
        }
        self.overrides.push((path.to_owned(), value.to_owned()));
        Ok(())
    }
    /// The texts that it was read from, so that a result can carry them.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
    /// What was set since, in order.
    pub fn overrides(&self) -> &[(String, String)] {
        &self.overrides
    }
    /// The algorithms that it may name.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }
    /// The seeds that the file asks for: those of TOML's `seeds`; the file's own for The ONE.
    ///
    /// # Errors
    /// An invalid list of seeds.
    pub fn seeds(&self) -> Result<Vec<Seed>> {
        match &self.content {
            Content::Toml { tree, .. } => Ok(toml_file::seeds(tree)?.into_iter().map(Seed::Number).collect()),
            Content::TheOne(_) => Ok(vec![Seed::Own]),
        }
    }
    /// Keys that mean nothing here, each once; none in TOML, where such keys are errors.
    pub fn ignored(&self) -> Vec<Ignored> {
        match &self.content {
            Content::Toml { .. } => Vec::new(),
            Content::TheOne(layers) => the_one::ignored(layers, &self.catalogue),
        }
    }
    /// Whether it is written as The ONE's settings.
    pub fn is_the_one(&self) -> bool {
        matches!(self.content, Content::TheOne(_))
    }
    /// All experiments: in TOML the cross product of all lists, the first varying slowest; in The
    /// ONE's settings one for each run index of the longest `[a; b; c]`.
    ///
    /// # Errors
    /// The first thing that is wrong with any of them. A mechanism that refuses its router is an
    /// error only where it is alone; in a sweep such points are skipped.
    pub fn points(&self) -> Result<Points> {
        match &self.content {
            Content::Toml { tree, name, folders } => self.toml_points(tree, name, folders),
            Content::TheOne(layers) => Points::new(the_one::scenarios(layers, &self.catalogue)?),
        }
    }
    fn toml_points(&self, tree: &Node, name: &str, folders: &[PathBuf]) -> Result<Points> {
        let context = Context {
            catalogue: &self.catalogue,
            folders: folders.to_vec(),
            files: Files::default(),
            sources: RefCell::new(BTreeMap::new()),
        };
        let choices = axes::expand(tree)?;
        let mut sweep = toml_file::Sweep::of(choices.len());
        let read = |choice: Choice| {
            let tree = tree::substitute(&choice.tree)?;
            let outcome = toml_file::scenario(&tree, name, &context)?;
            sweep.add(&tree.place, &outcome, Limits::read(&toml_file::Section::open(&tree, "")?)?)?;
            Ok((choice.values, outcome))
        };
        Points::new(choices.into_iter().map(read).collect::<Result<_>>()?)
    }
}

impl Points {
    fn new(outcomes: Vec<(Vec<(String, String)>, Outcome)>) -> Result<Self> {
        let mut points = Self::default();
        for (values, outcome) in outcomes {
            match outcome {
                Outcome::Fits(scenario) => points.list.push(Point { values, scenario: *scenario }),
                Outcome::Refused(reason) => points.skipped.push(Skipped { values, reason }),
            }
        }
        match points.skipped.first() {
            Some(skipped) if points.list.is_empty() => Err(skipped.reason.clone()),
            _ => Ok(points),
        }
    }
}

impl Source {
    fn new(file: &str, bytes: &[u8]) -> Self {
        Self { file: file.to_owned(), bytes: bytes.into() }
    }
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Refuses a text that is longer than any scenario.
fn check_text(file: &str, bytes: &[u8]) -> Result<()> {
    if bytes.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let right = "at most 8 MiB are read; name files for contacts, messages and maps";
    Place::File(file.into()).refuse("the scenario has more than 8 MiB", right)
}

fn is_toml(path: &Path, bytes: &[u8]) -> bool {
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml")) {
        return true;
    }
    let table = std::str::from_utf8(bytes).ok().and_then(|text| toml::de::DeTable::parse(text).ok());
    table.is_some_and(|table| table.get_ref().contains_key("nodes"))
}

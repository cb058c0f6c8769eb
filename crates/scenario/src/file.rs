//! A scenario file, its overrides, and the points of its sweep.

use super::axes::{self, Choice};
use super::catalogue::Catalogue;
use super::chosen;
use super::digest;
use super::error::{Error, Place, Result, quoted};
use super::files::{self, Files, utf8};
use super::model::{Scenario, Seed};
use super::the_one::{self, DEFAULTS, Layers};
use super::to_toml;
use super::toml_file::{self, Context, Outcome};
use super::tree::{self, Node};
use crate::budget::Limits;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
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
    /// The first source was read though it was not named.
    defaults: bool,
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
    /// Settings that nothing reads: those that look like a misspelling first, then by place. None in TOML, where such keys
    /// are errors.
    pub ignored: Vec<Ignored>,
    /// Other warnings, a line each: a default file that was read, behaviour of The ONE that is not supported.
    pub warnings: Vec<String>,
}

/// A setting that nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Where it stands.
    pub place: Place,
    /// The key.
    pub key: String,
    /// The key that was probably meant.
    pub meant: Option<String>,
    /// Why it is ignored.
    pub reason: &'static str,
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, quoted(&self.key))?;
        self.meant.iter().try_for_each(|meant| write!(f, " (did you mean `{meant}`?)"))
    }
}

/// Ignored settings that are listed in a line.
const IGNORED_SHOWN: usize = 10;

impl Points {
    /// All warnings, a line each, with a line for each ignored setting.
    pub fn every_warning(&self) -> Vec<String> {
        let ignored = self.ignored.iter().map(|ignored| format!("ignored: {ignored}; {}", ignored.reason));
        self.warnings.iter().cloned().chain(ignored).collect()
    }
    /// All warnings, a line each; of the ignored settings the first ten, in one line.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines = self.warnings.clone();
        let shown: Vec<String> = self.ignored.iter().take(IGNORED_SHOWN).map(Ignored::to_string).collect();
        if !shown.is_empty() {
            let rest = self.ignored.len() - shown.len();
            let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
            lines.push(format!("ignored, as nothing reads them: {}{rest}", shown.join(", ")));
        }
        lines
    }
    /// How each recorded trace of contacts was read, a line each.
    pub fn notes(&self) -> Vec<String> {
        notes(&self.list)
    }
}

/// How each recorded trace of contacts of these points was read, a line each.
pub fn notes<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<String> {
    let networks = points.into_iter().filter_map(|point| point.scenario.bundles());
    let stated = networks.flat_map(|network| &network.contacts).filter_map(|source| source.note.as_deref());
    let mut notes = Vec::new();
    stated.for_each(|note| {
        if !notes.iter().any(|known| known == note) {
            notes.push(note.to_owned());
        }
    });
    notes
}

/// Whether a text has a line such as `Scenario.name = x`, or nothing at all. Traces and other tables have none.
fn sets_something(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let lines =
        || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
    let sets = |line: &str| {
        let end = line.find(|c: char| c.is_whitespace() || "=:".contains(c)).unwrap_or(line.len());
        let (key, rest) = line.split_at(end);
        let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic()) && !key.contains([',', ';']);
        is_name && (key.contains('.') || rest.trim_start().starts_with(['=', ':']))
    };
    lines().next().is_none() || lines().any(sets)
}

impl ScenarioFile {
    /// Reads a TOML file, or one or several files of The ONE's settings, of which later ones
    /// override earlier ones. A file whose name ends in `.toml` is TOML; another is TOML if it
    /// parses as such and has nodes, else it holds The ONE's settings.
    ///
    /// Only what is named is read; see [`ScenarioFile::read_with`].
    ///
    /// # Errors
    /// A file that cannot be read or has no such syntax.
    pub fn read(paths: &[&Path]) -> Result<Self> {
        Self::read_with(paths, Arc::new(Catalogue::default()), false)
    }
    /// As [`ScenarioFile::read`], with algorithms of one's own. With `defaults`, settings of The ONE are read over
    /// `default_settings.txt` of the working directory, if there is one and it is not among `paths`: The ONE always
    /// reads it first.
    ///
    /// # Errors
    /// As [`ScenarioFile::read`].
    pub fn read_with(paths: &[&Path], catalogue: Arc<Catalogue>, defaults: bool) -> Result<Self> {
        let mut texts = Vec::new();
        for path in paths {
            let name = path.display().to_string();
            let place = Place::File(name.as_str().into());
            texts.push((name.clone(), path, files::read_within(path, &place, TEXT_BYTES_MAX as u64 + 1)?));
            check_capture(&name, &texts[texts.len() - 1].2)?;
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
        if let Some((name, ..)) = texts.iter().find(|text| !sets_something(&text.2)) {
            return Place::File(name.as_str().into()).refuse(
                "it is neither a scenario in TOML nor The ONE's settings, as no line sets a key",
                "name such a file; a recorded trace is named in one, as `contacts.c = { kind = \"intervals\", file = \"NAME\" }`",
            );
        }
        let below = Path::new(DEFAULTS);
        let is_below = |path: &&Path| path.canonicalize().ok() == below.canonicalize().ok();
        let defaults = defaults && below.is_file() && !paths.iter().any(is_below);
        if defaults {
            let place = Place::File(DEFAULTS.into());
            let bytes = files::read_within(below, &place, TEXT_BYTES_MAX as u64 + 1)?;
            check_text(DEFAULTS, &bytes)?;
            texts.insert(0, (DEFAULTS.to_owned(), &below, bytes));
        }
        let layers = texts.iter().map(|(name, path, bytes)| (name.as_str(), folder(path), &bytes[..]));
        let content = Content::TheOne(Layers::parse(layers)?);
        let sources = texts.iter().map(|(name, _, bytes)| Source::new(name, bytes)).collect();
        Ok(Self { catalogue, content, sources, overrides: Vec::new(), defaults })
    }
    /// From TOML text; `folder` is what its file names are relative to.
    ///
    /// # Errors
    /// A syntax error.
    pub fn from_toml(file: &str, text: &str, folder: PathBuf, catalogue: Arc<Catalogue>) -> Result<Self> {
        check_text(file, text.as_bytes())?;
        let tree =
            tree::parse(file, text).map_err(|syntax| with_other_errors(syntax, file, text, &catalogue))?;
        let stem = Path::new(file).file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy());
        // A name relative to the folder comes before one relative to where the program was started.
        let folders = vec![folder, PathBuf::from(".")];
        let content = Content::Toml { tree, name: stem.into_owned(), folders };
        Ok(Self {
            catalogue,
            content,
            sources: vec![Source::new(file, text.as_bytes())],
            overrides: Vec::new(),
            defaults: false,
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
        let sources = vec![Source::new(file, bytes)];
        Ok(Self { catalogue, content, sources, overrides: Vec::new(), defaults: false })
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
            Content::Toml { tree, .. } => tree::set(tree, path, tree::argument(path, value)?)?,
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
            Content::Toml { tree, .. } if toml_file::has_own_seed(tree) => Ok(vec![Seed::Own]),
            Content::Toml { tree, .. } => Ok(toml_file::seeds(tree)?.into_iter().map(Seed::Number).collect()),
            Content::TheOne(_) => Ok(vec![Seed::Own]),
        }
    }
    /// What the names of its files are relative to, first of all.
    pub fn folder(&self) -> PathBuf {
        let beside =
            || self.sources.first().map_or(PathBuf::from("."), |source| folder(Path::new(&source.file)));
        match &self.content {
            Content::Toml { folders, .. } => folders.first().cloned().unwrap_or_else(beside),
            Content::TheOne(_) => beside(),
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
    /// All errors, those of references too, but for those that may follow from others. A mechanism that refuses its router is an error only where it is alone; in a sweep such points are skipped.
    pub fn points(&self) -> Result<Points> {
        match &self.content {
            Content::Toml { tree, name, folders } => {
                let context = Context {
                    catalogue: &self.catalogue,
                    folders: folders.clone(),
                    files: Files::default(),
                    sources: RefCell::new(BTreeMap::new()),
                };
                toml_points(tree, name, &context).map_err(|first| {
                    // A reader may have other words for the same value.
                    let mut known: Vec<Error> = first.clone().each().collect();
                    let places: Vec<Place> = known.iter().map(|error| error.place.clone()).collect();
                    let declared = toml_file::errors(tree, &self.catalogue);
                    known.extend(declared.into_iter().filter(|error| !places.contains(&error.place)));
                    let read = |tree: &Node| toml_points(tree, name, &context).err();
                    toml_file::all_errors(tree, known, &read).unwrap_or(first)
                })
            }
            Content::TheOne(layers) => {
                let the_one::Read { runs, ignored, mut warnings } =
                    the_one::scenarios(layers, &self.catalogue)?;
                if let Some(set) = ignored.iter().find(|key| {
                    let is_foreign = key.meant.is_some() || !key.key.contains('.');
                    is_foreign && matches!(key.place, Place::Set(_))
                }) {
                    let meant = set.meant.as_ref().map(|meant| format!("did you mean `{meant}`?"));
                    let right =
                        meant.unwrap_or_else(|| "set a key of The ONE, such as `Group.router`".to_owned());
                    return set.place.refuse(format!("nothing reads {}", quoted(&set.key)), right);
                }
                if self.defaults {
                    let why = "as The ONE does; --no-defaults leaves it out";
                    warnings.insert(0, format!("{DEFAULTS} of the working directory is read first, {why}"));
                }
                Ok(Points { ignored, warnings, ..Points::new(runs)? })
            }
        }
    }
    /// One of its points as keys and values for [`ScenarioFile::set`]: with them it has this point alone. Empty for The ONE's
    /// settings; see [`ScenarioFile::to_toml`].
    ///
    /// # Errors
    /// A point of another scenario.
    pub fn settings(&self, point: &Point) -> Result<Vec<(String, String)>> {
        let Content::Toml { tree, .. } = &self.content else { return Ok(Vec::new()) };
        let choice = axes::expand(tree)?.into_iter().find(|choice| choice.values == point.values);
        match choice {
            Some(choice) => Ok(chosen::settings(&choice)),
            None => tree.place.refuse("it has no such point", "take one of its own points"),
        }
    }
    /// What all its runs have in common, in hexadecimal digits: all keys but seeds, limits and the values of axes. Contents of
    /// files that it names do not count.
    pub fn digest(&self) -> String {
        match &self.content {
            Content::Toml { tree, .. } => digest::of_toml(tree),
            Content::TheOne(layers) => digest::of_settings(layers),
        }
    }
    /// What the [`digest`](Self::digest) is of: values by the paths of their keys.
    pub fn common_values(&self) -> BTreeMap<String, String> {
        match &self.content {
            Content::Toml { tree, .. } => digest::values_of_toml(tree),
            Content::TheOne(layers) => digest::values_of_settings(layers),
        }
    }
    /// One of the points of The ONE's settings as TOML, in a file in `folder`, with comments: the same run.
    ///
    /// # Errors
    /// Another scenario.
    pub fn to_toml(&self, points: &Points, point: &Point, folder: &Path) -> Result<String> {
        let place = Place::File(self.sources.first().map_or("scenario", |source| &source.file).into());
        let (Content::TheOne(layers), Scenario::Bundles(network)) = (&self.content, &point.scenario) else {
            return place.refuse("the scenario is TOML already", "name The ONE's settings");
        };
        let files: Vec<&str> = self.sources.iter().map(|source| source.file.as_str()).collect();
        let mut comments = vec![format!("Converted from The ONE's settings: {}", files.join(", "))];
        let set = self.overrides.iter().map(|(key, value)| format!("with {key} = {value}"));
        comments.extend(set.chain(point.values.iter().map(|(key, value)| format!("where {key} = {value}"))));
        comments.extend(points.every_warning().into_iter().map(|line| format!("Warning: {line}")));
        let is_set = |key: &str| layers.get(key).is_some_and(|setting| !setting.value.is_empty());
        Ok(to_toml::to_toml(network, &comments, &to_toml::Origin { is_set: &is_set, folder }))
    }
}

fn toml_points(tree: &Node, name: &str, context: &Context) -> Result<Points> {
    let choices = axes::expand(tree)?;
    let mut sweep = toml_file::Sweep::of(choices.len());
    let read = |choice: Choice| {
        let tree = tree::substitute(&choice.tree)?;
        let outcome = toml_file::scenario(&tree, name, context)?;
        sweep.add(&tree.place, &outcome, Limits::read(&toml_file::Section::open(&tree, "")?)?)?;
        Ok((choice.values, outcome))
    };
    let points = Points::new(choices.into_iter().map(read).collect::<Result<_>>()?)?;
    let warnings = toml_file::Section::open(tree, "").map(|root| toml_file::without_effect(&root))?;
    Ok(Points { warnings, ..points })
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

/// Errors of syntax, and what else is wrong. Nothing is said of lines between a broken one and the next header of a table, which
/// may belong to another table than they seem to.
fn with_other_errors(syntax: Error, file: &str, text: &str, catalogue: &Catalogue) -> Error {
    let Some(tree) = tree::recovered(file, text) else { return syntax };
    let line = |error: &Error| if let Place::Line(_, line) = error.place { line } else { 0 };
    let broken: Vec<u32> = syntax.clone().each().map(|error| line(&error)).collect();
    let headers = (1_u32..).zip(text.lines()).filter(|(_, text)| text.starts_with('['));
    let headers: Vec<u32> = headers.map(|(number, _)| number).collect();
    let is_clear = |error: &Error| {
        let at = line(error);
        let mut before = broken.iter().filter(|broken| **broken <= at);
        before.all(|broken| headers.iter().any(|header| broken < header && *header <= at))
    };
    let others = toml_file::errors(&tree, catalogue).into_iter().filter(is_clear);
    Error::all(std::iter::once(syntax.clone()).chain(others)).unwrap_or(syntax)
}

/// Refuses a capture of packets, which begins with one of these numbers.
fn check_capture(file: &str, bytes: &[u8]) -> Result<()> {
    const BEGINNINGS: [[u8; 4]; 5] = [
        [0x0a, 0x0d, 0x0d, 0x0a],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
    ];
    if !BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning)) {
        return Ok(());
    }
    let right = "`lightlag capture` analyses it; name a scenario, or a trace in .parquet or .jsonl";
    Place::File(file.into()).refuse("it is a capture of packets", right)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_no_scenario_and_says_so_in_a_line() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("contacts.dat", "1\t2\t3\t4\t1\t0\n"),
            ("conn.txt", "12.5 CONN 3 4 up\n"),
            ("walk.csv", "time,id,lat.deg,lon\n1,2,3,4\n"),
            ("walk.gpx", "<?xml version=\"1.0\"?>\n<gpx>\n<trkpt lat=\"1\" lon=\"2\"/></gpx>\n"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let wrong = ScenarioFile::read(&[&path]).map(drop).unwrap_err().to_string();
            let start =
                format!("{}: it is neither a scenario in TOML nor The ONE's settings", path.display());
            assert!(wrong.starts_with(&start) && wrong.lines().count() == 1, "{wrong}");
        }
        for text in
            ["", "# later\n", "Scenario.name x\n", "a = b\n", "Scenario.endTime: 5\n", "1 2\nGroup.x=1\n"]
        {
            assert!(sets_something(text.as_bytes()), "{text}");
        }
    }
}

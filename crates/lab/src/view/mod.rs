//! Runs for the page: a scenario with its files, which the page runs itself, or the trace of a run.

mod folder;
mod treatments;

pub use folder::{SCENARIO_FILE, Written, of_folder};
pub use treatments::of_scenario;

use crate::explain::{check_trace, trace_file};
use crate::run::{ContactsCache, Options, run};
use crate::sweep::MANIFEST_FILE;
use lightlag_page::{About, Format, Map, Records, Source};
use lightlag_scenario::{
    Catalogue, Error, GivenFiles, Place, Point, Points, Result, Scenario, ScenarioFile, Seed, Streets,
    named_files,
};
use std::path::{Path, PathBuf};

/// Bytes of files that go into a page with a scenario.
pub const FILES_BYTES_MAX: u64 = 64 << 20;

/// Bytes of a trace that goes into a page; a larger one has to be served.
pub const TRACE_BYTES_MAX: u64 = 64 << 20;

/// Seeds that JavaScript's numbers hold.
const SEED_MAX: u64 = (1 << 53) - 1;

/// A page with these runs side by side: one file, which works from a disk.
pub fn page(sources: &[Source]) -> String {
    lightlag_page::with_sources(sources)
}

/// Which runs of a scenario or of a sweep are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen {
    /// By default the first.
    pub seed: Option<u64>,
    /// One point alone; by default two that can be compared.
    pub point: Option<usize>,
}

/// A run for the page: the scenario, which the page runs; where it cannot, the trace of a run that is done here.
///
/// # Errors
/// What is wrong with the scenario; files or a trace that are too large.
pub fn of_point(file: &ScenarioFile, points: &Points, point: &Point, seed: Seed) -> Result<Source> {
    match packed(file, points, point, seed)? {
        Ok(source) => Ok(source),
        Err(_) => recorded(file, point, seed),
    }
}

fn title(point: &Point, seed: Seed) -> String {
    let head = point.scenario.head();
    let values = point.values.iter().map(|(key, value)| format!(", {key} {value}"));
    format!("{}{}, seed {}", head.name, values.collect::<String>(), head.seed_number(seed))
}

/// What the page cannot do, in a clause.
type NotInPage = &'static str;

/// The scenario with the files that it names, and settings that leave it this point.
fn packed(
    file: &ScenarioFile,
    points: &Points,
    point: &Point,
    seed: Seed,
) -> Result<std::result::Result<Source, NotInPage>> {
    let name = file.sources().first().map_or("scenario", |source| &source.file);
    let place = Place::File(name.into());
    let (text, folder, set) = match file.is_the_one() {
        true => (file.to_toml(points, point, Path::new("."))?, PathBuf::from("."), Vec::new()),
        false => {
            let text = file.sources().iter().map(|source| String::from_utf8_lossy(&source.bytes)).collect();
            (text, file.folder(), settings(file, point)?)
        }
    };
    let number = match seed {
        Seed::Own => None,
        Seed::Number(number) if number > SEED_MAX => {
            return place
                .refuse(format!("the seed {number} is larger than 2^53 - 1"), "the page takes smaller ones");
        }
        Seed::Number(number) => Some(number),
    };
    let read = |folder: &Path| {
        let catalogue = Catalogue::default().into();
        let mut read = ScenarioFile::from_toml("scenario.toml", &text, folder.to_owned(), catalogue)?;
        set.iter().try_for_each(|(key, value)| read.set(key, value))?;
        read.points()
    };
    let (found, named) = named_files(|| read(&folder));
    if found.is_err() {
        return Ok(Err("it has algorithms of its author"));
    }
    if named.iter().any(|path| path.extension().is_some_and(|end| end == "pbf")) {
        return Ok(Err("it has a map in PBF"));
    }
    let files = contents(&named, &folder, &place)?;
    let given = GivenFiles::new(files.iter().cloned());
    match given.within(|| read(Path::new(""))).map(|points| points.list.len()) {
        Ok(1) => Ok(Ok(Source::scenario(&title(point, seed), &text, files, number, set))),
        Ok(_) => {
            place.refuse("the point cannot be distinguished from others", "name a scenario without lists")
        }
        Err(error) => Err(error),
    }
}

/// What was set since the file was read, and what makes this point; of two settings of a key the later.
fn settings(file: &ScenarioFile, point: &Point) -> Result<Vec<(String, String)>> {
    let chosen = file.settings(point)?;
    let short = |key: &str| key.strip_prefix("parameters.").unwrap_or(key).to_owned();
    let is_chosen = |key: &str| chosen.iter().any(|(known, _)| known == key || short(known) == short(key));
    let before = file.overrides().iter().filter(|(key, _)| !is_chosen(key)).cloned();
    let mut all: Vec<(String, String)> = Vec::new();
    for (key, value) in before.chain(chosen.iter().cloned()) {
        all.retain(|(known, _)| *known != key);
        all.push((key, value));
    }
    Ok(all)
}

/// Files by the names that the scenario has for them.
fn contents<'a>(
    named: impl IntoIterator<Item = &'a PathBuf>,
    folder: &Path,
    place: &Place,
) -> Result<Vec<(String, Vec<u8>)>> {
    let (mut files, mut bytes) = (Vec::new(), 0);
    for path in named {
        let unreadable = |error: std::io::Error| {
            Error::new(
                place,
                format!("cannot read `{}`: {error}", path.display()),
                "name a file that can be read",
            )
        };
        bytes += path.metadata().map_err(unreadable)?.len();
        if bytes > FILES_BYTES_MAX {
            return place.refuse(
                "the files of the scenario have more than 64 MiB",
                "show a trace of the run: lightlag run SCENARIO --trace FILE.parquet",
            );
        }
        let name = path.strip_prefix(folder).or_else(|_| path.strip_prefix(".")).unwrap_or(path);
        files.push((name.display().to_string(), std::fs::read(path).map_err(unreadable)?));
    }
    Ok(files)
}

/// Runs it and gives the trace.
fn recorded(file: &ScenarioFile, point: &Point, seed: Seed) -> Result<Source> {
    let name = file.sources().first().map_or("scenario", |source| &source.file);
    let place = Place::File(name.into());
    let disk = |error: std::io::Error| {
        Error::new(
            &place,
            format!("the trace for the page cannot be kept: {error}"),
            "make room in the folder of temporary files",
        )
    };
    let folder = tempfile::tempdir().map_err(disk)?;
    let path = folder.path().join("trace.parquet");
    let mut scenario = point.scenario.clone();
    if let Scenario::Bundles(network) = &mut scenario {
        network.record_positions();
    }
    let options = Options { judge: false, traces: vec![path.clone()], ..Options::default() };
    let outcome = run(&scenario, seed, &ContactsCache::default(), &options)?;
    if path.metadata().map_err(disk)?.len() > TRACE_BYTES_MAX {
        return place.refuse(
            "the trace of the run has more than 64 MiB",
            "choose a shorter `duration`, or serve a trace of it: lightlag run SCENARIO --trace FILE.parquet",
        );
    }
    let bytes = std::fs::read(&path).map_err(disk)?;
    let metrics = outcome.metrics().into_iter().map(|(name, number)| ((*name).to_owned(), number));
    Ok(Source::Trace {
        title: title(point, seed),
        format: Format::Parquet,
        records: Records::within(Format::Parquet, &bytes),
        scenario: Some(file.sources().iter().map(|source| String::from_utf8_lossy(&source.bytes)).collect()),
        about: About {
            seed: Some(point.scenario.head().seed_number(seed)),
            metrics: metrics.filter(|(_, number)| number.is_finite()).collect(),
            map: map(&scenario),
        },
    })
}

/// The map on which nodes move, if there is one.
fn map(scenario: &Scenario) -> Option<Map> {
    let streets = scenario.bundles()?.streets().ok().filter(|streets| streets.count > 0)?;
    let bytes: Vec<u8> = streets.points.iter().flat_map(|number| number.to_le_bytes()).collect();
    let Streets { count, is_y_down, is_osm, .. } = streets;
    Some(Map { points: Source::packed(&bytes), count, is_y_down, is_osm })
}

/// Whether a path is a folder of results that says of which scenario they are.
pub fn is_results(path: &Path) -> bool {
    [SCENARIO_FILE, MANIFEST_FILE].iter().any(|name| path.join(name).is_file())
}

/// A trace with its records in the page: a file that `lightlag run --trace` wrote, or a folder with one.
///
/// # Errors
/// It is no trace, or has more than [`TRACE_BYTES_MAX`].
pub fn of_trace(path: &Path) -> Result<Source> {
    let path = trace_file(path)?;
    let format = format_of_trace(&path)?;
    check_trace(&path)?;
    let place = Place::File(path.display().to_string().as_str().into());
    let unreadable =
        |error: std::io::Error| Error::new(&place, error.to_string(), "name a file that can be read");
    if path.metadata().map_err(unreadable)?.len() > TRACE_BYTES_MAX {
        return place.refuse(
            "it has more than 64 MiB",
            "serve it: lightlag view FILE without --out, or record a shorter run",
        );
    }
    let records = Records::within(format, &std::fs::read(&path).map_err(unreadable)?);
    Ok(trace(&path, format, records))
}

/// The source of a trace.
pub fn trace(path: &Path, format: Format, records: Records) -> Source {
    let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Source::Trace { title, format, records, scenario: None, about: About::default() }
}

/// The format of a trace, by the end of its name.
///
/// # Errors
/// A name that ends otherwise.
pub fn format_of_trace(path: &Path) -> Result<Format> {
    match path.extension().and_then(|end| end.to_str()) {
        Some("parquet") => Ok(Format::Parquet),
        Some("jsonl") => Ok(Format::Jsonl),
        _ => Place::File(path.display().to_string().as_str().into())
            .refuse("it is no trace", "name one that `lightlag run --trace` wrote: .parquet or .jsonl"),
    }
}

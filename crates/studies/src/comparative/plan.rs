//! What the study runs.

use super::cell::{Cell, MECHANISM, MOBILITY, READING, cell_of, text_of as shown, wanted, with};
use super::readings::{VARIATIONS, Variation};
use crate::Error;
use crate::shared::points::{PAPERS, Point, Points, text_of, unpack};
use lightlag_scenario::{Scenario, ScenarioFile, Seed};
use std::collections::BTreeMap;
use std::path::Path;

/// One scenario file and what is set otherwise in it.
pub struct RunSet {
    /// The file, below `scenarios/papers`.
    pub file: &'static str,
    /// Keys and their values in TOML, as `lightlag sweep --set key=value` takes them.
    pub set: Vec<(&'static str, &'static str)>,
    /// Columns that have another value than the scenario says: what the runs are for, and what they replace.
    pub instead: Vec<(&'static str, &'static str)>,
}

impl RunSet {
    /// For the paper's figures, in the readings of the scenario.
    pub fn of(file: &'static str, set: &[(&'static str, &'static str)]) -> Self {
        Self { file, set: set.to_vec(), instead: Vec::new() }
    }

    /// For something else: one of [`BESIDE`], or a reading.
    #[must_use]
    pub fn beside(self, what: &'static str) -> Self {
        Self { instead: vec![(READING, what)], ..self }
    }
}

/// What is run beside the paper's figures: messages of other sizes, sparse networks, and ION's rule.
pub const BESIDE: [&str; 3] = ["message size", "sparse network", "ION"];

/// Files of the paper's figures. Figures 10 and 11 show other metrics of figure 9's runs: their files say the same
/// but for the name, so that each figure can be run alone, and the plan leaves them out.
pub const FIGURE_FILES: [&str; 8] = [
    "dtn_congestion_figure_3.toml",
    "dtn_congestion_figure_5.toml",
    "dtn_congestion_figure_6.toml",
    "dtn_congestion_figure_7.toml",
    "dtn_congestion_figure_8.toml",
    "dtn_congestion_figure_9.toml",
    "dtn_congestion_figure_10.toml",
    "dtn_congestion_figure_11.toml",
];
/// Receipts and memory of drops switched on in figure 9's cells.
pub const SWITCHES_FILE: &str = "dtn_congestion_switches.toml";
/// Lifetimes shorter than the run.
pub const LIFETIMES_FILE: &str = "dtn_congestion_lifetimes.toml";
/// ION's rule where contacts are planned.
pub const ION_FILE: &str = "dtn_congestion_ion.toml";

const INTERPLANETARY: [&str; 5] =
    [FIGURE_FILES[0], FIGURE_FILES[1], FIGURE_FILES[2], FIGURE_FILES[3], LIFETIMES_FILE];
const TERRESTRIAL: [&str; 3] = [FIGURE_FILES[4], FIGURE_FILES[5], SWITCHES_FILE];

/// Every node sends to every other, where the files let the base station send to the rovers.
const ALL_TO_ALL: [(&str, &str); 2] = [("traffic.messages.from", "all"), ("traffic.messages.to", "all")];

/// The sets of the study, whole or as a quick look.
pub fn sets(quick: bool) -> Vec<RunSet> {
    if quick { quick_sets() } else { whole_sets() }
}

/// The files of some sets, each once.
pub fn files(sets: &[RunSet]) -> Vec<&'static str> {
    let mut files: Vec<&str> = Vec::new();
    for set in sets {
        if !files.contains(&set.file) {
            files.push(set.file);
        }
    }
    files
}

/// The points of the study, from the scenarios that are written into a folder; cells that two sets share are run
/// once, with the most seeds of both.
///
/// # Errors
/// The folder cannot be written.
pub fn points(quick: bool, folder: &Path) -> Result<Points, Error> {
    unpack(&PAPERS, folder)?;
    let sets = sets(quick);
    let mut list: Vec<Point> = Vec::new();
    let mut known: BTreeMap<Cell, usize> = BTreeMap::new();
    for set in &sets {
        let (cells, seeds) = cells(set, folder)?;
        for (cell, scenario) in cells {
            let index = *known.entry(cell.clone()).or_insert(list.len());
            if index == list.len() {
                list.push(Point::new(cell, scenario));
            }
            list[index].seeds = list[index].seeds.max(Some(seeds));
        }
    }
    let points = Points::of(list, 0, &files(&sets));
    let text = points.scenarios.iter().map(|scenario| scenario.text.as_str()).collect();
    Ok(Points { all_judged: true, text, ..points })
}

/// The cells of a set, with their scenarios from a folder, and the number of their seeds.
pub fn cells(set: &RunSet, folder: &Path) -> Result<(Vec<(Cell, Scenario)>, u64), lightlag_scenario::Error> {
    let mut file = ScenarioFile::read(&[&folder.join(set.file)])?;
    for (key, value) in &set.set {
        file.set(key, value)?;
    }
    // The files number their seeds from 1.
    let seeds = file.seeds()?.iter().filter(|seed| matches!(seed, Seed::Number(_))).count() as u64;
    // The compiled-in text is the one that was read a moment ago.
    let said: toml::Table = text_of(set.file).parse().unwrap_or_default();
    let fixed = || set.set.iter().map(|(key, value)| ((*key).to_owned(), value_of(value)));
    let cell = |point: lightlag_scenario::Point| {
        let axes: Vec<(String, String)> = point.values.into_iter().chain(fixed()).collect();
        let cell = cell_of(&said, &axes);
        let cell = set.instead.iter().fold(cell, |cell, (column, value)| with(cell, column, value));
        (cell, point.scenario)
    };
    Ok((file.points()?.list.into_iter().map(cell).filter(|(cell, _)| wanted(cell)).collect(), seeds))
}

/// A value in TOML as the axes of a sweep show it.
fn value_of(text: &str) -> String {
    let table = format!("value = {text}").parse::<toml::Table>().ok();
    table.and_then(|table| table.get("value").map(shown)).unwrap_or_else(|| text.to_owned())
}

const THREE_SEEDS: (&str, &str) = ("seeds", "[1, 2, 3]");
const PIPELINED: (&str, &str) = ("world.propagation", r#""pipelined""#);
const FIRST_TABLE: (&str, &str) = ("contacts.plan.file", r#""contacts/S_Contact1.csv""#);
const GAPS: (&str, &str) = (
    "contacts.plan.file",
    r#"["contacts/S_Contact1.csv", "contacts/S_Contact2.csv", "contacts/S_Contact3.csv", "contacts/S_Contact4.csv", "contacts/S_Contact5.csv"]"#,
);
const LENGTHS: (&str, &str) = (
    "contacts.plan.file",
    r#"["contacts/S_Dur1000.csv", "contacts/S_Dur2000.csv", "contacts/S_Dur3000.csv", "contacts/S_Dur4000.csv", "contacts/S_Dur5000.csv"]"#,
);

fn whole_sets() -> Vec<RunSet> {
    let planets =
        INTERPLANETARY.iter().flat_map(|file| [RunSet::of(file, &[]), RunSet::of(file, &ALL_TO_ALL)]);
    let earth = TERRESTRIAL.iter().map(|file| RunSet::of(file, &[]));
    let large = RunSet::of(FIGURE_FILES[5], &[("buffer", r#""1000 kB""#)]);
    // Small messages make most transfers of the study; each of these sets has its own `none` to be compared with.
    let beside = beside(&[("duration", r#""4 h""#)], &[]);
    planets.chain(earth).chain([large]).chain(beside).chain(VARIATIONS.iter().flat_map(varied)).collect()
}

/// The figures with something read otherwise, in the primary reading of the scenario.
fn varied(variation: &'static Variation) -> Vec<RunSet> {
    let (column, _) = variation.replaces;
    let tables = [FIRST_TABLE, GAPS, FIRST_TABLE, LENGTHS];
    let planets = FIGURE_FILES[..4].iter().zip(tables).map(|(file, table)| (file, vec![PIPELINED, table]));
    let figures = planets.chain(FIGURE_FILES[4..6].iter().map(|file| (file, Vec::new())));
    // A run of AFNER on Earth has millions of transfers.
    let few = (variation.replaces == (MECHANISM, "afner")).then_some(THREE_SEEDS);
    let one = |(file, mut set): (&&'static str, Vec<_>)| {
        set.extend([variation.set].into_iter().chain(few));
        RunSet { file, set, instead: vec![variation.replaces, (READING, variation.name)] }
    };
    // Only the last figure has more than one movement.
    figures.skip(if column == MOBILITY { 5 } else { 0 }).map(one).collect()
}

/// Keys of a scenario and their values.
type Keys<'a> = &'a [(&'static str, &'static str)];

/// What the paper discusses and does not run, with keys that are set on Earth and between planets.
fn beside(on_earth: Keys<'_>, between_planets: Keys<'_>) -> Vec<RunSet> {
    const EVERY_300_S: (&str, &str) = ("traffic.messages.interval", r#""1..300 s""#);
    let earth = |keys: Keys<'_>| RunSet::of(FIGURE_FILES[4], &[on_earth, keys].concat());
    // The same bytes are offered in small messages and in large ones.
    let sizes = [
        (r#""25..50 kB""#, r#""1..150 s""#),
        (r#""50..100 kB""#, r#""1..300 s""#),
        (r#""200..400 kB""#, r#""1..1200 s""#),
    ];
    let sized = sizes.map(|(size, interval)| {
        earth(&[("traffic.messages.size", size), ("traffic.messages.interval", interval)]).beside(BESIDE[0])
    });
    let ranges = ("radio.range", r#"["150 m", "75 m", "40 m"]"#);
    let ion = ("mechanism", r#"["none", "ion_forecast"]"#);
    sized
        .into_iter()
        .chain([earth(&[EVERY_300_S, ranges]).beside(BESIDE[1]), earth(&[ion]).beside(BESIDE[2])])
        .chain([RunSet::of(ION_FILE, between_planets).beside(BESIDE[2])])
        .collect()
}

fn quick_sets() -> Vec<RunSet> {
    const PERIODS: (&str, &str) = ("traffic.messages.interval", r#"["1..100 s", "1..300 s", "1..500 s"]"#);
    const GAPS: (&str, &str) = (
        "contacts.plan.file",
        r#"["contacts/S_Contact1.csv", "contacts/S_Contact3.csv", "contacts/S_Contact5.csv"]"#,
    );
    const LENGTHS: (&str, &str) = (
        "contacts.plan.file",
        r#"["contacts/S_Dur1000.csv", "contacts/S_Dur3000.csv", "contacts/S_Dur5000.csv"]"#,
    );
    const BUFFERS: (&str, &str) = ("buffer", r#"["1000 kB", "3000 kB", "5000 kB", "8000 kB"]"#);
    const TWO_HOURS: (&str, &str) = ("duration", r#""2 h""#);
    let figures = vec![
        RunSet::of(FIGURE_FILES[0], &[THREE_SEEDS, PIPELINED, FIRST_TABLE, PERIODS]),
        RunSet::of(FIGURE_FILES[1], &[THREE_SEEDS, PIPELINED, GAPS]),
        RunSet::of(FIGURE_FILES[2], &[THREE_SEEDS, PIPELINED, FIRST_TABLE, BUFFERS]),
        RunSet::of(FIGURE_FILES[3], &[THREE_SEEDS, PIPELINED, LENGTHS]),
        RunSet::of(LIFETIMES_FILE, &[THREE_SEEDS, PIPELINED, FIRST_TABLE]),
        RunSet::of(FIGURE_FILES[4], &[THREE_SEEDS, TWO_HOURS, PERIODS]),
        RunSet::of(FIGURE_FILES[5], &[THREE_SEEDS, TWO_HOURS]),
    ];
    figures.into_iter().chain(beside(&[THREE_SEEDS, TWO_HOURS], &[THREE_SEEDS])).collect()
}

//! One congestion mechanism for delay-tolerant networks against all others.
//!
//! In the cells of the comparative study of Silva, Burleigh, Hirata and Obraczka, and under stress: the `grid`, the
//! `treatments` that are compared there, and in which `cells` ours is better, as good or worse than the best other.

pub(crate) mod cells;
pub(crate) mod charts;
pub(crate) mod claims;
mod drawn;
pub(crate) mod grid;
mod networks;
pub(crate) mod plan;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod treatments;

use crate::Error;
use crate::shared::points::{PAPERS, Points, unpack};
use crate::shared::words::Words;
use crate::shared::{Evidence, Order, Real, Said, Study};
use include_dir::{Dir, include_dir};
use lightlag_lab::report::ScenarioText;
use lightlag_lab::run::Outcome;
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::read(include_str!("study.toml")));
static UNIVERSAL: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios/universal");
/// Scenarios of real places, and what they need, below `scenarios`.
const PLACES: [(&str, &str); 3] = [
    (grid::EARTH_MARS, include_str!("../../scenarios/earth_mars.toml")),
    ("places/earth_mars.contacts", include_str!("../../scenarios/places/earth_mars.contacts")),
    (grid::HELSINKI, include_str!("../../scenarios/helsinki.toml")),
];

/// The grids and the titles of their heat maps.
const HEAT_MAPS: [(&str, &str); 2] =
    [(grid::PAPER, "The comparative study's grid"), (grid::STRESS, "Under stress")];
const SEEDS: &str = "Cells between planets, which take no time, run with twenty seeds, those on Earth with ten, Earth and Mars with five.";
const NO_HELSINKI: &str = "The streets of Helsinki are skipped, as their map has not been fetched into out/maps: \
                           scenarios/places/helsinki.py does that.";

/// The row of the table of studies.
pub const STUDY: Study = Study {
    name: "universal",
    paper: "(ours)",
    summary: "copy_value against every other congestion mechanism, in two grids of networks",
    takes: "1 min quick, 12 min in full",
    words: &WORDS,
    plan: points,
    metrics: Outcome::metrics,
    evaluate: |evidence: &Evidence<'_>| {
        let results = evidence.results;
        let standings = cells::standings(results);
        let seeds = if evidence.quick { "Every cell runs with two seeds." } else { SEEDS };
        Ok(Said {
            claims: claims::evaluate(&standings),
            figures: charts::all(&standings, &HEAT_MAPS),
            tables: tables::all(results, &standings),
            warnings: (!evidence.quick && !plan::has_helsinki())
                .then(|| NO_HELSINKI.to_owned())
                .into_iter()
                .collect(),
            facts: [cells::facts(results, &standings), vec![("seeds", seeds.to_owned())]].concat(),
            ..Said::default()
        })
    },
    real: Real::Nothing,
    draws_networks: true,
};

/// Writes the scenarios into the folder, and makes the plan from them.
fn points(order: &Order<'_>) -> Result<Points, Error> {
    if let Some(seed) = order.seed {
        return Ok(drawn::points(seed, if order.quick { 98 } else { 308 }, if order.quick { 2 } else { 3 })?);
    }
    let folder = order.out.join("scenarios");
    unpack(&PAPERS, &folder.join("papers"))?;
    unpack(&UNIVERSAL, &folder.join("universal"))?;
    let wrong = |error| Error::Disk(folder.display().to_string(), error);
    std::fs::create_dir_all(folder.join("places")).map_err(wrong)?;
    PLACES.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text).map_err(wrong))?;
    let points = plan::plan(order.quick, &folder)?;
    let text = scenarios().into_iter().map(|scenario| scenario.text).collect();
    Ok(Points { text, scenarios: scenarios(), ..points })
}

/// The scenario files, for the report.
fn scenarios() -> Vec<ScenarioText> {
    let shown = |name: &str, text: &str| ScenarioText { name: name.to_owned(), text: text.to_owned() };
    let ours = UNIVERSAL.files().filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)));
    let places = PLACES.into_iter().filter(|(name, _)| name.ends_with(".toml"));
    ours.chain(places).map(|(name, text)| shown(name, text)).collect()
}

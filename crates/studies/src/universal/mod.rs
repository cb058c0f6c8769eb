//! One congestion mechanism for delay-tolerant networks against all others.
//!
//! In the cells of the comparative study of Silva, Burleigh, Hirata and Obraczka, and under stress: which `grid` there is,
//! who meets there (`treatments`), and in which cells ours is better, as good or worse than the best of the others
//! (`cells`).

mod cells;
mod claims;
mod figures;
mod grid;
mod plan;
mod tables;
#[cfg(test)]
mod tests;
mod treatments;

use crate::files::{PAPERS, unpack};
use crate::points::violations;
use crate::{Error, Studied};
use include_dir::{Dir, include_dir};
use lightlag_lab::report::{Report, ScenarioText};
use lightlag_lab::results::Results;
use lightlag_lab::run::Outcome;
use std::path::Path;

static UNIVERSAL: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/universal");
/// Scenarios of real places, and what they need, below `scenarios`.
const PLACES: [(&str, &str); 3] = [
    (grid::EARTH_MARS, include_str!("../../../../scenarios/earth_mars.toml")),
    ("places/earth_mars.contacts", include_str!("../../../../scenarios/places/earth_mars.contacts")),
    (grid::HELSINKI, include_str!("../../../../scenarios/helsinki.toml")),
];

/// Heading of the report.
pub const TITLE: &str = "One congestion mechanism against all others";

/// What a reader must know before believing a quick look.
const QUICK: &str = "This is a quick look, not the study: two seeds instead of ten or twenty, the ends of each axis, an hour or two \
                     instead of twelve on Earth, and no real places. Run it without --quick before believing a verdict.";
const SEEDS: &str = "Cells between planets, which take no time, run with twenty seeds, those on Earth with ten, Earth and Mars with five.";
const NO_HELSINKI: &str = "The streets of Helsinki are left out, as their map has not been fetched into out/maps: \
                           scenarios/places/helsinki.py does that.";

/// Runs the study into a folder, on so many threads (0: one per core), and goes on where it was stopped.
///
/// # Errors
/// The folder cannot be used.
pub fn run(quick: bool, out: &Path, threads: usize) -> Result<Studied, Error> {
    let folder = out.join("scenarios");
    unpack_all(&folder)?;
    let points = plan::plan(quick, &folder)?;
    let text: String = scenarios().into_iter().map(|scenario| scenario.text).collect();
    let results = points.run((&out.join("runs"), threads), &text, Outcome::metrics)?;
    let violations = violations(&results);
    let report = report(quick, &results);
    Ok(Studied { results, report, violations })
}

fn report(quick: bool, results: &Results) -> Report {
    let standings = cells::standings(results);
    let again = if quick { "lightlag study universal --quick" } else { "lightlag study universal" };
    let warnings = [quick.then_some(QUICK), (!quick && !plan::has_helsinki()).then_some(NO_HELSINKI)];
    Report {
        title: TITLE.to_owned(),
        introduction: introduction(results, standings.len(), quick),
        warnings: warnings.into_iter().flatten().map(str::to_owned).collect(),
        build: results.build.clone(),
        seeds: results.seeds(),
        runs: results.rows.len(),
        again: vec![again.to_owned()],
        claims: claims::evaluate(&standings),
        figures: figures::all(&standings),
        tables: tables::all(results, &standings),
        scenarios: scenarios(),
    }
}

fn unpack_all(folder: &Path) -> Result<(), Error> {
    unpack(&PAPERS, &folder.join("papers"))?;
    unpack(&UNIVERSAL, &folder.join("universal"))?;
    let wrong = |error| Error::Disk(folder.display().to_string(), error);
    std::fs::create_dir_all(folder.join("places")).map_err(wrong)?;
    PLACES.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text).map_err(wrong))
}

/// The scenario files, for the report.
fn scenarios() -> Vec<ScenarioText> {
    let shown = |name: &str, text: &str| ScenarioText { name: name.to_owned(), text: text.to_owned() };
    let ours = UNIVERSAL.files().filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)));
    let places = PLACES.into_iter().filter(|(name, _)| name.ends_with(".toml"));
    ours.chain(places).map(|(name, text)| shown(name, text)).collect()
}

fn introduction(results: &Results, cells: usize, quick: bool) -> Vec<String> {
    let mechanism = treatments::MECHANISM;
    let runs = results.rows.iter().filter(|row| row.metric("delivered").is_some()).count();
    let bounds = results.rows.len() - runs;
    let seeds = if quick { "Every cell runs with two seeds." } else { SEEDS };
    vec![
        format!(
            "{mechanism} meets none, rrcc, afner (with epidemic routing, as it wants), storage_routing and credit, each plain and \
             with receipts of deliveries, in {cells} cells: {runs} runs and {bounds} bounds, in each cell with the same seeds, that is the same \
             contacts and the same bundles, for all mechanisms. gbsd, which sees every copy in the network, stands beside them \
             as what knowing everything would give. How much could be delivered at all is told by a bound, and by runs of the router \
             with buffers that are never full: where the best other is at one of these, there is nothing to win."
        ),
        "The best other of a cell is the one with the highest mean delivery ratio there, of equals the one with the least \
         delay: no single mechanism is as good as that. Ours is compared with it seed by seed; intervals are by the \
         bootstrap over the seeds here. Whoever looks at hundreds of cells finds some differences by chance: \"surely\" is \
         what is left after Holm's correction."
            .to_owned(),
        format!(
            "{seeds} Where nodes meet often and routers copy without bound none, afner and storage_routing without receipts run \
             with two: they send thousands of bytes for each that they deliver, take nine tenths of the study's time and are \
             nowhere ahead of themselves with receipts but by chance."
        ),
        "The comparative study's grid is that of its figures: tables of family S, a base station that sends to rovers, \
         pipelined links and stop and wait; on Earth its three mobility models, and random walk both as The ONE has it and as the paper \
         tells it (destinations anywhere, without pauses), under five loads. The other grid is one of stress: ten times \
         the load, lifetimes from ten minutes on, a tenth of the bandwidth, a tenth of the buffers and ten times as much, \
         contacts that fail, nodes that vanish, 5 to 200 nodes at the same density and load per node, real places."
            .to_owned(),
    ]
}

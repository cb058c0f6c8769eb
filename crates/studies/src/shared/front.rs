//! What the first screens of studies have in common: sentences, and pages that show runs.

use lightlag_lab::report::{Front, HeatMap, Measure, View};
use lightlag_lab::view::{of_point, page};
use lightlag_scenario::{Error, ScenarioFile, Seed};

/// The seed of every run that is shown.
const SEED: u64 = 1;

/// A page with runs beside a report.
pub struct Shown {
    /// Its place in the report.
    pub view: View,
    /// The page.
    pub html: String,
}

/// A page with runs side by side: file name, heading, and what to see; of each run what it is called, and a scenario file with one
/// point.
///
/// # Errors
/// What is wrong with a scenario.
pub fn side_by_side<const N: usize>(
    [file, title, caption]: [&str; 3],
    runs: [(&str, ScenarioFile); N],
) -> Result<Shown, Error> {
    let source = |(name, mut run): (&str, ScenarioFile)| {
        run.set("name", &toml::Value::from(name).to_string())?;
        let points = run.points()?;
        of_point(&run, &points, &points.list[0], Seed::Number(SEED))
    };
    let sources = runs.into_iter().map(source).collect::<Result<Vec<_>, Error>>()?;
    let view = View { file: file.to_owned(), title: title.to_owned(), caption: caption.to_owned() };
    Ok(Shown { view, html: page(&sources) })
}

/// A first screen with those sentences and measures for which everything was measured.
pub fn first_screen<const N: usize, const M: usize>(
    answer: [Option<String>; N],
    measures: [Option<Measure>; M],
    map: Option<HeatMap>,
) -> Front {
    Front { answer: sentences(answer), measures: measures.into_iter().flatten().collect(), map }
}

/// Those sentences for which everything was measured.
pub fn sentences<const N: usize>(all: [Option<String>; N]) -> Vec<String> {
    all.into_iter().flatten().collect()
}

/// "37 %" of 0.37, with a blank at which no line breaks.
pub fn percent(share: f64) -> String {
    let size = share.abs();
    let shown = match size {
        _ if size >= 0.0995 => format!("{:.0}", 100.0 * share),
        _ if size >= 0.001 || size == 0.0 => format!("{:.1}", 100.0 * share),
        _ => format!("{:.1e}", 100.0 * share),
    };
    shown + "\u{a0}%"
}

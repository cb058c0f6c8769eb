//! One figure of what a command has written, as a paper needs it: a metric of a sweep, or a series of a run.

use crate::figure;
use crate::report::{Axes, Drawn, Figure, sweep_figure};
use crate::results::{RESULTS_FILE, Results};
use crate::series::{self, Point};
use crate::sweep::MANIFEST_FILE;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is drawn, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Which metric of a sweep, or number of a series.
    pub metric: &'a str,
    /// Axis of the sweep that is horizontal; `None`: the first numeric one.
    pub x: Option<&'a str>,
    /// Axis of the sweep whose values are curves or bars of their own; `None`: mechanism, or router.
    pub series: Option<&'a str>,
    /// Heading; `None`: what is drawn.
    pub title: Option<&'a str>,
    /// Titles of the horizontal and the vertical axis; `None`: what they show, with its unit.
    pub axis_titles: [Option<&'a str>; 2],
    /// Width and height between the axes, of one panel where there are several, in pixels; `None`: the usual ones.
    pub size: [Option<u32>; 2],
}

/// Name of the series in a run's folder.
pub const SERIES_FILE: &str = "series.parquet";

/// What of a folder can be drawn.
pub enum Source {
    /// The runs of a sweep.
    Sweep(Box<Results>),
    /// The series of a run: its file.
    Series(PathBuf),
}

impl Source {
    /// Opens a folder: of a sweep, or of `run --out` with a series.
    ///
    /// # Errors
    /// One line: what is not there.
    pub fn open(folder: &Path) -> Result<Self, String> {
        let series = folder.join(SERIES_FILE);
        let is_sweep = [RESULTS_FILE, MANIFEST_FILE].iter().any(|name| folder.join(name).exists());
        match () {
            () if is_sweep => {
                let read = Results::read(folder).map_err(|error| error.to_string())?;
                Ok(Self::Sweep(Box::new(read)))
            }
            () if series.exists() => Ok(Self::Series(series)),
            () => Err(format!(
                "{}: it has neither {RESULTS_FILE} nor {SERIES_FILE}; name the folder of a sweep, or of `run --out` of a \
                 scenario with `sample_every` (of bundles: `world.sample_every`)",
                folder.display()
            )),
        }
    }

    /// Draws a figure.
    ///
    /// # Errors
    /// One line: what is not there, and what is.
    pub fn draw(&self, wanted: &Wanted) -> Result<Figure, String> {
        let mut made = match self {
            Self::Series(path) => of_series(path, wanted)?,
            Self::Sweep(results) => of_results(results, wanted)?,
        };
        if let Some(title) = wanted.title {
            made.specification["title"] = title.into();
        }
        figure::restyle(&mut made.specification, wanted.axis_titles, wanted.size);
        Ok(made)
    }

    /// Names of metrics or of a series, a line each, under what it is; and the axes of a sweep.
    ///
    /// # Errors
    /// The series cannot be read.
    pub fn contents(&self) -> Result<String, String> {
        let list = |head: &str, names: &[String]| {
            names.iter().fold(format!("{head}\n"), |text, name| format!("{text}  {name}\n"))
        };
        match self {
            Self::Series(path) => {
                Ok(list("numbers of the series (--metric)", &names_of(&series::read(path)?)))
            }
            Self::Sweep(results) => {
                let axes = list("axes (--x, --series)", &results.value_columns());
                Ok(axes + "\n" + &list("metrics (--metric)", &results.metric_columns()))
            }
        }
    }
}

/// Names of the numbers of a series, each once.
fn names_of(points: &[Point]) -> Vec<String> {
    let names: BTreeSet<&str> = points.iter().map(|point| point.name.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn of_results(results: &Results, wanted: &Wanted) -> Result<Figure, String> {
    let known = results.metric_columns();
    let unknown =
        || format!("--metric: the sweep has no metric `{}`; it has {}", wanted.metric, known.join(", "));
    if !known.iter().any(|name| name == wanted.metric) {
        return Err(unknown());
    }
    let axes = Axes::chosen(results, wanted.x, wanted.series)?;
    let figure = sweep_figure(results, &axes, &Drawn::of(wanted.metric));
    figure.ok_or_else(|| format!("--metric: `{}` has no value in any run; choose another one", wanted.metric))
}

fn of_series(path: &Path, wanted: &Wanted) -> Result<Figure, String> {
    for (option, given) in [("--x", wanted.x), ("--series", wanted.series)] {
        if given.is_some() {
            return Err(format!("{option}: a run has no axes; leave it out, or name the folder of a sweep"));
        }
    }
    let points = series::read(path)?;
    let name = wanted.metric;
    let shown: Vec<&Point> =
        points.iter().filter(|point| point.name == name && point.value.is_finite()).collect();
    if shown.is_empty() {
        let known = names_of(&points).join(", ");
        return Err(format!("--metric: the series has no `{name}`; it has {known}"));
    }
    let (title, unit) = series::title_of(name);
    let drawn = shown.iter().map(|point| (point.at_s, point.of.as_str(), point.value));
    Ok(Figure {
        id: name.to_owned(),
        title: title.to_owned(),
        caption: String::new(),
        specification: figure::over_time(title, unit, drawn),
    })
}

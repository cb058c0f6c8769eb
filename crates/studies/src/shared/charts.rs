//! Figures and tables, in the form that all reports have.

use lightlag_lab::figure::{self, Mark, Place, Plot, Title};
use lightlag_lab::report::{Figure, Table};
use lightlag_lab::results::interval_text;
use lightlag_lab::statistics::{Domain, Estimate};

/// Shown where there is no value.
pub const NONE: &str = "-";

/// A value at a number, without a panel.
pub fn mark(x: f64, series: &str, panel: Option<&str>, value: Estimate) -> Mark {
    let (series, panel) = (series.to_owned(), panel.map(str::to_owned));
    Mark { x: Place::At(x), series, panel, value, baseline: None }
}

/// A value at a name.
pub fn named(x: &str, series: &str, panel: Option<&str>, value: Estimate) -> Mark {
    Mark { x: Place::Named(x.to_owned()), ..mark(0.0, series, panel, value) }
}

/// A value without an interval.
pub fn alone(value: f64) -> Estimate {
    Estimate { mean: value, n: 1, half_width: None, domain: Domain::Any }
}

/// A quantity with its unit; none where that is empty.
pub fn quantity((text, unit): (&str, &str)) -> Title {
    if unit.is_empty() { Title::plain(text) } else { Title::with_unit(text, unit) }
}

/// Marks over an axis; panels in two columns, with one vertical scale.
pub fn plot(series: &str, x: (&str, &str), y: (&str, &str), marks: Vec<Mark>) -> Plot {
    Plot {
        title: String::new(),
        x: quantity(x),
        y: quantity(y),
        series: Title::plain(series),
        baseline_series: None,
        columns: 2,
        shared_y: true,
        marks,
    }
}

/// A figure with its words: identifier, heading, caption.
pub fn figure((id, title, caption): (&str, &str, &str), specification: serde_json::Value) -> Figure {
    Figure { id: id.to_owned(), title: title.to_owned(), caption: caption.to_owned(), specification }
}

/// A curve of a figure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// In which figure.
    pub figure: &'static str,
    /// In which of its panels; empty without panels.
    pub panel: String,
    /// Name in the legend.
    pub series: String,
    /// Seconds and values.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// A curve without a panel.
    pub fn new(figure: &'static str, series: &str, points: Vec<(f64, f64)>) -> Self {
        Self { figure, panel: String::new(), series: series.to_owned(), points }
    }
}

/// The curves of a figure over time: identifier, heading, caption, quantity and unit.
pub fn over_time(
    [id, title, caption, quantity, unit]: &[&str; 5],
    curves: &[Curve],
    each: impl Fn(&Curve) -> usize,
) -> Figure {
    let here = || curves.iter().filter(|curve| curve.figure == *id);
    let points = here().flat_map(|curve| {
        let points = curve.points.iter().step_by(each(curve));
        points.map(|&(at, value)| (curve.panel.as_str(), at, curve.series.as_str(), value))
    });
    let specification = if here().all(|curve| curve.panel.is_empty()) {
        figure::over_time(quantity, unit, points.map(|(_, at, series, value)| (at, series, value)))
    } else {
        figure::over_time_in_panels((quantity, unit), 3, points.collect::<Vec<_>>().into_iter())
    };
    figure((id, title, caption), specification)
}

/// A table with its words: heading and caption.
pub fn table<H: Into<String>>(
    (title, caption): (&str, &str),
    head: impl IntoIterator<Item = H>,
    rows: Vec<Vec<String>>,
) -> Table {
    let head = head.into_iter().map(Into::into).collect();
    Table { title: title.to_owned(), caption: caption.to_owned(), head, rows }
}

/// Cells behind those that name them.
pub fn row<N: AsRef<str>>(
    names: impl IntoIterator<Item = N>,
    cells: impl IntoIterator<Item = String>,
) -> Vec<String> {
    names.into_iter().map(|name| name.as_ref().to_owned()).chain(cells).collect()
}

/// Heads of columns behind those of the names.
pub fn heads<const N: usize>(names: [&str; N], numbers: &[f64]) -> Vec<String> {
    row(names, numbers.iter().map(f64::to_string))
}

/// A mean and its interval as a cell.
pub fn cell(value: Option<Estimate>) -> String {
    value.map_or(NONE.to_owned(), |value| interval_text(Some(value)))
}

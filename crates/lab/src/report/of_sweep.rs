//! The report of any sweep: figures and a table over whatever its axes are.

use super::answer::front;
use super::{Figure, Report, ScenarioText, Table};
use crate::figure::{self, Mark, Place, Plot, Title};
use crate::results::{Point, Results, Row, SHOWN_OF_PACKETS, interval_text, shown, unfinished};
use lightlag_protocols::units::parse::in_one_unit;
use std::collections::BTreeMap;

/// The mechanism that others are compared with.
const BASELINE: &str = "none";

/// A metric that is drawn.
#[derive(Clone, Copy)]
pub struct Drawn<'a> {
    metric: &'a str,
    /// Of the axis.
    title: &'a str,
    /// Empty for a share or a count.
    unit: &'a str,
}

/// What a report draws, and how metrics are called on axes.
const DRAWN: [Drawn<'static>; 7] = [
    Drawn { metric: "goodput_bit_per_s", title: "goodput", unit: "bit/s" },
    Drawn { metric: "satisfied", title: "satisfied Interests", unit: "" },
    Drawn { metric: "jain", title: "Jain index", unit: "" },
    Drawn { metric: "delivery_prob", title: "delivery ratio", unit: "" },
    Drawn { metric: "latency_avg", title: "latency", unit: "s" },
    Drawn { metric: "overhead_ratio", title: "overhead", unit: "" },
    Drawn { metric: "censored_delay_avg", title: "delay, undelivered counted with their age", unit: "s" },
];

impl<'a> Drawn<'a> {
    /// Any metric; one that no report draws is called by its name.
    pub fn of(metric: &'a str) -> Self {
        let known = DRAWN.into_iter().find(|drawn| drawn.metric == metric);
        known.unwrap_or(Self { metric, title: metric, unit: "" })
    }
}

/// A report of a sweep's results.
pub fn of_sweep(results: &Results) -> Report {
    let name = results.scenario.lines().find_map(scenario_name).unwrap_or("sweep").to_owned();
    let axes = Axes::of(results);
    let figures = DRAWN.iter().filter_map(|drawn| figure(results, &axes, drawn)).collect();
    let about = "Every point of the scenario with every seed. Bars and curves show the mean, error bars the 95% \
                 interval by Student's t over the seeds.";
    Report {
        title: format!("Sweep: {name}"),
        front: front(results),
        introduction: [about.to_owned()].into_iter().chain(plan_readers(results)).collect(),
        warnings: warnings(results),
        build: results.build.clone(),
        seeds: results.seeds(),
        runs: results.rows.len(),
        again: vec!["lightlag sweep SCENARIO.toml (the text below)".to_owned()],
        figures,
        tables: vec![table(results)],
        scenarios: vec![ScenarioText { name, text: results.scenario.clone() }],
        ..Report::default()
    }
}

fn scenario_name(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    ["name", "Scenario.name"].contains(&key.trim()).then(|| value.trim().trim_matches('"'))
}

/// At which points nodes know later contacts.
fn plan_readers(results: &Results) -> Option<String> {
    let reads = |row: &&Row| row.metric("plan_nodes").is_some_and(|nodes| nodes > 0.0);
    let readers: Vec<&Row> = results.rows.iter().filter(reads).collect();
    let of = |column: &str| {
        let mut names: Vec<&str> = readers.iter().filter_map(|row| row.value(column)).collect();
        names.sort_unstable();
        names.dedup();
        // A name reads the plan if it does so beside whatever else varies.
        names.retain(|name| {
            results.rows.iter().filter(|row| row.value(column) == Some(*name)).all(|row| reads(&row))
        });
        (!names.is_empty()).then(|| format!("{column} {}", names.join(", ")))
    };
    let names: Vec<String> = ["router", "mechanism"].into_iter().filter_map(of).collect();
    let at = if names.is_empty() { String::new() } else { format!(" ({})", names.join("; ")) };
    let (some, all) = (readers.len(), results.rows.len());
    (some > 0)
        .then(|| format!("In {some} of {all} runs nodes read the contact plan and know later contacts{at}."))
}

fn warnings(results: &Results) -> Vec<String> {
    let found: f64 = results.rows.iter().filter_map(|row| row.metric("violations")).sum();
    let judged = (found > 0.0)
        .then(|| format!("The judge found {found} violations in these runs: do not trust them."));
    let partial = unfinished(results).map(|line| format!("This report may change: {line}."));
    partial.into_iter().chain(judged).collect()
}

/// Which axis goes where in a figure.
pub struct Axes {
    x: Option<String>,
    series: Option<String>,
    panels: Vec<String>,
    /// Of a numeric axis: where each of its values is, in the unit of the first.
    places: BTreeMap<String, f64>,
    unit: String,
}

impl Axes {
    /// Mechanisms are the series where there are any; a numeric axis is the horizontal one.
    fn of(results: &Results) -> Self {
        Self::divided(results, None, None)
    }
    /// With these axes where they are given.
    ///
    /// # Errors
    /// An axis that the sweep does not vary.
    pub fn chosen(results: &Results, x: Option<&str>, series: Option<&str>) -> Result<Self, String> {
        let axis = |option: &str, name: Option<&str>| {
            name.map(|name| results.axis(name).map_err(|wrong| format!("{option}: {wrong}"))).transpose()
        };
        let (x, series) = (axis("--x", x)?, axis("--series", series)?);
        if x.is_some() && x == series {
            return Err("--x and --series name one axis; name two, or leave one out".to_owned());
        }
        Ok(Self::divided(results, x.as_deref(), series.as_deref()))
    }
    fn divided(results: &Results, given_x: Option<&str>, given_series: Option<&str>) -> Self {
        let mut rest = results.value_columns();
        let mut take =
            |wanted: &dyn Fn(&String) -> bool| rest.iter().position(wanted).map(|at| rest.remove(at));
        let numeric_axis = |column: &String| places(results, column).is_some();
        let x = given_x.and_then(|axis| take(&|column| column == axis));
        let series = match given_series {
            Some(axis) => take(&|column| column == axis),
            None => take(&|column| column == "mechanism").or_else(|| take(&|column| column == "router")),
        };
        let x = x.or_else(|| take(&numeric_axis));
        let x = x.or_else(|| take(&|column| column == "router")).or_else(|| take(&|_| true));
        // A lone axis is the horizontal one.
        let (x, series) = if x.is_none() && given_series.is_none() { (series, None) } else { (x, series) };
        let (places, unit) = x.as_ref().and_then(|column| places(results, column)).unwrap_or_default();
        Self { x, series, panels: rest, places, unit }
    }
    fn x_title(&self) -> Title {
        let name = self.x.as_deref().unwrap_or_default();
        if self.unit.is_empty() { Title::plain(name) } else { Title::with_unit(name, &self.unit) }
    }
}

/// Where the values of a column are on an axis, if they are quantities of one kind, and their unit.
fn places(results: &Results, column: &str) -> Option<(BTreeMap<String, f64>, String)> {
    let texts: Vec<&str> = results.rows.iter().map(|row| row.value(column)).collect::<Option<_>>()?;
    let (numbers, unit) = in_one_unit(&texts)?;
    let names = texts.iter().map(|text| (*text).to_owned());
    Some((names.zip(numbers).collect(), unit.to_owned()))
}

/// A metric of every point; `None` where no run has a value.
pub fn figure(results: &Results, axes: &Axes, drawn: &Drawn) -> Option<Figure> {
    let Drawn { metric, title, unit } = *drawn;
    let marks: Vec<Mark> = results.points().iter().filter_map(|point| mark(point, axes, metric)).collect();
    if marks.is_empty() {
        return None;
    }
    let several = |name: &Option<String>| name.clone().unwrap_or_default();
    let plot = Plot {
        title: title.to_owned(),
        x: axes.x_title(),
        y: if unit.is_empty() { Title::plain(title) } else { Title::with_unit(title, unit) },
        series: Title::plain(&several(&axes.series)),
        baseline_series: marks.iter().any(|mark| mark.series == BASELINE).then(|| BASELINE.to_owned()),
        columns: 3,
        shared_y: true,
        marks,
    };
    let specification = if axes.places.is_empty() { figure::bars(&plot) } else { figure::lines(&plot) };
    Some(Figure {
        id: metric.to_owned(),
        title: title.to_owned(),
        caption: format!("Means over the seeds and their 95 % intervals; {metric} in the table."),
        specification,
    })
}

fn mark(point: &Point<'_>, axes: &Axes, metric: &str) -> Option<Mark> {
    let text = |column: &str| point.rows[0].value(column).unwrap_or_default().to_owned();
    let x = axes.x.as_deref().map_or_else(|| "all".to_owned(), text);
    let place = axes.places.get(&x).map_or(Place::Named(x), |at| Place::At(*at));
    let panels: Vec<String> = axes.panels.iter().map(|column| format!("{column} {}", text(column))).collect();
    Some(Mark {
        x: place,
        series: match &axes.series {
            Some(column) => text(column),
            // Without an axis of its own the baseline is grey, and all others have one colour.
            None if axes.x.as_deref() == Some("mechanism") && text("mechanism") == BASELINE => {
                BASELINE.to_owned()
            }
            None => "all".to_owned(),
        },
        panel: (!panels.is_empty()).then(|| panels.join(", ")),
        value: point.estimate(metric)?,
        baseline: None,
    })
}

/// A metric with its unit, where its name does not have it.
fn with_unit(metric: &str) -> String {
    let units = [("latency_", "s"), ("buffertime_", "s"), ("censored_delay_", "s"), ("_bytes", "B")];
    let unit = units
        .iter()
        .find(|(part, _)| metric.starts_with(part) || metric.contains(part) && part.starts_with('_'));
    unit.map_or(metric.to_owned(), |(_, unit)| format!("{metric} ({unit})"))
}

fn table(results: &Results) -> Table {
    let columns = results.value_columns();
    let points = results.points();
    let of_bundles = shown(results);
    let more = SHOWN_OF_PACKETS.into_iter().filter(|metric| !of_bundles.contains(metric));
    let measured =
        |metric: &&str| results.rows.iter().any(|row| row.metric(metric).is_some_and(f64::is_finite));
    let shown: Vec<&str> = of_bundles.iter().copied().chain(more).filter(measured).collect();
    let rows = points.iter().map(|point| {
        let values = columns.iter().map(|column| point.rows[0].value(column).unwrap_or_default().to_owned());
        values.chain(shown.iter().map(|metric| interval_text(point.estimate(metric)))).collect()
    });
    Table {
        title: "All points".to_owned(),
        caption: "Mean and half width of the 95% interval.".to_owned(),
        head: columns.iter().cloned().chain(shown.iter().map(|metric| with_unit(metric))).collect(),
        rows: rows.collect(),
    }
}

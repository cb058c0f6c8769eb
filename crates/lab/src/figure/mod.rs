//! The one place where Vega-Lite specifications are made: the report and Python draw the same ones.
//!
//! Every function is pure, and a specification carries its data: a figure can be taken out of a report and drawn
//! again anywhere. Error bars are 95% intervals; where there is no interval there is no bar.

mod heat_map;
mod log_lines;
mod restyle;

use crate::statistics::Estimate;
use serde_json::{Map, Value, json};

pub use heat_map::{Tile, heat_map, share_map};
pub use log_lines::log_lines;
pub use restyle::restyle;

/// The version of the language that the embedded library speaks.
pub const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";

/// Okabe and Ito's colours, distinguished by people with any kind of colour vision; without black and yellow,
/// which vanish on dark and light paper.
pub(crate) const PALETTE: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
/// Colour of the baseline: the absence of a mechanism has no hue.
const BASELINE_COLOUR: &str = "#5F5F5F";
const SHAPES: [&str; 6] = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"];
/// Legend of the lines across bars.
const BESIDE: &str = "without congestion control";

/// Where a mark stands on the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A number.
    At(f64),
    /// A name.
    Named(String),
}

impl Place {
    /// The number, if it is one.
    fn number(&self) -> Option<f64> {
        if let Self::At(number) = self { Some(*number) } else { None }
    }
}

/// A measured value in a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where it stands.
    pub x: Place,
    /// Which curve or which bar of a group.
    pub series: String,
    /// In which of the small multiples.
    pub panel: Option<String>,
    /// The value.
    pub value: Estimate,
    /// The value for comparison, drawn as a line across the bar.
    pub baseline: Option<Estimate>,
}

/// An axis or a legend; quantities carry their unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    text: String,
}

impl Title {
    /// Of something without a unit.
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_string() }
    }

    /// Of a quantity.
    pub fn with_unit(text: &str, unit: &str) -> Self {
        Self { text: format!("{text} ({unit})") }
    }
}

/// What a figure shows; [`lines`] and [`bars`] say how.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Horizontal axis.
    pub x: Title,
    /// Vertical axis.
    pub y: Title,
    /// Legend; empty where the marks are no series.
    pub series: Title,
    /// The series that is only there for comparison: grey and dashed.
    pub baseline_series: Option<String>,
    /// Panels in one row.
    pub columns: usize,
    /// Whether panels have one vertical scale.
    pub shared_y: bool,
    /// The values; order of appearance is order of drawing.
    pub marks: Vec<Mark>,
}

/// Curves with error bars over a numeric axis.
pub fn lines(plot: &Plot) -> Value {
    // Marks at the edges are whole.
    plot.specification(curves(plot, &json!({"zero": false, "padding": 12}), &json!({"zero": true}), "low"))
}

/// A line, error bars that begin at the field `from`, and points.
fn curves(plot: &Plot, x_scale: &Value, y_scale: &Value, from: &str) -> Value {
    let x = json!({"field": "x", "type": "quantitative", "title": plot.x.text, "scale": x_scale});
    let colour = plot.colour(&plot.series_names(), &[]);
    let shape = plot.legend(&plot.series_names(), json!(plot.shapes()));
    let dash = plot.dash();
    let [mut y, mut bar] = [plot.y_of("mean"), error_bar(plot, json!({"x": x, "color": colour}))];
    y["scale"] = y_scale.clone();
    bar["y"] = with_field(&y, from);
    json!([
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash}},
        {"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": bar},
        {"mark": {"type": "point", "filled": true, "size": 60, "opacity": 1},
         "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip(plot)}},
    ])
}

/// The same axis with another field.
fn with_field(axis: &Value, field: &str) -> Value {
    let mut made = axis.clone();
    made["field"] = json!(field);
    made
}

/// Single values over time: (seconds, series, value).
pub fn over_time<'a>(title: &str, unit: &str, points: impl Iterator<Item = (f64, &'a str, f64)>) -> Value {
    let values: Vec<Value> =
        points.map(|(time_s, series, value)| json!({"x": time_s, "series": series, "y": value})).collect();
    json!({
        "$schema": SCHEMA,
        "title": title,
        "width": 520,
        "height": 280,
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 1.2},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "time (s)"},
            "y": {"field": "y", "type": "quantitative", "title": format!("{title} ({unit})")},
            "color": {"field": "series", "type": "nominal", "title": null, "scale": {"range": PALETTE}},
        },
    })
}

/// Single values over time in small multiples: (panel, seconds, series, value).
pub fn over_time_in_panels<'a>(
    (title, unit): (&str, &str),
    columns: usize,
    points: impl Iterator<Item = (&'a str, f64, &'a str, f64)> + Clone,
) -> Value {
    let panels = distinct(points.clone().map(|point| point.0));
    let mut made =
        over_time(title, unit, points.clone().map(|(_, time_s, series, value)| (time_s, series, value)));
    let values = made["data"]["values"].as_array_mut().into_iter().flatten();
    for (value, point) in values.zip(points) {
        value["panel"] = json!(point.0);
    }
    made["facet"] = json!({"field": "panel", "type": "nominal", "title": null, "sort": panels});
    made["columns"] = json!(columns);
    made["encoding"]["color"]["legend"] = legend(Some(columns));
    let mut each = json!({"width": 280, "height": 160});
    for part in ["mark", "encoding"] {
        each[part] = made[part].take();
    }
    made["spec"] = each;
    if let Some(parts) = made.as_object_mut() {
        parts.retain(|name, _| !["mark", "encoding", "width", "height"].contains(&name.as_str()));
    }
    made
}

/// The legend of single values is as opaque as those of means; beside panels there is no room for it.
fn legend(panel_columns: Option<usize>) -> Value {
    panel_columns.map_or(
        json!({"symbolOpacity": 1}),
        |columns| json!({"symbolOpacity": 1, "orient": "bottom", "columns": columns}),
    )
}

/// Groups of bars with error bars; the baseline, where a mark has one, is a line across the bar.
pub fn bars(plot: &Plot) -> Value {
    let names = plot.series_names();
    let compared = plot.marks.iter().any(|mark| mark.baseline.is_some());
    let extra: &[&str] = if compared { &[BESIDE] } else { &[] };
    let mut place = Map::new();
    place.insert(
        "x".into(),
        json!({"field": "x", "type": "nominal", "title": plot.x.text, "sort": plot.x_names(),
               "axis": {"labelAngle": -30}}),
    );
    if plot.has_series() {
        place.insert("xOffset".into(), json!({"field": "series", "type": "nominal", "sort": names}));
    }
    let colour = plot.colour(&names, extra);
    let at = |more: Value| merged(&place, more);
    let mut layers = vec![json!({"mark": {"type": "bar"},
               "encoding": at(json!({"y": plot.y_of("mean"), "color": colour, "tooltip": tooltip(plot)}))})];
    if compared {
        layers.push(json!({
            "mark": {"type": "tick", "orient": "horizontal", "width": {"band": 1}, "thickness": 4, "opacity": 1,
                     "stroke": "#FFFFFF", "strokeWidth": 0.7},
            "transform": [{"filter": "isValid(datum.baseline)"}],
            "encoding": at(json!({"y": plot.y_of("baseline"), "color": {"datum": BESIDE}})),
        }));
    }
    layers.push(json!({
        "mark": {"type": "rule", "strokeWidth": 1.5, "color": "#303030"},
        "encoding": error_bar(plot, at(json!({}))),
    }));
    plot.specification(Value::from(layers))
}

impl Plot {
    fn series_names(&self) -> Vec<&str> {
        distinct(self.marks.iter().map(|mark| mark.series.as_str()))
    }

    fn panel_names(&self) -> Vec<&str> {
        distinct(self.marks.iter().filter_map(|mark| mark.panel.as_deref()))
    }

    fn x_names(&self) -> Vec<String> {
        let names: Vec<String> = self.marks.iter().map(|mark| x_name(&mark.x)).collect();
        distinct(names.iter().map(String::as_str)).into_iter().map(str::to_string).collect()
    }

    fn has_series(&self) -> bool {
        !self.series.text.is_empty()
    }

    fn is_baseline(&self, name: &str) -> bool {
        self.baseline_series.as_deref() == Some(name)
    }

    /// The shape of each series: the baseline has the first, which no other takes then.
    fn shapes(&self) -> Vec<&'static str> {
        let names = self.series_names();
        let taken = usize::from(names.iter().any(|name| self.is_baseline(name)));
        let rest = &SHAPES[taken..];
        // Where colours begin again, shapes are one farther: no two series have both in common.
        let mut next = (0..).map(|number| rest[(number + number / PALETTE.len() * (1 - taken)) % rest.len()]);
        let shape =
            |name: &str| if self.is_baseline(name) { SHAPES[0] } else { next.next().unwrap_or(SHAPES[0]) };
        names.into_iter().map(shape).collect()
    }

    /// The n-th series that is not the baseline takes the n-th of `choices`; the baseline takes the first.
    fn range<'a>(&self, choices: &[&'a str]) -> Vec<&'a str> {
        let mut next = choices.iter().cycle();
        self.series_names()
            .into_iter()
            .map(|name| if self.is_baseline(name) { choices[0] } else { next.next().unwrap_or(&choices[0]) })
            .collect()
    }

    fn colour(&self, names: &[&str], extra: &[&str]) -> Value {
        let mut range = self.range(&PALETTE);
        for (colour, name) in range.iter_mut().zip(names) {
            if self.is_baseline(name) {
                *colour = BASELINE_COLOUR;
            }
        }
        range.extend(extra.iter().map(|_| BASELINE_COLOUR));
        let domain: Vec<&str> = names.iter().chain(extra).copied().collect();
        self.legend(&domain, json!(range))
    }

    fn legend(&self, domain: &[&str], range: Value) -> Value {
        let mut made = json!({"field": "series", "type": "nominal", "title": self.series.text,
                              "scale": {"domain": domain, "range": range},
                              "legend": legend((!self.panel_names().is_empty()).then_some(self.columns))});
        if !self.has_series() && domain.len() == self.series_names().len() {
            made["legend"] = Value::Null;
        }
        made
    }

    /// The baseline is dashed, by a condition: a scale would dash the marks of the legend, too.
    fn dash(&self) -> Value {
        let name = self.baseline_series.as_deref().unwrap_or_default();
        json!({"condition": {"test": {"field": "series", "equal": name}, "value": [5, 4]}})
    }

    fn y_of(&self, field: &str) -> Value {
        json!({"field": field, "type": "quantitative", "title": self.y.text, "scale": {"zero": true}})
    }

    fn specification(&self, layers: Value) -> Value {
        let panels = self.panel_names();
        let mut made = json!({
            "$schema": SCHEMA,
            "title": self.title,
            "data": {"values": self.marks.iter().map(datum).collect::<Vec<_>>()},
        });
        if panels.is_empty() {
            made["width"] = json!(520);
            made["height"] = json!(280);
            made["layer"] = layers;
            return made;
        }
        made["facet"] = json!({"field": "panel", "type": "nominal", "title": null, "sort": panels});
        made["columns"] = json!(self.columns);
        made["spec"] = json!({"width": 280, "height": 200, "layer": layers});
        let y = if self.shared_y { "shared" } else { "independent" };
        made["resolve"] = json!({"scale": {"y": y}});
        made
    }
}

fn error_bar(plot: &Plot, place: Value) -> Value {
    let mut encoding = place;
    encoding["y"] = plot.y_of("low");
    encoding["y2"] = json!({"field": "high"});
    encoding
}

fn tooltip(plot: &Plot) -> Value {
    let series = plot.has_series().then(|| json!({"field": "series", "title": plot.series.text}));
    let others = json!([
        {"field": "x", "title": plot.x.text},
        {"field": "mean", "title": plot.y.text, "format": ".4~g"},
        {"field": "low", "title": "95% from", "format": ".4~g"},
        {"field": "high", "title": "to", "format": ".4~g"},
        {"field": "n", "title": "runs"},
    ]);
    series.into_iter().chain(others.as_array().into_iter().flatten().cloned()).collect()
}

fn datum(mark: &Mark) -> Value {
    let mut made = json!({
        "x": match &mark.x { Place::At(number) => json!(number), Place::Named(name) => json!(name) },
        "series": mark.series,
        "mean": mark.value.mean,
        "low": mark.value.low(),
        "high": mark.value.high(),
        "n": mark.value.n,
    });
    if let Some(panel) = &mark.panel {
        made["panel"] = json!(panel);
    }
    if let Some(baseline) = mark.baseline {
        made["baseline"] = json!(baseline.mean);
    }
    made
}

fn x_name(x: &Place) -> String {
    match x {
        Place::At(number) => number.to_string(),
        Place::Named(name) => name.clone(),
    }
}

fn merged(base: &Map<String, Value>, more: Value) -> Value {
    let mut all = base.clone();
    if let Value::Object(more) = more {
        all.extend(more);
    }
    Value::Object(all)
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(x: Place, series: &str, panel: Option<&str>) -> Mark {
        let value = Estimate { mean: 0.5, n: 5, half_width: Some(0.1), is_share: true };
        Mark { x, series: series.into(), panel: panel.map(Into::into), value, baseline: Some(value) }
    }

    fn plot(marks: Vec<Mark>) -> Plot {
        Plot {
            title: "t".into(),
            x: Title::with_unit("period", "s"),
            y: Title::plain("delivery ratio"),
            series: Title::plain("mechanism"),
            baseline_series: Some("none".into()),
            columns: 2,
            shared_y: true,
            marks,
        }
    }

    #[test]
    fn curves_have_units_intervals_and_a_dashed_baseline() {
        let made =
            lines(&plot(vec![mark(Place::At(100.0), "none", None), mark(Place::At(100.0), "credit", None)]));
        assert_eq!(made["layer"][0]["encoding"]["x"]["title"], "period (s)");
        let dash = &made["layer"][0]["encoding"]["strokeDash"]["condition"];
        assert_eq!((&dash["test"]["equal"], &dash["value"]), (&json!("none"), &json!([5, 4])));
        let shapes = &made["layer"][2]["encoding"]["shape"]["scale"]["range"];
        assert_eq!(shapes, &json!(["circle", "square"]), "the baseline has a mark of its own");
        assert_eq!(made["layer"][0]["encoding"]["color"]["scale"]["range"], json!(["#5F5F5F", "#0072B2"]));
        assert_eq!(made["data"]["values"][0]["low"], 0.4);
    }

    #[test]
    fn no_two_series_have_colour_and_shape_in_common() {
        for first in ["none", "other"] {
            let names =
                std::iter::once(first.to_owned()).chain((0..24).map(|number| format!("series {number}")));
            let marks: Vec<Mark> = names.map(|name| mark(Place::At(1.0), &name, None)).collect();
            let point = &lines(&plot(marks))["layer"][2]["encoding"];
            let [colours, shapes] = ["color", "shape"]
                .map(|channel| point[channel]["scale"]["range"].as_array().unwrap().clone());
            let pairs: Vec<(String, String)> = colours
                .iter()
                .zip(&shapes)
                .map(|(one, other)| (one.to_string(), other.to_string()))
                .collect();
            let distinct: std::collections::BTreeSet<_> = pairs.iter().collect();
            assert_eq!((pairs.len(), distinct.len()), (25, 25), "{pairs:?}");
        }
    }

    #[test]
    fn panels_make_small_multiples_in_the_given_order() {
        let named = |panel| mark(Place::Named("credit".into()), "epidemic", Some(panel));
        let made = bars(&plot(vec![named("RWP"), named("RW")]));
        assert_eq!(made["facet"]["sort"], json!(["RWP", "RW"]));
        assert_eq!(made["columns"], 2);
        assert_eq!(made["spec"]["layer"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn values_over_time_stand_in_their_panels() {
        let points = [("late", 1.0, "one", 2.0), ("early", 1.0, "one", 3.0)];
        let made = over_time_in_panels(("window", "Interests"), 2, points.into_iter());
        assert_eq!(made["facet"]["sort"], json!(["late", "early"]));
        assert_eq!(made["data"]["values"][1]["panel"], "early");
        assert_eq!(made["spec"]["mark"]["type"], "line");
        assert_eq!(made.get("mark"), None);
    }

    #[test]
    fn without_baselines_no_line_crosses_a_bar() {
        let mut lone = mark(Place::Named("credit".into()), "epidemic", None);
        lone.baseline = None;
        lone.value.half_width = None;
        let made = bars(&plot(vec![lone]));
        assert_eq!(made["layer"].as_array().unwrap().len(), 2);
        assert_eq!(made["data"]["values"][0]["low"], Value::Null);
    }
}

//! The one place where Vega-Lite specifications are made: the report and Python draw the same ones.
//!
//! Every function is pure, and a specification carries its data: a figure can be taken out of a report and drawn
//! again anywhere. Error bars are 95% intervals; where there is no interval there is no bar.

mod axes;
mod heat_map;
mod identity;
mod log_lines;
mod restyle;
mod strips;

use crate::statistics::Estimate;
use identity::Look;
use serde_json::{Map, Value, json};

pub use axes::compress_above;
pub use heat_map::{Tile, heat_map, share_map};
pub use log_lines::log_lines;
pub use restyle::restyle;
pub use strips::{Dot, strips};

/// The version of the language that the embedded library speaks.
pub const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";

/// Okabe and Ito's colours, distinguished by people with any kind of colour vision; without black and yellow,
/// which vanish on dark and light paper.
pub(crate) const PALETTE: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
/// Colour of the baseline: the absence of a mechanism has no hue. As far from dark as from light paper.
const BASELINE_COLOUR: &str = "#7A7A7A";
const SHAPES: [&str; 6] = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"];
/// Dashes of the series whose colours have come before; the first ones are solid.
const DASHES: [&[u8]; 4] = [&[1, 0], &[2, 2], &[8, 3, 2, 3], &[10, 5]];
/// Width and height between the axes of a figure, in pixels.
const ALONE: [u32; 2] = [520, 280];
/// Panels beside each other on a page.
const COLUMNS_MAX: usize = 3;
/// The same of one of several panels, and of one of several over time.
const OF_PANELS: [[u32; 2]; 2] = [[280, 200], [280, 160]];
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

    /// Of a quantity; "packets sent" say their unit themselves.
    pub fn with_unit(text: &str, unit: &str) -> Self {
        if unit.is_empty() || text.split(' ').any(|word| word == unit) {
            return Self::plain(text);
        }
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
    let numbers: Vec<f64> = plot.marks.iter().filter_map(|mark| mark.x.number()).collect();
    // Marks at the edges are whole, and the axis ends there: a jitter, say, is not negative.
    let x_scale =
        json!({"zero": false, "padding": 12, "nice": axes::ends(&numbers).0 == axes::ends(&numbers).1});
    let mut x = plot.x_of(&x_scale);
    x["axis"] = axes::numeric(&numbers);
    let y = plot.y_of("mean");
    plot.specification(curves(plot, &x, &y, "low"))
}

/// A line, error bars that begin at the field `from`, and points.
fn curves(plot: &Plot, x: &Value, y: &Value, from: &str) -> Value {
    let names = plot.series_names();
    let mut colour = plot.colour(&names);
    let mut shape = plot.legend(&names, json!(plot.shapes()));
    if names.len() > 1 && !plot.has_series() {
        // Nothing else than the legend says which curve is which.
        for channel in [&mut colour, &mut shape] {
            (channel["title"], channel["legend"]) = (Value::Null, plot.legend_place());
        }
    }
    let mut bar = error_bar(plot, json!({"x": x, "color": colour}));
    bar["y"] = with_field(y, from);
    json!([
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour, "strokeDash": plot.dash()}},
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
    let points: Vec<(f64, &str, f64)> = points.collect();
    let values: Vec<Value> = points
        .iter()
        .map(|(time_s, series, value)| json!({"x": time_s, "series": series, "y": value}))
        .collect();
    let mut made = json!({
        "$schema": SCHEMA,
        "title": title,
        "width": ALONE[0],
        "height": ALONE[1],
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 1.2},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "time (s)", "axis": axes::numeric(&[])},
            "y": {"field": "y", "type": "quantitative", "title": Title::with_unit(title, unit).text},
            "color": {"field": "series", "type": "nominal", "title": null, "scale": {"range": PALETTE}},
        },
    });
    let names = distinct(points.iter().map(|point| point.1));
    let looks = identity::looks(&names);
    let colours: Vec<&str> = looks.iter().map(|look| PALETTE[look.colour]).collect();
    made["encoding"]["color"]["scale"] = json!({"domain": names, "range": colours});
    if looks.iter().any(|look| look.before > 0) {
        let dashes: Vec<&[u8]> = looks.iter().map(|look| dash_of(look.before)).collect();
        made["encoding"]["strokeDash"] = json!({"field": "series", "type": "nominal", "title": null,
                                                "scale": {"domain": names, "range": dashes}});
    }
    axes::fit_titles(&mut made);
    made
}

/// The dashes of a series whose colour has come before as often.
fn dash_of(before: usize) -> &'static [u8] {
    DASHES[before % DASHES.len()]
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
    for channel in ["color", "strokeDash"] {
        if let Some(encoding) = made["encoding"].get_mut(channel) {
            encoding["legend"] = legend(Some(columns));
        }
    }
    let [width, height] = OF_PANELS[1];
    let mut each = json!({"width": width, "height": height});
    for part in ["mark", "encoding"] {
        each[part] = made[part].take();
    }
    if let Some(parts) = made.as_object_mut() {
        parts.retain(|name, _| !["mark", "encoding", "width", "height"].contains(&name.as_str()));
    }
    in_panels(&mut made, &panels, columns, each);
    made
}

/// Small multiples of a view, in rows of `columns`.
fn in_panels(made: &mut Value, panels: &[&str], columns: usize, mut each: Value) {
    axes::fit_titles(&mut each);
    made["facet"] = json!({"field": "panel", "type": "nominal", "title": null, "sort": panels});
    made["columns"] = json!(columns);
    made["spec"] = each;
    if panels.len() > columns && !panels.len().is_multiple_of(columns) {
        // An axis for each column would stand below the place that stays empty, too.
        made["resolve"]["axis"] = json!({"x": "independent"});
    }
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
               "axis": {"labelAngle": plot.label_angle()}}),
    );
    if plot.has_series() {
        place.insert("xOffset".into(), json!({"field": "series", "type": "nominal", "sort": names}));
    }
    let colour = plot.colour_of_bars(&names, extra);
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
    // Dark with a light edge: seen on every bar, and on light and dark paper.
    for (width, colour) in [(3.5, "#FFFFFF"), (1.5, "#303030")] {
        layers.push(json!({
            "mark": {"type": "rule", "strokeWidth": width, "color": colour},
            "encoding": error_bar(plot, at(json!({}))),
        }));
    }
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

    /// Of names below bars: level where they fit beside each other.
    fn label_angle(&self) -> i32 {
        let names = self.x_names();
        let needs: f64 = names.iter().map(|name| axes::label_width(name)).sum();
        if needs <= self.size()[0] { 0 } else { -30 }
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
        // Where a colour comes again, shapes are one farther: no two series have both in common.
        let shape = |look: Option<Look>| {
            look.map_or(SHAPES[0], |look| rest[(look.colour + look.before) % rest.len()])
        };
        self.looks().into_iter().map(|(_, look)| shape(look)).collect()
    }

    /// Every series with its look; the baseline has none.
    fn looks(&self) -> Vec<(&str, Option<Look>)> {
        let all = self.series_names();
        let others: Vec<&str> = all.iter().copied().filter(|name| !self.is_baseline(name)).collect();
        let mut looks = identity::looks(&others).into_iter();
        all.into_iter().map(|name| (name, if self.is_baseline(name) { None } else { looks.next() })).collect()
    }

    fn colour(&self, names: &[&str]) -> Value {
        let of = |look: Option<Look>| look.map_or(BASELINE_COLOUR, |look| PALETTE[look.colour]);
        let range: Vec<&str> = self.looks().into_iter().map(|(_, look)| of(look)).collect();
        self.legend(names, json!(range))
    }

    /// Colours of bars, and of `extra`, which stands beside them.
    fn colour_of_bars(&self, names: &[&str], extra: &[&str]) -> Value {
        let of = |look: Option<Look>| look.map_or(BASELINE_COLOUR.to_owned(), identity::of_bar);
        let bars = self.looks().into_iter().map(|(_, look)| of(look));
        let range: Vec<String> = bars.chain(extra.iter().map(|_| BASELINE_COLOUR.to_owned())).collect();
        let domain: Vec<&str> = names.iter().chain(extra).copied().collect();
        self.legend(&domain, json!(range))
    }

    fn legend(&self, domain: &[&str], range: Value) -> Value {
        let mut made = json!({"field": "series", "type": "nominal", "title": self.series.text,
                              "scale": {"domain": domain, "range": range},
                              "legend": self.legend_place()});
        let nothing_to_tell =
            domain.len() == 1 || !self.has_series() && domain.len() == self.series_names().len();
        if nothing_to_tell {
            made["legend"] = Value::Null;
        }
        made
    }

    fn legend_place(&self) -> Value {
        legend((!self.panel_names().is_empty()).then_some(self.columns_used()))
    }

    /// The baseline is dashed, and so are series whose colours have come before; by conditions: a scale would dash the
    /// marks of the legend, too.
    fn dash(&self) -> Value {
        let name = self.baseline_series.as_deref().unwrap_or_default();
        let mut all = vec![json!({"test": {"field": "series", "equal": name}, "value": [5, 4]})];
        let looks = self.looks();
        let most = looks.iter().filter_map(|(_, look)| Some(look.as_ref()?.before)).max().unwrap_or(0);
        for before in 1..=most {
            let of = |(name, look): &(&str, Option<Look>)| {
                look.is_some_and(|look| look.before == before).then_some(name.to_string())
            };
            let group: Vec<String> = looks.iter().filter_map(of).collect();
            all.push(json!({"test": {"field": "series", "oneOf": group}, "value": dash_of(before)}));
        }
        json!({"condition": all})
    }

    /// Columns of panels: as many as panels, where that saves a row that is not full and fits on a page.
    fn columns_used(&self) -> usize {
        let panels = self.panel_names().len();
        let one_row = self.shared_y && panels == self.columns + 1 && panels <= COLUMNS_MAX;
        if one_row { panels } else { self.columns }
    }

    fn x_of(&self, scale: &Value) -> Value {
        json!({"field": "x", "type": "quantitative", "title": self.x.text, "scale": scale})
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
            [made["width"], made["height"]] = ALONE.map(|pixels| json!(pixels));
            made["layer"] = layers;
            axes::fit_titles(&mut made);
            return made;
        }
        let y = if self.shared_y { "shared" } else { "independent" };
        made["resolve"] = json!({"scale": {"y": y}});
        let [width, height] = OF_PANELS[0];
        let each = json!({"width": width, "height": height, "layer": layers});
        in_panels(&mut made, &panels, self.columns_used(), each);
        made
    }

    /// Width and height between the axes, in pixels.
    fn size(&self) -> [f64; 2] {
        let size = if self.panel_names().is_empty() { ALONE } else { OF_PANELS[0] };
        size.map(f64::from)
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
    use crate::statistics::Domain;

    fn mark(x: Place, series: &str, panel: Option<&str>) -> Mark {
        let value = Estimate { mean: 0.5, n: 5, half_width: Some(0.1), domain: Domain::Share };
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
        let dash = &made["layer"][0]["encoding"]["strokeDash"]["condition"][0];
        assert_eq!((&dash["test"]["equal"], &dash["value"]), (&json!("none"), &json!([5, 4])));
        let shapes = &made["layer"][2]["encoding"]["shape"]["scale"]["range"];
        assert_eq!(shapes, &json!(["circle", "square"]), "the baseline has a mark of its own");
        assert_eq!(made["layer"][0]["encoding"]["color"]["scale"]["range"], json!(["#7A7A7A", "#0072B2"]));
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
        assert_eq!(made["spec"]["layer"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn no_axis_stands_below_a_place_without_a_panel() {
        let made = |count: usize, shared_y| {
            let marks =
                ["a", "b", "c", "d", "e"][..count].iter().map(|name| mark(Place::At(1.0), "one", Some(name)));
            let made = lines(&Plot { shared_y, ..plot(marks.collect()) });
            (made["columns"].as_u64().unwrap(), made["resolve"]["axis"]["x"] == "independent")
        };
        assert_eq!([1, 2, 4].map(|count| made(count, true)), [(2, false); 3]);
        assert_eq!(made(3, true), (3, false), "all fit into one row");
        assert_eq!((made(3, false), made(5, true)), ((2, true), (2, true)), "each has an axis of its own");
    }

    #[test]
    fn curves_of_one_colour_differ_in_their_dashes() {
        let names: Vec<String> = (0..13).map(|number| format!("series {number:02}")).collect();
        let marks = names.iter().map(|name| mark(Place::At(1.0), name, None)).collect();
        let dashes = &lines(&plot(marks))["layer"][0]["encoding"]["strokeDash"]["condition"];
        assert_eq!(dashes[1]["test"]["oneOf"], json!(names[6..12]));
        assert_eq!(
            (&dashes[2]["test"]["oneOf"], &dashes[2]["value"]),
            (&json!(["series 12"]), &json!([8, 3, 2, 3]))
        );
        let made = over_time("window", "packets", names.iter().map(|name| (1.0, name.as_str(), 2.0)));
        let range = made["encoding"]["strokeDash"]["scale"]["range"].as_array().unwrap();
        assert_eq!((range.len(), &range[5], &range[6]), (13, &json!([1, 0]), &json!([2, 2])));
    }

    #[test]
    fn curves_without_a_title_of_their_legend_have_one() {
        let made = |names: &[&str]| {
            let marks = names.iter().map(|name| mark(Place::At(1.0), name, None)).collect();
            lines(&Plot { series: Title::plain(""), ..plot(marks) })["layer"][0]["encoding"]["color"].clone()
        };
        assert_eq!(made(&["one"])["legend"], Value::Null);
        assert_eq!(
            (made(&["one", "two"])["legend"].is_null(), &made(&["one", "two"])["title"]),
            (false, &Value::Null)
        );
    }

    #[test]
    fn a_unit_is_not_named_twice() {
        assert_eq!(Title::with_unit("packets sent", "packets"), Title::plain("packets sent"));
        assert_eq!(Title::with_unit("window", "packets"), Title::plain("window (packets)"));
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
        assert_eq!(made["layer"].as_array().unwrap().len(), 3);
        assert_eq!(made["data"]["values"][0]["low"], Value::Null);
    }
}

//! Curves over two logarithmic axes, which have no place for zero and what is below it.

use super::axes::{self, Along};
use super::{Mark, Plot, curves, datum};
use serde_json::{Value, json};

/// Where an error bar begins: at the interval's lower end, or at the edge where that lies below.
const FROM: &str = "bar_from";

/// Marks a value that is drawn as a faint point.
const SINGLE: &str = "single";

/// From here on numbers along the horizontal axis are written with k, M and G.
const LARGE: f64 = 1e6;

/// Curves over two logarithmic axes; `scatter` is drawn as faint points behind them.
///
/// The vertical axis reaches from the least positive value to the greatest upper end of an interval, to the next 1, 2 or
/// 5 times a power of ten. A bar whose interval reaches zero or below ends at the edge, and a mean of zero is not
/// drawn; the data in the specification keep both ends of the interval.
pub fn log_lines(plot: &Plot, scatter: &[Mark]) -> Value {
    let (bottom, top) = range(&plot.marks, scatter);
    let numbers: Vec<f64> = plot.marks.iter().filter_map(|mark| mark.x.number()).collect();
    let [width, height] = plot.size();
    let mut x = plot.x_of(&json!({"type": "log", "padding": 12, "nice": false}));
    x["axis"] = axes::logarithmic(axes::ends(&numbers), width, Along::Horizontal, LARGE);
    let mut y = plot.y_of("mean");
    y["scale"] = json!({"type": "log", "domain": [bottom, top], "nice": false});
    y["axis"] = axes::logarithmic((bottom, top), height, Along::Vertical, f64::INFINITY);
    let mut layers = curves(plot, &x, &y, FROM);
    if let Some(layers) = layers.as_array_mut().filter(|_| !scatter.is_empty()) {
        // Beside panels a layer cannot have data of its own.
        for layer in layers.iter_mut() {
            layer["transform"] = json!([{"filter": format!("!datum.{SINGLE}")}]);
        }
        let faint = json!({
            "transform": [{"filter": format!("datum.{SINGLE}")}],
            "mark": {"type": "point", "filled": true, "size": 12, "opacity": 0.35},
            "encoding": {"x": x, "y": y, "color": layers[0]["encoding"]["color"]},
        });
        layers.insert(0, faint);
    }
    let mut made = plot.specification(layers);
    let single = data(scatter, bottom).into_iter().map(|mut value| {
        value[SINGLE] = json!(true);
        value
    });
    made["data"]["values"] = data(&plot.marks, bottom).into_iter().chain(single).collect();
    made
}

/// What has a place on the axis, with where its bar begins.
fn data(marks: &[Mark], bottom: f64) -> Vec<Value> {
    let placed = marks.iter().filter(|mark| mark.value.mean > 0.0);
    placed
        .map(|mark| {
            let mut made = datum(mark);
            made[FROM] = json!(mark.value.low().map(|low| low.max(bottom)));
            made
        })
        .collect()
}

/// Ends of the axis.
fn range(marks: &[Mark], scatter: &[Mark]) -> (f64, f64) {
    let all = || marks.iter().chain(scatter).map(|mark| mark.value).filter(|value| value.mean > 0.0);
    let least = all().map(|value| value.mean).fold(f64::INFINITY, f64::min);
    let most = all().map(|value| value.high().unwrap_or(value.mean)).fold(0.0, f64::max);
    if !least.is_finite() {
        return (1.0, 10.0);
    }
    let bottom = round_numbers(least).rfind(|number| *number <= least);
    bottom.zip(round_numbers(most).find(|number| *number >= most)).unwrap_or((least, most))
}

/// 1, 2 and 5 times the powers of ten near a value, ascending.
fn round_numbers(value: f64) -> impl DoubleEndedIterator<Item = f64> {
    // Each is about a third of a decade above the last.
    const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
    let near = (3.0 * value.log10()).round() as i32;
    let of = |step: i32| STEPS[step.rem_euclid(3) as usize] * 10f64.powi(step.div_euclid(3));
    (near - 2..=near + 2).map(of)
}

#[cfg(test)]
mod tests {
    use super::super::{Place, Title};
    use super::*;
    use crate::statistics::{Domain, Estimate};

    fn mark(x: f64, mean: f64, half_width: Option<f64>) -> Mark {
        let value = Estimate { mean, n: 2, half_width, domain: Domain::Any };
        Mark { x: Place::At(x), series: "one".into(), panel: None, value, baseline: None }
    }

    fn plot(marks: Vec<Mark>) -> Plot {
        Plot {
            title: String::new(),
            x: Title::plain("x"),
            y: Title::plain("y"),
            series: Title::plain("series"),
            baseline_series: None,
            columns: 1,
            shared_y: true,
            marks,
        }
    }

    #[test]
    fn a_bar_whose_interval_reaches_below_zero_ends_at_the_edge() {
        let marks = vec![mark(1.0, 30.0, Some(80.0)), mark(10.0, 700.0, Some(100.0)), mark(20.0, 0.0, None)];
        let made = log_lines(&plot(marks), &[mark(1.0, 4.0, None), mark(1.0, 0.0, None)]);
        assert_eq!(made["layer"][3]["encoding"]["y"]["scale"]["domain"], json!([2.0, 1000.0]));
        let values = made["data"]["values"].as_array().unwrap();
        let means = values.iter().filter(|value| value.get(SINGLE).is_none());
        let bars: Vec<&Value> = means.map(|value| &value[FROM]).collect();
        assert_eq!(bars, [&json!(2.0), &json!(600.0)], "a mean of zero has no place");
        assert_eq!(values[0]["low"], -50.0, "the interval is kept as it was computed");
        assert_eq!(
            values.iter().filter(|value| value[SINGLE] == true).count(),
            1,
            "nor has a zero behind them"
        );
    }

    #[test]
    fn an_axis_ends_at_round_numbers() {
        for (value, ends) in
            [(30.0, (20.0, 50.0)), (1.0, (1.0, 1.0)), (0.004, (0.002, 0.005)), (999.0, (500.0, 1000.0))]
        {
            let (bottom, top) = range(&[mark(1.0, value, None)], &[]);
            let alike = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
            assert!(alike(bottom, ends.0) && alike(top, ends.1), "{value}: {bottom} to {top}");
        }
        assert_eq!(range(&[mark(1.0, 0.0, None)], &[]), (1.0, 10.0), "nothing is drawn");
    }
}

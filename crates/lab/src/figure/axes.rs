//! Axes that can be read: numbers that stand apart, and titles that stay beside their own plot.

use serde_json::{Value, json};

/// Least gap between two labels of an axis, in pixels.
const LABEL_GAP: f64 = 8.0;
/// Width of a character of a label, in pixels.
const LABEL_CHARACTER: f64 = 6.5;
/// Height that a label of a vertical axis needs, in pixels.
const LABEL_HEIGHT: f64 = 18.0;
/// Width of a character of an axis title, in pixels.
const TITLE_CHARACTER: f64 = 6.6;
/// How labels that are chosen here are written: without a precision the library takes one of the scale.
const FORMAT: &str = ",.6~g";
/// Within a decade.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Width that a label needs, with its gap, in pixels.
pub(super) fn label_width(label: &str) -> f64 {
    LABEL_GAP + LABEL_CHARACTER * label.chars().count() as f64
}

/// Where a label takes its room.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    /// Beside its neighbours.
    Horizontal,
    /// Above its neighbours.
    Vertical,
}

/// Options of a numeric axis: labels do not touch, and whole numbers are not divided.
pub(super) fn numeric(numbers: &[f64]) -> Value {
    let mut made = json!({"labelSeparation": LABEL_GAP});
    let (least, most) = ends(numbers);
    if numbers.iter().all(|number| number.fract() == 0.0) && most > least {
        made["tickMinStep"] = json!(1);
    }
    made
}

/// Options of a logarithmic axis between two numbers, `pixels` long, on which numbers from `large` on are written with k,
/// M and G: labels at 1, 2 and 5 times the powers of ten; only at the powers if these do not fit.
pub(super) fn logarithmic((low, high): (f64, f64), pixels: f64, along: Along, large: f64) -> Value {
    let mut made = json!({"labelSeparation": LABEL_GAP});
    let shortened = high >= large;
    if shortened {
        made["format"] = json!("~s");
    }
    let all = values(low, high, &STEPS);
    let characters = |value: f64| if shortened { 4 } else { value.to_string().len() };
    let needs = |value: &f64| match along {
        Along::Horizontal => LABEL_GAP + LABEL_CHARACTER * characters(*value) as f64,
        Along::Vertical => LABEL_HEIGHT,
    };
    let powers = values(low, high, &STEPS[..1]);
    let fits = all.iter().map(needs).sum::<f64>() <= pixels;
    let shown = if fits || powers.len() < 2 { all } else { powers };
    if shown.len() >= 2 {
        made["values"] = json!(shown);
        if !shortened {
            made["format"] = json!(FORMAT);
        }
    }
    made
}

/// These multiples of the powers of ten, from one number to another.
fn values(low: f64, high: f64, steps: &[f64]) -> Vec<f64> {
    // A bound that was computed may miss its round number by a rounding error.
    let (from, to) = (low * (1.0 - 1e-9), high * (1.0 + 1e-9));
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all = powers.flat_map(|power| steps.iter().map(move |step| format!("{step}e{power}")));
    all.filter_map(|text| text.parse().ok()).filter(|value| (from..=to).contains(value)).collect()
}

/// Makes the vertical axis of values over time about linear below `usual` and logarithmic above, up to the highest value.
pub fn compress_above(specification: &mut Value, usual: f64, highest: f64) {
    // Above the constant of a symlog scale equal distances are equal ratios.
    let from = usual / 2.0;
    let labels: Vec<f64> = std::iter::once(0.0).chain(values(from, highest, &STEPS)).collect();
    let y = &mut specification["encoding"]["y"];
    y["scale"] = json!({"type": "symlog", "constant": usual});
    y["axis"] = json!({"values": labels, "format": FORMAT});
}

/// The least and the greatest; infinite without any.
pub(super) fn ends(numbers: &[f64]) -> (f64, f64) {
    numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &number| {
        (least.min(number), most.max(number))
    })
}

/// Breaks the axis titles of a view that are longer than its sides into lines.
pub(super) fn fit_titles(view: &mut Value) {
    for (channel, side) in [("x", "width"), ("y", "height")] {
        let Some((pixels, title)) = view[side].as_f64().zip(title_of(view, channel)) else { continue };
        let lines = wrapped(&title, (pixels / TITLE_CHARACTER) as usize);
        // Where one layer has a title without lines, the axis has none.
        let shown = if lines.len() > 1 { json!(lines) } else { json!(title) };
        titled(view, channel).for_each(|encoding| encoding["title"] = shown.clone());
    }
}

/// The title of an axis of a view, in one line.
pub(super) fn title_of(view: &mut Value, channel: &str) -> Option<String> {
    titled(view, channel).find_map(|encoding| match &encoding["title"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    })
}

/// Sets the title of an axis in all layers of a view.
pub(super) fn set_title(view: &mut Value, channel: &str, title: &str) {
    titled(view, channel).for_each(|encoding| encoding["title"] = json!(title));
}

/// The encodings of a channel in a view and its layers that have a title.
fn titled<'a>(view: &'a mut Value, channel: &'a str) -> impl Iterator<Item = &'a mut Value> {
    let (mut own, mut layers) = (None, None);
    for (key, part) in view.as_object_mut().into_iter().flatten() {
        match key.as_str() {
            "encoding" => own = part.get_mut(channel),
            "layer" => layers = part.as_array_mut(),
            _ => {}
        }
    }
    let of_layer =
        move |layer: &'a mut Value| layer.get_mut("encoding").and_then(|encoding| encoding.get_mut(channel));
    let all = own.into_iter().chain(layers.into_iter().flatten().filter_map(of_layer));
    all.filter(|encoding| encoding.get("title").is_some())
}

/// Words in lines of at most `most` characters, if no word is longer; a unit stays with the word before it.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let unit = text.rfind(" (").unwrap_or(text.len());
    let breaks = text[..unit].match_indices(' ').map(|(at, _)| at);
    let starts = std::iter::once(0).chain(breaks.clone().map(|at| at + 1));
    for word in starts.zip(breaks.chain([text.len()])).map(|(start, end)| &text[start..end]) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_a_logarithmic_axis_are_few_and_regular() {
        let values =
            |low, high, pixels, along| logarithmic((low, high), pixels, along, 1e6)["values"].clone();
        let wide = values(1e-4, 1e-2, 520.0, Along::Horizontal);
        assert_eq!(wide, json!([1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2]));
        let narrow = values(1e-4, 1e-2, 280.0, Along::Horizontal);
        assert_eq!(narrow, json!([1e-4, 1e-3, 1e-2]), "no room for more");
        let high = values(0.2, 2000.0, 200.0, Along::Vertical);
        assert_eq!(high, json!([1.0, 10.0, 100.0, 1000.0]));
        assert_eq!(
            values(3.0, 30.0, 20.0, Along::Vertical),
            json!([5.0, 10.0, 20.0]),
            "one power is not enough"
        );
        assert_eq!(values(6.0, 7.0, 520.0, Along::Horizontal), Value::Null, "the library chooses");
        assert_eq!(logarithmic((1e4, 1e8), 280.0, Along::Horizontal, 1e6)["format"], "~s");
    }

    #[test]
    fn a_title_longer_than_its_side_has_lines() {
        let encoding = json!({"x": {"title": "one-way delay from the store to the producer (ms)"}, "x2": {}});
        let mut view =
            json!({"width": 280, "height": 200, "layer": [{"encoding": encoding}, {"encoding": encoding}]});
        fit_titles(&mut view);
        let lines = json!(["one-way delay from the store to the", "producer (ms)"]);
        assert!((0..2).all(|layer| view["layer"][layer]["encoding"]["x"]["title"] == lines));
        assert_eq!(
            wrapped("latency of delivered messages (s)", 30),
            ["latency of delivered", "messages (s)"]
        );
        set_title(&mut view, "x", "delay (ms)");
        fit_titles(&mut view);
        assert!((0..2).all(|layer| view["layer"][layer]["encoding"]["x"]["title"] == "delay (ms)"));
    }

    #[test]
    fn a_compressed_axis_has_labels_at_zero_and_above_what_is_usual() {
        let mut made = json!({"encoding": {"y": {"title": "packets"}}});
        compress_above(&mut made, 90.0, 1200.0);
        let y = &made["encoding"]["y"];
        assert_eq!((&y["title"], &y["scale"]["type"]), (&json!("packets"), &json!("symlog")));
        assert_eq!(y["axis"]["values"], json!([0.0, 50.0, 100.0, 200.0, 500.0, 1000.0]));
    }

    #[test]
    fn whole_numbers_have_no_labels_between_them() {
        assert_eq!(numeric(&[1.0, 6.0])["tickMinStep"], 1);
        assert_eq!(numeric(&[1.0, 6.5]).get("tickMinStep"), None);
        assert_eq!(numeric(&[1.0]).get("tickMinStep"), None, "one place alone has its labels around it");
    }
}

//! Sizes and titles of axes of a specification that is made.

use super::axes::{fit_titles, set_title, title_of};
use serde_json::{Value, json};

/// Sets the titles of the horizontal and the vertical axis and the size of the drawing, or of each panel, in pixels; what is
/// `None` stays. A title without brackets keeps the unit of the title that it replaces.
pub fn restyle(specification: &mut Value, titles: [Option<&str>; 2], size: [Option<u32>; 2]) {
    let of_panels = specification.get("spec").is_some();
    let view = if of_panels { &mut specification["spec"] } else { &mut *specification };
    for (key, pixels) in ["width", "height"].into_iter().zip(size) {
        if let Some(pixels) = pixels {
            view[key] = json!(pixels);
        }
    }
    for (channel, title) in ["x", "y"].into_iter().zip(titles) {
        let Some(title) = title else { continue };
        let before = title_of(view, channel).unwrap_or_default();
        let unit = unit_of(&before).filter(|_| !title.contains('('));
        set_title(view, channel, &unit.map_or(title.to_owned(), |unit| format!("{title} {unit}")));
    }
    fit_titles(view);
}

/// The unit at the end of a title, with its brackets.
fn unit_of(title: &str) -> Option<&str> {
    let start = title.rfind(" (")? + 1;
    title.ends_with(')').then(|| &title[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_reach_all_layers_and_sizes_reach_panels() {
        let encoding = json!({"x": {"field": "x", "title": "range (m)"}, "y": {"field": "y"}});
        let layers = json!([{"encoding": encoding}, {"encoding": encoding}]);
        let mut made = json!({"facet": {}, "spec": {"width": 100, "height": 2, "layer": layers}});
        restyle(&mut made, [Some("distance"), None], [None, Some(90)]);
        assert_eq!(made["spec"]["layer"][1]["encoding"]["x"]["title"], "distance (m)");
        assert_eq!(made["spec"]["layer"][1]["encoding"]["y"].get("title"), None);
        assert_eq!((&made["spec"]["width"], &made["spec"]["height"]), (&json!(100), &json!(90)));
        assert_eq!(made.get("height"), None);
    }
}

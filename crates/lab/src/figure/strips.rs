//! Strips of ticks: how single values of each of several groups are spread.

use super::{BASELINE_COLOUR, PALETTE, SCHEMA, distinct};
use serde_json::{Value, json};

/// A value of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// The group: a row of the figure.
    pub row: String,
    /// The value.
    pub value: f64,
    /// The tooltip beside the value.
    pub note: String,
}

/// A row of ticks for each group, blue from zero on and orange below, and a diamond at the mean of each row.
pub fn strips(title: &str, dots: &[Dot]) -> Value {
    let rows = distinct(dots.iter().map(|dot| dot.row.as_str()));
    let data: Vec<Value> =
        dots.iter().map(|dot| json!({"row": dot.row, "value": dot.value, "note": dot.note})).collect();
    let x = json!({"field": "value", "type": "quantitative", "title": title, "axis": {"labelSeparation": 8}});
    let mut middle = x.clone();
    middle["aggregate"] = json!("mean");
    let y = json!({"field": "row", "type": "nominal", "title": null, "sort": rows,
                   "axis": {"labelLimit": 320, "grid": true}});
    let colour = json!({"condition": {"test": "datum.value < 0", "value": PALETTE[1]}, "value": PALETTE[0]});
    json!({
        "$schema": SCHEMA,
        "width": super::ALONE[0],
        "height": {"step": 24},
        "data": {"values": data},
        "layer": [
            {"mark": {"type": "rule", "color": BASELINE_COLOUR, "strokeWidth": 1.5}, "encoding": {"x": {"datum": 0}}},
            {"mark": {"type": "tick", "thickness": 2, "opacity": 0.7}, "encoding": {
                "x": x, "y": y, "color": colour,
                "tooltip": [
                    {"field": "row", "title": "of"},
                    {"field": "value", "title": title, "format": "+.4f"},
                    {"field": "note", "title": "where"},
                ],
            }},
            {"mark": {"type": "point", "shape": "diamond", "filled": true, "size": 90, "opacity": 1,
                      "color": "#303030", "stroke": "#FFFFFF", "strokeWidth": 1},
             "encoding": {"x": middle, "y": y}},
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_a_row_in_its_order_with_all_its_values() {
        let dot = |row: &str, value| Dot { row: row.into(), value, note: "n".into() };
        let made = strips("difference", &[dot("b", 0.1), dot("a", -0.1), dot("b", 0.2)]);
        assert_eq!(made["layer"][1]["encoding"]["y"]["sort"], json!(["b", "a"]));
        assert_eq!(made["data"]["values"].as_array().unwrap().len(), 3);
        assert_eq!(made["layer"][2]["encoding"]["x"]["aggregate"], "mean");
        assert!(made["layer"][2]["encoding"]["y"]["sort"] == json!(["b", "a"]), "diamonds are in the rows");
    }
}

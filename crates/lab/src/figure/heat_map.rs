//! Heat maps of differences.

use super::{SCHEMA, distinct};
use serde_json::{Value, json};

/// A difference and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Which of the maps that stand below each other; each has rows and columns of its own.
    pub panel: String,
    /// Row.
    pub row: String,
    /// Column.
    pub column: String,
    /// The difference, blue above zero and orange below; or a share.
    pub value: f64,
    /// The tooltip beside the value.
    pub note: String,
}

/// Tiles with their differences as numbers, in colours that run apart from zero; what is beyond `most` has the last colour.
pub fn heat_map(value: &str, most: f64, tiles: &[Tile]) -> Value {
    let scale = json!({"scheme": "blueorange", "reverse": true, "domain": [-most, most], "domainMid": 0, "clamp": true});
    let panels = distinct(tiles.iter().map(|tile| tile.panel.as_str()));
    // Neither +0.000 nor -0.000.
    let (format, zero) = ("+.3f", Some("abs(datum.value) < 0.0005"));
    // White where the colour is dark.
    let dark = format!("abs(datum.value) > {}", 0.6 * most);
    let colours = Colours { scale, dark, format, zero };
    let maps: Vec<Value> = panels.into_iter().map(|panel| map(value, &colours, panel, tiles)).collect();
    json!({"$schema": SCHEMA, "vconcat": maps})
}

/// Tiles with shares from 0 to 1, in colours that darken with the share; panels in two columns.
///
/// Rows and columns are in the order of `order`, whichever of them a panel has.
pub fn share_map(value: &str, order: [&[&str]; 2], tiles: &[Tile]) -> Value {
    let scale = json!({"scheme": "blues", "domain": [0, 1], "clamp": true});
    let colours = Colours { scale, dark: "datum.value > 0.55".to_owned(), format: ".2f", zero: None };
    let panels = distinct(tiles.iter().map(|tile| tile.panel.as_str()));
    let maps: Vec<Value> = panels
        .into_iter()
        .map(|panel| {
            let mut made = map(value, &colours, panel, tiles);
            for (channel, order) in ["y", "x"].into_iter().zip(order) {
                made["encoding"][channel]["sort"] = json!(order);
            }
            made
        })
        .collect();
    json!({"$schema": SCHEMA, "columns": 2, "concat": maps})
}

/// How values are coloured, and how they are written.
struct Colours {
    scale: Value,
    dark: String,
    format: &'static str,
    /// Which values are written as zero.
    zero: Option<&'static str>,
}

fn map(value: &str, colours: &Colours, panel: &str, tiles: &[Tile]) -> Value {
    let tiles: Vec<&Tile> = tiles.iter().filter(|tile| tile.panel == panel).collect();
    let data: Vec<Value> = tiles
        .iter()
        .map(|tile| json!({"row": tile.row, "column": tile.column, "value": tile.value, "note": tile.note}))
        .collect();
    let axis = |field: &str, names: Vec<&str>, more: Value| json!({"field": field, "type": "nominal", "title": null, "sort": names, "axis": more});
    let columns = distinct(tiles.iter().map(|tile| tile.column.as_str()));
    let rows = distinct(tiles.iter().map(|tile| tile.row.as_str()));
    let mut text = json!({"field": "value", "type": "quantitative", "format": colours.format});
    if let Some(test) = colours.zero {
        text["condition"] = json!({"test": test, "value": "0"});
    }
    json!({
        "title": panel,
        "width": {"step": 46},
        "height": {"step": 20},
        "data": {"values": data},
        "encoding": {
            "x": axis("column", columns, json!({"labelAngle": -40, "grid": false})),
            "y": axis("row", rows, json!({"labelLimit": 320, "grid": false})),
        },
        "layer": [
            {"mark": {"type": "rect", "stroke": "#FFFFFF", "strokeWidth": 1}, "encoding": {
                "color": {"field": "value", "type": "quantitative", "title": value,
                          "scale": colours.scale},
                "tooltip": [
                    {"field": "row", "title": "where"}, {"field": "column", "title": "what"},
                    {"field": "value", "title": value, "format": "+.4f"}, {"field": "note", "title": "against"},
                ],
            }},
            {"mark": {"type": "text", "fontSize": 10}, "encoding": {
                "text": text,
                "color": {"condition": {"test": colours.dark, "value": "#FFFFFF"}, "value": "#1c1f23"},
            }},
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(panel: &str, row: &str, column: &str, value: f64) -> Tile {
        let [panel, row, column] = [panel, row, column].map(str::to_owned);
        Tile { panel, row, column, value, note: "credit".into() }
    }

    #[test]
    fn every_panel_has_its_own_rows_and_columns_in_their_order_and_all_one_scale() {
        let tiles =
            [tile("planets", "b", "2", 0.1), tile("planets", "a", "1", -0.1), tile("earth", "c", "3", 0.0)];
        let made = heat_map("difference", 0.1, &tiles);
        assert_eq!(made["vconcat"][0]["encoding"]["y"]["sort"], json!(["b", "a"]));
        assert_eq!(made["vconcat"][0]["encoding"]["x"]["sort"], json!(["2", "1"]));
        assert_eq!(made["vconcat"][1]["data"]["values"][0]["row"], "c");
        for panel in 0..2 {
            let scale = &made["vconcat"][panel]["layer"][0]["encoding"]["color"]["scale"];
            assert_eq!(scale["domain"], json!([-0.1, 0.1]));
            let zero = &made["vconcat"][panel]["layer"][1]["encoding"]["text"]["condition"];
            assert_eq!(zero["value"], "0", "-0.0001 has no sign");
            let ink = &made["vconcat"][panel]["layer"][1]["encoding"]["color"];
            assert_eq!(ink["condition"]["test"], "abs(datum.value) > 0.06");
        }
    }
}

//! The cells as a heat map.

use crate::shared::charts::figure;
use crate::universal::cells::{Measure, Standing};
use lightlag_lab::figure::{Tile, heat_map};
use lightlag_lab::report::Figure;

/// Differences beyond have the last colour.
pub const MOST: f64 = 0.2;
const TITLE: &str = "Recorded contacts";
const CAPTION: &str = "Delivery ratio of ours minus that of the best other mechanism of the cell, means over the seeds: blue where ours \
                       is ahead, orange where it is behind. Hover over a tile for its name.";

/// The only figure.
pub fn all(standings: &[Standing<'_>]) -> Vec<Figure> {
    vec![figure(("grid_traces", TITLE, CAPTION), heat_map("difference", MOST, &tiles(standings)))]
}

/// A tile for each cell.
pub fn tiles(standings: &[Standing<'_>]) -> Vec<Tile> {
    let tile = |standing: &Standing<'_>| {
        let found = standing.by(Measure::Ratio)?;
        Some(Tile {
            panel: "recorded contacts".to_owned(),
            row: standing.cell.row(),
            column: standing.cell.case().to_owned(),
            value: found.mean,
            note: format!("{}: {:.4}; ours {:.4}", standing.other, found.other, found.ours),
        })
    };
    standings.iter().filter_map(tile).collect()
}

//! The grids as heat maps.

use super::cells::{Measure, Standing};
use crate::shared::charts::figure;
use lightlag_lab::figure::{Tile, heat_map};
use lightlag_lab::report::Figure;

/// Differences beyond have the last colour.
const MOST: f64 = 0.2;
const CAPTION: &str = "Delivery ratio of ours minus that of the best other mechanism of the cell, means over the seeds: blue where ours \
                       is ahead, orange where it is behind. Hover over a tile for its name.";

/// One for each of these grids that was run.
pub fn all(standings: &[Standing<'_>], grids: &[(&str, &str)]) -> Vec<Figure> {
    let drawn = |&(grid, title): &(&str, &str)| {
        let tiles = tiles(standings, grid);
        let words = (&*format!("grid_{grid}"), title, CAPTION);
        (!tiles.is_empty()).then(|| figure(words, heat_map("difference", MOST, &tiles)))
    };
    grids.iter().filter_map(drawn).collect()
}

/// The cells of a grid.
pub fn tiles(standings: &[Standing<'_>], grid: &str) -> Vec<Tile> {
    let tile = |standing: &Standing<'_>| {
        let found = standing.by(Measure::Ratio)?;
        Some(Tile {
            panel: standing.cell.world().to_owned(),
            row: standing.cell.row(),
            column: standing.cell.change().to_owned(),
            value: found.mean,
            note: format!("{}: {:.4}; ours {:.4}", standing.other, found.other, found.ours),
        })
    };
    standings.iter().filter(|standing| standing.cell.grid() == grid).filter_map(tile).collect()
}

//! The grids as heat maps.

use super::cells::{Measure, Standing};
use super::grid::{PAPER, STRESS};
use lightlag_lab::figure::{Tile, heat_map};
use lightlag_lab::report::Figure;

/// Differences beyond have the last colour.
const MOST: f64 = 0.2;
const CAPTION: &str = "Delivery ratio of ours minus that of the best other mechanism of the cell, means over the seeds: blue where ours \
                       is ahead, orange where it is behind. A pointer on a tile tells who that is.";

/// One for each grid that was run.
pub fn all(standings: &[Standing<'_>]) -> Vec<Figure> {
    [(PAPER, "The comparative study's grid"), (STRESS, "Under stress")]
        .into_iter()
        .filter_map(|(grid, title)| figure(standings, grid, title))
        .collect()
}

fn figure(standings: &[Standing<'_>], grid: &str, title: &str) -> Option<Figure> {
    let tiles = tiles(standings, grid);
    (!tiles.is_empty()).then(|| Figure {
        id: format!("grid_{grid}"),
        title: title.to_owned(),
        caption: CAPTION.to_owned(),
        specification: heat_map("difference", MOST, &tiles),
    })
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

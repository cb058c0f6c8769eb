//! Heat maps over rate and round-trip time.

use super::measures::{DROPPED, SHARE};
use super::standing::{Standing, quantile};
use super::tables::controllers;
use crate::shared::charts::figure;
use lightlag_lab::figure::{Tile, share_map};
use lightlag_lab::report::Figure;
use lightlag_protocols::math;

/// Columns: decades of the rate.
pub const RATES: [&str; 7] =
    ["1 kbit/s", "10 kbit/s", "100 kbit/s", "1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s"];
/// Rows: decades of the round-trip time, the longest above.
pub const ROUND_TRIPS: [&str; 7] = ["1000 s", "100 s", "10 s", "1 s", "100 ms", "10 ms", "1 ms"];

/// Shares of the limit, and shares dropped.
pub fn figures(standings: &[Standing<'_>]) -> Vec<Figure> {
    let of = |what: &str| {
        format!(
            "{what} over the networks of each decade of rate and round-trip time; rates as they are run. Hover over a tile for their number."
        )
    };
    [
        ("grid_share", "Share of the limit over rate and round-trip time", "Median", SHARE, 0.5),
        ("grid_dropped", "Share of the packets dropped by queues", "90th percentile", DROPPED, 0.9),
    ]
    .map(|(id, title, what, measure, share)| {
        figure(
            (id, title, &of(what)),
            share_map(measure, [&ROUND_TRIPS, &RATES], &tiles(standings, measure, share)),
        )
    })
    .into()
}

/// Which decade above the least value, at most the last.
fn decade(value: f64, least: f64) -> usize {
    (math::log10(value / least).floor().max(0.0) as usize).min(6)
}

/// Tiles of a measure: a quantile over the networks of each decade, a panel for each controller.
pub fn tiles(standings: &[Standing<'_>], measure: &str, share: f64) -> Vec<Tile> {
    let mut tiles = Vec::new();
    for panel in controllers(standings) {
        for (row, round_trip) in ROUND_TRIPS.iter().enumerate() {
            for (column, rate) in RATES.iter().enumerate() {
                let here = |one: &&Standing<'_>| {
                    let place = (6 - decade(one.network.rtt_s, 1e-3), decade(one.network.rate_bit_s, 1e3));
                    one.controller == panel && place == (row, column)
                };
                let values: Vec<f64> =
                    standings.iter().filter(here).filter_map(|one| one.metric(measure)).collect();
                tiles.extend(quantile(values.iter().copied(), share).map(|value| Tile {
                    panel: panel.to_owned(),
                    row: (*round_trip).to_owned(),
                    column: (*rate).to_owned(),
                    value,
                    note: format!("{} networks", values.len()),
                }));
            }
        }
    }
    tiles
}

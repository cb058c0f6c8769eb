//! The networks as dots.

use super::cells::{Measure, Standing};
use super::networks::KINDS;
use crate::shared::charts::figure;
use lightlag_lab::figure::{Dot, strips};
use lightlag_lab::report::Figure;
use lightlag_lab::statistics::mean;

const TITLE: &str = "Ours beside the best other mechanism of each network";
const CAPTION: &str = "Delivery ratio of ours minus that of the best other mechanism of the same network, means over the seeds: a tick for \
                       each network, a diamond for the mean of its kind. Hover over a tick for its network.";

/// One figure, of kinds in the order of their means.
pub fn all(standings: &[Standing<'_>]) -> Vec<Figure> {
    let dots = dots(standings);
    if dots.is_empty() {
        return Vec::new();
    }
    vec![figure(("differences", TITLE, CAPTION), strips("difference in the delivery ratio", &dots))]
}

fn dots(standings: &[Standing<'_>]) -> Vec<Dot> {
    let of_kind = |kind: &str| -> Vec<Dot> {
        let here = standings.iter().filter(|one| one.cell.place() == kind);
        here.filter_map(dot).collect()
    };
    let mut kinds: Vec<Vec<Dot>> = KINDS.iter().map(|(kind, _)| of_kind(kind)).collect();
    let mean = |dots: &[Dot]| mean(&dots.iter().map(|dot| dot.value).collect::<Vec<_>>()).unwrap_or(0.0);
    kinds.sort_by(|one, other| mean(other).total_cmp(&mean(one)));
    kinds.concat()
}

fn dot(standing: &Standing<'_>) -> Option<Dot> {
    let found = standing.by(Measure::Ratio)?;
    Some(Dot {
        row: standing.cell.place().to_owned(),
        value: found.mean,
        note: format!(
            "{}, {}: ours {:.4}, {} {:.4}",
            standing.cell.case(),
            standing.cell.router(),
            found.ours,
            standing.other,
            found.other
        ),
    })
}

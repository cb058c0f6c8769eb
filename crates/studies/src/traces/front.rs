//! The first screen: in how many cells ours is ahead, and where.

use super::charts::{MOST, tiles};
use super::claims::Tally;
use super::plan;
use crate::Error;
use crate::shared::front::{Shown, first_screen, percent, side_by_side};
use crate::universal::cells::{Measure as Of, Standing};
use crate::universal::treatments::MECHANISM;
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::number;
use lightlag_lab::statistics::mean;
use std::path::Path;

/// The first screen.
pub fn front(standings: &[Standing<'_>]) -> Front {
    let tally = Tally::of(standings, Of::Ratio);
    let all: Vec<_> = standings.iter().filter_map(|one| Some((one, one.by(Of::Ratio)?))).collect();
    let of = |value: &dyn Fn(&(&Standing<'_>, _)) -> f64| mean(&all.iter().map(value).collect::<Vec<f64>>());
    let (ours, other) = (of(&|one| one.1.ours), of(&|one| one.1.other));
    let won = ours.zip(other).map(|(ours, other)| {
        format!(
            "{MECHANISM} delivers {} on average over {} cells, the best other of each cell {}: better in {}, as good in {}, worse in {} \
             ({} and {} of them surely).",
            number(ours),
            all.len(),
            number(other),
            tally.better,
            tally.as_good,
            tally.worse,
            tally.surely_better,
            tally.surely_worse
        )
    });
    let extreme =
        |sign: f64| all.iter().max_by(|one, other| (sign * one.1.mean).total_cmp(&(sign * other.1.mean)));
    let described = |one: &(&Standing<'_>, &crate::universal::cells::Difference)| {
        format!("{} in {} (to {})", number(one.1.mean), one.0.cell.described(), one.0.other)
    };
    let ends = extreme(1.0).zip(extreme(-1.0)).map(|(most, least)| {
        format!("The largest difference is {}, the least {}.", described(most), described(least))
    });
    let bounds: Vec<f64> = all
        .iter()
        .filter_map(|(one, found)| Some(found.ours / one.bound?))
        .filter(|share| share.is_finite())
        .collect();
    let limits = mean(&bounds).map(|share| {
        format!("What limits it are contacts and buffers: it reaches {} of what any mechanism can deliver, on average over the cells.", percent(share))
    });
    let ratio = |title: &str, value: Option<f64>| {
        value.map(|value| Measure::new(title, number(value), "mean delivery ratio").of_bound(value))
    };
    let measures = [
        ratio(MECHANISM, ours),
        ratio("best other of each cell", other),
        Some(Measure::count(
            "cells in which it is worse",
            tally.worse,
            tally.cells,
            format!("{} surely; claimed none", tally.surely_worse),
        )),
        mean(&bounds).map(|share| {
            Measure::new("of the bound", percent(share), "what any mechanism can deliver").of_bound(share)
        }),
    ];
    first_screen([won, ends, limits], measures, map(standings))
}

fn map(standings: &[Standing<'_>]) -> Option<HeatMap> {
    let words = (
        "Delivery ratio of ours minus that of the best other",
        "Blue where ours is ahead, orange where it is behind; means over the seeds.",
    );
    let mut map = HeatMap::new(words, ["trace and router", "buffer"], Colours::Around(MOST));
    tiles(standings).iter().for_each(|tile| map.add(&tile.row, &tile.column, tile.value, &tile.note));
    map.drawn()
}

/// Runs to look at: the cell with the largest difference, and that with the least.
pub fn views(standings: &[Standing<'_>], scenarios: &Path) -> Result<Vec<Shown>, Error> {
    let mean_of = |one: &&Standing<'_>| one.by(Of::Ratio).map_or(0.0, |found| found.mean);
    let by_mean = |one: &&Standing<'_>, other: &&Standing<'_>| mean_of(one).total_cmp(&mean_of(other));
    let [best, worst] = [standings.iter().max_by(by_mean), standings.iter().min_by(by_mean)];
    let mut all = Vec::new();
    for (standing, file, what) in
        [(best, "view.html", "most ahead"), (worst, "view_worst.html", "least ahead")]
    {
        let Some(standing) = standing else { continue };
        let Some([ours, other]) = plan::shown(&standing.cell.values, [MECHANISM, standing.other], scenarios)?
        else {
            continue;
        };
        let title = format!("Where {MECHANISM} is {what}: beside {}", standing.other);
        let runs = [(MECHANISM, ours), (standing.other, other)];
        all.push(side_by_side([file, &title, &format!("{}.", standing.cell.described())], runs)?);
    }
    Ok(all)
}

//! The first screen: how often the judged controllers keep the limits, and where they do not.

use super::charts::{RATES, ROUND_TRIPS, tiles};
use super::claims::judged;
use super::controllers::{CONTESTANTS, REFERENCE};
use super::measures::SHARE;
use super::standing::{NETWORKS_KEPT, Standing};
use super::text;
use crate::Error;
use crate::shared::front::{Shown, percent, side_by_side};
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_scenario::{Catalogue, ScenarioFile};

/// The first screen, with the sentences that were found.
pub fn front(standings: &[Standing<'_>], answer: [String; 3]) -> Front {
    let judged = judged(standings);
    let of = |name: &str| {
        let all = || standings.iter().filter(|one| one.controller == name);
        let (kept, bad) = (all().filter(|one| one.keeps()).count(), all().filter(|one| one.is_bad()).count());
        let share = kept as f64 / all().count().max(1) as f64;
        let beside =
            format!("limits kept; claimed {}; far off in {bad} of {}", percent(NETWORKS_KEPT), all().count());
        Measure::new(name, percent(share), beside).of_bound(share)
    };
    let measures = judged.iter().map(|name| of(name)).collect();
    Front { answer: answer.into(), measures, map: judged.first().and_then(|name| map(standings, name)) }
}

/// Shares of the limit of a controller by the decades of rate and round-trip time.
fn map(standings: &[Standing<'_>], name: &str) -> Option<HeatMap> {
    let title = format!("Share of the limit of {name}");
    let words =
        (title.as_str(), "Median over the networks of each decade; the figures below have all controllers.");
    let mut map = HeatMap::new(words, ["RTT", "rate"], Colours::UpTo(1.0)).in_order(&ROUND_TRIPS, &RATES);
    for tile in tiles(standings, SHARE, 0.5).iter().filter(|tile| tile.panel == name) {
        map.add(&tile.row, &tile.column, tile.value, &tile.note);
    }
    map.drawn()
}

/// Runs to look at: the worst network, with its controller and with CUBIC.
pub fn views(worst: &[&Standing<'_>]) -> Result<Vec<Shown>, Error> {
    let Some(worst) = worst.first() else { return Ok(Vec::new()) };
    let run = |name: &str| {
        let contestant = CONTESTANTS.iter().find(|row| row.name == name)?;
        let text = text::scenario(&worst.network, contestant);
        let file = ScenarioFile::from_toml("worst.toml", &text, ".".into(), Catalogue::default().into());
        Some(file.map(|file| (contestant.name, file)))
    };
    let (Some(one), Some(other)) = (run(worst.controller), run(REFERENCE)) else { return Ok(Vec::new()) };
    let title = format!("The worst network of {}, and {REFERENCE} in the same", worst.controller);
    let caption = format!("{}: the first row of the table of the worst.", text::describe(&worst.network));
    Ok(vec![side_by_side(["view.html", &title, &caption], [one?, other?])?])
}

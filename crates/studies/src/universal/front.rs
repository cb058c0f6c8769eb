//! The first screen: ours beside the best single other, and by kinds of networks and routers.

use super::cells::{Measure as Of, Standing};
use super::claims::{best_single, worse};
use super::networks::{KINDS, named};
use super::plan;
use super::regret::{NEAR, Regret, ours};
use super::treatments::{MECHANISM, Role, in_networks};
use crate::Error;
use crate::shared::front::{Shown, percent, side_by_side};
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::number;
use lightlag_lab::statistics::mean;
use lightlag_scenario::{Catalogue, ScenarioFile};

/// Differences beyond have the last colour.
const MOST: f64 = 0.1;

/// The first screen, with the sentences that were found.
pub fn front(standings: &[Standing<'_>], all: &[Regret<'_, '_>], answer: Vec<String>) -> Front {
    let ratio = |one: &Regret<'_, '_>, beside: &str| {
        Measure::new(format!("delivery ratio of {}", one.name), number(one.ratio()), beside)
            .of_bound(one.ratio())
    };
    let reference = all.iter().find(|one| one.is(Role::Reference));
    let beside = reference
        .map_or(String::new(), |one| format!("{} with global knowledge {}", one.name, number(one.ratio())));
    let worst = ours(all)
        .and_then(|one| one.worst())
        .map(|worst| Measure::new("worst regret", number(worst.regret), "below the best of that network"));
    let behind = worse(standings, NEAR).len();
    let share = behind as f64 / standings.len().max(1) as f64;
    let behind = Measure::new(
        "networks in which it is worse",
        format!("{behind} of {}", standings.len()),
        format!("{}; claimed at most 3 %", percent(share)),
    );
    let measures = [
        ours(all).map(|one| ratio(one, &beside)),
        best_single(all).map(|one| ratio(one, "best single other")),
        worst,
        Some(behind).filter(|_| !standings.is_empty()),
    ];
    Front { answer, measures: measures.into_iter().flatten().collect(), map: map(standings) }
}

fn map(standings: &[Standing<'_>]) -> Option<HeatMap> {
    let words = (
        "Delivery ratio of ours minus that of the best other",
        "Means over the networks of a kind with a router: blue where ours is ahead, orange where it is behind.",
    );
    let mut routers: Vec<&str> = standings.iter().map(|one| one.cell.router()).collect();
    routers.sort_unstable();
    routers.dedup();
    let mut map = HeatMap::new(words, ["kind", "router"], Colours::Around(MOST));
    for (kind, _) in KINDS {
        for router in &routers {
            let here =
                standings.iter().filter(|one| one.cell.place() == kind && one.cell.router() == *router);
            let all: Vec<f64> = here.filter_map(|one| Some(one.by(Of::Ratio)?.mean)).collect();
            let Some(value) = mean(&all) else { continue };
            map.add(
                kind,
                router,
                value,
                &format!("{kind}, {router}: {} over {} networks", number(value), all.len()),
            );
        }
    }
    map.drawn()
}

/// Runs to look at: the network in which ours is most ahead, and that in which it is most behind, each beside the best other.
pub fn views(standings: &[Standing<'_>]) -> Result<Vec<Shown>, Error> {
    let by_mean = |one: &&Standing<'_>, other: &&Standing<'_>| {
        let of = |one: &Standing<'_>| one.by(Of::Ratio).map_or(0.0, |found| found.mean);
        of(one).total_cmp(&of(other))
    };
    let [best, worst] = [standings.iter().max_by(by_mean), standings.iter().min_by(by_mean)];
    let shown = [(best, "view.html", "most ahead"), (worst, "view_worst.html", "most behind")];
    let all =
        shown.into_iter().filter_map(|(standing, file, where_it_is)| view(standing?, file, where_it_is));
    all.collect()
}

fn view(standing: &Standing<'_>, file: &str, where_it_is: &str) -> Option<Result<Shown, Error>> {
    let network = named(standing.cell.case())?;
    let treatments = in_networks();
    let run = |name: &str| {
        let treatment = treatments.iter().find(|treatment| treatment.name == name)?;
        let (name, text) = (format!("{}.toml", network.name), plan::text(&network, treatment));
        Some(ScenarioFile::from_toml(&name, &text, ".".into(), Catalogue::default().into()))
    };
    let (ours, other) = (run(MECHANISM)?, run(standing.other)?);
    let title = format!("Where {MECHANISM} is {where_it_is}: beside {}", standing.other);
    let words = [file, &title, &format!("{}.", network.described)];
    let shown = ours.and_then(|ours| side_by_side(words, [(MECHANISM, ours), (standing.other, other?)]));
    Some(shown.map_err(Error::from))
}

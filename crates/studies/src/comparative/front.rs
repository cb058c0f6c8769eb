//! The first screen: the mechanisms under each router, in both worlds.

use super::cell::{MECHANISM, ROUTER};
use super::readings::{Data, Reading};
use crate::Error;
use crate::shared::front::{Shown, side_by_side};
use crate::shared::runs::Runs;
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::{Results, interval_text};
use lightlag_lab::statistics::Estimate;
use lightlag_scenario::ScenarioFile;
use std::path::Path;

const BASELINE: &str = "none";
/// As the study runs it.
const RRCC: &str = r#"{ name = "rrcc", limit_of = "message" }"#;
const RATIO: &str = "delivery_prob";
/// The worlds: figure 7 and figure 9.
const WORLDS: [&str; 2] = ["planets", "Earth"];

/// Delivery ratio of a mechanism with a router.
fn ratio(view: &Runs<'_>, router: &str, mechanism: &str) -> Option<Estimate> {
    view.only(ROUTER, router).only(MECHANISM, mechanism).estimate(RATIO)
}

/// The first screen, with the sentences that were found.
pub fn front(results: &Results, answer: Vec<String>) -> Front {
    let data = Data::of(results, &Reading::PRIMARY);
    let worlds = [&data.figure_7, &data.figure_9];
    let measures = WORLDS.iter().zip(worlds).flat_map(|(world, view)| tiles(world, view)).collect();
    Front { answer, measures, map: map(&worlds) }
}

/// The best mechanism of a world with epidemic routing, and what is delivered without any.
fn tiles(world: &str, view: &Runs<'_>) -> Vec<Measure> {
    let place = if world == WORLDS[0] { "between planets".to_owned() } else { format!("on {world}") };
    let of = |mechanism: &'_ str| ratio(view, "epidemic", mechanism);
    let all = view.levels(MECHANISM).into_iter().filter(|name| *name != BASELINE);
    let best = all
        .filter_map(|name| Some((name, of(name)?)))
        .max_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    let tile = |title: String, value: Estimate| {
        Measure::new(title, interval_text(Some(value)), "delivery ratio, epidemic routing")
            .of_bound(value.mean)
    };
    let best = best.map(|(name, value)| tile(format!("best mechanism {place}: {name}"), value));
    best.into_iter().chain(of(BASELINE).map(|value| tile(format!("no control {place}"), value))).collect()
}

fn map(worlds: &[&Runs<'_>; 2]) -> Option<HeatMap> {
    let cells = worlds.iter().zip(WORLDS).flat_map(|(view, world)| {
        let of = |(names, here): (Vec<&str>, Runs<'_>)| {
            let value = here.estimate(RATIO)?;
            Some((names[1].to_owned(), format!("{world}, {}", names[0]), value))
        };
        view.split(&[ROUTER, MECHANISM]).into_iter().filter_map(of).collect::<Vec<_>>()
    });
    let cells: Vec<(String, String, Estimate)> = cells.collect();
    let most = cells.iter().map(|cell| cell.2.mean).fold(0.0, f64::max);
    let words = (
        "Delivery ratio by mechanism and router",
        "Means over figure 7 (between planets) and figure 9 (on Earth).",
    );
    let mut map = HeatMap::new(words, ["mechanism", "world and router"], Colours::UpTo(most));
    for (mechanism, place, value) in cells {
        map.add(
            &mechanism,
            &place,
            value.mean,
            &format!("{mechanism}, {place}: {}", interval_text(Some(value))),
        );
    }
    map.drawn()
}

/// Runs to look at: a mechanism beside no control on Earth, and where it costs most, between planets.
pub fn views(folder: &Path) -> Result<Vec<Shown>, Error> {
    let run = |file: &str, mechanism: &str, sets: &[(&str, &str)]| {
        let mut file = ScenarioFile::read(&[&folder.join(file)])?;
        let all = [("router", "epidemic"), ("mechanism", mechanism)];
        all.iter().chain(sets).try_for_each(|(key, value)| file.set(key, value))?;
        Ok::<ScenarioFile, lightlag_scenario::Error>(file)
    };
    let earth = [("duration", "1 h"), ("traffic.messages.interval", "1..300 s")];
    let words = [
        "view.html",
        "Credit-based control beside no control, on Earth",
        "Figure 8 with epidemic routing, the first hour: copies that find no room are dropped without control.",
    ];
    let planets = [("contacts.plan.file", "contacts/S_Dur5000.csv"), ("world.propagation", "pipelined")];
    let loss = [
        "view_planets.html",
        "RRCC beside no control, between planets",
        "Figure 7 with its longest contacts and epidemic routing: RRCC holds back copies that contacts had room for.",
    ];
    let (near, far) = ("dtn_congestion_figure_8.toml", "dtn_congestion_figure_7.toml");
    Ok(vec![
        side_by_side(
            words,
            [(BASELINE, run(near, BASELINE, &earth)?), ("credit", run(near, "credit", &earth)?)],
        )?,
        side_by_side(loss, [(BASELINE, run(far, BASELINE, &planets)?), ("rrcc", run(far, RRCC, &planets)?)])?,
    ])
}

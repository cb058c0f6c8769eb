//! What the study runs.

use super::grid::{Axis, BETWEEN_PLANETS, HELSINKI_MAP, ON_EARTH, Router, SPRAY, STREETS, Set, axes};
use super::treatments::{Role, Treatment, treatments};
use crate::shared::points::{Point, Points};
use lightlag_scenario::{Catalogue, ScenarioFile};
use std::path::Path;

/// Columns of the table of runs: which grid, which of its heat maps, where, under which router, and what is different there.
pub const GRID: &str = "grid";
pub const WORLD: &str = "world";
pub const PLACE: &str = "place";
pub const ROUTER: &str = "router";
pub const CHANGE: &str = "change";
/// Which mechanism with which node policy, and what it is for.
pub const TREATMENT: &str = "treatment";
pub const ROLE: &str = "role";
/// The columns that distinguish cells.
pub const CELL: [&str; 5] = [GRID, WORLD, PLACE, ROUTER, CHANGE];

/// A buffer that is never full.
const BEYOND: &str = "1 TB";

const SEEDS: u64 = 5;
const SEEDS_QUICK: u64 = 2;
/// Between planets, where a cell takes a second.
const SEEDS_OF_PLANETS: u64 = 20;
/// On Earth, where intervals by five say little.
const SEEDS_ON_EARTH: u64 = 10;
/// Of what would take nine tenths of the study's time, where nodes meet often and routers copy without bound.
const SEEDS_RESTLESS: u64 = 2;

/// All that the study runs, whole or as a quick look, from the scenarios in a folder.
///
/// # Errors
/// None with the scenarios that are compiled in.
pub fn plan(quick: bool, scenarios: &Path) -> Result<Points, lightlag_scenario::Error> {
    let mut list = along(&wanted(quick), scenarios)?;
    if quick {
        list.iter_mut().for_each(|point| point.seeds = None);
    }
    Ok(Points::of(list, if quick { SEEDS_QUICK } else { SEEDS }, &[]))
}

/// All treatments in the cells of these axes, whose files are in a folder.
///
/// # Errors
/// What is wrong with a scenario.
pub fn along(axes: &[Axis], scenarios: &Path) -> Result<Vec<Point>, lightlag_scenario::Error> {
    let mut list = Vec::new();
    axes.iter().try_for_each(|axis| add(&mut list, axis, scenarios))?;
    Ok(list)
}

/// Whether the map of Helsinki has been fetched.
pub fn has_helsinki() -> bool {
    Path::new(HELSINKI_MAP).is_file()
}

/// The axes; in a quick look their ends, with what is set for that.
fn wanted(quick: bool) -> Vec<Axis> {
    let all = axes(has_helsinki());
    if quick { all.into_iter().filter_map(ends).collect() } else { all }
}

fn ends(axis: Axis) -> Option<Axis> {
    let set = [&axis.set[..], axis.quick?].concat();
    let last = axis.changes.len() - 1;
    let ends = axis.changes.iter().enumerate().filter(|(index, _)| [0, last].contains(index));
    let changes = ends.map(|(_, change)| *change).collect();
    Some(Axis { set, changes, ..axis })
}

fn add(list: &mut Vec<Point>, axis: &Axis, scenarios: &Path) -> Result<(), lightlag_scenario::Error> {
    let catalogue = Catalogue::default();
    let treatments = treatments(axis.grid);
    for (change, set) in &axis.changes {
        let base = scenarios.join(axis.file);
        // Routers make no difference to it, and axes that differ in routers have the same cells.
        let values = columns(axis, change, "", ("", Role::Bound));
        if !list.iter().any(|known| known.values == values) {
            let any = [("router", axis.routers[0].1), ("mechanism", treatments[0].mechanism)];
            let bounded = file(&base, &[&axis.set, set, &any])?;
            list.extend(points(bounded, || values.clone(), (seeds(axis, false), true))?);
        }
        for router in axis.routers {
            for treatment in treatments.iter().filter(|treatment| fits(&catalogue, treatment, router.0)) {
                let mut file = file(&base, &[&axis.set, set])?;
                treat(&mut file, axis, router, treatment)?;
                let named = (treatment.name.as_str(), treatment.role);
                let seeds = seeds(axis, treatment.is_restless() && *router != SPRAY);
                list.extend(points(file, || columns(axis, change, router.0, named), (seeds, false))?);
            }
        }
    }
    Ok(())
}

/// How many, where not as many as elsewhere.
fn seeds(axis: &Axis, restless: bool) -> Option<u64> {
    match axis.world {
        BETWEEN_PLANETS => Some(SEEDS_OF_PLANETS),
        ON_EARTH if restless && axis.place != STREETS => Some(SEEDS_RESTLESS),
        ON_EARTH => Some(SEEDS_ON_EARTH),
        _ => None,
    }
}

fn points(
    file: ScenarioFile,
    values: impl Fn() -> Vec<(String, String)>,
    (seeds, bounded): (Option<u64>, bool),
) -> Result<impl Iterator<Item = Point>, lightlag_scenario::Error> {
    let point = move |point: lightlag_scenario::Point| Point {
        bounded,
        ..Point::new(values(), point.scenario).with_seeds(seeds)
    };
    Ok(file.points()?.list.into_iter().map(point))
}

/// Whether a mechanism works with a router.
pub fn fits(catalogue: &Catalogue, treatment: &Treatment, router: &str) -> bool {
    let entry = catalogue.mechanisms.find(treatment.mechanism);
    entry.is_ok_and(|entry| entry.only_with.is_empty() || entry.only_with.iter().any(|name| name == router))
}

fn file(path: &Path, sets: &[&[Set]]) -> Result<ScenarioFile, lightlag_scenario::Error> {
    let mut file = ScenarioFile::read(&[path])?;
    for (key, value) in sets.iter().copied().flatten() {
        file.set(key, value)?;
    }
    Ok(file)
}

fn treat(
    file: &mut ScenarioFile,
    axis: &Axis,
    router: &Router,
    treatment: &Treatment,
) -> Result<(), lightlag_scenario::Error> {
    file.set("router", router.1)?;
    file.set("mechanism", &treatment.toml())?;
    file.set("receipts", &treatment.receipts.to_string())?;
    file.set("drop_memory", &treatment.drop_memory.to_string())?;
    let unlimited = axis.buffers.iter().filter(|_| treatment.role == Role::Unlimited);
    unlimited.copied().try_for_each(|key| file.set(key, BEYOND))
}

fn columns(axis: &Axis, change: &str, router: &str, (name, role): (&str, Role)) -> Vec<(String, String)> {
    let cell = CELL.into_iter().zip([axis.grid, axis.world, axis.place, router, change]);
    let more = [(TREATMENT, name), (ROLE, role.word())];
    cell.chain(more).map(|(column, value)| (column.to_owned(), value.to_owned())).collect()
}

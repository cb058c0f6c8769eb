//! What the study runs.

use super::grid::{Axis, HELSINKI_MAP, Router, Set, axes};
use super::treatments::{Treatment, treatments};
use crate::scenario::{self, Catalogue, ScenarioFile};
use crate::study::points::{Point, Points};
use std::path::Path;

/// Columns of the table of runs: which grid, which of its heat maps, where, under which router, and what is different there.
pub const GRID: &str = "grid";
pub const WORLD: &str = "world";
pub const PLACE: &str = "place";
pub const ROUTER: &str = "router";
pub const CHANGE: &str = "change";
/// Which mechanism with which habits, and what it is for.
pub const TREATMENT: &str = "treatment";
pub const ROLE: &str = "role";
/// What tells a cell from another.
pub const CELL: [&str; 5] = [GRID, WORLD, PLACE, ROUTER, CHANGE];

const SEEDS: u64 = 5;
const SEEDS_QUICK: u64 = 2;

/// All that the study runs, whole or as a quick look, from the scenarios in a folder.
///
/// # Errors
/// None with the scenarios that are compiled in.
pub fn plan(quick: bool, scenarios: &Path) -> Result<Points, scenario::Error> {
    let mut list = Vec::new();
    for axis in wanted(quick) {
        add(&mut list, &axis, scenarios)?;
    }
    Ok(Points { list, seeds: if quick { SEEDS_QUICK } else { SEEDS } })
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

fn add(list: &mut Vec<Point>, axis: &Axis, scenarios: &Path) -> Result<(), scenario::Error> {
    let catalogue = Catalogue::default();
    let treatments = treatments(axis.grid);
    for (change, set) in &axis.changes {
        for router in axis.routers {
            for treatment in treatments.iter().filter(|treatment| fits(&catalogue, treatment, router)) {
                let file = file(&scenarios.join(axis.file), &[&axis.set, set], router, treatment)?;
                list.extend(file.points()?.list.into_iter().map(|point| Point {
                    values: columns(axis, change, router, treatment),
                    scenario: point.scenario,
                    seeds: None,
                    analysed: false,
                }));
            }
        }
    }
    Ok(())
}

/// Whether a mechanism works with a router.
fn fits(catalogue: &Catalogue, treatment: &Treatment, router: &Router) -> bool {
    let entry = catalogue.mechanism(treatment.mechanism);
    entry.is_ok_and(|entry| entry.only_with.is_empty() || entry.only_with.iter().any(|name| name == router.0))
}

fn file(
    path: &Path,
    sets: &[&[Set]],
    router: &Router,
    treatment: &Treatment,
) -> Result<ScenarioFile, scenario::Error> {
    let mut file = ScenarioFile::read(&[path])?;
    for (key, value) in sets.iter().copied().flatten() {
        file.set(key, value)?;
    }
    file.set("router", router.1)?;
    file.set("mechanism", &treatment.toml())?;
    file.set("receipts", &treatment.receipts.to_string())?;
    file.set("drop_memory", &treatment.drop_memory.to_string())?;
    Ok(file)
}

fn columns(axis: &Axis, change: &str, router: &Router, treatment: &Treatment) -> Vec<(String, String)> {
    let cell = CELL.into_iter().zip([axis.grid, axis.world, axis.place, router.0, change]);
    let more = [(TREATMENT, treatment.name.as_str()), (ROLE, treatment.role.word())];
    cell.chain(more).map(|(column, value)| (column.to_owned(), value.to_owned())).collect()
}

//! Every mechanism in each drawn network.

use super::networks::{KINDS, Network, SEEDS, drawn};
use super::plan::{CELL, ROLE, TREATMENT, fits};
use super::treatments::{Treatment, of_networks};
use crate::shared::points::{Point, Points, only};
use lightlag_scenario::{Catalogue, ScenarioFile};

/// Column: the network in words.
pub const DESCRIBED: &str = "described";
/// The grid of all cells.
pub const DRAWN: &str = "drawn";

/// The points of this many networks under a seed.
///
/// # Errors
/// None: each network is a valid scenario.
pub fn points(seed: u64, count: u64, seeds: u64) -> Result<Points, lightlag_scenario::Error> {
    let mut list = Vec::new();
    let catalogue = Catalogue::default();
    let treatments = of_networks();
    for network in (0..count).map(|index| drawn(seed, index)) {
        if let Ok(folder) = std::env::var("LL_DUMP") {
            let _ = std::fs::write(format!("{folder}/{}.toml", network.name), &network.text);
        }
        let router = network.router.split('"').nth(1).unwrap_or(network.router);
        for treatment in treatments.iter().filter(|one| fits(&catalogue, one, router)) {
            list.push(point(&network, treatment)?);
        }
    }
    let text = format!("# {count} networks of {} kinds, seed {seed}", KINDS.len());
    Ok(Points { list, seeds: seeds.min(SEEDS), all_judged: false, text, scenarios: Vec::new() })
}

/// The scenario file of a network with a treatment.
pub fn file(network: &Network, treatment: &Treatment) -> Result<ScenarioFile, lightlag_scenario::Error> {
    let name = format!("{}.toml", network.name);
    let mut file =
        ScenarioFile::from_toml(&name, &network.text, ".".into(), Catalogue::default().into())?;
    file.set("mechanism", &treatment.toml())?;
    file.set("receipts", &treatment.receipts.to_string())?;
    file.set("drop_memory", &treatment.drop_memory.to_string())?;
    Ok(file)
}

fn point(network: &Network, treatment: &Treatment) -> Result<Point, lightlag_scenario::Error> {
    let cell = CELL.into_iter().zip([DRAWN, network.kind, &network.name, network.router, ""]);
    let more =
        [(TREATMENT, treatment.name.as_str()), (ROLE, treatment.role.word()), (DESCRIBED, &network.described)];
    let columns = cell.chain(more).map(|(column, value)| (column.to_owned(), value.to_owned())).collect();
    Ok(Point::new(columns, only(&file(network, treatment)?)?))
}

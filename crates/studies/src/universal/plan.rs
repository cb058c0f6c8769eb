//! What the study runs: every treatment in every drawn network.

use super::cells::columns;
use super::networks::{KINDS, Network, drawn};
use super::treatments::{Treatment, in_networks};
use crate::shared::points::{Point, Points, only};
use lightlag_scenario::{Catalogue, ScenarioFile};

/// Column: the network in words.
pub const DESCRIBED: &str = "described";
/// The seed of the networks with which the mechanism was developed.
pub const DEVELOPMENT: u64 = 1;
/// The seed of the networks that judge it: the name of the frozen commit, so that it was not chosen.
pub const JUDGEMENT: u64 = 0xad99_58b1;
/// The commit at which the mechanism was frozen.
pub const FROZEN: &str = "ad9958b1";

/// Networks and runs of each, whole and in a quick look: 22 and 7 networks of each kind.
const WHOLE: (u64, u64) = (308, 3);
const QUICK: (u64, u64) = (98, 2);

/// All points of the networks of a seed.
///
/// # Errors
/// None: each network is a valid scenario.
pub fn plan(quick: bool, seed: u64) -> Result<Points, lightlag_scenario::Error> {
    let (count, seeds) = if quick { QUICK } else { WHOLE };
    let catalogue = Catalogue::default();
    let treatments = in_networks();
    let mut list = Vec::new();
    for network in (0..count).map(|index| drawn(seed, index)) {
        for treatment in treatments.iter().filter(|one| one.fits(&catalogue, network.router)) {
            list.push(point(&network, treatment)?);
        }
    }
    let text = format!("# {count} networks of {} kinds, seed {seed}", KINDS.len());
    Ok(Points { list, seeds, all_judged: false, text, scenarios: Vec::new() })
}

/// The scenario file of a network with a treatment.
pub fn text(network: &Network, treatment: &Treatment) -> String {
    let (mechanism, receipts) = (treatment.toml(), treatment.receipts);
    format!("mechanism = {mechanism}\nreceipts = {receipts}\n{}", network.text)
}

fn point(network: &Network, treatment: &Treatment) -> Result<Point, lightlag_scenario::Error> {
    let name = format!("{}.toml", network.name);
    let text = text(network, treatment);
    let file = ScenarioFile::from_toml(&name, &text, ".".into(), Catalogue::default().into())?;
    let cell = [network.kind, network.router, &network.name];
    let mut values = columns(cell, &treatment.name, treatment.role);
    values.push((DESCRIBED.to_owned(), network.described.clone()));
    Ok(Point::new(values, only(&file)?))
}

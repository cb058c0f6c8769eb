//! What the study runs: every network with every contestant.

use super::controllers::{CONTESTANTS, Contestant, REFERENCE, asked};
use super::measures::measures;
use super::space::{Company, Network, drawn};
use super::{corners, text};
use crate::shared::Order;
use crate::shared::points::{Point, Points, only};
use crate::shared::runs::{FIGURE, VARIANT};
use crate::{Error, shared::points::Measure};
use lightlag_scenario::{Catalogue, Scenario, ScenarioFile};
use std::sync::Arc;

/// Column: name of the network.
pub const NETWORK: &str = "network";
/// Column: the network in words.
const DESCRIBED: &str = "described";
/// The seed of the networks that are drawn, if no other was asked for.
pub const SEED: u64 = 1;
/// Networks that are drawn, beside the named ones.
const DRAWN: u64 = 2000;
const DRAWN_QUICK: u64 = 107;
/// The figure of all points.
pub const ALL: &str = "scorecard";

const fn drawn_count(quick: bool) -> u64 {
    if quick { DRAWN_QUICK } else { DRAWN }
}

/// The networks of the study: named ones, then those drawn with this seed.
pub fn networks(quick: bool, seed: u64) -> Vec<Network> {
    corners::all().into_iter().chain((0..drawn_count(quick)).map(|index| drawn(seed, index))).collect()
}

/// How many they are.
pub fn network_count(quick: bool) -> usize {
    corners::all().len() + drawn_count(quick) as usize
}

/// The network of a name in the table of runs.
pub fn network(name: &str) -> Option<Network> {
    let drawn_name = || {
        let (seed, index) = name.strip_prefix('s')?.split_once("_n")?;
        Some(drawn(seed.parse().ok()?, index.parse().ok()?))
    };
    corners::all().into_iter().find(|network| network.name == name).or_else(drawn_name)
}

/// Who runs in a network: the contestants that were asked for, and the reference where flows of another kind are beside
/// them.
fn contestants(network: &Network, asked: &[&'static Contestant]) -> Vec<&'static Contestant> {
    let playing: Vec<_> = asked.iter().copied().filter(|one| one.plays(network)).collect();
    let beside = matches!(network.company, Company::Tcp(_)) && !playing.is_empty();
    let is_missing = |row: &&Contestant| {
        row.name == REFERENCE && beside && playing.iter().all(|one| one.name != REFERENCE)
    };
    let reference: Vec<_> = CONTESTANTS.iter().filter(is_missing).collect();
    playing.into_iter().chain(reference).collect()
}

/// All points.
///
/// # Errors
/// An unknown controller.
pub fn plan(order: &Order<'_>) -> Result<Points, Error> {
    let all = || Ok(CONTESTANTS.iter().collect());
    let asked = order.controller.map_or_else(all, asked).map_err(Error::Controller)?;
    let (mut list, seed) = (Vec::new(), order.seed.unwrap_or(SEED));
    for network in networks(order.quick, seed).into_iter().map(Arc::new) {
        for contestant in contestants(&network, &asked) {
            list.push(point(&network, contestant)?);
        }
    }
    let kept = format!("# {} networks, seed {seed}", list.len());
    Ok(Points { list, seeds: 1, all_judged: false, text: kept, scenarios: Vec::new() })
}

/// The scenario of a network in which this controller is judged.
///
/// # Errors
/// None: each network of the space that the contestant plays is a valid scenario.
pub fn scenario(network: &Network, contestant: &Contestant) -> Result<Scenario, lightlag_scenario::Error> {
    let text = text::scenario(network, contestant);
    only(&ScenarioFile::from_toml("network.toml", &text, ".".into(), Catalogue::default().into())?)
}

fn point(network: &Arc<Network>, contestant: &'static Contestant) -> Result<Point, Error> {
    let described = text::describe(network);
    let columns =
        [(FIGURE, ALL), (VARIANT, contestant.name), (NETWORK, &network.name), (DESCRIBED, &described)];
    let numbers = [("rate_bit_s", network.rate_bit_s), ("rtt_s", network.rtt_s)];
    let columns = columns.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let numbers = numbers.into_iter().map(|(name, value)| (name.to_owned(), value.to_string()));
    let network = network.clone();
    let measured = scenario(&network, contestant)?;
    let measure: Measure = Box::new(move |outcome| measures(&network, contestant, outcome));
    Ok(Point { measure: Some(measure), ..Point::new(columns.chain(numbers).collect(), measured) })
}

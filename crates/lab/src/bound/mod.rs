//! What no mechanism and no router can exceed: bounds on a run of the world of messages.
//!
//! [`bound()`] asks three things of a scenario and a seed. Could a bundle be at its destination in time at all
//! (`reachable`), and how soon (`delay_bound`)? That is a search for the earliest arrival, with every buffer and
//! rate to itself. How many can be there together (`bound`)? That is a flow through the network with its buffers
//! and rates, in which bundles may be cut into pieces and a destination takes any bytes, up to as many as were
//! created for it: more is possible there than in any run.
//!
//! Bundles count, not bytes, and sizes differ, so the flow is not simply the greatest. The amounts that sources
//! can send to one sink together form a polymatroid: how much a set of them can send is a minimum cut, and those
//! are submodular in the set. Over a polymatroid the greedy algorithm maximises any weighted sum: take the
//! sources by falling weight, and give each as much as the earlier ones leave (Edmonds 1970, "Submodular functions,
//! matroids, and certain polyhedra"; Schrijver, "Combinatorial Optimization", 2003, chapter 44). A byte of a bundle of
//! s bytes is worth 1/s of a bundle, so the smallest bundles come first.
//!
//! Where a contact stops and waits for each bundle, a second flow, of whole bundles, bounds them too.

mod flow;
mod network;
mod reach;
#[cfg(feature = "reports")]
mod table;
#[cfg(test)]
#[cfg(feature = "reports")]
mod tests;

pub use network::ARCS_MAX;
#[cfg(feature = "reports")]
pub use table::{Table, table};

#[cfg(feature = "reports")]
use crate::results::Metrics;
use crate::run::{ContactsCache, counts_from};
use lightlag_protocols::dtn::Bundle;
use lightlag_protocols::dtn::Propagation;
use lightlag_protocols::time::Instant;
use lightlag_scenario::{Error, Place, Result, Scenario, Seed};
use lightlag_worlds::messages::Setup;
use network::{Load, Network, Unit};
pub(crate) use reach::Reach;

/// What bounds the runs of one scenario under one seed, whatever their routers and mechanisms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Bundles created.
    pub created: u64,
    /// Share of them that could be delivered if each had every buffer and every rate to itself.
    pub reachable: f64,
    /// The most of them that can be delivered, as a share; nothing if its network is too large,
    /// with more than [`ARCS_MAX`] arcs.
    pub bound: Option<f64>,
    /// The same in bytes: the share of those created.
    pub bound_bytes: Option<f64>,
    /// The least mean delay in seconds, where what is not delivered counts with its age at the end of the run
    /// (`censored_delay_avg` of a run); not a number if nothing is created.
    pub delay_bound: f64,
}

#[cfg(feature = "reports")]
impl Bound {
    /// Names and numbers, as a table shows them.
    pub fn metrics(&self) -> Metrics {
        let own = [("created", self.created as f64), ("reachable", self.reachable)];
        let flow = [("bound", self.bound), ("bound_bytes", self.bound_bytes)];
        let flow = flow.into_iter().filter_map(|(name, share)| Some((name, share?)));
        let all = own.into_iter().chain(flow).chain([("delay_bound", self.delay_bound)]);
        all.map(|(name, number)| (name.into(), number)).collect()
    }
}

/// Bounds the runs of a scenario under a seed; routers and mechanisms make no difference.
///
/// # Errors
/// What is wrong with the scenario; one of packets or names.
pub fn bound(scenario: &Scenario, seed: Seed, cache: &ContactsCache) -> Result<Bound> {
    let world = match scenario {
        Scenario::Bundles(network) => {
            let seeded = network.seeded(seed)?;
            let setup = seeded.setup(cache.get(&seeded)?);
            return Ok(of_setup(&setup, counts_from(network)));
        }
        Scenario::Packets(_) => "packets",
        Scenario::Names(_) => "names",
    };
    let place = Place::File(scenario.head().name.as_str().into());
    let right = "name one of messages, with nodes, contacts and traffic";
    Err(Error::new(&place, format!("no bound is defined for a scenario of {world}"), right))
}

/// Bounds the runs of a setup, of whose bundles those count that are created from `counts_from` on.
pub fn of_setup(setup: &Setup, counts_from: Instant) -> Bound {
    within(setup, counts_from, ARCS_MAX)
}

fn within(setup: &Setup, counts_from: Instant, arcs_max: usize) -> Bound {
    let counts = |bundle: &&Bundle| counts_from <= bundle.created && bundle.created <= setup.until;
    let mut reach = Reach::new(setup);
    let mut loads = Vec::new();
    let (mut created, mut bytes, mut delay_ns) = (0, 0.0, 0_i128);
    for bundle in setup.bundles.iter().filter(counts) {
        let arrival = reach.earliest(bundle);
        let end = arrival.unwrap_or(setup.until);
        created += 1;
        bytes += bundle.size.get() as f64;
        delay_ns += i128::from(end.as_nanos()) - i128::from(bundle.created.as_nanos());
        loads.extend(arrival.map(|_| Load::new(bundle, &setup.rules)));
    }
    loads.sort_unstable_by_key(|load: &Load| (load.bytes, load.bundle.id));
    let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
    let carried = carried(setup, &loads, Unit::Byte, arcs_max);
    let whole = whole(setup, &loads, arcs_max).unwrap_or(f64::INFINITY);
    Bound {
        created,
        reachable: share(loads.len() as f64, created as f64),
        bound: carried.map(|carried| share(carried.bundles.min(whole), created as f64)),
        bound_bytes: carried.map(|carried| share(carried.bytes, bytes)),
        delay_bound: delay_ns as f64 / 1e9 / created as f64,
    }
}

/// What a network carries together, in whole bundles and parts of them.
#[derive(Clone, Copy)]
struct Carried {
    bundles: f64,
    bytes: f64,
}

/// By the greedy algorithm, smallest first. Bytes are worth about the same in all bundles, so the same
/// flow has most of them, too.
fn carried(setup: &Setup, loads: &[Load], unit: Unit, arcs_max: usize) -> Option<Carried> {
    let mut network = Network::new(setup, loads, unit, arcs_max)?;
    let mut carried = Carried { bundles: 0.0, bytes: 0.0 };
    for load in loads.iter().filter(|load| fits_source(setup, load)) {
        let part = network.carry(load);
        carried.bundles += part;
        carried.bytes += part * load.bundle.size.get() as f64;
    }
    Some(carried)
}

/// How many whole bundles, where each takes the light time of every contact whatever its size.
fn whole(setup: &Setup, loads: &[Load], arcs_max: usize) -> Option<f64> {
    let stops = setup.rules.propagation == Propagation::StopAndWait;
    let least = loads.first().filter(|_| stops)?.bytes;
    Some(carried(setup, loads, Unit::Load(least), arcs_max)?.bundles)
}

/// What is larger than the buffer of its source never gets into it.
fn fits_source(setup: &Setup, load: &Load) -> bool {
    let source = &setup.nodes[load.bundle.source.0 as usize];
    source.policy.overfill || load.bundle.size <= source.buffer
}

//! Scenarios in TOML.
//!
//! The keys of each table are listed beside its reader; a key that is in no list is an error. Every
//! list but those of [`super::axes::LIST_KEYS`] is an axis of a sweep.

mod algorithm;
mod check;
mod contacts;
mod mobility;
mod names;
mod nodes;
mod recover;
mod reports;
mod section;
#[cfg(test)]
mod tests;
mod traces;
mod traffic;

pub use nodes::without_effect;
pub use reports::key_of;
pub use traffic::created;
mod world;

use super::catalogue::Catalogue;
use super::error::{Error, Place, Result, is_not};
use super::files::{Files, check_file_name};
use super::model::{BundleNetwork, ContactSource, Draws, GROUPS_MAX, Head, Scenario, TrafficKind};
use super::quantity;
use super::traffic::{check_amount, check_fit};
use super::tree::{Node, Value};
use crate::budget::{self, Estimate, Limits};
use crate::keys::{self, Key};
pub use algorithm::{algorithm, model};
pub use check::errors;
use lightlag_protocols::time::Duration;
pub use recover::all_errors;
pub use section::{Section, items, quantity as read_quantity, wrong_type};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What the points of a sweep take together, as they are all read before the first is run.
#[derive(Default)]
pub struct Sweep {
    points: usize,
    bytes: f64,
    all: usize,
}

/// The size of the other points is estimated from this many.
const FIRST_POINTS: usize = 10;

/// Of a point, and of a node, a flow or a message that is listed in it.
const POINT_BYTES: f64 = 2_000.0;
const NODE_BYTES: f64 = 60.0;
const PARTY_BYTES: f64 = 2_000.0;

impl Sweep {
    /// Of this many points.
    pub fn of(all: usize) -> Self {
        Self { all, ..Self::default() }
    }
    /// One more point.
    ///
    /// # Errors
    /// If they no longer fit into the memory of a run.
    pub fn add(&mut self, place: &Place, outcome: &Outcome, limits: Limits) -> Result<()> {
        let Outcome::Fits(scenario) = outcome else { return Ok(()) };
        let parts = match &**scenario {
            Scenario::Bundles(network) => {
                let ends = network.traffic.iter().map(|traffic| match &traffic.kind {
                    TrafficKind::Random(generator) => {
                        (generator.from.len() + generator.to.len()) as f64 * 4.0
                    }
                    TrafficKind::Listed(list) => list.len() as f64 * NODE_BYTES * 2.0,
                });
                f64::from(network.node_count()) * NODE_BYTES + ends.sum::<f64>()
            }
            Scenario::Packets(network) => (network.links.len() + network.flows.len()) as f64 * PARTY_BYTES,
            Scenario::Names(network) => budget::names::plan_bytes(network),
        };
        self.points += 1;
        self.bytes += POINT_BYTES + parts;
        let ahead = if self.points < FIRST_POINTS { self.points } else { self.points.max(self.all) };
        let bytes = self.bytes / self.points as f64 * ahead as f64;
        let what = format!("the {ahead} points of the sweep take {bytes:.1e} bytes");
        budget::check_bytes(place, limits, what, bytes, "sweep fewer values, or of a smaller scenario")
    }
}

/// What the points of a sweep share while they are read.
pub struct Context<'a> {
    /// The algorithms that can be named.
    pub catalogue: &'a Catalogue,
    /// Folders that file names are relative to.
    pub folders: Vec<PathBuf>,
    /// Files read so far.
    pub files: Files,
    /// Contacts read so far, by what they were read from.
    pub sources: RefCell<BTreeMap<String, ContactSource>>,
}

/// A point of a sweep, or why it makes no sense.
pub enum Outcome {
    /// An experiment.
    Fits(Box<Scenario>),
    /// The mechanism refuses the router.
    Refused(Error),
}

/// Tables of which a scenario of named data has one at least.
const OF_NAMES: [&str; 2] = ["producers", "consumers"];
/// Tables of which a scenario of packets has one at least.
const OF_PACKETS: [&str; 2] = ["links", "flows"];

fn has_one(root: &Section, tables: [&str; 2]) -> bool {
    tables.iter().any(|table| root.get(table).is_some())
}

/// The keys that a scenario with this root may have.
fn declared(root: &Section) -> &'static [Key] {
    match () {
        () if has_one(root, OF_NAMES) => keys::NAMES,
        () if has_one(root, OF_PACKETS) => keys::PACKETS,
        () => keys::BUNDLES,
    }
}

/// Reads one point: a tree without axes.
///
/// # Errors
/// The first thing that is wrong.
pub fn scenario(tree: &Node, name: &str, context: &Context) -> Result<Outcome> {
    let open = Section::open(tree, "")?;
    let limits = Limits::read(&open)?;
    let files = |name: &str, place: &Place| read_file(name, place, context);
    let keys = declared(&open);
    let open = open.declared(keys)?;
    let scenario = if has_one(&open, OF_NAMES) {
        let mut network =
            crate::names::read(head(&open, tree, name)?, &open, &files, &context.catalogue.controllers)?;
        network.head.estimate = budget::names::estimate(&open, &network);
        Scenario::Names(network)
    } else if has_one(&open, OF_PACKETS) {
        let mut network =
            crate::packets::read(head(&open, tree, name)?, &open, &files, &context.catalogue.controllers)?;
        network.head.estimate = budget::packets::estimate(&open, &network);
        Scenario::Packets(network)
    } else {
        match bundles(head(&open, tree, name)?, &open, context)? {
            Ok(network) => Scenario::Bundles(network),
            Err(error) => return Ok(Outcome::Refused(error)),
        }
    };
    scenario.head().estimate.check(limits)?;
    Ok(Outcome::Fits(Box::new(scenario)))
}

/// What every scenario has, but for the estimate.
fn head(root: &Section, tree: &Node, name: &str) -> Result<Head> {
    Ok(Head {
        name: scenario_name(root)?.unwrap_or(name).to_owned(),
        duration: root.need("duration", "\"12 h\"", quantity::positive_time)?,
        own_seed: own_seed(root, tree)?,
        estimate: Estimate::default(),
        limits: Limits::read(root)?,
    })
}

/// The first seed, or The ONE's.
fn own_seed(root: &Section, tree: &Node) -> Result<u64> {
    let the_one = if has_own_seed(tree) { world::rng_seed(root)? } else { None };
    the_one.map_or_else(|| Ok(seeds(tree)?[0]), |seed| Ok(i64::from(seed) as u64))
}

/// Whether the scenario itself describes a run, by The ONE's seed.
pub fn has_own_seed(tree: &Node) -> bool {
    let Ok(root) = Section::open(tree, "") else { return false };
    let of_the_one = |world| Section::open(world, "world").is_ok_and(|world| world.get("rng_seed").is_some());
    root.get("seeds").is_none() && root.get("world").is_some_and(of_the_one)
}

/// A scenario of bundles, or why its mechanism refuses its router.
fn bundles(
    head: Head,
    root: &Section,
    context: &Context,
) -> Result<std::result::Result<BundleNetwork, Error>> {
    let duration = head.duration;
    let (behaviour, groups) = both(world::world(root), nodes::groups(root, context))?;
    let world::Behaviour { rules, movement, failures, positions_every } = behaviour;
    let groups = match groups {
        nodes::Groups::Fit(groups) => groups,
        nodes::Groups::Refused(error) => return Ok(Err(error)),
    };
    world::rng_seed(root)?;
    let names = names::Names::new(&groups, &root.place_of("nodes"), movement.draws)?;
    let contacts = contacts::sources(root, &names, &groups, duration, context);
    let (contacts, traffic) = both(contacts, traffic::sources(root, &names, duration, context))?;
    let (reports, measure_from) =
        both(reports::reports(root), root.quantity("measure_from", quantity::time))?;
    let measure_from = measure_from.unwrap_or_default();
    let mut network = BundleNetwork {
        head,
        rules,
        failures,
        groups,
        movement,
        measure_from,
        positions_every,
        contacts,
        traffic,
        reports,
    };
    check(&network, root)?;
    network.head.estimate = budget::bundles::estimate(&network, &|key| place_of(root, key));
    Ok(Ok(network))
}

/// Two parts of a scenario that are read independently of each other: all their errors.
fn both<A, B>(one: Result<A>, other: Result<B>) -> Result<(A, B)> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        (Err(first), Err(second)) => Err(Error::all([first.clone(), second]).unwrap_or(first)),
    }
}

/// The place of a key, or of one in a table.
fn place_of(root: &Section, key: &str) -> Place {
    let inner = key.split_once('.').and_then(|(table, key)| {
        let table = Section::open(root.get(table)?, table).ok()?;
        Some(table.get(key)?.place.clone())
    });
    inner.unwrap_or_else(|| root.place_of(key))
}

/// Results and reports are called by the name.
fn scenario_name<'t>(root: &Section<'t>) -> Result<Option<&'t str>> {
    let name = root.text("name")?;
    if let Some(name) = name {
        check_file_name(name).map_err(|wrong| crate::Error::at(&root.place_of("name"), wrong))?;
    }
    Ok(name)
}

/// What can only be seen in the whole.
fn check(scenario: &BundleNetwork, root: &Section) -> Result<()> {
    let moves = scenario.groups.iter().any(|group| !group.radios.is_empty());
    // What The ONE runs is run.
    let is_the_one = scenario.movement.draws == Draws::TheOne;
    if !moves && scenario.contacts.is_empty() && !is_the_one {
        return root.refuse(
            "nodes",
            "no two nodes can ever meet",
            "give nodes a `radio` and a `mobility`, or add a table [contacts.NAME]",
        );
    }
    for traffic in &scenario.traffic {
        check_amount(traffic, scenario.head.duration)?;
        if !is_the_one {
            check_fit(traffic, traffic.largest(), &scenario.groups)?;
        }
    }
    if scenario.contacts.len() > 1 && !is_the_one {
        let happening = scenario.contacts.iter().filter(|source| source.happens);
        let lists = happening.flat_map(|source| source.list.iter());
        let mut all: Vec<_> = lists.cloned().collect();
        all.sort_by_key(|contact| (contact.start, contact.a, contact.b));
        super::contacts::check_overlap(&all)?;
    }
    Ok(())
}

/// The seeds of a file; [1] where it names none.
///
/// # Errors
/// If they are no list of different whole numbers.
pub fn seeds(tree: &Node) -> Result<Vec<u64>> {
    let root = Section::open(tree, "")?;
    let Some(node) = root.get("seeds") else { return Ok(vec![1]) };
    let right = "write `seeds = [1, 2, 3]`";
    let Value::List(list) = &node.value else { return Err(wrong_type(node, "seeds", right)) };
    let mut seen = BTreeSet::new();
    for item in list {
        let seed = match item.value {
            Value::Whole(n) => u64::try_from(n).ok(),
            _ => None,
        };
        let seed = seed.ok_or_else(|| wrong_type(item, "seeds", "a seed is a whole number from 0 on"))?;
        if !seen.insert(seed) {
            return item.place.refuse(format!("seed {seed} comes twice"), "name each seed once");
        }
    }
    if list.is_empty() {
        return node.place.refuse("the list of seeds is empty", right);
    }
    // In the order of the file, not of the set.
    Ok(list
        .iter()
        .filter_map(|item| if let Value::Whole(n) = item.value { u64::try_from(n).ok() } else { None })
        .collect())
}

/// The tables inside a table of tables, such as `[nodes.NAME]`.
pub fn named<'t>(root: &Section<'t>, key: &str, known: &'static [Key]) -> Result<Vec<(String, Section<'t>)>> {
    let Some(node) = root.get(key) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    let count = Section::open(node, key)?.entries().count();
    if count > GROUPS_MAX {
        let what = format!("there are {count} tables [{key}.NAME]");
        let right =
            format!("a scenario has {GROUPS_MAX} at most; those that are alike share one with a `count`");
        return node.place.refuse(what, right);
    }
    for (name, node) in Section::open(node, key)?.entries() {
        check_name(&name.name, &name.place)?;
        let mut section = Section::new(node, &format!("{key}.{}", name.name), known)?;
        // The header's place says more than that of the table's first value.
        section.place = name.place.clone();
        all.push((name.name.clone(), section));
    }
    Ok(all)
}

/// Names go into selections, file names and columns.
fn check_name(name: &str, place: &Place) -> Result<()> {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let lone = name != "all"
        && !name.contains("..")
        && !name.is_empty()
        && !name.chars().all(|c| c.is_ascii_digit());
    if plain && lone && name.len() <= 100 {
        return Ok(());
    }
    place.refuse(
        is_not(name, "a name"),
        "a name has letters, digits, `_`, `-` and `.`, is not a number and not `all`",
    )
}

fn until(duration: Duration) -> lightlag_protocols::time::Instant {
    lightlag_protocols::time::Instant::ZERO.saturating_add(duration)
}

fn read_file(name: &str, place: &Place, context: &Context) -> Result<(String, Arc<[u8]>)> {
    let path = super::files::locate(name, &context.folders);
    Ok((path.display().to_string(), context.files.read(&path, place)?))
}

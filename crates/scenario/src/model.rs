//! One fully resolved experiment, as plain data.

use super::catalogue::{Entry, Kind};
use super::error::Place;
use super::failures::Failures;
use super::quantity::Bounds;
pub use super::radios::{Activity, Radio};
use super::tracks::Tracks;
use crate::budget::{Estimate, Limits};
use crate::names::NameNetwork;
use crate::packets::Network;
use lightlag_protocols::dtn::{Bundle, CONTACT_PLAN, Mechanism, NodePolicy, Parameters, Router};
use lightlag_protocols::parameter::{ParameterError, Value};
use lightlag_protocols::record::bundles::ReplyKind;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use lightlag_worlds::contacts::{Channel, Delay};
use lightlag_worlds::messages::Rules;
use lightlag_worlds::mobility;
use lightlag_worlds::mobility::map::MapOptions;
use lightlag_worlds::mobility::map::osm::OsmOptions;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// More nodes than any world here holds.
pub const NODES_MAX: usize = 200_000;
/// More groups than anyone means to write.
pub const GROUPS_MAX: usize = 10_000;

/// One experiment: with a [`Seed`] it is one run.
#[derive(Clone, Debug)]
pub enum Scenario {
    /// Bundles over contacts.
    Bundles(BundleNetwork),
    /// Packets over links.
    Packets(Network),
    /// Named data over forwarders.
    Names(NameNetwork),
}

/// What every scenario has, whatever its world.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// How long a run lasts.
    pub duration: Duration,
    /// The seed that [`Seed::Own`] stands for.
    pub own_seed: u64,
    /// What a run of it takes at most.
    pub estimate: Estimate,
    /// How much a run of it may take.
    pub limits: Limits,
}

/// Nodes that store bundles, their contacts, and what is sent.
#[derive(Clone, Debug)]
pub struct BundleNetwork {
    /// Name, duration and seed.
    pub head: Head,
    /// How links and nodes behave, and what is sampled.
    pub rules: Rules,
    /// What fails.
    pub failures: Failures,
    /// The nodes; they are numbered through the groups in this order.
    pub groups: Vec<Group>,
    /// How nodes move.
    pub movement: Movement,
    /// Bundles that are created earlier do not count.
    pub measure_from: Duration,
    /// Time between the positions of nodes in a trace; `None`: a trace has no positions.
    pub positions_every: Option<Duration>,
    /// Contacts that do not come from movement.
    pub contacts: Vec<ContactSource>,
    /// What is sent.
    pub traffic: Vec<Traffic>,
    /// What The ONE would write about it.
    pub reports: Vec<Report>,
}

/// Which run of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seed {
    /// The run that the file itself describes. In The ONE's settings: movement by
    /// `MovementModel.rngSeed`, traffic by each generator's prefix alone. In TOML: the first seed.
    Own,
    /// Movement by this number and traffic by this number and the prefix.
    Number(u64),
}

/// Nodes that are alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The names of its nodes.
    pub nodes: Vec<String>,
    /// Size of each buffer.
    pub buffer: Bytes,
    /// Who gets a copy.
    pub router: Algorithm<dyn Router>,
    /// What to admit, keep, drop or move.
    pub mechanism: Algorithm<dyn Mechanism>,
    /// What a node does whatever its router and mechanism.
    pub policy: NodePolicy,
    /// How they move; none: their contacts are those of [`BundleNetwork::contacts`].
    pub mobility: Option<Mobility>,
    /// When they move; at other times they stand still, with their radios on.
    pub moves: Activity,
    /// Their radios.
    pub radios: Vec<Radio>,
    /// Lifetime of what they create where the traffic does not say.
    pub lifetime: Option<Duration>,
}

/// An algorithm and its parameters.
pub struct Algorithm<A: ?Sized + Kind> {
    /// Which.
    pub entry: Arc<Entry<A>>,
    /// All its parameters.
    pub parameters: Parameters,
}

impl<A: ?Sized + Kind> std::fmt::Debug for Algorithm<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.entry, self.parameters)
    }
}

impl<A: ?Sized + Kind> Clone for Algorithm<A> {
    fn clone(&self) -> Self {
        Self { entry: self.entry.clone(), parameters: self.parameters.clone() }
    }
}

/// How a group moves.
#[derive(Clone, Debug)]
pub struct Mobility {
    /// The model.
    pub entry: &'static mobility::Entry,
    /// All its parameters.
    pub parameters: Parameters,
    /// Its map, if it is a model with [`mobility::Input::Map`].
    pub map: Option<Map>,
    /// Its routes, if it is a model with [`mobility::Input::Routes`].
    pub routes: Option<MapFile>,
    /// Places that its nodes visit more often, if it is a model with [`mobility::Input::PointsOfInterest`].
    pub interest: Vec<PointsOfInterest>,
    /// Recorded positions, if it is a model with [`mobility::Input::Tracks`].
    pub tracks: Option<Arc<Tracks>>,
    /// Files of places by key, if it is a model with [`mobility::Input::Places`].
    pub places: BTreeMap<&'static str, MapFile>,
    /// Probabilities, if it is a model with [`mobility::Input::Chances`].
    pub chances: Vec<f64>,
}

/// A file of places on a map, and how often they are visited.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsOfInterest {
    /// The file.
    pub file: MapFile,
    /// Probability that a journey goes to one of them.
    pub share: f64,
}

impl Mobility {
    /// The model of this name with these parameters, and defaults for the rest.
    ///
    /// # Errors
    /// A parameter that is unknown, out of its range, or missing.
    ///
    /// # Panics
    /// If there is no such model.
    pub fn named<'n>(
        name: &str,
        given: impl IntoIterator<Item = (&'n str, Value)>,
    ) -> Result<Self, ParameterError> {
        let entry = mobility::entry(name);
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let parameters = Parameters::resolve(name, entry.model.parameters, &given)?;
        Ok(Self {
            entry,
            parameters,
            map: None,
            routes: None,
            interest: Vec::new(),
            places: BTreeMap::new(),
            chances: Vec::new(),
            tracks: None,
        })
    }
}

/// Files of roads and how they are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The files, in the order of their numbers.
    pub files: Vec<MapFile>,
    /// Which of them may be used, counted from one; empty: all.
    pub allowed: Vec<u32>,
    /// How lines become a map.
    pub options: MapOptions,
    /// Which roads of an OpenStreetMap file.
    pub osm: OsmOptions,
}

/// A map and where it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapFile {
    /// The file.
    pub path: PathBuf,
    /// Who names it.
    pub place: Place,
}

impl MapFile {
    /// Whether it is of OpenStreetMap.
    pub fn is_osm(&self) -> bool {
        self.path.extension().is_some_and(|end| end == "pbf")
    }
}

/// What concerns all movement.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// Whose draws.
    pub draws: Draws,
    /// How long nodes move before the start.
    pub warmup: Duration,
    /// Whether radios make contacts at all.
    pub radios_connect: bool,
}

/// Whose random draws, in whose order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Lightlag's named streams.
    Lightlag,
    /// The ONE's, by `java.util.Random`.
    TheOne,
}

/// Contacts from a table, not from radios.
#[derive(Clone, Debug)]
pub struct ContactSource {
    /// Its name.
    pub name: String,
    /// The contacts; shared by all points of a sweep that read the same.
    pub list: Arc<Vec<ScheduledContact>>,
    /// Distinguishes its list from every other.
    pub key: u128,
    /// Nodes know the contacts beforehand.
    pub is_plan: bool,
    /// Which nodes, and when.
    pub known: Known,
    /// The contacts take place. If not, nodes that know them expect them without success.
    pub happens: bool,
    /// How a recorded trace was read: what was joined, extended and dropped. `None` for other contacts.
    pub note: Option<Arc<str>>,
    /// The file of The ONE's events that it was read from; `None` for other contacts.
    pub file: Option<PathBuf>,
}

/// Which nodes know contacts beforehand, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Which nodes, ascending; `None`: all.
    pub to: Option<Arc<[u32]>>,
    /// Since when.
    pub from: Instant,
    /// Until when; [`Instant::MAX`]: for ever.
    pub until: Instant,
}

impl Default for Known {
    /// All nodes, from the start, for ever.
    fn default() -> Self {
        Self { to: None, from: Instant::ZERO, until: Instant::MAX }
    }
}

/// A contact of a table. A direction of rate zero carries nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledContact {
    /// Where it stands in the file.
    pub place: Place,
    /// The node named first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// When the link comes up.
    pub start: Instant,
    /// When it goes down.
    pub end: Instant,
    /// Rate and delay from `a` to `b`.
    pub forward: Channel,
    /// Rate and delay from `b` to `a`.
    pub backward: Channel,
}

/// Something that creates messages.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Where it stands in the file.
    pub place: Place,
    /// Lifetime of its messages and of the replies to them; none: that of the group which creates them.
    pub lifetime: Option<Duration>,
    /// How destinations answer; none: not at all.
    pub replies: Option<Replies>,
    /// The file of The ONE's events that lists its messages; `None` for other messages.
    pub file: Option<PathBuf>,
    /// What it creates when.
    pub kind: TrafficKind,
}

/// What destinations create when a message first arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replies {
    /// Which nodes reply, and sizes of their replies.
    pub by: Vec<(Range<u32>, Bytes)>,
    /// Who creates them.
    pub kind: ReplyKind,
}

impl Replies {
    /// Size of the reply of a node, if it replies.
    pub fn size(&self, node: u32) -> Option<Bytes> {
        self.by.iter().find(|(nodes, _)| nodes.contains(&node)).map(|(_, size)| *size)
    }
}

/// What a traffic source creates when.
#[derive(Clone, Debug)]
pub enum TrafficKind {
    /// Random messages.
    Random(Generator),
    /// These.
    Listed(Arc<Vec<ListedMessage>>),
}

/// A message that is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedMessage {
    /// Its name.
    pub name: String,
    /// When it is created.
    pub at: Instant,
    /// Where.
    pub from: u32,
    /// Its destination.
    pub to: u32,
    /// Its size.
    pub size: Bytes,
    /// Its own lifetime.
    pub lifetime: Option<Duration>,
}

/// Random messages, drawn as The ONE draws them: interval first; then, for each message, source,
/// destination (again until it is another node), size and the interval to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// Names of messages begin with it; it names the random stream.
    pub prefix: String,
    /// Who sends to whom.
    pub shape: Shape,
    /// Time between messages.
    pub interval: Interval,
    /// Sizes in bytes, the upper end excluded unless both are equal.
    pub size: Bounds<u64>,
    /// Sources. A node beyond the last may be drawn, as in The ONE; its messages are skipped.
    pub from: Vec<u32>,
    /// Destinations, likewise.
    pub to: Vec<u32>,
    /// The first interval begins here.
    pub start: Instant,
    /// None is created later, the first one excepted as in The ONE.
    pub end: Instant,
    /// Whose draws.
    pub draws: Draws,
    /// Seeds The ONE's draws in place of the prefix.
    pub seed: Option<i32>,
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A random source to a random destination.
    Pairs,
    /// Every source to every destination at once, again after each interval.
    Burst,
    /// Every source once, in random order.
    OneFromEach,
    /// Every destination once, in random order.
    OneToEach,
    /// All sources at once to one destination each, again after each interval, without end: The ONE's ping application.
    /// There all sources draw the same destination, themselves included.
    Ping,
}

/// Time between messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// Whole seconds, the upper end excluded unless both are equal: The ONE's.
    WholeSeconds(Bounds<u64>),
    /// Any time between the ends.
    Uniform(Bounds<Duration>),
    /// Exponential with this mean: a Poisson process.
    Exponential(Duration),
}

/// A message of a run. Replies have [`Instant::MAX`] as the time of their creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name.
    pub name: String,
    /// The bundle that carries it.
    pub bundle: Bundle,
}

/// One of The ONE's report files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its class, like `MessageStatsReport`.
    pub class: String,
    /// Where it is asked for.
    pub place: Place,
    /// The file it goes to, as the settings say or as The ONE would name it.
    pub output: PathBuf,
    /// What is created before this instant does not count.
    pub warmup: Duration,
    /// Decimals.
    pub precision: u32,
    /// Every other setting of its class, for reports with settings of their own.
    pub settings: Vec<(String, String)>,
}

impl Scenario {
    /// Its name, duration and seed.
    pub fn head(&self) -> &Head {
        match self {
            Self::Bundles(network) => &network.head,
            Self::Packets(network) => &network.head,
            Self::Names(network) => &network.head,
        }
    }
    /// Its nodes, contacts and traffic, if it is one of bundles.
    pub fn bundles(&self) -> Option<&BundleNetwork> {
        if let Self::Bundles(network) = self { Some(network) } else { None }
    }
    /// Its links and flows, if it is one of packets.
    pub fn packets(&self) -> Option<&Network> {
        if let Self::Packets(network) = self { Some(network) } else { None }
    }
}

impl Head {
    /// The number that a seed stands for.
    pub fn seed_number(&self, seed: Seed) -> u64 {
        match seed {
            Seed::Own => self.own_seed,
            Seed::Number(number) => number,
        }
    }
    /// The end of a run.
    pub fn until(&self) -> Instant {
        Instant::ZERO.saturating_add(self.duration)
    }
}

impl BundleNetwork {
    /// Has positions recorded for a drawing, where the scenario says nothing of them: at 2,000 times, a second apart or more.
    pub fn record_positions(&mut self) {
        let every = (self.head.duration.as_nanos() / 2_000).max(1_000_000_000);
        self.positions_every.get_or_insert(Duration::from_nanos(every));
    }
    /// How many nodes there are.
    pub fn node_count(&self) -> u32 {
        self.groups.iter().map(Group::count).sum()
    }
    /// The names of all nodes, by number.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().flat_map(|group| group.nodes.iter().map(String::as_str))
    }
    /// The group of a node.
    pub fn group_of(&self, node: u32) -> Option<&Group> {
        let mut rest = node;
        self.groups.iter().find(|group| {
            let inside = rest < group.count();
            rest = rest.wrapping_sub(if inside { 0 } else { group.count() });
            inside
        })
    }
}

impl Group {
    /// Whether its router can't do without a contact plan.
    pub fn insists_on_plan(&self) -> bool {
        self.router.entry.only_with.iter().any(|what| what == CONTACT_PLAN)
    }
    /// How many nodes it has.
    pub fn count(&self) -> u32 {
        // Readers bound the number of nodes far below.
        self.nodes.len() as u32
    }
}

impl ContactSource {
    /// From its contacts, without a note.
    pub fn new(name: String, list: Vec<ScheduledContact>, is_plan: bool) -> Self {
        let key = fingerprint(&list);
        let known = Known::default();
        Self { name, list: Arc::new(list), key, is_plan, known, happens: true, note: None, file: None }
    }
}

/// FNV-1a of 128 bits over all that matters of the contacts.
fn fingerprint(list: &[ScheduledContact]) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut add = |value: u64| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    };
    for contact in list {
        add(u64::from(contact.a) << 32 | u64::from(contact.b));
        add(contact.start.as_nanos() as u64);
        add(contact.end.as_nanos() as u64);
        for way in [&contact.forward, &contact.backward] {
            add(way.rate.0);
            match &way.delay {
                Delay::Constant(delay) => add(delay.as_nanos() as u64),
                Delay::Table(rows) => {
                    add(rows.len() as u64 | 1 << 63);
                    rows.iter().for_each(|row| {
                        add(row.0.as_nanos() as u64);
                        add(row.1.as_nanos() as u64);
                    });
                }
            }
        }
    }
    hash
}

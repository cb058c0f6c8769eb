//! Networks of bundles that are drawn: how nodes meet, what they know of it beforehand, traffic, buffers, routers.
//!
//! A network is a pure function of seed and index. Indices take the kinds of [`KINDS`] by turns.

mod draw;
mod mobile;
mod planned;
mod timetable;
mod traffic;

use draw::{Draw, rounded};
use traffic::Traffic;

/// A drawn network, without a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name: seed and index.
    pub name: String,
    /// How its nodes meet: one of [`KINDS`].
    pub kind: &'static str,
    /// Name of the router of all nodes.
    pub router: &'static str,
    /// In words.
    pub described: String,
    /// The scenario in TOML, without a mechanism.
    pub text: String,
}

/// The name of a kind, and what draws its nodes and contacts.
type Kind = (&'static str, fn(&mut Draw) -> Layout);

/// Kinds of networks.
pub const KINDS: [Kind; 14] = [
    ("random walk", mobile::walk),
    ("planet: Mars", planned::mars),
    ("random waypoint", mobile::waypoint),
    ("low earth orbit", planned::low_earth_orbit),
    ("communities", mobile::communities),
    ("bus lines", timetable::bus_lines),
    ("moon", planned::moon),
    ("border to border", mobile::borders),
    ("ferries", timetable::ferries),
    ("planet: Jupiter", planned::jupiter),
    ("working days", timetable::working_days),
    ("hybrid of walkers and a satellite", planned::hybrid),
    ("data mules", timetable::data_mules),
    ("uneven pairs", timetable::uneven_pairs),
];

/// Nodes and contacts of a network.
pub struct Layout {
    /// In words.
    described: String,
    /// Nodes; the first group are the sinks.
    groups: Vec<Group>,
    /// Tables `[contacts.NAME]`.
    contacts: String,
    /// Duration in s.
    duration_s: f64,
    /// Rate of a usual contact, in bit/s.
    rate_bit_s: f64,
    /// Duration of a usual contact, in s.
    contact_s: f64,
    /// Usual number of contacts of a node during the run.
    contacts_of_node: f64,
    /// Bytes that all contacts of the run can carry.
    capacity_bytes: f64,
    /// Whether nodes know contacts beforehand.
    planned: bool,
    /// What transfers share: `world.radio`.
    radio: &'static str,
    /// Probability that a contact does not take place.
    contacts_fail: f64,
}

impl Layout {
    /// Number of nodes.
    fn nodes(&self) -> u32 {
        self.groups.iter().map(|group| group.count).sum()
    }
    /// Bytes that a usual contact carries.
    fn contact_bytes(&self) -> f64 {
        self.rate_bit_s * self.contact_s / 8.0
    }
}

/// Nodes that are alike.
pub struct Group {
    /// Name of its table.
    name: &'static str,
    /// Number of nodes.
    count: u32,
    /// Lines of the table beside count and buffer: mobility and radio.
    lines: String,
}

impl Group {
    fn new(name: &'static str, count: u32, lines: String) -> Self {
        Self { name, count, lines }
    }
    /// Without mobility: contacts are in tables.
    fn still(name: &'static str, count: u32) -> Self {
        Self::new(name, count, String::new())
    }
}

/// A router: its name, and its value in TOML.
type Router = (&'static str, &'static str);

const EPIDEMIC: Router = ("epidemic", "\"epidemic\"");
const PROPHET: Router = ("prophet", "\"prophet\"");
const SPRAY: Router = ("spray_and_wait", "{ name = \"spray_and_wait\", copies = 8 }");
const CONTACT_GRAPH: Router = ("contact_graph", "\"contact_graph\"");
/// Where nodes know no contacts beforehand.
const ROUTERS: [Router; 8] = [
    EPIDEMIC,
    EPIDEMIC,
    PROPHET,
    ("prophet_v2", "\"prophet_v2\""),
    SPRAY,
    ("max_prop", "\"max_prop\""),
    ("first_contact", "\"first_contact\""),
    ("direct", "\"direct\""),
];
/// Where they do.
const ROUTERS_PLANNED: [Router; 6] = [EPIDEMIC, EPIDEMIC, PROPHET, SPRAY, CONTACT_GRAPH, CONTACT_GRAPH];
/// Transfers of a run of nodes that move.
const TRANSFERS_BUDGET: f64 = 60_000.0;

/// The network with this index under this seed.
pub fn drawn(seed: u64, index: u64) -> Network {
    let mut draw = Draw::new(seed, index);
    let (kind, layout) = KINDS[(index % KINDS.len() as u64) as usize];
    let layout = layout(&mut draw);
    let router = draw.pick(if layout.planned { &ROUTERS_PLANNED[..] } else { &ROUTERS[..] });
    let traffic = Traffic::drawn(&mut draw, &layout);
    let name = format!("s{seed}_n{index}");
    let tables = [head(&name, router, &layout), traffic.text(&layout), layout.contacts.clone()];
    let described = format!("{}; {}", layout.described, traffic.described(&layout));
    Network { name, kind, router: router.0, described, text: tables.concat() }
}

/// The network of a name in the table of runs.
pub fn named(name: &str) -> Option<Network> {
    let (seed, index) = name.strip_prefix('s')?.split_once("_n")?;
    Some(drawn(seed.parse().ok()?, index.parse().ok()?))
}

fn head(name: &str, (_, router): Router, layout: &Layout) -> String {
    format!(
        "name = \"{name}\"\nduration = \"{} s\"\nrouter = {router}\n\n\
         [world]\nradio = \"{}\"\ncontrol = \"carried\"\ncontacts_fail = {}\n\n",
        layout.duration_s, layout.radio, layout.contacts_fail,
    )
}

/// A duration in s in which a network of this many contacts per second makes few enough transfers, each contact
/// `carries` of them.
fn affordable(wanted_s: f64, contacts_per_s: f64, carries: f64) -> f64 {
    rounded(wanted_s.min(TRANSFERS_BUDGET / (contacts_per_s * carries.clamp(1.0, 20.0))))
}

//! Networks of bundles, drawn from all that users bring: how nodes meet, what a plan says of it, traffic, buffers, routers.
//!
//! A network is a pure function of seed and index. Indices take the kinds of [`KINDS`] by turns.

mod mobile;
mod planned;
mod timetable;

use lightlag_protocols::math;
use lightlag_protocols::rng::Stream;
use std::fmt::Write as _;

/// A drawn network, without a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// How its nodes meet: one of [`KINDS`].
    pub kind: &'static str,
    /// Router of all nodes, as a value in TOML.
    pub router: &'static str,
    /// In words.
    pub described: String,
    /// The scenario without mechanism.
    pub text: String,
}

/// How the nodes of a kind meet, and who sends to whom.
pub type Kind = (&'static str, fn(&mut Draw) -> Layout);

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
    /// Tables `[nodes.NAME]` without buffers, with their number of nodes; the first is that of sinks.
    groups: Vec<Group>,
    /// Further tables: contacts.
    contacts: String,
    /// Seconds.
    duration_s: f64,
    /// Bit/s of a usual contact.
    rate_bit_s: f64,
    /// Seconds of a usual contact.
    contact_s: f64,
    /// Usual contacts of one node during the run.
    contacts_of_node: f64,
    /// Bytes that all contacts of the run can carry.
    capacity_bytes: f64,
    /// Whether there is a contact plan.
    planned: bool,
    /// What radios are.
    radio: &'static str,
    /// Probability that a contact does not take place.
    contacts_fail: f64,
}

/// Nodes that are alike.
pub struct Group {
    name: &'static str,
    count: u32,
    /// Lines of the table.
    lines: String,
}

impl Group {
    fn new(name: &'static str, count: u32, lines: String) -> Self {
        Self { name, count, lines }
    }
}

/// Draws of one network.
pub struct Draw(Stream);

impl Draw {
    /// From `low` to `high`, by orders of magnitude.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        rounded(low * math::pow(high / low, self.0.unit()))
    }
    fn whole(&mut self, low: f64, high: f64) -> u32 {
        (low * math::pow((high + 1.0) / low, self.0.unit())).floor() as u32
    }
    fn between(&mut self, low: f64, high: f64) -> f64 {
        rounded(self.0.uniform(low, high))
    }
    fn chance(&mut self, share: f64) -> bool {
        self.0.unit() < share
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }
    /// An exponential interval of this mean.
    fn wait(&mut self, mean: f64) -> f64 {
        -mean * std::f64::consts::LN_2 * math::log2(1.0 - self.0.unit())
    }
}

/// With three digits.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = math::pow(10.0, 2.0 - math::log10(value).floor());
    math::rint(value * unit) / unit
}

const ROUTERS: [&str; 8] = [
    "epidemic",
    "epidemic",
    "prophet",
    "prophet_v2",
    "{ name = \"spray_and_wait\", copies = 8 }",
    "max_prop",
    "first_contact",
    "direct",
];
const ROUTERS_PLANNED: [&str; 6] = [
    "epidemic",
    "epidemic",
    "prophet",
    "{ name = \"spray_and_wait\", copies = 8 }",
    "contact_graph",
    "contact_graph",
];
/// Contacts of a run, each counted by the bundles of 100 kB that it carries.
const BUDGET_TRANSFERS: f64 = 60_000.0;
/// Bundles that all contacts of a run can carry.
const MOST_TRANSFERS: f64 = 200_000.0;
/// Seeds of each network.
pub const SEEDS: u64 = 3;

/// The network with this index under this seed.
pub fn drawn(seed: u64, index: u64) -> Network {
    let mut draw = Draw(Stream::new(seed, "networks", index));
    let (kind, layout) = KINDS[(index % KINDS.len() as u64) as usize];
    let layout = layout(&mut draw);
    let router = draw.pick(if layout.planned { &ROUTERS_PLANNED[..] } else { &ROUTERS[..] });
    let name = format!("s{seed}_n{index}");
    let (traffic, described) = traffic(&mut draw, &layout);
    let mut text = format!(
        "name = \"{name}\"\nduration = \"{} s\"\nrouter = {}\n\n[world]\nradio = \"{}\"\ncontrol = \"carried\"\ncontacts_fail = {}\n\n",
        layout.duration_s,
        if router.starts_with('{') { router.to_owned() } else { format!("\"{router}\"") },
        layout.radio,
        layout.contacts_fail,
    );
    text += &traffic;
    text += &layout.contacts;
    Network { name, kind, router, described: format!("{}; {described}", layout.described), text }
}

/// Tables of nodes with buffers, and of traffic.
fn traffic(draw: &mut Draw, layout: &Layout) -> (String, String) {
    let nodes: u32 = layout.groups.iter().map(|group| group.count).sum();
    let most = (layout.rate_bit_s * layout.contact_s / 8.0).max(2000.0);
    let size = draw.log(1e3, 1e6).min(rounded(most / 3.0)).max(rounded(layout.capacity_bytes / MOST_TRANSFERS)).round();
    let mixed = draw.chance(0.25);
    let largest = if mixed { 8.0 * size } else { size };
    let carries = (layout.rate_bit_s * layout.contact_s / 8.0 / size).max(1.0);
    let per_node = layout.contacts_of_node.max(1.0);
    // From a tenth of what could be carried by single copies to ten times as much.
    let bundles = draw.log(0.1, 10.0) * f64::from(nodes) * per_node.sqrt() * carries.sqrt();
    let bundles = bundles.clamp(150.0, 2500.0).round();
    let unequal = draw.chance(0.3);
    let lifetime = rounded(layout.duration_s * draw.log(0.05, 2.0));
    // A buffer holds this share of the bundles that are alive at one time.
    let alive = bundles * (lifetime / layout.duration_s).min(1.0);
    let buffer = rounded((draw.log(0.005, 1.0) * alive * size).max(2.0 * largest)).round();
    let mut text = String::new();
    for (number, group) in layout.groups.iter().enumerate() {
        let buffer = if unequal && number % 2 == 1 { (buffer / 5.0).max(1.2 * largest).round() } else { buffer };
        let _ = write!(
            text,
            "[nodes.{}]\ncount = {}\nfirst = 1\nbuffer = \"{buffer} B\"\n{}\n",
            group.name, group.count, group.lines
        );
    }
    let pattern = draw.pick(&["uniform", "uniform", "sink", "hot spot", "burst"]);
    let all = layout.groups.iter().map(|group| group.name).collect::<Vec<_>>().join(", ");
    let first = layout.groups[0].name;
    let span = 0.75 * layout.duration_s;
    let mut flow = |name: &str, from: &str, to: &str, count: f64, size: f64, lifetime: f64| {
        let (start, span) = if pattern == "burst" { (0.2 * layout.duration_s, 0.1 * layout.duration_s) } else { (0.0, span) };
        let every = span / count.max(1.0);
        let _ = write!(
            text,
            "[traffic.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ninterval = \"{}..{} s\"\narrivals = \"uniform\"\n\
             size = \"{}..{} B\"\nlifetime = \"{lifetime} s\"\nstart = \"{start} s\"\nend = \"{} s\"\nprefix = \"{name}\"\n\n",
            rounded(0.5 * every),
            rounded(1.5 * every),
            (0.7 * size).round(),
            (1.3 * size).round(),
            start + span,
        );
    };
    let to = if pattern == "sink" { first } else { &all };
    if mixed {
        flow("small", &all, to, 0.8 * bundles, size / 3.0, lifetime);
        flow("large", &all, to, 0.2 * bundles, 6.0 * size, rounded(2.0 * lifetime));
    } else if pattern == "hot spot" {
        flow("most", &all, first, 0.6 * bundles, size, lifetime);
        flow("rest", &all, &all, 0.4 * bundles, size, lifetime);
    } else {
        flow("usual", &all, to, bundles, size, lifetime);
    }
    let sizes = if mixed { ", small and large" } else { "" };
    let rooms = if unequal { ", unequal" } else { "" };
    let described = format!(
        "{nodes} nodes; {bundles} bundles of {} kB{sizes}, {pattern}; lifetime {lifetime} s of {} s; buffers of {:.0} bundles{rooms}",
        rounded(size / 1e3),
        layout.duration_s,
        buffer / size
    );
    (text, described)
}

/// A duration in which a network of this many contacts per second makes few enough transfers.
fn affordable(wanted_s: f64, contacts_per_s: f64, carries: f64) -> f64 {
    rounded(wanted_s.min(BUDGET_TRANSFERS / (contacts_per_s * carries.clamp(1.0, 20.0))))
}

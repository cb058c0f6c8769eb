//! Where the mechanisms meet: the comparative study's grid, and one of stress.
//!
//! Every axis begins at a scenario file and changes one thing at a time; no two axes share a cell.

/// A key of a scenario and its value in TOML.
pub type Set = (&'static str, &'static str);
/// What is different in a cell: its name, and what is set.
pub type Change = (&'static str, &'static [Set]);
/// A router: its name, and its value in TOML.
pub type Router = (&'static str, &'static str);

/// The comparative study's grid, that of stress, and recorded contacts.
pub const PAPER: &str = "paper";
pub const STRESS: &str = "stress";
pub const RECORDED: &str = "traces";

/// Cells that differ in one thing.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Which grid.
    pub grid: &'static str,
    /// Which of the heat maps below each other.
    pub world: &'static str,
    /// Where nodes are, and how they move.
    pub place: &'static str,
    /// The scenario file, below `scenarios`.
    pub file: &'static str,
    /// What is set in all cells.
    pub set: Vec<Set>,
    /// Under which routers.
    pub routers: &'static [Router],
    /// The cells.
    pub changes: Vec<Change>,
    /// What sets the buffers.
    pub buffers: &'static [&'static str],
    /// What is set in a quick look, which has the first and the last change; none: it leaves the axis out.
    pub quick: Option<&'static [Set]>,
}

const EPIDEMIC: Router = ("epidemic", "epidemic");
const PROPHET: Router = ("prophet", "prophet");
/// It makes no more than ten copies.
pub const SPRAY: Router = ("spray_and_wait", "{ name = \"spray_and_wait\", copies = 10 }");
const PLANNED: Router = ("contact_graph", "contact_graph");
/// Those of the paper.
pub const ROUTERS: &[Router] = &[EPIDEMIC, PROPHET, SPRAY];
/// Between Earth and Mars, where prophet takes ten times as long to run as the others.
const ON_A_PLAN: &[Router] = &[EPIDEMIC, SPRAY, PLANNED];

const INTERVAL: &str = "traffic.messages.interval";
const LIFETIME: &str = "traffic.messages.lifetime";
const CONTACTS: &str = "contacts.plan.file";
pub const BUFFER: &str = "buffer";
/// Where all nodes have the same.
pub const BUFFERS_OF_ALL: &[&str] = &[BUFFER];
const BUFFERS_TO_MARS: &[&str] = &[
    "nodes.mission_control.buffer",
    "nodes.goldstone.buffer",
    "nodes.canberra.buffer",
    "nodes.madrid.buffer",
    "nodes.sun_synchronous_orbiter.buffer",
    "nodes.inclined_orbiter.buffer",
    "nodes.jezero_rover.buffer",
    "nodes.gale_rover.buffer",
];
const DURATION: &str = "duration";
const RATE: &str = "radio.rate";

/// A message every so often, as in the paper.
const LOADS: &[Change] = &[
    ("1..100 s", &[(INTERVAL, "1..100 s")]),
    ("1..200 s", &[(INTERVAL, "1..200 s")]),
    ("1..300 s", &[(INTERVAL, "1..300 s")]),
    ("1..400 s", &[(INTERVAL, "1..400 s")]),
    ("1..500 s", &[(INTERVAL, "1..500 s")]),
];
/// The one that its other figures have.
const ONE_LOAD: &[Change] = &[("1..300 s", &[(INTERVAL, "1..300 s")])];
/// Its table says larger buffers than the captions of its figures.
const LOADS_OF_TABLE_4: &[Change] = &[
    ("1..100 s, 1000 kB", &[(INTERVAL, "1..100 s"), (BUFFER, "1000 kB")]),
    ("1..200 s, 1000 kB", &[(INTERVAL, "1..200 s"), (BUFFER, "1000 kB")]),
    ("1..300 s, 1000 kB", &[(INTERVAL, "1..300 s"), (BUFFER, "1000 kB")]),
    ("1..400 s, 1000 kB", &[(INTERVAL, "1..400 s"), (BUFFER, "1000 kB")]),
    ("1..500 s, 1000 kB", &[(INTERVAL, "1..500 s"), (BUFFER, "1000 kB")]),
];
const GAPS: &[Change] = &[
    ("gaps of 2000 s", &[(CONTACTS, "../papers/contacts/S_Contact2.csv")]),
    ("gaps of 3000 s", &[(CONTACTS, "../papers/contacts/S_Contact3.csv")]),
    ("gaps of 4000 s", &[(CONTACTS, "../papers/contacts/S_Contact4.csv")]),
    ("gaps of 5000 s", &[(CONTACTS, "../papers/contacts/S_Contact5.csv")]),
];
const LENGTHS: &[Change] = &[
    ("contacts of 2000 s", &[(CONTACTS, "../papers/contacts/S_Dur2000.csv")]),
    ("contacts of 3000 s", &[(CONTACTS, "../papers/contacts/S_Dur3000.csv")]),
    ("contacts of 4000 s", &[(CONTACTS, "../papers/contacts/S_Dur4000.csv")]),
    ("contacts of 5000 s", &[(CONTACTS, "../papers/contacts/S_Dur5000.csv")]),
];
/// But 4000 kB, with which the others run.
const BUFFERS: &[Change] = &[
    ("1000 kB", &[(BUFFER, "1000 kB")]),
    ("2000 kB", &[(BUFFER, "2000 kB")]),
    ("3000 kB", &[(BUFFER, "3000 kB")]),
    ("5000 kB", &[(BUFFER, "5000 kB")]),
    ("6000 kB", &[(BUFFER, "6000 kB")]),
    ("7000 kB", &[(BUFFER, "7000 kB")]),
    ("8000 kB", &[(BUFFER, "8000 kB")]),
];

/// Ten times the paper's.
const TENFOLD: &[Change] = &[
    ("1..10 s", &[(INTERVAL, "1..10 s")]),
    ("1..20 s", &[(INTERVAL, "1..20 s")]),
    ("1..30 s", &[(INTERVAL, "1..30 s")]),
    ("1..40 s", &[(INTERVAL, "1..40 s")]),
    ("1..50 s", &[(INTERVAL, "1..50 s")]),
];
const CONTACTS_FAIL: Change = ("a fifth of the contacts fails", &[("world.contacts_fail", "0.2")]);
const NODES_VANISH: Change = ("a fifth of the nodes vanishes", &[("world.nodes_vanish", "0.2")]);
const PLANETS_UNDER_STRESS: &[Change] = &[
    ("lives 10 min", &[(LIFETIME, "10 min")]),
    ("lives 1 h", &[(LIFETIME, "1 h")]),
    ("lives 3 h", &[(LIFETIME, "3 h")]),
    ("lives 6 h", &[(LIFETIME, "6 h")]),
    ("a tenth of the rate", &[(CONTACTS, "contacts/tenth_rate.csv")]),
    ("a hundredth of the rate", &[(CONTACTS, "contacts/hundredth_rate.csv")]),
    ("a tenth of the buffer", &[(BUFFER, "400 kB")]),
    ("ten times the buffer", &[(BUFFER, "40 MB")]),
    CONTACTS_FAIL,
    NODES_VANISH,
];
/// From the paper's heaviest load and the buffers of its table.
const WALKERS_UNDER_STRESS: &[Change] = &[
    ("lives 10 min", &[(LIFETIME, "10 min")]),
    ("lives 30 min", &[(LIFETIME, "30 min")]),
    ("lives 1 h", &[(LIFETIME, "1 h")]),
    ("a tenth of the rate", &[(RATE, "250 kbit/s")]),
    ("a tenth of the buffer", &[(BUFFER, "100 kB")]),
    ("ten times the buffer", &[(BUFFER, "10 MB")]),
    CONTACTS_FAIL,
    NODES_VANISH,
];
const NODES: &str = "nodes.n.count";
const AREA: &str = "mobility.area";
/// Fifty walkers have a square kilometre and the heaviest load; others as much each. Five hundred take a quarter of the
/// time of the whole study.
const SIZES: &[Change] = &[
    ("5 nodes", &[(NODES, "5"), (AREA, "316 m x 316 m"), (INTERVAL, "1..1000 s")]),
    ("20 nodes", &[(NODES, "20"), (AREA, "632 m x 632 m"), (INTERVAL, "1..250 s")]),
    ("200 nodes", &[(NODES, "200"), (AREA, "2 km x 2 km"), (INTERVAL, "1..25 s")]),
];
const AS_IT_IS: &[Change] = &[("as it is", &[])];
const MARS: &[Change] = &[
    ("as it is", &[]),
    ("lives 6 h", &[("traffic.jezero.lifetime", "6 h"), ("traffic.gale.lifetime", "6 h")]),
];

/// Where nodes meet seldom.
pub const STREETS: &str = "streets";
/// How walkers move, and for how long under stress: on the map they meet so rarely that two hours say nothing.
const MOBILITIES: [(&str, Set, &str); 4] = [
    ("random waypoint", ("mobility.initial", "stationary_distribution"), "2 h"),
    (
        "random walk",
        ("mobility", r#"{ model = "random_walk", area = "1 km x 1 km", speed = "0.5..1.5 m/s" }"#),
        "2 h",
    ),
    ("random walk as described", ("mobility.pause", "0 s"), "2 h"),
    (
        STREETS,
        (
            "mobility",
            r#"{ model = "shortest_path_map", map = "../papers/maps/grid.wkt", speed = "0.5..1.5 m/s", pause = "0..120 s" }"#,
        ),
        "4 h",
    ),
];
const PROPAGATIONS: [(&str, &str); 2] =
    [("planets", "pipelined"), ("planets, stop and wait", "stop_and_wait")];

/// Where runs take no time.
pub const BETWEEN_PLANETS: &str = "between planets";
/// Where there are walkers.
pub const ON_EARTH: &str = "on Earth";
const REAL_PLACES: &str = "real places";
const PLANETS: &str = "universal/planets.toml";
const WALKERS: &str = "universal/walkers.toml";
/// Files of the places.
pub const EARTH_MARS: &str = "earth_mars.toml";
pub const HELSINKI: &str = "helsinki.toml";
/// Where the map of Helsinki is put by who fetches it.
pub const HELSINKI_MAP: &str = "out/maps/helsinki.osm.pbf";

/// All axes of both grids, those of Helsinki if its map is here.
pub fn axes(helsinki: bool) -> Vec<Axis> {
    let stress = [planets_under_stress(), walkers_under_stress(), real_places(helsinki)];
    [paper_planets(), paper_walkers()].into_iter().chain(stress).flatten().collect()
}

fn paper_planets() -> Vec<Axis> {
    let of = |(place, propagation): (&'static str, &'static str)| {
        let all: [(&[Router], &[Change]); 5] = [
            (&[EPIDEMIC], LOADS),
            (&[PROPHET, SPRAY], ONE_LOAD),
            (ROUTERS, GAPS),
            (ROUTERS, BUFFERS),
            (ROUTERS, LENGTHS),
        ];
        all.map(|(routers, changes)| Axis {
            grid: PAPER,
            world: BETWEEN_PLANETS,
            place,
            file: PLANETS,
            set: vec![("world.propagation", propagation)],
            routers,
            changes: changes.to_vec(),
            buffers: BUFFERS_OF_ALL,
            quick: Some(&[]),
        })
    };
    PROPAGATIONS.into_iter().flat_map(of).collect()
}

fn paper_walkers() -> Vec<Axis> {
    let of = |(place, mobility, _): (&'static str, Set, _)| Axis {
        grid: PAPER,
        world: ON_EARTH,
        place,
        file: WALKERS,
        set: vec![mobility],
        routers: ROUTERS,
        changes: LOADS.to_vec(),
        buffers: BUFFERS_OF_ALL,
        quick: Some(&[(DURATION, "2 h")]),
    };
    let table_4 = Axis { routers: &[EPIDEMIC], changes: LOADS_OF_TABLE_4.to_vec(), ..of(MOBILITIES[0]) };
    MOBILITIES.into_iter().map(of).chain([table_4]).collect()
}

fn planets_under_stress() -> Vec<Axis> {
    let of = |changes: &[Change]| Axis {
        grid: STRESS,
        world: BETWEEN_PLANETS,
        place: PROPAGATIONS[0].0,
        file: PLANETS,
        set: Vec::new(),
        routers: ROUTERS,
        changes: changes.to_vec(),
        buffers: BUFFERS_OF_ALL,
        quick: Some(&[]),
    };
    [TENFOLD, PLANETS_UNDER_STRESS].map(of).to_vec()
}

fn walkers_under_stress() -> Vec<Axis> {
    let of = |(place, mobility, duration): (&'static str, Set, &'static str)| Axis {
        grid: STRESS,
        world: ON_EARTH,
        place,
        file: WALKERS,
        set: vec![mobility, (DURATION, duration)],
        routers: ROUTERS,
        changes: TENFOLD.to_vec(),
        buffers: BUFFERS_OF_ALL,
        quick: Some(&[(DURATION, "1 h")]),
    };
    let from_table_4 = |mobility, changes: &[Change]| {
        let axis = of(mobility);
        let set = [&axis.set[..], &[(BUFFER, "1000 kB"), (INTERVAL, "1..100 s")]].concat();
        Axis { set, changes: changes.to_vec(), ..axis }
    };
    let [waypoint, walk, _, streets] = MOBILITIES;
    let mut all = [waypoint, walk, streets].map(of).to_vec();
    all.extend([waypoint, streets].map(|mobility| from_table_4(mobility, WALKERS_UNDER_STRESS)));
    all.push(from_table_4(waypoint, SIZES));
    all
}

fn real_places(helsinki: bool) -> Vec<Axis> {
    let of = |place, file, set, routers, changes: &[Change], buffers| Axis {
        grid: STRESS,
        world: REAL_PLACES,
        place,
        file,
        set,
        routers,
        changes: changes.to_vec(),
        buffers,
        quick: None,
    };
    let mut all = vec![of("Earth and Mars", EARTH_MARS, Vec::new(), ON_A_PLAN, MARS, BUFFERS_TO_MARS)];
    if helsinki {
        let set = vec![("nodes.walkers.mobility.map", HELSINKI_MAP)];
        all.push(of("Helsinki", HELSINKI, set, ROUTERS, AS_IT_IS, BUFFERS_OF_ALL));
    }
    all
}

//! Scenarios that are too large to run are refused with a line, and what is accepted keeps to its estimate.

use super::FACTOR;
use crate::{Catalogue, Point, Points, Scenario, ScenarioFile, Seed};
use lightlag_protocols::record;
use lightlag_protocols::rng::Stream;
use lightlag_protocols::time::Instant;
use lightlag_worlds::{messages, names, packets};
use std::path::{Path, PathBuf};

const LIMIT: f64 = 1e10;
const MEMORY: f64 = 4e9;
/// Of scenarios that are run here, so that a test takes seconds.
const RUN_EVENTS: f64 = 3e5;

fn points(file: &str, text: &str) -> Result<Points, String> {
    let catalogue = || Catalogue::default().into();
    let read = match file.ends_with(".toml") {
        true => ScenarioFile::from_toml(file, text, ".".into(), catalogue()),
        false => ScenarioFile::from_the_one(file, text.as_bytes(), ".".into(), catalogue()),
    };
    read.and_then(|file| file.points()).map_err(|error| error.to_string())
}

/// Counts all that happens.
struct Counter {
    seen: u64,
    most: u64,
}

impl Counter {
    fn see(&mut self) {
        self.seen += 1;
        assert!(self.seen < self.most, "there are more than {} events", self.most);
    }
}

impl record::bundles::Observer for Counter {
    fn on_record(&mut self, _: Instant, _: &record::bundles::Record) {
        self.see();
    }
}

impl record::packets::Observer for Counter {
    const PACKETS: bool = true;
    fn on_record(&mut self, _: Instant, _: &record::packets::Record) {
        self.see();
    }
}

impl record::names::Observer for Counter {
    const PACKETS: bool = true;
    fn on_record(&mut self, _: Instant, _: &record::names::Record) {
        self.see();
    }
}

/// Events of a whole run; none of what only a seed shows to be wrong.
fn events(scenario: &Scenario) -> Option<u64> {
    let most = (FACTOR * (scenario.head().estimate.events() + 100.0)) as u64 + 1;
    let (seed, mut counter) = (Seed::Number(1), Counter { seen: 0, most });
    match scenario {
        Scenario::Bundles(network) => messages::run(&network.setup(seed).ok()?, &mut counter),
        Scenario::Packets(network) => drop(packets::run(&network.setup(seed), &mut counter)),
        Scenario::Names(network) => drop(names::run(&network.setup(seed), &mut counter)),
    }
    Some(counter.seen)
}

const BUNDLES: &str = r#"
duration = "{3600} s"
router = "{ROUTER}"
mechanism = "none"
buffer = "{5e5!} B"
[world]
sample_every = "{600} s"
purge_every = "{60} s"
warmup = "{10} s"
[nodes.n]
count = {12!}
mobility = { model = "random_{MOVES}", area = "{500} m x {500} m", speed = "{1} m/s", pause = "{30} s" {LEG} }
radio = { range = "{50} m", {RADIO} }
[traffic.t]
interval = "{120} s"
arrivals = "exponential"
size = "{3e4!} B"
lifetime = "{1800} s"
"#;

const RADIOS: &[&str] = &[
    "rate = \"{1e6!} bit/s\"",
    "rate = \"{1e6!} bit/s\"",
    "rates = [\"{1e6!} bit/s\", \"{1e5!} bit/s\"]",
    "rate = \"{1e6!} bit/s\", interference = true",
    "rate = \"{1e6!} bit/s\", on = \"{60} s\", off = \"{60} s\", jitter = \"{10} s\"",
    "rates = [\"{1e6!} bit/s\", \"{1e5!} bit/s\"], on = \"{60} s\", off = \"{60} s\", scan_every = \"{5} s\"",
];

const PACKETS: &str = r#"
duration = "{10} s"
sample_every = "{1} s"
[links.path]
from = "a"
to = "b"
rate = "{1e6!} bit/s"
delay = "{0.01} s"
jitter = "{0.001} s"
queue = "{100!} packets"
[flows.f]
from = "a"
to = "b"
count = {2!}
apart = "{0.1} s"
{FLOW}
"#;

const FLOWS: &[&str] = &[
    "controller = \"cubic\"\nsize = \"{1e5!} B\"",
    "controller = \"cubic\"\nreceive_window = \"{1e5!} B\"",
    "controller = \"new_reno\"\nack_delay = \"{0.1} s\"\nrate = \"{1e5!} bit/s\"\non = \"{1} s\"\noff = \"{1} s\"",
    "transport = \"udpdtn\"\ncontroller = \"contact_rate\"\nsize = \"{1e5!} B\"\nplanned_rate = \"{1e5!} bit/s\"",
    "transport = \"ltp\"\ncontroller = \"contact_rate\"\nplanned_rate = \"plan\"\nsize = \"{1e5!} B\"\n\
     block_size = \"{1e4!} B\"\nreport_every = \"{0.5} s\"\ncheckpoint_every = \"{1e4!} B\"",
    "transport = \"dccp\"\ncontroller = \"ccid2\"\nack_delay = \"{0.1} s\"",
];

const NAMES: &str = r#"
duration = "{10} s"
sample_every = "{1} s"
[links.near]
from = "reader"
to = "router"
rate = "{1e6!} bit/s"
delay = "{0.01} s"
queue = "{100!} packets"
[links.far]
from = "router"
to = "library"
rate = "{1e6!} bit/s"
delay = "{0.02} s"
[nodes.router]
cache = "{1e5!} B"
pending = {1000!}
[producers.books]
at = "library"
prefix = "/books"
object = "{1e5!} B"
segment = "{1000!} B"
overhead = "{40!} B"
[consumers.one]
at = "{AT}"
count = {2!}
controller = "ledbat"
interest = "{24!} B"
lifetime = "{4} s"
timeout_least = "{0.2} s"
{WANTS}
"#;

const SETTINGS: &str = "\
Scenario.name = drawn
Scenario.updateInterval = {1}
Scenario.endTime = {3600}
Scenario.nrofHostGroups = 1
wifi.type = SimpleBroadcastInterface
wifi.transmitSpeed = {125000!}
wifi.transmitRange = {50}
Group.movementModel = Random{MOVES}
Group.router = {ROUTER}
Group.bufferSize = {500000!}
Group.waitTime = 0, {30}
Group.speed = 0.5, {1.5}
Group.msgTtl = {30!}
Group.nrofInterfaces = 1
Group.interface1 = wifi
Group.nrofHosts = {12!}
Group.groupID = p
ProphetRouter.secondsInTimeUnit = 30
SprayAndWaitRouter.nrofCopies = 6
SprayAndWaitRouter.binaryMode = true
Events.nrof = 1
Events1.class = MessageEventGenerator
Events1.interval = 1,{200!}
Events1.size = {30000!}
Events1.hosts = 0,{5!}
Events1.prefix = M
MovementModel.rngSeed = 1
MovementModel.worldSize = {500!}, {500!}
MovementModel.warmup = {10}
";

/// Each `{NUMBER}` stays as it is, or is drawn from 1e-12 to 1e18; with `!` it is whole.
fn drawn(text: &str, wild: f64, near: f64, draws: &mut Stream) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        let piece = after.split('}').next().unwrap_or_default();
        let Ok(usual) = piece.trim_end_matches('!').parse::<f64>() else {
            out.push('{');
            rest = after;
            continue;
        };
        rest = &after[piece.len() + 1..];
        let value = if draws.unit() < wild {
            10_f64.powf(-12.0 + 30.0 * draws.unit())
        } else {
            usual * 10_f64.powf(near * (2.0 * draws.unit() - 1.0))
        };
        if piece.ends_with('!') {
            out += &(value.max(1.0) as u64).to_string();
        } else {
            out += &format!("{value:e}");
        }
    }
    out + rest
}

fn one_of<'t>(list: &[&'t str], draws: &mut Stream) -> &'t str {
    list[draws.below(list.len() as u64) as usize]
}

/// A scenario of the n-th world, before its numbers are drawn.
fn template(world: usize, draws: &mut Stream) -> (&'static str, String) {
    match world {
        0 => {
            let routers = [
                "epidemic",
                "direct",
                "first_contact",
                "prophet",
                "prophet_v2",
                "max_prop",
                "spray_and_wait",
            ];
            let (moves, leg) = [("waypoint", ""), ("walk", ""), ("walk", ", leg = \"{1}..{50} m\"")]
                [draws.below(3) as usize];
            let text = BUNDLES.replace("{ROUTER}", one_of(&routers, draws)).replace("{MOVES}", moves);
            let text = text.replace("{RADIO}", one_of(RADIOS, draws));
            ("drawn.toml", text.replace("{LEG}", leg))
        }
        1 => ("drawn.toml", PACKETS.replace("{FLOW}", one_of(FLOWS, draws))),
        2 => {
            let wants = [
                "object = \"/books/a\"",
                "object = \"/books/a\"\nstop_after = {100!}",
                "catalogue = { prefix = \"/books\", objects = {100!} }\nstop_after = {100!}",
                "catalogue = { prefix = \"/books\", objects = {100!} }",
            ];
            let at = one_of(&["reader", "reader", "router", "library"], draws);
            ("drawn.toml", NAMES.replace("{WANTS}", one_of(&wants, draws)).replace("{AT}", at))
        }
        _ => {
            let routers = ["EpidemicRouter", "ProphetRouter", "SprayAndWaitRouter", "DirectDeliveryRouter"];
            let text = SETTINGS.replace("{ROUTER}", one_of(&routers, draws));
            ("drawn.txt", text.replace("{MOVES}", one_of(&["Waypoint", "Walk"], draws)))
        }
    }
}

/// What became of scenarios that were drawn.
#[derive(Default, Debug)]
struct Tally {
    refused: usize,
    accepted: usize,
    run: usize,
    beyond: usize,
    worst: f64,
}

fn draw_and_check(rounds: u64, wild: f64, near: f64) -> [Tally; 4] {
    let mut tallies: [Tally; 4] = Default::default();
    for round in 0..rounds {
        let draws = &mut Stream::new(7, "scenarios", round);
        let world = (round % 4) as usize;
        let (file, text) = template(world, draws);
        let text = drawn(&text, wild, near, draws);
        let tally = &mut tallies[world];
        match points(file, &text) {
            Err(line) => {
                assert!(line.lines().all(|line| line.starts_with("drawn.")), "{line}\n{text}");
                tally.refused += 1;
            }
            Ok(points) => {
                let scenario = &points.list[0].scenario;
                let (most, bytes) = (scenario.head().estimate.events(), scenario.head().estimate.bytes());
                assert!(most <= LIMIT && bytes <= MEMORY, "{most:e} events, {bytes:e} bytes\n{text}");
                tally.accepted += 1;
                if most > RUN_EVENTS || bytes > 1e8 {
                    continue;
                }
                let counted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| events(scenario)));
                let Ok(counted) = counted else {
                    println!("beyond {most:.0} events:\n{text}");
                    tally.beyond += 1;
                    continue;
                };
                let Some(count) = counted else { continue };
                tally.run += 1;
                // A run of nearly nothing has its start and its end.
                let ratio = count as f64 / (most + 100.0);
                tally.worst = tally.worst.max(ratio);
                assert!(ratio <= FACTOR, "{count} events where {most:.0} are estimated:\n{text}");
            }
        }
    }
    assert!(tallies.iter().all(|tally| tally.beyond == 0), "{tallies:?}");
    tallies
}

#[test]
fn whatever_numbers_a_scenario_has_it_is_refused_or_keeps_to_its_estimate() {
    for (wild, near) in [(0.5, 0.0), (0.15, 0.5), (0.03, 0.7)] {
        let tallies = draw_and_check(400, wild, near);
        println!("{wild} wild: {tallies:?}");
        assert!(wild > 0.4 || tallies.iter().all(|tally| tally.run > 0), "{tallies:?}");
    }
}

#[test]
#[ignore = "minutes; run by make torture"]
fn thousands_of_drawn_scenarios_are_refused_or_keep_to_their_estimates() {
    for (wild, near) in [(1.0, 0.0), (0.3, 0.5), (0.1, 1.0), (0.02, 1.0)] {
        let tallies = draw_and_check(8_000, wild, near);
        let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
        let worst = tallies.iter().map(|tally| tally.worst).fold(0.0, f64::max);
        println!(
            "torture: scenarios, {wild} of their numbers from 1e-12 to 1e18; {} run, at most {worst:.2} of the \
             estimated events; ; {} drawn, {} refused with a line",
            sum(|tally| tally.run),
            8_000,
            sum(|tally| tally.refused)
        );
    }
}

/// All files below `folder` with this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|end| end == ending) {
            found.push(path);
        }
    }
}

/// A line of an error about a file that is not part of the repository.
fn is_about_a_missing_file(line: &str) -> bool {
    line.contains("cannot find the file") && line.contains("/out/")
        || line.contains("names `data/") && line.contains("which does not exist")
        || line.contains("cannot read") && line.contains("/out/traces/")
}

#[test]
fn every_scenario_of_the_repository_keeps_within_the_limits() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut found = Vec::new();
    files(&scenarios, "toml", &mut found);
    files(&scenarios.join("the_one"), "txt", &mut found);
    let mut read = 0;
    for path in found {
        let points = match ScenarioFile::read(&[&path]).and_then(|file| file.points()) {
            Ok(points) => points,
            // Maps of real places are fetched by a script; The ONE's data and recorded traces by their users.
            Err(error) if error.to_string().lines().all(is_about_a_missing_file) => continue,
            Err(error) => panic!("{error}"),
        };
        let most = |of: fn(&Point) -> f64| points.list.iter().map(of).fold(0.0, f64::max);
        let events = most(|point| point.scenario.head().estimate.events());
        let bytes = most(|point| point.scenario.head().estimate.bytes());
        println!("{}: {events:.1e} events, {bytes:.1e} bytes", path.display());
        assert!(events * 2.0 < LIMIT && bytes * 2.0 < MEMORY, "{}", path.display());
        read += 1;
    }
    assert!(read > 20);
}

const WALKERS: &str = "duration = \"1 h\"\nrouter = \"epidemic\"\nbuffer = \"1 MB\"\n[nodes.w]\ncount = 10\n\
    mobility = { model = \"random_waypoint\", area = \"1 km x 1 km\", speed = \"1 m/s\" }\n\
    radio = { range = \"100 m\", rate = \"1 Mbit/s\" }\n[traffic.t]\ninterval = \"60 s\"\nsize = \"50 kB\"\n";

#[track_caller]
fn refused(file: &str, text: &str, needle: &str) {
    let line = points(file, text).expect_err(needle);
    assert!(line.contains(needle) && !line.contains('\n'), "{line}");
}

#[test]
fn what_nobody_can_run_is_refused_in_the_words_of_its_largest_part() {
    let changed = |from: &str, to: &str| {
        assert!(WALKERS.contains(from));
        WALKERS.replace(from, to)
    };
    for (from, to, needle) in [
        ("\"1 m/s\"", "\"2e8 m/s\"", "transfers"),
        ("\"1 km x 1 km\"", "\"1e-9 m x 1e-9 m\"", "moves"),
        ("\"random_waypoint\",", "\"random_walk\", leg = \"0..1e12 m\",", "moves"),
        ("count = 10", "count = 100000", "transfers"),
        ("size = \"50 kB\"", "size = \"1 B\"\nlifetime = \"1 h\"", ""),
        ("\"60 s\"", "\"0..1e-6 s\"", "messages"),
    ] {
        let text = changed(from, to);
        if needle.is_empty() {
            let text =
                text.replace("1 MB", "1 kB").replace("1 Mbit/s", "1e15 bit/s").replace("60 s", "0.001 s");
            refused("s.toml", &text, "transfers");
        } else {
            refused("s.toml", &text, needle);
        }
    }
    let known =
        changed("count = 10", "count = 20000\nrouter = \"prophet\"").replace("\"100 m\"", "\"0.1 m\"");
    refused("s.toml", &known, "what their routers know");
    let line = points("s.toml", &changed("\"1 m/s\"", "\"2e8 m/s\"")).unwrap_err();
    assert!(line.contains("a run takes at most 1e10 events, or raise `limits.events`"), "{line}");
}

#[test]
fn a_source_that_makes_data_faster_than_any_link_takes_them_is_refused() {
    // It is asked for each packet, whatever the link carries.
    let flow = "controller = \"new_reno\"\nrate = \"1e15 bit/s\"\non = \"1 s\"\noff = \"1 s\"";
    let text = PACKETS.replace("{FLOW}", flow);
    refused("s.toml", &drawn(&text, 0.0, 0.0, &mut Stream::new(1, "", 0)), "their packets");
}

#[test]
fn limits_can_be_raised_and_lowered_in_the_scenario_and_in_settings_of_the_one() {
    let fast = WALKERS.replace("\"1 m/s\"", "\"3e5 m/s\"");
    refused("s.toml", &fast, "raise `limits.memory`");
    assert!(points("s.toml", &(fast + "[limits]\nevents = 1e16\nmemory = \"1 TB\"\n")).is_ok());
    refused("s.toml", &format!("{WALKERS}[limits]\nevents = 10\n"), "at most 1e1 events");
    refused("s.toml", &format!("{WALKERS}[limits]\nmemory = \"1 kB\"\n"), "at most 1e3 bytes");
    refused("s.toml", &format!("{WALKERS}[limits]\nevent = 10\n"), "did you mean `events`?");
    let settings =
        drawn(&template(3, &mut Stream::new(1, "settings", 0)).1, 0.0, 0.0, &mut Stream::new(1, "", 0));
    assert!(points("s.txt", &settings).is_ok(), "{:?}", points("s.txt", &settings).err());
    refused("s.txt", &format!("{settings}Limits.events = 10\n"), "at most 1e1 events");
    refused("s.txt", &format!("{settings}Limits.memory = 1k\n"), "at most 1e3 bytes");
}

#[test]
fn small_files_that_would_grow_without_bound_are_refused() {
    let deep = |open: &str, close: &str| format!("x = {}1{}\n", open.repeat(100_000), close.repeat(100_000));
    for text in [
        deep("[", "]"),
        deep("{a=", "}"),
        format!("[{}a]\nb = 1\n", "a.".repeat(100_000)),
        format!("{}a = 1\n", "a.".repeat(100_000)),
    ] {
        refused("s.toml", &text, "s.toml");
    }
    let mut doubled = String::from("[parameters]\np0 = \"1 s\"\n");
    (1..60).for_each(|n| doubled += &format!("p{n} = {{ a = \"$p{0}\", b = \"$p{0}\" }}\n", n - 1));
    refused("s.toml", &format!("{WALKERS}{doubled}"), "values");
    let tables: String =
        (0..2_000).map(|n| format!("[traffic.m{n}]\ninterval = \"60 s\"\nsize = \"1 kB\"\n")).collect();
    refused("s.toml", &(WALKERS.replace("count = 10", "count = 200000") + &tables), "tables");
    let axis = |key: &str| {
        format!("{key} = [{}]\n", (1..=10).map(|n| format!("\"{n} s\"")).collect::<Vec<_>>().join(","))
    };
    let axes: String = ["tick", "purge_every", "warmup"].map(axis).concat();
    let many =
        WALKERS.replace("count = 10", "count = 100000\nrouter = \"direct\"").replace("\"100 m\"", "\"1 mm\"");
    let many = many.replace("\"1 mm\"", "\"0.001 m\"").replace("1 km x 1 km", "1e6 km x 1e6 km");
    refused("s.toml", &format!("{many}[limits]\nevents = 1e18\n[world]\n{axes}"), "points of the sweep");
    let catalogue = "catalogue = { prefix = \"/books\", objects = 10000000 }";
    let names = NAMES.replace("{AT}", "reader").replace("{WANTS}", catalogue);
    let text = drawn(&names, 0.0, 0.0, &mut Stream::new(1, "", 0));
    refused("s.toml", &(text.clone() + "[limits]\nmemory = \"1 GB\"\n"), "objects");
    let home = text.replace("at = \"reader\"", "at = \"library\"").replace("10000000", "10");
    refused("s.toml", &home, "Interests");
    let radio = |more: &str| WALKERS.replace("rate = \"1 Mbit/s\"", &format!("rate = \"1 Mbit/s\", {more}"));
    for time in ["1 ns", "1 us", "100 us"] {
        let switched = radio(&format!("on = \"{time}\", off = \"{time}\""));
        refused("s.toml", &switched, "a run takes at most");
        refused("s.toml", &switched.replace("100 m", "1 m"), "a run takes at most");
    }
}

#[test]
fn a_lifetime_of_thousands_of_years_is_no_end() {
    let settings =
        drawn(&template(3, &mut Stream::new(1, "settings", 0)).1, 0.0, 0.0, &mut Stream::new(1, "", 0));
    let points = points("s.txt", &settings.replace("msgTtl = 30", "msgTtl = 2000000000")).unwrap();
    assert_eq!(points.list[0].scenario.bundles().unwrap().groups[0].lifetime, None);
}

#[test]
fn settings_that_would_grow_without_bound_are_refused() {
    let settings =
        drawn(&template(3, &mut Stream::new(1, "settings", 0)).1, 0.0, 0.0, &mut Stream::new(1, "", 0));
    refused("s.txt", &"#".repeat(9 << 20), "at most 8 MiB");
    refused(
        "s.txt",
        &format!("{settings}GUI.a = {}\nScenario.name = {}\n", "x".repeat(9_000), "%%GUI.a%%".repeat(9_000)),
        "too long",
    );
    let runs = (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(";");
    refused("s.txt", &format!("{settings}MovementModel.rngSeed = [{runs}]\n"), "runs");
    let keys: String = (0..20_000).map(|n| format!("unknown{n}.x = 1\n")).collect();
    refused("s.txt", &format!("{settings}{keys}"), "settings");
}

//! The ONE's settings as TOML are the same run: contacts, records and report files.

use crate::skip::{reference, skip};
use lightlag_lab::run::{ContactsCache, Options, run};
use lightlag_protocols::record::bundles::{Observer, Record};
use lightlag_protocols::rng::mix;
use lightlag_protocols::time::Instant;
use lightlag_scenario::{Point, ScenarioFile, Seed};
use lightlag_worlds::messages;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// All records of a run, in a number.
struct Digest(u64);

impl Observer for Digest {
    fn on_record(&mut self, now: Instant, record: &Record) {
        for byte in format!("{now:?} {record:?}").bytes() {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }
}

/// What both files must agree in.
#[derive(Debug, PartialEq)]
struct Run {
    digest: u64,
    names: Vec<String>,
    messages: Vec<String>,
    figures: String,
    reports: Vec<(PathBuf, String)>,
}

/// The run of a point, or why it cannot be.
fn run_of(point: &Point, seed: Seed) -> Result<Run, String> {
    let network = point.scenario.bundles().unwrap();
    let seeded = network.seeded(seed).map_err(|error| error.what)?;
    let setup = network.setup(seed).map_err(|error| error.what)?;
    let mut digest = Digest(0);
    messages::run(&setup, &mut digest);
    let options = Options { judge: false, reports: true, ..Options::default() };
    let outcome = run(&point.scenario, seed, &ContactsCache::default(), &options).unwrap();
    let reports = outcome.reports;
    Ok(Run {
        digest: digest.0,
        names: network.node_names().map(str::to_owned).collect(),
        messages: seeded.messages.into_iter().map(|message| message.name).collect(),
        figures: outcome.figures.json(),
        reports: reports.into_iter().map(|(path, text)| (path, text.to_string())).collect(),
    })
}

/// Converts a file of settings, and compares the runs of its own seed and of another one.
fn check(settings: &Path, sets: &[(&str, &str)]) {
    let mut file = ScenarioFile::read(&[settings]).unwrap();
    sets.iter().for_each(|(key, value)| file.set(key, value).unwrap());
    let points = file.points().unwrap();
    let folder = settings.parent().unwrap();
    for (number, point) in points.list.iter().enumerate().take(2) {
        let text = file.to_toml(&points, point, folder).unwrap();
        let converted = folder.join(format!("converted{number}.toml"));
        fs::write(&converted, &text).unwrap();
        let toml = ScenarioFile::read(&[&converted]).unwrap();
        let again = toml.points().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(toml.seeds().unwrap(), file.seeds().unwrap(), "{text}");
        let [again] = &again.list[..] else { panic!("{} points\n{text}", again.list.len()) };
        for seed in [Seed::Own, Seed::Number(3)] {
            let [first, second] = [run_of(point, seed), run_of(again, seed)];
            assert!(first == second, "{seed:?}\n{}\n{text}\n{first:?}\n{second:?}", settings.display());
        }
        fs::remove_file(converted).unwrap();
    }
}

/// A map: a grid of streets with a side street, its places and its routes.
const ROADS: &str = "MULTILINESTRING ((0 0, 300 0, 600 0), (0 300, 300 300, 600 300), (0 0, 0 300), \
                     (300 0, 300 300), (600 0, 600 300))\n";
const SIDE: &str = "LINESTRING (600 300, 900 300)\nLINESTRING (900 300, 900 600)\n";
const STOPS: &str = "LINESTRING (0 0, 300 0, 600 300)\n";
const PLACES: &str = "POINT (0 300)\nPOINT (600 0)\nPOINT (300 300)\n";
const SAMPLES: &str =
    "0 900 0 500 0 500\n0 a 10 10\n0 b 50 60\n60 a 200 10\n60 b 50 90\n120 a 200 300\n120 b 400 90\n";
const PATHS: &str = "20 0 900 0 500 0 500\n0 10,5,5 60,400,5 200,400,5 260,5,300\n2 90,7,7 300,300,300\n\
                     3 0,30,30\n3 200,50,50 260,80,400\n";
const EVENTS: &str = "5 CONN 0 1 up\n7 C X1 0 1 20000\n300 CONN 0 1 down\n310 CONN n1 n2 up\n330 C X2 1 2 5k\n\
                      340 C X3 1 999 5k\n350 CONN 2 2 up\n360 S X1 0 1\n380 CONN 1 2 down\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in [
        ("roads.wkt", ROADS),
        ("side.wkt", SIDE),
        ("stops.wkt", STOPS),
        ("places.wkt", PLACES),
        ("samples.txt", SAMPLES),
        ("paths.txt", PATHS),
        ("active.txt", "0 0 300\n2 100 900\n3 0 900\n"),
        ("events.txt", EVENTS),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Movement models and what they need, with numbers drawn for it.
fn movement(group: &str, draw: &mut impl FnMut(u32) -> u32) -> String {
    let mut text = String::new();
    let mut set = |key: &str, value: String| writeln!(text, "{group}.{key} = {value}").unwrap();
    let models = [
        "RandomWaypoint",
        "RandomWalk",
        "RandomDirection",
        "ModifiedRandomDirection",
        "ClusterMovement",
        "LinearMovement",
        "LinearFormation",
        "GridLocation",
        "StationaryMovement",
        "MapBasedMovement",
        "ShortestPathMapBasedMovement",
        "MapRouteMovement",
        "BusMovement",
        "BusTravellerMovement",
        "WorkingDayMovement",
        "ExternalMovement",
        "ExternalPathMovement",
    ];
    let model = models[draw(models.len() as u32) as usize];
    set("movementModel", model.to_owned());
    set("clusterCenter", format!("{}, {}", draw(600), draw(600)));
    set("clusterRange", (20 + draw(200)).to_string());
    for line in ["LinearMovement", "LinearFormation"] {
        set(&format!("{line}.startLocation"), format!("{}, {}", draw(600), draw(600)));
        set(&format!("{line}.endLocation"), format!("{}, 601", draw(600)));
    }
    set("LinearMovement.initLocType", draw(2).to_string());
    set("LinearMovement.targetType", draw(2).to_string());
    set("GridLocation.rows", (1 + draw(3)).to_string());
    set("GridLocation.location", format!("{}.5, {}", draw(99), draw(99)));
    set("GridLocation.spacing", (10 + draw(99)).to_string());
    set("GridLocation.randomOffset", format!("{}.25", draw(9)));
    set("nodeLocation", format!("{}, {}", draw(600), draw(600)));
    if model == "ShortestPathMapBasedMovement" && draw(2) == 1 {
        set("pois", format!("1, 0.{}", draw(9)));
    }
    set("traceFile", "paths.txt".to_owned());
    set("activeFile", "active.txt".to_owned());
    if draw(3) == 0 {
        set("okMaps", "1".to_owned());
    }
    set("routeFile", "stops.wkt".to_owned());
    set("routeType", (1 + draw(2)).to_string());
    if draw(2) == 1 {
        set("routeFirstStop", draw(2).to_string());
    }
    set("busControlSystemNr", "1".to_owned());
    set("shoppingControlSystemNr", draw(3).to_string());
    set("probs", format!("0.{}, 0.5", draw(9)));
    set("probTakeOtherBus", format!("0.{}", draw(9)));
    set("ownCarProb", format!("0.{}", draw(9)));
    set("workDayLength", draw(900).to_string());
    set("probGoShoppingAfterWork", format!("0.{}", draw(9)));
    set("nrOfOffices", (1 + draw(4)).to_string());
    set("nrOfMeetingSpots", (1 + draw(4)).to_string());
    set("officeWaitTimeParetoCoeff", format!("0.{}", 1 + draw(9)));
    set("officeMinWaitTime", (1 + draw(50)).to_string());
    set("officeMaxWaitTime", if draw(2) == 0 { "-1".to_owned() } else { (60 + draw(900)).to_string() });
    set("officeSize", draw(100).to_string());
    set("timeDiffSTD", if draw(4) == 0 { "-1".to_owned() } else { draw(400).to_string() });
    set("minGroupSize", "1".to_owned());
    set("maxGroupSize", (1 + draw(4)).to_string());
    set("minAfterShoppingStopTime", draw(60).to_string());
    set("maxAfterShoppingStopTime", (60 + draw(60)).to_string());
    for (key, file) in
        [("homeLocationsFile", draw(2)), ("officeLocationsFile", draw(2)), ("meetingSpotsFile", draw(2))]
    {
        if file == 1 {
            set(key, "places.wkt".to_owned());
        }
    }
    text
}

/// What a group has beside its movement.
fn group(group: &str, draw: &mut impl FnMut(u32) -> u32) -> String {
    let mut text = movement(group, draw);
    let mut set = |key: &str, value: String| writeln!(text, "{group}.{key} = {value}").unwrap();
    let routers = [
        "EpidemicRouter",
        "SprayAndWaitRouter",
        "DirectDeliveryRouter",
        "FirstContactRouter",
        "ProphetRouter",
        "ProphetV2Router",
        "MaxPropRouter",
    ];
    set("router", routers[draw(routers.len() as u32) as usize].to_owned());
    set("nrofHosts", (1 + draw(5)).to_string());
    set("groupID", ["n", "p", "x y", "3", "n"][draw(5) as usize].to_owned());
    set("speed", format!("{}.{}, {}.75", draw(2), draw(9), 2 + draw(9)));
    set("waitTime", format!("{}, {}.5", draw(9), 9 + draw(99)));
    set("bufferSize", ["300k", "1M", "20k", "4G"][draw(4) as usize].to_owned());
    set("msgTtl", ["1", "3", "300", "-1", "1000000"][draw(5) as usize].to_owned());
    if draw(3) == 0 {
        set("deleteDelivered", "true".to_owned());
    }
    match draw(4) {
        0 => set("activeTimes", format!("{}, 200, 300, {}.5", draw(99), 310 + draw(300))),
        1 => set("activePeriods", format!("{}, {}", 1 + draw(200), draw(3) * draw(90))),
        _ => {}
    }
    match draw(4) {
        0 => set("net.activeTimes", format!("{}, 250", draw(99))),
        1 => {
            set("net.activePeriods", format!("{}, {}", 20 + draw(200), draw(90)));
            set("net.activePeriodsOffset", format!("{}", i64::from(draw(99)) - 50));
            set("net.activenessOffsetJitter", draw(30).to_string());
        }
        2 => set("net.scanInterval", format!("{}.3", draw(9))),
        _ => {}
    }
    if draw(6) == 0 {
        set("mechanism", "rrcc".to_owned());
        set("receipts", "true".to_owned());
    }
    let radios = draw(4);
    set("nrofInterfaces", radios.to_string());
    for (number, radio) in (1..=radios).zip(["wifi", "fast", ["wifi", "far"][draw(2) as usize]]) {
        set(&format!("interface{number}"), radio.to_owned());
    }
    text
}

const REPORTS: &[&str] = &[
    "MessageStatsReport",
    "ContactTimesReport",
    "ConnectivityONEReport",
    "EventLogReport",
    "DeliveredMessagesReport",
    "BufferOccupancyReport",
    "CreatedMessagesReport",
    "PingAppReporter",
];

fn traffic(hosts: u32, draw: &mut impl FnMut(u32) -> u32) -> String {
    let mut text = String::new();
    let sources = 1 + draw(3);
    writeln!(text, "Events.nrof = {sources}").unwrap();
    for number in 1..=sources {
        let mut set = |key: &str, value: String| writeln!(text, "Events{number}.{key} = {value}").unwrap();
        let classes = [
            "MessageEventGenerator",
            "MessageBurstGenerator",
            "OneFromEachMessageGenerator",
            "OneToEachMessageGenerator",
            "ExternalEventsQueue",
        ];
        let class = classes[draw(5) as usize];
        set("class", class.to_owned());
        if class == "ExternalEventsQueue" && hosts > 2 {
            set("filePath", "events.txt".to_owned());
            continue;
        }
        set("class", if class == "ExternalEventsQueue" { classes[0] } else { class }.to_owned());
        set("interval", format!("{}, {}", 5 + draw(20), 30 + draw(90)));
        set("size", format!("{}k, 40k", 1 + draw(39)));
        let first = draw(hosts - 1);
        // Hosts that do not exist may be drawn, too.
        set("hosts", format!("{first}, {}", first + 2 + draw(hosts)));
        if class.starts_with("OneFrom") || class.starts_with("OneTo") || draw(3) == 0 {
            set("tohosts", format!("0, {hosts}"));
        }
        set("prefix", format!("P{number}_"));
        if draw(3) == 0 {
            set("time", format!("{}, {}.5", draw(200), 200 + draw(900)));
        }
    }
    if draw(3) == 0 {
        text.push_str(
            "Group.nrofApplications = 1\nGroup.application1 = pinger\npinger.type = PingApplication\n",
        );
        writeln!(text, "pinger.interval = {}.5\npinger.offset = {}", 20 + draw(90), i64::from(draw(90)) - 40)
            .unwrap();
        // With `deleteDelivered` a copy comes and goes as fast as the link lets it: tens of thousands of times a
        // second where it has three bytes.
        writeln!(
            text,
            "pinger.destinationRange = 0, {hosts}\npinger.pingSize = {}\npinger.pongSize = 700",
            500 + draw(999)
        )
        .unwrap();
        writeln!(text, "pinger.seed = {}\npinger.passive = false", draw(9)).unwrap();
    }
    text
}

/// Settings, from the numbers that a seed draws.
fn settings(seed: u64, reports: &[&str]) -> String {
    let mut state = seed;
    let mut draw = |below: u32| {
        state = mix(state.wrapping_add(1));
        (state % u64::from(below.max(1))) as u32
    };
    let mut text = String::new();
    let tick = ["0.1", "0.5", "1", "2"][draw(4) as usize];
    writeln!(
        text,
        "Scenario.name = s{seed}\nScenario.endTime = {}\nScenario.updateInterval = {tick}",
        300 + draw(600)
    )
    .unwrap();
    writeln!(text, "Scenario.simulateConnections = {}", draw(8) > 0).unwrap();
    writeln!(text, "MovementModel.rngSeed = {}\nMovementModel.worldSize = 900, 700", i64::from(draw(9)) - 2)
        .unwrap();
    if draw(2) == 1 {
        writeln!(text, "MovementModel.warmup = {}", draw(300)).unwrap();
    }
    text.push_str("MapBasedMovement.nrofMapFiles = 2\nMapBasedMovement.mapFile1 = roads.wkt\n");
    text.push_str("MapBasedMovement.mapFile2 = side.wkt\nPointsOfInterest.poiFile1 = places.wkt\n");
    text.push_str("ExternalMovement.file = samples.txt\n");
    writeln!(text, "Optimization.randomizeUpdateOrder = {}", draw(4) > 0).unwrap();
    for (radio, class) in
        [("wifi", "Simple"), ("fast", ["Interference", "Simple"][draw(2) as usize]), ("far", "Distance")]
    {
        let class = match class {
            "Simple" => "SimpleBroadcastInterface",
            "Distance" => "DistanceCapacityInterface",
            _ => "InterferenceLimitedInterface",
        };
        writeln!(
            text,
            "{radio}.type = {class}\n{radio}.transmitRange = {}.5\n{radio}.transmitSpeed = {}k",
            10 + draw(90),
            1 + draw(250)
        )
        .unwrap();
        writeln!(text, "{radio}.transmitSpeeds = 100k, {}k, 0", draw(99)).unwrap();
    }
    text.push_str("SprayAndWaitRouter.nrofCopies = 4\nSprayAndWaitRouter.binaryMode = false\n");
    writeln!(
        text,
        "ProphetRouter.secondsInTimeUnit = {}\nProphetV2Router.secondsInTimeUnit = 30",
        1 + draw(60)
    )
    .unwrap();
    writeln!(text, "ProphetRouter.beta = 0.{}\nMaxPropRouter.alpha = 1.{}", 1 + draw(8), draw(8)).unwrap();
    let groups = 1 + draw(3);
    // Buses come first: passengers need some. Two hosts at least can send.
    text.push_str("Group1.movementModel = BusMovement\nGroup1.nrofHosts = 2\nGroup1.groupID = b\nGroup1.routeFile = stops.wkt\n");
    text.push_str("Group1.routeType = 1\nGroup1.busControlSystemNr = 1\nGroup1.router = EpidemicRouter\nGroup1.speed = 5, 9\n");
    text.push_str("Group.nrofInterfaces = 1\nGroup.interface1 = wifi\nGroup1.groupID = b\n");
    writeln!(text, "Scenario.nrofHostGroups = {}\nGroup.sendQueue = {}", groups + 1, 1 + draw(2)).unwrap();
    let mut hosts = 2;
    for number in 2..groups + 2 {
        let of_group = group(&format!("Group{number}"), &mut draw);
        let count = of_group.lines().find_map(|line| line.split_once("nrofHosts = ")).unwrap().1;
        hosts += count.parse::<u32>().unwrap();
        text += &of_group;
    }
    text += &traffic(hosts, &mut draw);
    writeln!(text, "Report.nrofReports = {}\nReport.reportDir = out/", reports.len()).unwrap();
    for (report, number) in reports.iter().zip(1..) {
        writeln!(text, "Report.report{number} = {report}").unwrap();
    }
    writeln!(text, "Report.warmup = {}\nReport.precision = {}", draw(3) * 50, 1 + draw(6)).unwrap();
    text + "ContactTimesReport.granularity = 2.5\nBufferOccupancyReport.occupancyInterval = 60\n"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn drawn_settings_as_toml_are_the_same_run(
        seed in any::<u64>(),
        reports in subsequence(REPORTS, 0..=REPORTS.len()),
        tick in select(&[true, false][..]),
    ) {
        let folder = folder();
        let path = folder.path().join("drawn.txt");
        let text = settings(seed, &reports);
        let exact = |line: &&str| tick || !line.starts_with("Scenario.updateInterval");
        fs::write(&path, text.lines().filter(exact).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        if ScenarioFile::read(&[&path]).unwrap().points().is_ok() {
            check(&path, &[]);
        }
    }
}

#[test]
fn most_drawn_settings_can_be_read() {
    let folder = folder();
    let path = folder.path().join("drawn.txt");
    let mut refused = Vec::new();
    for seed in 0..200 {
        fs::write(&path, settings(seed, REPORTS)).unwrap();
        refused.extend(ScenarioFile::read(&[&path]).unwrap().points().err().map(|error| error.to_string()));
    }
    assert!(refused.len() < 40, "{} of 200: {refused:#?}", refused.len());
}

/// Runs of a day are cut to an hour or two: movement begins with all its draws.
fn shorter(file: &Path) -> Vec<(&'static str, &'static str)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let is_long = text.contains("WorkingDay") || text.contains("43200");
    if is_long { vec![("Scenario.endTime", "3600")] } else { Vec::new() }
}

fn check_all(folder: &Path) -> usize {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "txt"));
    files.sort();
    let mut checked = 0;
    for file in files {
        let copy = TempDir::new().unwrap();
        // Files are looked for beside the settings and one level above them.
        let inner = copy.path().join("settings");
        fs::create_dir(&inner).unwrap();
        for from in [folder, &folder.join("..")] {
            for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
                let into = if from == folder { &inner } else { copy.path() };
                let _ = std::os::unix::fs::symlink(
                    entry.path().canonicalize().unwrap(),
                    into.join(entry.file_name()),
                );
            }
        }
        let path = inner.join(file.file_name().unwrap());
        if ScenarioFile::read(&[&path]).unwrap().points().is_ok() {
            check(&path, &shorter(&file));
            checked += 1;
        }
    }
    checked
}

#[test]
fn the_reference_cells_as_toml_are_the_same_runs() {
    let Some(folder) = reference("the-one/models/settings") else { return };
    assert!(check_all(&folder) >= 8);
}

#[test]
fn the_stock_settings_of_the_one_as_toml_are_the_same_runs() {
    let Some(folder) = std::env::var_os("THE_ONE").map(PathBuf::from) else {
        return skip("THE_ONE is not set: it is a folder with The ONE");
    };
    let place = TempDir::new().unwrap();
    std::os::unix::fs::symlink(folder.join("data"), place.path().join("data")).unwrap();
    let defaults = fs::read(folder.join("default_settings.txt")).unwrap();
    let mut checked = 0;
    let examples = fs::read_dir(folder.join("example_settings")).unwrap().map(|entry| entry.unwrap().path());
    for file in examples.chain([folder.join("default_settings.txt")]) {
        // The ONE reads its defaults first.
        let path = place.path().join("stock.txt");
        fs::write(&path, [&defaults[..], b"\n", &fs::read(&file).unwrap()].concat()).unwrap();
        check(&path, &[("Scenario.endTime", "3600")]);
        checked += 1;
    }
    assert_eq!(checked, 9);
}

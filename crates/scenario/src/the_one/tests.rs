//! Whole settings of The ONE.

use crate::{Catalogue, ScenarioFile, Seed, TrafficKind};
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::{BitRate, Bytes};
use lightlag_worlds::messages::SendOrderKind;
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

const WHOLE: &str = "\
Scenario.name = walk_%%MovementModel.rngSeed%%
Scenario.simulateConnections = true
Scenario.updateInterval = 0.1
Scenario.endTime = 14400
Scenario.nrofHostGroups = 2
wifi.type = SimpleBroadcastInterface
wifi.transmitSpeed = 312.5k
wifi.transmitRange = 150
Group.movementModel = RandomWaypoint
Group.router = SprayAndWaitRouter
Group.bufferSize = 500k
Group.waitTime = 0, 120
Group.speed = 0.5, 1.5
Group.msgTtl = 720
Group.nrofInterfaces = 1
Group.interface1 = wifi
Group.nrofHosts = 25
Group1.groupID = p
Group2.groupID = q
Group2.bufferSize = 1M
Events.nrof = 1
Events1.class = MessageEventGenerator
Events1.interval = 1,300
Events1.size = 50k,100k
Events1.hosts = 0,50
Events1.prefix = M1_
MovementModel.rngSeed = 7
MovementModel.worldSize = 1000, 1000
MovementModel.warmup = 0
SprayAndWaitRouter.nrofCopies = 6
SprayAndWaitRouter.binaryMode = false
ProphetRouter.secondsInTimeUnit = 30
Optimization.cellSizeMult = 5
GUI.UnderlayImage.fileName = x.png
Report.nrofReports = 1
Report.warmup = 100
Report.reportDir = reports/
Report.report1 = MessageStatsReport
MessageStatsReport.precision = 2
";

fn read(text: &str) -> crate::Result<ScenarioFile> {
    ScenarioFile::from_the_one(
        "s.txt",
        text.as_bytes(),
        PathBuf::from("/missing"),
        Arc::new(Catalogue::default()),
    )
}
fn error_of(text: &str) -> String {
    read(text).and_then(|file| file.points()).map(|points| points.list.len()).unwrap_err().to_string()
}
fn broken(from: &str, to: &str) -> String {
    assert!(WHOLE.contains(from), "{from}");
    error_of(&WHOLE.replacen(from, to, 1))
}

#[test]
fn settings_become_a_scenario_with_the_ones_rules() {
    let file = read(WHOLE).unwrap();
    assert_eq!(file.seeds().unwrap(), [Seed::Own]);
    let scenario = file.points().unwrap().list.remove(0).scenario.bundles().unwrap().clone();
    assert_eq!((scenario.head.name.as_str(), scenario.head.own_seed), ("walk_7", 7));
    assert_eq!(scenario.rules.tick, Some(Duration::from_nanos(100_000_000)));
    assert_eq!(scenario.rules.send_order, SendOrderKind::Clock);
    assert_eq!(scenario.rules.purge_every, Some(Duration::from_secs(60)));
    let names: Vec<&str> = scenario.node_names().collect();
    assert_eq!((names[0], names[25], names.len()), ("p0", "q25", 50));
    assert_eq!((scenario.groups[0].buffer, scenario.groups[1].buffer), (Bytes(500_000), Bytes(1_000_000)));
    let router = &scenario.groups[0].router;
    assert_eq!((router.entry.name.as_str(), router.parameters.word("mode")), ("spray_and_wait", "source"));
    assert!(scenario.groups[0].policy.overfill && !scenario.groups[0].policy.deliver_past_buffer);
    assert_eq!(scenario.groups[0].radios[0].rate, BitRate(2_500_000));
    assert_eq!(scenario.groups[0].mobility.as_ref().unwrap().entry.model.name, "random_waypoint");
    let report = &scenario.reports[0];
    assert_eq!(report.output, PathBuf::from("reports/walk_7_MessageStatsReport.txt"));
    assert_eq!((report.precision, report.warmup), (2, Duration::from_secs(100)));
    let messages = scenario.seeded(Seed::Own).unwrap().messages;
    assert_eq!((messages.len(), messages[0].name.as_str()), (99, "M1_1"));
    let life = messages[0].bundle.expires - messages[0].bundle.created;
    assert_eq!(life, Duration::from_secs(719 * 60) + Duration::from_nanos(1));
    let ignored: Vec<String> =
        file.points().unwrap().ignored.into_iter().map(|ignored| ignored.key).collect();
    let unread =
        ["ProphetRouter.secondsInTimeUnit", "Optimization.cellSizeMult", "GUI.UnderlayImage.fileName"];
    assert_eq!(ignored, unread);
}

#[test]
fn settings_that_the_one_ignores_are_ignored_with_a_word_on_what_may_be_meant() {
    let cases = [
        ("Scenario.entTime = 1", " (did you mean `Scenario.endTime`?)"),
        ("Scenaro.endTime = 1", " (did you mean `Scenario.endTime`?)"),
        ("Events1.toHosts = 0,50", " (did you mean `Events1.tohosts`?)"),
        ("Group2.sped = 1,2", " (did you mean `Group2.speed`?)"),
        ("wifi.transmitSpeed2 = 9", " (did you mean `wifi.transmitSpeed`?)"),
        ("Group.transmitRange = 10", ""),
        ("Group.transmitSpeed = 10", ""),
        ("Group.okMaps = 1", ""),
        ("Group.interface2 = other", ""),
        ("other.type = Whatever", ""),
        ("Group3.router = NoSuchRouter", ""),
        ("Events2.class = NoSuchClass", ""),
        ("ExternalEvents.filePath = nothing.txt", ""),
        ("Optimization.connectionAlg = 2", ""),
        ("MessageStatsReport.granularty = 2", ""),
        ("Group.mechanism.push = 3", ""),
        ("nonsense", ""),
    ];
    let plain = read(WHOLE).unwrap().points().unwrap();
    for (line, meant) in cases {
        let points = read(&format!("{WHOLE}{line}\n")).unwrap().points();
        let points = points.unwrap_or_else(|error| panic!("{line}: {error}"));
        let key = line.split(' ').next().unwrap();
        let added: Vec<String> = points.ignored.iter().map(|ignored| ignored.to_string()).collect();
        let number = WHOLE.lines().count() + 1;
        assert!(added.contains(&format!("s.txt:{number} `{key}`{meant}")), "{line}: {added:?}");
        assert_eq!(points.ignored.len(), plain.ignored.len() + 1, "{line}");
        let same =
            |points: &crate::Points| format!("{:?}", points.list[0].scenario.bundles().unwrap().groups);
        assert_eq!(same(&points), same(&plain), "{line}");
        assert_eq!(points.warnings().len(), 1, "one line for all: {:?}", points.warnings());
    }
    let many: String = (0..30).map(|n| format!("zzz{n}x.key = 1\n")).collect();
    let warnings = read(&format!("{WHOLE}{many}")).unwrap().points().unwrap().warnings();
    assert!(
        warnings[0].ends_with(" and 23 more") && warnings[0].matches("s.txt:").count() == 10,
        "{warnings:?}"
    );
}

#[test]
fn all_errors_are_told_at_once_in_the_order_of_lines() {
    let text = WHOLE
        .replace("endTime = 14400", "endTime = soon")
        .replace("transmitRange = 150", "transmitRange = -1")
        .replace("RandomWaypoint", "Teleport")
        .replace("bufferSize = 500k", "bufferSize = 0.5M")
        .replace("Group.speed = 0.5, 1.5", "Group.speed = fast")
        .replace("Group.router = SprayAndWaitRouter\n", "")
        .replace("Events1.size = 50k,100k", "Events1.size = [1k; x; 2k; y]")
        .replace("worldSize = 1000, 1000", "worldSize = 1000")
        .replace("Report.warmup = 100", "Report.warmup = -100");
    let error = error_of(&format!("{text}Limits.evnts = 3\nGroup.mechanism.puhs = 3\n"));
    let starts = [
        "s.txt:4: `Scenario.endTime`: `soon` is not a number; ",
        "s.txt:8: `wifi.transmitRange` is -1 m; ",
        "s.txt:9: `Group.movementModel` is `Teleport`",
        "s.txt:10: `Group.bufferSize`: `0.5M` is not a whole number; ",
        "s.txt:12: `Group.speed`: `fast` is not a number; ",
        "s.txt:23: `Events1.size`: `x` is not a number",
        "s.txt:23: `Events1.size`: `y` is not a number",
        "s.txt:27: `MovementModel.worldSize` is not a size; ",
        "s.txt:35: `Report.warmup` is -100; ",
        "s.txt:39: `Limits.evnts` is not supported; did you mean `events`?",
        "s.txt:40: `Group.mechanism.puhs` is not supported; did you mean `push`?",
        "s.txt: `Group.router` is not set; add ",
    ];
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), starts.len(), "{error}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
}

#[test]
fn hosts_that_do_not_exist_and_messages_that_fit_nowhere_do_not_stop_a_run() {
    let wide = WHOLE.replace("Events1.hosts = 0,50", "Events1.hosts = 0,60");
    let points = read(&wide).unwrap().points().unwrap();
    let start =
        "s.txt:25: `Events1.hosts` has 10 of 60 hosts that do not exist (hosts are numbered from 0 to 49): ";
    assert!(points.warnings[0].starts_with(start), "{:?}", points.warnings);
    let messages = points.list[0].scenario.bundles().unwrap().seeded(Seed::Own).unwrap().messages;
    assert!(messages.len() < 99 && messages.iter().all(|message| message.bundle.destination.0 < 50));
    let large = WHOLE.replace("Events1.size = 50k,100k", "Events1.size = 5M");
    assert_eq!(read(&large).unwrap().points().unwrap().list.len(), 1);
    let without =
        WHOLE.replace("Scenario.nrofHostGroups = 2", "Scenario.nrofHostGroups = 2\nGroup1.nrofHosts = 0");
    let without = without.replace("Events1.hosts = 0,50", "Events1.hosts = 0,25");
    let scenario = read(&without).unwrap().points().unwrap().list.remove(0).scenario;
    assert_eq!(scenario.bundles().unwrap().node_names().next(), Some("q0"));
}

#[test]
fn reports_that_are_not_written_are_named() {
    let points = read(&WHOLE.replace("= MessageStatsReport", "= DTN2Reporter")).unwrap().points().unwrap();
    assert_eq!(points.warnings, ["s.txt:38: `DTN2Reporter` is not written; run The ONE for it"]);
    let points =
        read(&WHOLE.replace("= MessageStatsReport", "= MessageStatReport")).unwrap().points().unwrap();
    assert!(points.warnings[0].ends_with("did you mean `MessageStatsReport`?"), "{:?}", points.warnings);
}

#[test]
fn another_seed_moves_nodes_and_traffic_and_contacts_follow_the_seed() {
    let scenario = read(WHOLE).unwrap().points().unwrap().list.remove(0).scenario.bundles().unwrap().clone();
    let own = scenario.setup(Seed::Own).unwrap();
    assert!(own.contacts.list.len() > 100);
    assert_eq!(own.contacts, scenario.setup(Seed::Own).unwrap().contacts);
    let other = scenario.setup(Seed::Number(8)).unwrap();
    assert_ne!(own.contacts, other.contacts);
    assert_ne!(own.bundles, other.bundles);
    let tick = Duration::from_nanos(100_000_000);
    assert!(
        own.contacts.list.iter().all(|c| c.start.round_up(tick) == c.start && c.end.round_up(tick) == c.end)
    );
}

#[test]
fn run_arrays_make_points_in_lockstep() {
    let text = WHOLE.replace("rngSeed = 7", "rngSeed = [1; 2; 3]").replace("prefix = M1_", "prefix = [A; B]");
    let points = read(&text).unwrap().points().unwrap().list;
    let names: Vec<&str> = points.iter().map(|point| point.scenario.head().name.as_str()).collect();
    assert_eq!(names, ["walk_1", "walk_2", "walk_3"]);
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(points[2].values, [pair("Events1.prefix", "A"), pair("MovementModel.rngSeed", "3")]);
}

#[test]
fn overrides_and_mechanisms_can_be_set() {
    let mut file = read(WHOLE).unwrap();
    file.set("Group.mechanism", "rrcc").unwrap();
    file.set("Group.receipts", "true").unwrap();
    file.set("Group2.router", "EpidemicRouter").unwrap();
    let scenario = file.points().unwrap().list.remove(0).scenario.bundles().unwrap().clone();
    assert_eq!(scenario.groups[0].mechanism.entry.name, "rrcc");
    assert!(scenario.groups[0].policy.receipts);
    assert_eq!(scenario.groups[1].router.entry.name, "epidemic");
    file.set("Group.mechanism", "afner").unwrap();
    assert_eq!(
        file.points().unwrap_err().to_string(),
        "--set Group.mechanism: `Group.mechanism` refuses router `spray_and_wait`; it works with: epidemic"
    );
}

#[test]
fn every_mistake_is_one_line_with_its_place() {
    let cases = [
        (
            "Scenario.endTime = 14400",
            "Scenario.endTime = x",
            "s.txt:4: `Scenario.endTime`: `x` is not a number; ",
        ),
        ("Scenario.endTime = 14400", "Scenario.endTime = 0", "s.txt:4: `Scenario.endTime` is 0 s; "),
        ("Scenario.endTime = 14400\n", "", "s.txt: `Scenario.endTime` is not set; add "),
        (
            "SimpleBroadcastInterface",
            "WirelessInterface",
            "s.txt:6: `wifi.type` is `WirelessInterface`, which",
        ),
        ("312.5k", "312.5", "s.txt:7: `wifi.transmitSpeed`: `312.5` is not a whole number "),
        ("= RandomWaypoint", "= ExternalPathMovement", "s.txt: `Group.traceFile` is not set; "),
        (
            "= SprayAndWaitRouter",
            "= LiveRouter",
            "s.txt:10: `Group.router` is `LiveRouter`, which is not supported; ",
        ),
        (
            "bufferSize = 500k",
            "bufferSize = 0.5M",
            "s.txt:11: `Group.bufferSize`: `0.5M` is not a whole number; ",
        ),
        ("bufferSize = 500k", "bufferSize = 0", "s.txt:11: `Group.bufferSize` is zero; "),
        (
            "Group.nrofHosts = 25",
            "Group.nrofHosts = -1",
            "s.txt:17: `Group.nrofHosts` is not a number of hosts; ",
        ),
        ("Group.nrofHosts = 25", "Group.nrofHosts = 0", "s.txt:5: `Scenario.nrofHostGroups` has no host; "),
        ("waitTime = 0, 120", "waitTime = 120, 0", "s.txt:12: `Group.waitTime`: the range "),
        ("speed = 0.5, 1.5", "speed = -1, 1.5", "s.txt:13: `Group.speed` is negative; "),
        ("msgTtl = 720", "msgTtl = 0", "s.txt:14: `Group.msgTtl` is 0; "),
        (
            "Optimization",
            "Group.activeTimes = 2, 1\nOptimization",
            "s.txt:33: `Group.activeTimes` is not a list of time spans; ",
        ),
        (
            "Events1.class = MessageEventGenerator",
            "Events1.class = Foo",
            "s.txt:22: `Events1.class` is `Foo`, which is not ",
        ),
        (
            "Events1.interval = 1,300",
            "Events1.interval = 0",
            "s.txt:23: `Events1.interval` creates messages without end; ",
        ),
        (
            "Events1.hosts = 0,50",
            "Events1.hosts = 3,3",
            "s.txt:25: `Events1.hosts` leaves a host only itself ",
        ),
        ("worldSize = 1000, 1000", "worldSize = 1000", "s.txt:28: `MovementModel.worldSize` is not a size; "),
        ("SprayAndWaitRouter.nrofCopies = 6\n", "", "s.txt: `SprayAndWaitRouter.nrofCopies` is not set; "),
        ("nrofCopies = 6", "nrofCopies = 0", "s.txt:30: parameter `copies` of `spray_and_wait` is 0; "),
        ("walk_%%MovementModel.rngSeed%%", "walk_%%nothing%%", "s.txt:1: %%nothing%% is not set; "),
        (
            "Scenario.nrofHostGroups = 2",
            "Scenario.nrofHostGroups = 0",
            "s.txt:5: `Scenario.nrofHostGroups` is 0; ",
        ),
    ];
    for (from, to, start) in cases {
        let error = broken(from, to);
        assert!(error.starts_with(start), "{to}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert!(error_of("").starts_with("s.txt: "));
}

#[test]
fn files_of_events_bring_messages_and_connections() {
    let folder = std::env::temp_dir().join(format!("lightlag-events-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("events.txt"), "5 CONN p0 q30 up\n6 C X1 0 30 1000\n9 CONN 0 30 down\n")
        .unwrap();
    let text = WHOLE
        .replace("Events1.class = MessageEventGenerator", "Events1.filePath = events.txt")
        .replace("simulateConnections = true", "simulateConnections = false");
    let read = |text: &str| {
        let catalogue = Arc::new(Catalogue::default());
        ScenarioFile::from_the_one("s.txt", text.as_bytes(), folder.clone(), catalogue).unwrap().points()
    };
    let scenario = read(&text).unwrap().list.remove(0).scenario.bundles().unwrap().clone();
    assert!(matches!(scenario.traffic[0].kind, TrafficKind::Listed(_)));
    let setup = scenario.setup(Seed::Own).unwrap();
    assert_eq!((setup.bundles.len(), setup.contacts.list.len()), (1, 1));
    assert_eq!(setup.contacts.channels[0].rate, BitRate(2_500_000));
    assert_eq!(setup.contacts.list[0].end, Instant::from_secs(9));
    let odd = "5 CONN p0 q30 up 9000\n6 DR * 0\n6 C X1 0 30 1k 5\n7 C X2 0 70 9\n7 S X1 0 3\n8 CONN 0 1 up bt\n9 CONN 3 3 up\n";
    std::fs::write(folder.join("events.txt"), odd).unwrap();
    let points = read(&text).unwrap();
    let counted: Vec<&str> = points
        .warnings
        .iter()
        .filter_map(|line| line.split_once("events.txt: "))
        .map(|halves| halves.1)
        .collect();
    let starts = [
        "1 events from a host to itself",
        "1 events of hosts without that interface",
        "1 events of messages that ask for a response",
        "2 events that command routers",
        "1 events with hosts that do not exist",
    ];
    assert!(
        counted.len() == 5 && counted.iter().zip(starts).all(|(line, start)| line.starts_with(start)),
        "{counted:?}"
    );
    let setup = points.list[0].scenario.bundles().unwrap().setup(Seed::Own).unwrap();
    assert_eq!((setup.bundles.len(), setup.contacts.channels[0].rate), (1, BitRate(72_000)));
    std::fs::write(folder.join("events.txt"), "5 CONN p0 q30 up\n4 DR X1 0\n").unwrap();
    let error = read(&text.replace("endTime = 14400", "endTime = x")).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 2, "{error}");
    assert!(error.contains("events.txt:2: the event is earlier"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The settings with which The ONE was measured.
#[test]
fn the_settings_of_the_reference_are_read_as_they_are() {
    let Some(folder) = crate::skip::reference("the-one/settings") else { return };
    let entries = std::fs::read_dir(folder).unwrap();
    let expected = [99, 87, 89, 98, 92];
    let mut read = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        let file = ScenarioFile::read(&[&path]).unwrap();
        let scenario = file.points().unwrap().list.remove(0).scenario.bundles().unwrap().clone();
        assert_eq!(scenario.head.name, path.file_stem().unwrap().to_string_lossy());
        let messages = scenario.seeded(Seed::Own).unwrap().messages;
        assert_eq!(messages.len(), expected[scenario.head.own_seed as usize - 1], "{}", scenario.head.name);
        if scenario.head.own_seed == 1 {
            assert!(scenario.seeded(Seed::Own).unwrap().fleet().is_ok(), "{}", scenario.head.name);
        }
        read += 1;
    }
    assert!(read > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_damage_panics(changes in prop::collection::vec((0..2000_usize, any::<u8>()), 1..6)) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let catalogue = Arc::new(Catalogue::default());
        if let Ok(file) = ScenarioFile::from_the_one("s.txt", &bytes, PathBuf::from("/missing"), catalogue) {
            let _ = file.points();
        }
    }
}

/// From when to when two nodes at one place are in contact, in seconds.
fn in_contact(more: &str) -> Vec<(f64, f64)> {
    let text = format!(
        "Scenario.name = x\nScenario.updateInterval = 0.1\nScenario.endTime = 3600\nScenario.nrofHostGroups = 1\n\
         wifi.type = SimpleBroadcastInterface\nwifi.transmitSpeed = 250k\nwifi.transmitRange = 10\n\
         Group.groupID = n\nGroup.nrofHosts = 2\nGroup.router = EpidemicRouter\n\
         Group.movementModel = StationaryMovement\nGroup.nodeLocation = 1, 1\nGroup.nrofInterfaces = 1\n\
         Group.interface1 = wifi\nMovementModel.rngSeed = 1\nMovementModel.worldSize = 9, 9\nEvents.nrof = 0\n{more}\n"
    );
    let scenario = read(&text).unwrap().points().unwrap().list.remove(0).scenario.bundles().unwrap().clone();
    let contacts = scenario.seeded(Seed::Own).unwrap().contacts().unwrap();
    contacts.list.iter().map(|c| (c.start.as_secs_f64(), c.end.as_secs_f64())).collect()
}

#[test]
fn radios_are_on_when_net_says_so_as_in_the_one() {
    // The ONE reports 0.1 as the start of the first, and no end of one that is up at the end of the run.
    let times = "Group.net.activeTimes = 0, 100, 600, 2400";
    assert_eq!(in_contact(times), [(0.1, 100.1), (600.0, 2400.1)]);
    // The clock is rounded to whole seconds, and the last one counts.
    let periods = in_contact("Group.net.activePeriods = 1000, 500\nGroup1.net.activePeriodsOffset = 100");
    assert_eq!(periods, [(0.1, 900.5), (1399.5, 2400.5), (2899.5, 3600.1)]);
    // Jitter 60 and 48 are the first draws below 100 of a java.util.Random(0) with a double behind each.
    let jitter = in_contact("Group.net.activeTimes = 600, 2400\nGroup.net.activenessOffsetJitter = 100");
    assert_eq!(jitter.len(), 1);
    assert!(jitter[0].0 > 500.0 && jitter[0].0 < 600.0 && jitter[0].1 < 2400.1, "{jitter:?}");
}

#[test]
fn radios_that_search_now_and_then_find_each_other_later() {
    let found = in_contact("Group.net.scanInterval = 100");
    assert!(found.len() == 1 && found[0].0 > 100.0 && found[0].0 < 200.1, "{found:?}");
}

#[test]
fn interfaces_of_all_classes_are_read() {
    let radios = |from: &str, to: &str| {
        let text = WHOLE.replacen(from, to, 1);
        let points = read(&text).unwrap().points().unwrap();
        points.list[0].scenario.bundles().unwrap().groups[0].radios.clone()
    };
    let shared = radios("SimpleBroadcastInterface", "InterferenceLimitedInterface");
    assert!(shared[0].interference && shared[0].rates.is_empty());
    let speeds = "DistanceCapacityInterface\nwifi.transmitSpeeds = 6750k, 1000k, 0";
    let by_distance = radios("SimpleBroadcastInterface", speeds);
    assert_eq!(by_distance[0].rates, [54_000_000, 8_000_000, 0].map(BitRate));
    assert_eq!(by_distance[0].rate, BitRate(54_000_000));
    for (setting, what) in [
        ("Group.net.activeTimes = 5, 2", "is not a list of time spans"),
        ("Group.net.activeTimes = 5, 6, 7", "is not a list of time spans"),
        ("Group.net.activePeriods = 5", "is not a pair of times"),
        ("Group.net.activePeriods = -5, 1", "has no time above zero, or one below"),
        ("Group.net.activenessOffsetJitter = -5", "give whole seconds from zero on"),
        ("wifi.type = DistanceCapacityInterface", "`wifi.transmitSpeeds` is not set"),
        ("wifi.type = DistanceCapacityInterface\nwifi.transmitSpeeds = 5", "is not a list of speeds"),
        ("wifi.type = WirelessInterface", "which is not supported; supported: SimpleBroadcastInterface"),
    ] {
        let error = error_of(&format!("{WHOLE}{setting}\n"));
        assert!(error.contains(what), "{setting}: {error}");
    }
}

const PINGS: &str = "Group.nrofApplications = 1\nGroup.application1 = ping\nping.type = PingApplication\n\
    ping.interval = 500\nping.offset = 50\nping.seed = 7\nping.destinationRange = 20,60\n\
    ping.pingSize = 5k\nping.pongSize = 7k\n";

#[test]
fn all_hosts_of_a_ping_application_ping_one_destination_at_a_time_and_all_answer() {
    let file = read(&format!("{WHOLE}{PINGS}")).unwrap();
    let points = file.points().unwrap();
    assert!(points.warnings[0].contains("`ping.destinationRange` has hosts that do not exist"));
    assert!(points.ignored.iter().all(|ignored| !ignored.key.starts_with("ping.")));
    let network = points.list[0].scenario.bundles().unwrap();
    let setup = network.setup(Seed::Own).unwrap();
    let asked: Vec<_> = setup.replies.iter().map(|reply| setup.bundles[reply.request.0 as usize]).collect();
    // At 550, 1050, ..., 14050 s: 28 times 50, less those to hosts beyond the last.
    let at = |bundle: &lightlag_protocols::dtn::Bundle| bundle.created.as_secs_f64();
    assert!(asked.len().is_multiple_of(50) && (500..28 * 50).contains(&asked.len()), "{}", asked.len());
    for round in asked.chunks(50) {
        let first = round[0];
        assert!(round.iter().all(|ping| ping.destination == first.destination && at(ping) == at(&first)));
        assert!(at(&first) % 500.0 == 50.0 && first.size == Bytes(5000));
    }
    let replies = &setup.bundles[setup.bundles.len() - asked.len()..];
    for (ping, pong) in asked.iter().zip(replies) {
        assert_eq!((pong.source, pong.destination), (ping.destination, ping.source));
        assert_eq!((pong.size, pong.created), (Bytes(7000), Instant::MAX));
    }
    // java.util.Random(7).nextInt(40) begins with 15: host 35.
    let mut random = java_random::Random::with_seed(7);
    let drawn: Vec<u32> = (0..28).map(|_| 20 + random.next_int_n(40) as u32).filter(|to| *to < 50).collect();
    let seen: Vec<u32> = asked.chunks(50).map(|round| round[0].destination.0).collect();
    assert_eq!(seen, drawn);
    let other = network.setup(Seed::Number(3)).unwrap();
    assert_ne!(other.bundles, setup.bundles);
}

#[test]
fn a_passive_application_only_answers_and_hosts_without_one_do_neither() {
    let passive = "Group2.nrofApplications = 0\npong.type = PingApplication\npong.passive = true\n\
        Group1.application1 = pong\n";
    let points = read(&format!("{WHOLE}{PINGS}{passive}")).unwrap().points().unwrap();
    let quiet = points.list[0].scenario.bundles().unwrap().setup(Seed::Own).unwrap();
    assert_eq!(quiet.replies.len(), 0);
    let active = "Group2.application1 = pong\npong.type = PingApplication\npong.passive = true\n";
    let points = read(&format!("{WHOLE}{PINGS}{active}")).unwrap().points().unwrap();
    let half = points.list[0].scenario.bundles().unwrap().setup(Seed::Own).unwrap();
    let sources = half.replies.iter().map(|reply| half.bundles[reply.request.0 as usize].source.0);
    assert!(
        half.replies.len().is_multiple_of(25) && sources.clone().count() > 0 && sources.max() == Some(24)
    );
    let sizes: std::collections::BTreeSet<u64> =
        half.bundles[half.bundles.len() - half.replies.len()..].iter().map(|pong| pong.size.0).collect();
    assert!(sizes.contains(&1), "the passive ones answer with their own size: {sizes:?}");
}

#[test]
fn mistakes_in_applications_are_told_with_their_line() {
    for (from, to, what) in [
        ("type = PingApplication", "type = Chat", "supported: PingApplication"),
        ("nrofApplications = 1", "nrofApplications = 2", "a host may have one application"),
        ("20,60", "20", "is not a range of hosts"),
        ("20,60", "20,20", "is not a range of hosts"),
        ("interval = 500", "interval = 0", "give seconds from 0.001 to 1e9"),
        ("pongSize = 7k", "pongSize = 0", "give bytes above zero"),
        ("Group.application1 = ping\n", "", "`Group.application1` is not set"),
    ] {
        let error = error_of(&format!("{WHOLE}{}", PINGS.replacen(from, to, 1)));
        assert!(error.contains(what), "{to}: {error}");
    }
}

//! Working days, buses and passengers against contacts that The ONE reported for the same settings.

use crate::{Catalogue, ScenarioFile, Seed};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SETTINGS: &str = "\
Scenario.name = day
Scenario.simulateConnections = true
Scenario.updateInterval = 1
Scenario.endTime = 90000
Scenario.nrofHostGroups = 4
radio.type = SimpleBroadcastInterface
radio.transmitSpeed = 250k
radio.transmitRange = 30
Group.router = EpidemicRouter
Group.bufferSize = 5M
Group.nrofInterfaces = 1
Group.interface1 = radio
Group.busControlSystemNr = 3
Group.speed = 0.8, 1.4
Group1.groupID = B
Group1.nrofHosts = 2
Group1.movementModel = BusMovement
Group1.routeFile = bus.wkt
Group1.routeType = 2
Group1.speed = 7, 10
Group1.waitTime = 10, 30
Group2.groupID = W
Group2.nrofHosts = 10
Group2.movementModel = WorkingDayMovement
Group2.ownCarProb = 0.3
Group2.homeLocationsFile = homes.wkt
Group3.groupID = T
Group3.nrofHosts = 6
Group3.movementModel = BusTravellerMovement
Group3.probs = 0.9, 0.5
Group3.probTakeOtherBus = 0.4
Group3.activeTimes = 0, 20000, 30000, 70000.5
Group4.groupID = V
Group4.nrofHosts = 5
Group4.movementModel = WorkingDayMovement
Group4.ownCarProb = 0.5
Group4.timeDiffSTD = -1
Group4.activePeriods = 5000, 700
Group.shoppingControlSystemNr = 4
Group.nrOfOffices = 4
Group.workDayLength = 28800
Group.probGoShoppingAfterWork = 0.8
Group.nrOfMeetingSpots = 3
Group.officeWaitTimeParetoCoeff = 0.5
Group.officeMinWaitTime = 10
Group.officeMaxWaitTime = 100000
Group.officeSize = 100
Group.timeDiffSTD = 7200
Group.minGroupSize = 1
Group.maxGroupSize = 4
Group.minAfterShoppingStopTime = 3600
Group.maxAfterShoppingStopTime = 7200
Events.nrof = 0
MovementModel.rngSeed = 1
MovementModel.worldSize = 1000, 800
MovementModel.warmup = 43000
MapBasedMovement.nrofMapFiles = 1
MapBasedMovement.mapFile1 = roads.wkt
";

/// A grid of streets of 100 m, a bus line, and homes.
fn town(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let mut roads = String::new();
    let mut street = |points: Vec<String>| writeln!(roads, "LINESTRING ({})", points.join(", ")).unwrap();
    (0..8).for_each(|i| street((0..6).map(|j| format!("{} {}", i * 100, j * 100)).collect()));
    (0..6).for_each(|j| street((0..8).map(|i| format!("{} {}", i * 100, j * 100)).collect()));
    std::fs::write(folder.join("roads.wkt"), roads).unwrap();
    let bus = "LINESTRING (0 100, 300 100, 300 400, 700 400)\nLINESTRING (0 0, 700 500)\n";
    std::fs::write(folder.join("bus.wkt"), bus).unwrap();
    let homes = "POINT (0 0)\nPOINT (100 500)\nPOINT (700 0)\nPOINT (600 300)\n";
    std::fs::write(folder.join("homes.wkt"), homes).unwrap();
}

fn folder(of: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lightlag-{of}-{}", std::process::id()));
    town(&folder);
    folder
}

fn read(text: &str, folder: &Path) -> crate::Result<ScenarioFile> {
    ScenarioFile::from_the_one("s.txt", text.as_bytes(), folder.to_owned(), Arc::new(Catalogue::default()))
}

#[test]
fn contacts_are_those_of_the_one() {
    let folder = folder("working-day");
    // Contacts and their total time, by `rngSeed`: ConnectivityONEReport of The ONE on these settings.
    for (seed, count, total_s) in [(1, 8_196, 900_052.0), (3, 7_428, 731_678.0)] {
        let text = SETTINGS.replace("rngSeed = 1", &format!("rngSeed = {seed}"));
        let mut points = read(&text, &folder).unwrap().points().unwrap();
        let scenario = points.list.remove(0).scenario.bundles().unwrap().clone();
        let contacts = scenario.seeded(Seed::Own).unwrap().contacts().unwrap().list;
        let lasts_s: f64 = contacts.iter().map(|c| (c.end - c.start).as_secs_f64()).sum();
        assert_eq!(contacts.len(), count, "seed {seed}");
        // The ONE looks for contacts after the first tick, and we at its start.
        assert!((lasts_s - total_s).abs() <= 100.0, "seed {seed}: {lasts_s} s");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mistakes_are_named_with_what_is_accepted() {
    let folder = folder("working-day-errors");
    for (from, to, what) in [
        ("ownCarProb = 0.3", "ownCarProb = 1.3", "`Group2.ownCarProb` is 1.3; give a probability"),
        ("timeDiffSTD = -1", "timeDiffSTD = -2", "`Group4.timeDiffSTD` is -2; give seconds, or -1"),
        ("maxGroupSize = 4", "maxGroupSize = 0", "`Group.maxGroupSize` is 0 where `minGroupSize` is 1; "),
        ("MaxWaitTime = 100000", "MaxWaitTime = 10", "`Group.officeMaxWaitTime` is not above `officeMin"),
        ("probs = 0.9, 0.5", "probs = 0.9, 5", "`Group3.probs` is not a list of probabilities; "),
        ("homes.wkt", "none.wkt", "`Group2.homeLocationsFile` names `none.wkt`, which does not exist; "),
        ("Group.shoppingControlSystemNr = 4\n", "", "`Group.shoppingControlSystemNr` is not set; "),
        (
            "Group.nrOfOffices = 4",
            "Group.nrOfOffices = 0",
            "`Group.nrOfOffices` is 0; give a number above zero",
        ),
        ("5000, 700", "5000", "`Group4.activePeriods` is not a pair of times; "),
    ] {
        assert!(SETTINGS.contains(from), "{from}");
        let error = read(&SETTINGS.replace(from, to), &folder).and_then(|file| file.points());
        let error = error.err().unwrap().to_string();
        assert!(error.contains(what), "{to}: {error}");
    }
    // A place off the map shows when the map is read.
    std::fs::write(folder.join("homes.wkt"), "POINT (0 0)\nPOINT (5 5)\n").unwrap();
    let mut points = read(SETTINGS, &folder).unwrap().points().unwrap();
    let scenario = points.list.remove(0).scenario.bundles().unwrap().clone();
    let error = scenario.seeded(Seed::Own).unwrap().fleet().unwrap_err().to_string();
    assert!(error.contains("homes.wkt:2: (5, 5) is not on the map"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

//! Settings of The ONE with each movement model: what becomes of them, and when nodes then meet.

use crate::model::Mobility;
use crate::{BundleNetwork, Catalogue, ScenarioFile, Seed};
use lightlag_protocols::time::{Duration, Instant};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROADS: &str = "LINESTRING (100 200, 200 200, 300 200)\nLINESTRING (200 200, 200 300)\n";
const PATHS: &str = "LINESTRING (300 200, 400 200)\n";
const TRAM: &str = "LINESTRING (100 200, 300 200, 200 300)\nLINESTRING (200 300, 400 200)\n";
const SHOPS: &str = "POINT (400 200)\n\nPOINT (300 200)\n";

/// A folder with a map, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lightlag-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (name, text) in [("roads", ROADS), ("paths", PATHS), ("tram", TRAM), ("shops", SHOPS)] {
            std::fs::write(path.join(format!("{name}.wkt")), text).unwrap();
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(folder: &Path, more: &str) -> crate::Result<BundleNetwork> {
    let text = format!(
        "Scenario.endTime = 100\nScenario.updateInterval = 1\nScenario.nrofHostGroups = 1\nGroup.groupID = n\n\
         Group.nrofHosts = 4\nGroup.router = EpidemicRouter\nGroup.speed = 5, 9\nGroup.nrofInterfaces = 1\n\
         Group.interface1 = wifi\nwifi.type = SimpleBroadcastInterface\nwifi.transmitSpeed = 1k\n\
         wifi.transmitRange = 40\nMovementModel.worldSize = 500, 400\nEvents.nrof = 0\n\
         MapBasedMovement.nrofMapFiles = 2\nMapBasedMovement.mapFile1 = roads.wkt\n\
         MapBasedMovement.mapFile2 = paths.wkt\nPointsOfInterest.poiFile3 = shops.wkt\n{more}"
    );
    let file = ScenarioFile::from_the_one(
        "s.txt",
        text.as_bytes(),
        folder.to_owned(),
        Arc::new(Catalogue::default()),
    )?;
    let network = file.points()?.list.remove(0).scenario.bundles().unwrap().clone();
    // Maps, routes and places are read only here.
    network.seeded(Seed::Own)?.walk()?;
    Ok(network)
}

fn mobility(folder: &Path, more: &str) -> Mobility {
    read(folder, more).unwrap().groups[0].mobility.clone().unwrap()
}

fn error(folder: &Path, more: &str) -> String {
    read(folder, more).expect_err("it must be refused").to_string()
}

#[test]
fn each_model_is_one_of_lightlag() {
    let folder = Folder::new("models");
    let cases = [
        ("RandomWaypoint", "", "random_waypoint"),
        ("RandomWalk", "", "random_walk"),
        ("RandomDirection", "", "random_direction"),
        ("ModifiedRandomDirection", "", "random_direction"),
        ("ClusterMovement", "", "cluster"),
        ("ClusterMovement", "Group.clusterCenter = 300, 200\nGroup.clusterRange = 80.5", "cluster"),
        (
            "LinearMovement",
            "Group.LinearMovement.startLocation = 1, 2\nGroup.LinearMovement.endLocation = 400, 2\n\
             Group.LinearMovement.initLocType = 0\nGroup.LinearMovement.targetType = 1",
            "line_walk",
        ),
        (
            "LinearFormation",
            "Group.LinearFormation.startLocation = 1, 2\nGroup.LinearFormation.endLocation = 400, 2",
            "line_formation",
        ),
        (
            "GridLocation",
            "Group.GridLocation.rows = 2\nGroup.GridLocation.spacing = 50\nGroup.GridLocation.location = 1.5, 2",
            "grid",
        ),
        ("StationaryMovement", "Group.nodeLocation = 5, 6", "stationary"),
        ("MapBasedMovement", "Group.okMaps = 1", "map_walk"),
        ("MapBasedMovementBackAllowed", "", "map_walk"),
        ("ShortestPathMapBasedMovement", "Group.pois = 3, 0.4", "shortest_path_map"),
        ("MapRouteMovement", "Group.routeFile = tram.wkt\nGroup.routeType = 2", "map_route"),
    ];
    for (model, more, name) in cases {
        let mobility = mobility(&folder.0, &format!("Group.movementModel = {model}\n{more}\n"));
        assert_eq!(mobility.entry.model.name, name, "{model}");
    }
}

#[test]
fn values_of_places_reach_the_model() {
    let folder = Folder::new("places");
    let cluster = mobility(&folder.0, "Group.movementModel = ClusterMovement\nGroup1.clusterCenter = 7, 8\n")
        .parameters;
    let center = cluster.position("center");
    assert_eq!((center.x_m, center.y_m, cluster.number("radius")), (7.0, 8.0, 100.0));
    let line = "Group.movementModel = LinearMovement\nGroup.LinearMovement.startLocation = 1, 2\n\
                Group.LinearMovement.endLocation = 400, 2\nGroup.LinearMovement.initLocType = 0\n\
                Group.LinearMovement.targetType = 0\n";
    let line = mobility(&folder.0, line).parameters;
    assert_eq!((line.word("initial"), line.word("target")), ("box", "even"));
    let modified = mobility(&folder.0, "Group.movementModel = ModifiedRandomDirection\n").parameters;
    assert_eq!((modified.word("stop"), modified.number("right_border")), ("anywhere", 400.0));
    let route = "Group.movementModel = MapRouteMovement\nGroup.routeFile = tram.wkt\nGroup.routeType = 2\n\
                 Group.routeFirstStop = 1\n";
    let route = mobility(&folder.0, route);
    assert_eq!((route.parameters.word("order"), route.parameters.number("first_stop")), ("ping_pong", 1.0));
    assert!(route.routes.is_some() && route.interest.is_empty());
    let shops = "Group.movementModel = ShortestPathMapBasedMovement\nGroup.pois = 3, 0.4\n";
    assert_eq!(mobility(&folder.0, shops).interest[0].share, 0.4);
    // As in The ONE, only models that use them ask for points of interest.
    assert!(
        mobility(&folder.0, "Group.movementModel = MapBasedMovement\nGroup.pois = 9, 2\n")
            .interest
            .is_empty()
    );
}

#[test]
fn what_cannot_be_is_refused_with_what_is_accepted() {
    let folder = Folder::new("refused");
    let on_map = |more: &str| format!("Group.movementModel = ShortestPathMapBasedMovement\n{more}\n");
    let route = |more: &str| format!("Group.movementModel = MapRouteMovement\nGroup.routeType = 1\n{more}\n");
    let cases = [
        (on_map("Group.pois = 3"), "`Group.pois` has 1 numbers; write file and probability by turns"),
        (on_map("Group.pois = 3, 1.5"), "`Group.pois` gives file 3 probability 1.5; "),
        (on_map("Group.pois = 3, 0.7, 4, 0.7"), "`Group.pois` gives file 4 probability 0.7; "),
        (on_map("Group.pois = 3, 0.1, 3, 0.1"), "`Group.pois` names file 3 twice; "),
        (on_map("Group.pois = 5, 0.1"), "`PointsOfInterest.poiFile5` is not set; "),
        (
            on_map("Group.pois = 3, 0.1\nGroup.okMaps = 2\nPointsOfInterest.poiFile3 = tram.wkt"),
            "no point found; ",
        ),
        (on_map("Group.okMaps = 3"), "`Group.okMaps` names map 3; there are maps 1 to 2"),
        (on_map("Group.pois = 3, 0.1\nGroup.okMaps = 1"), "shops.wkt:1: (400, 200) is on a part of the map"),
        (route(""), "`Group.routeFile` is not set; "),
        (route("Group.routeFile = bus.wkt"), "`Group.routeFile` names `bus.wkt`, which does not exist; "),
        (
            route("Group.routeFile = tram.wkt\nGroup.routeType = 3"),
            "`Group.routeType` is 3; 1 is a circular route",
        ),
        (
            route("Group.routeFile = tram.wkt\nGroup.routeFirstStop = 2"),
            "a route has 2 stops; it needs 3 or more",
        ),
        (
            "Group.movementModel = ClusterMovement\nGroup.clusterRange = -4\n".to_owned(),
            "`Group.clusterRange` is -4 m; give 0.001 to 1e9 metres",
        ),
    ];
    for (more, said) in cases {
        let error = error(&folder.0, &more);
        assert!(error.contains(said), "{more}: {error}");
    }
    std::fs::write(folder.0.join("off.wkt"), "\nLINESTRING (100 200, 150 200)").unwrap();
    let error = error(&folder.0, &route("Group.routeFile = off.wkt"));
    assert!(
        error.contains("off.wkt:2: (150, 200) is not on the map; expected a point of one of its lines"),
        "{error}"
    );
}

#[test]
fn contacts_begin_with_the_first_tick_and_those_of_the_last_one_do_not_end() {
    let folder = Folder::new("ticks");
    let together =
        "Group.movementModel = StationaryMovement\nGroup.nodeLocation = 5, 6\nGroup.nrofHosts = 2\n";
    let contacts = |more: &str| {
        let network = read(&folder.0, more).unwrap();
        let list = network.seeded(Seed::Own).unwrap().contacts().unwrap().list;
        list.iter().map(|contact| (contact.start, contact.end)).collect::<Vec<_>>()
    };
    let at = |s: i64| Instant::ZERO + Duration::from_secs(s);
    assert_eq!(contacts(together), [(at(1), at(101))]);
    // In range at zero and never again: The ONE does not see it.
    let apart = "Scenario.nrofHostGroups = 2\nGroup.nrofHosts = 1\nGroup1.movementModel = StationaryMovement\n\
                 Group1.nodeLocation = 0, 0\nGroup2.movementModel = LinearMovement\n\
                 Group2.LinearMovement.startLocation = 40, 0\nGroup2.LinearMovement.endLocation = 80, 0\n\
                 Group2.LinearMovement.initLocType = 1\nGroup2.LinearMovement.targetType = 1\n";
    assert_eq!(contacts(apart), []);
}

//! `Group.movementModel` and what it reads: speeds, waits, places, maps.

use super::groups::Before;
use super::maps;
use super::numbers::{double, int, list, range};
use super::places;
use super::settings::{Found, Run, Space};
use super::working_day;
use crate::error::{Result, short};
use crate::files::Files;
use crate::model::Mobility;
use crate::quantity::{Area, Bounds};
use lightlag_protocols::dtn::Value;
use lightlag_protocols::time::Duration;

/// Speed of light.
const SPEED_MAX_M_PER_S: f64 = 299_792_458.0;
const MOVEMENTS: &[&str] = words![
    RandomWaypoint RandomWalk RandomDirection ModifiedRandomDirection ClusterMovement LinearMovement LinearFormation
    GridLocation StationaryMovement MapBasedMovement MapBasedMovementBackAllowed ShortestPathMapBasedMovement
    MapRouteMovement BusMovement BusTravellerMovement WorkingDayMovement ExternalMovement
    ExternalPathMovement
];

fn not_negative(found: Option<Found>, default: f64) -> Result<Bounds<f64>> {
    let Some(found) = found else { return Ok(Bounds::single(default)) };
    let (low, high) = found.parse(|text| range(text, false, double))?;
    if low < 0.0 {
        Err(found.wrong("is negative", "give two numbers from zero on"))
    } else {
        Ok(Bounds { low, high })
    }
}

/// As in The ONE it may reach down to zero, but not only be zero: nodes would never arrive.
fn speed(space: &Space) -> Result<Bounds<f64>> {
    let found = space.find("speed");
    let speed = not_negative(found.clone(), 1.0)?;
    match found {
        Some(found) if speed.high == 0.0 => {
            Err(found.wrong("is zero: nodes never arrive", "give metres per second, like 0.5, 1.5"))
        }
        Some(found) if speed.high > SPEED_MAX_M_PER_S => {
            Err(found.wrong(format!("reaches {} m/s", short(speed.high)), "nothing is faster than light"))
        }
        _ => Ok(speed),
    }
}

/// How the nodes of a group move.
pub fn mobility(space: &Space, before: &Before, files: &Files) -> Result<Mobility> {
    let model = space.need("movementModel", "RandomWaypoint")?;
    let area = world_size(space.run)?;
    let speed = speed(space)?;
    let wait = space.find("waitTime");
    let pause = not_negative(wait.clone(), 0.0)?;
    if let Some(found) = wait.filter(|_| pause.high > 1e9) {
        return Err(found.wrong("is above 1e9 s", "give at most 1e9 seconds"));
    }
    // A clock of nanoseconds.
    let pause_s = |seconds| Duration::from_secs_f64(seconds).as_secs_f64();
    let pause = Bounds { low: pause_s(pause.low), high: pause_s(pause.high) };
    let common =
        [("area", Value::Area(area)), ("speed", Value::Range(speed)), ("pause", Value::Range(pause))];
    let with =
        |name, own: Vec<(&'static str, Value)>| Mobility::named(name, common.iter().cloned().chain(own));
    let direction = |stop: &'static str| {
        let right = Value::Number(area.height_m);
        with("random_direction", vec![("stop", stop.into()), ("right_border", right)])
    };
    let mobility = match model.value {
        "RandomWaypoint" => with("random_waypoint", Vec::new()),
        // Its legs are hard-coded in The ONE, as are the defaults here.
        "RandomWalk" => with("random_walk", Vec::new()),
        // The second is of older versions.
        "MapBasedMovement" | "MapBasedMovementBackAllowed" => {
            let map = Some(maps::map(space)?);
            let turns_back = model.value.ends_with("BackAllowed");
            with("map_walk", vec![("turns_back", turns_back.into())])
                .map(|mobility| Mobility { map, ..mobility })
        }
        "ShortestPathMapBasedMovement" => {
            let (map, interest) = (Some(maps::map(space)?), maps::interest(space)?);
            with("shortest_path_map", Vec::new()).map(|mobility| Mobility { map, interest, ..mobility })
        }
        "MapRouteMovement" | "BusMovement" => {
            let (map, routes) = (Some(maps::map(space)?), Some(maps::routes(space)?));
            let (order, first) = (maps::route_order(space)?, maps::first_stop(space)?);
            let mut own = vec![("order", order.into()), ("first_stop", first.into())];
            let mut name = "map_route";
            if model.value == "BusMovement" {
                name = "bus";
                own.push(("system", working_day::system(space, "busControlSystemNr")?));
            }
            with(name, own).map(|mobility| Mobility { map, routes, ..mobility })
        }
        "BusTravellerMovement" => {
            let map = Some(maps::map(space)?);
            let (chances, next_bus) = working_day::habits(space)?;
            let own = [("system", working_day::system(space, "busControlSystemNr")?), ("next_bus", next_bus)];
            Mobility::named("bus_passenger", common[..2].iter().cloned().chain(own))
                .map(|mobility| Mobility { map, chances, ..mobility })
        }
        "WorkingDayMovement" => {
            let (map, places) = (Some(maps::map(space)?), working_day::places(space)?);
            with("working_day", working_day::parameters(space)?).map(|mobility| Mobility {
                map,
                places,
                ..mobility
            })
        }
        "RandomDirection" => direction("border"),
        "ModifiedRandomDirection" => direction("anywhere"),
        "ClusterMovement" => places::cluster(space, speed, pause)?,
        "LinearMovement" => places::line_walk(space, speed)?,
        "LinearFormation" => places::line_formation(space)?,
        "GridLocation" => places::grid(space)?,
        "ExternalMovement" => maps::samples(space, before, files)?,
        "ExternalPathMovement" => maps::paths(space, before, files)?,
        "StationaryMovement" => places::stationary(space, area)?,
        _ => return Err(model.unsupported(MOVEMENTS)),
    };
    mobility.map_err(|wrong| model.wrong(format!("{wrong}"), "see `lightlag list`"))
}

/// The size of the world.
pub fn world_size(run: Run) -> Result<Area> {
    let found = run.space("MovementModel").need("worldSize", "4500, 3400")?;
    match found.parse(|text| list(text, int))?[..] {
        [width, height] if width > 0 && height > 0 => {
            Ok(Area { width_m: f64::from(width), height_m: f64::from(height) })
        }
        _ => Err(found.wrong("is not a size", "give width and height in metres, like 4500, 3400")),
    }
}

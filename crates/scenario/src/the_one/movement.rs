//! `Group.movementModel` and what it reads: speeds, waits, places, maps.

use super::numbers::{double, int, list, range};
use super::settings::{Found, Run, Space};
use crate::error::{Result, quoted, short};
use crate::files::locate;
use crate::model::{Map, MapFile, Mobility};
use crate::quantity::{Area, Bounds, Position};
use lightlag_protocols::dtn::Value;
use lightlag_protocols::time::Duration;
use lightlag_worlds::mobility::map::{MapOptions, osm::OsmOptions};

/// Speed of light.
const SPEED_MAX_M_PER_S: f64 = 299_792_458.0;
const MOVEMENTS: &[&str] =
    &["RandomWaypoint", "RandomWalk", "ShortestPathMapBasedMovement", "StationaryMovement"];

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
pub fn mobility(space: &Space) -> Result<Mobility> {
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
    let (area_m, values) = (Value::Area(area), (Value::Range(speed), Value::Range(pause)));
    let moving = |name| Mobility::named(name, [("area", area_m), ("speed", values.0), ("pause", values.1)]);
    let mobility = match model.value {
        "RandomWaypoint" => moving("random_waypoint"),
        // Its legs are hard-coded in The ONE, as are the defaults here.
        "RandomWalk" => moving("random_walk"),
        "ShortestPathMapBasedMovement" => {
            let map = Some(map(space)?);
            moving("shortest_path_map").map(|mobility| Mobility { map, ..mobility })
        }
        "StationaryMovement" => {
            Mobility::named("stationary", [("at", Value::Position(location(space, area)?))])
        }
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

fn location(space: &Space, area: Area) -> Result<Position> {
    let found = space.need("nodeLocation", "100, 200")?;
    let inside = |x: i32, y: i32| {
        (0.0..=area.width_m).contains(&f64::from(x)) && (0.0..=area.height_m).contains(&f64::from(y))
    };
    match found.parse(|text| list(text, int))?[..] {
        [x, y] if inside(x, y) => Ok(Position { x_m: f64::from(x), y_m: f64::from(y) }),
        [_, _] => Err(found.wrong("lies outside of the world", "see `MovementModel.worldSize`")),
        _ => Err(found.wrong("is not a place", "give x and y in metres, like 100, 200")),
    }
}

fn map(space: &Space) -> Result<Map> {
    if let Some(found) = space.find("pois") {
        return Err(found.wrong("asks for points of interest, which are not supported", "leave it out"));
    }
    let files = space.run.space("MapBasedMovement");
    let count = files.need("nrofMapFiles", "1")?;
    let number = count.whole(1, 31, "there are 1 to 31 map files")?;
    let mut maps = Vec::new();
    for index in 1..=number {
        let found = files.need(&format!("mapFile{index}"), "maps/grid.wkt")?;
        let name = super::properties::readable(found.value);
        let path = locate(&name, &found.folders());
        if !path.is_file() {
            return Err(found.wrong(
                format!("names {}, which does not exist", quoted(&name)),
                "name it relative to the settings, to the folder above them, or to where you are",
            ));
        }
        maps.push(MapFile { path, place: found.place.clone() });
    }
    let mut allowed = Vec::new();
    if let Some(found) = space.find("okMaps") {
        for index in found.parse(|text| list(text, int))? {
            match u32::try_from(index).ok().filter(|_| (1..=number).contains(&index)) {
                Some(index) => allowed.push(index),
                None => {
                    return Err(
                        found.wrong(format!("names map {index}"), format!("there are maps 1 to {number}"))
                    );
                }
            }
        }
    }
    Ok(Map { files: maps, allowed, options: MapOptions::THE_ONE, osm: OsmOptions::default() })
}

//! Movement models of The ONE that read files: maps, routes, points of interest, recorded positions.

use super::groups::Before;
use super::numbers::{double, int, list};
use super::settings::{Found, Space};
use crate::error::{Result, quoted, short};
use crate::files::{Files, locate};
use crate::model::{Map, MapFile, Mobility, PointsOfInterest};
use crate::tracks::{self, Tracks};
use lightlag_protocols::parameter::ParameterError;
use lightlag_worlds::mobility::map::{MapOptions, osm::OsmOptions};
use std::sync::Arc;

/// The roads, and which of them the group may use.
pub fn map(space: &Space) -> Result<Map> {
    let settings = space.run.space("MapBasedMovement");
    let count = settings.need("nrofMapFiles", "1")?;
    let number = count.whole(1, 31, "there are 1 to 31 map files")?;
    let named = |index| file(&settings.need(&format!("mapFile{index}"), "maps/grid.wkt")?, space);
    let files = (1..=number).map(named).collect::<Result<Vec<MapFile>>>()?;
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
    Ok(Map { files, allowed, options: MapOptions::THE_ONE, osm: OsmOptions::default() })
}

/// A file that a setting names.
pub fn file(found: &Found, space: &Space) -> Result<MapFile> {
    let name = space.run.fill(found)?;
    let path = locate(&name, &found.folders());
    if crate::given::is_file(&path) {
        return Ok(MapFile { path, place: found.place.clone() });
    }
    Err(found.wrong(
        format!("names {}, which does not exist", quoted(&name)),
        "name it relative to the settings, to the folder above them, or to where you are",
    ))
}

/// The routes of a group.
pub fn routes(space: &Space) -> Result<MapFile> {
    file(&space.need("routeFile", "routes/tram.wkt")?, space)
}

/// What follows the last stop of a route.
pub fn route_order(space: &Space) -> Result<&'static str> {
    let found = space.need("routeType", "1")?;
    let right = "1 is a circular route, 2 one back and forth";
    Ok(if found.whole(1, 2, right)? == 1 { "circular" } else { "ping_pong" })
}

/// The stop at which the nodes of a group begin; -1 for a random one.
pub fn first_stop(space: &Space) -> Result<f64> {
    let Some(found) = space.find("routeFirstStop") else { return Ok(-1.0) };
    let number = found.parse(int)?.max(-1);
    if number <= 1_000_000 {
        return Ok(f64::from(number));
    }
    Err(found.wrong(format!("is {number}"), "number the stops from 0 on; -1 is a random one"))
}

/// Places that the nodes of a group visit more often: number of a file and probability, by turns.
pub fn interest(space: &Space) -> Result<Vec<PointsOfInterest>> {
    let Some(found) = space.find("pois") else { return Ok(Vec::new()) };
    let numbers = found.parse(|text| list(text, double))?;
    let right = "write file and probability by turns, like 1, 0.3, 2, 0.1, with a sum of 1 at most";
    if numbers.len() % 2 != 0 {
        return Err(found.wrong(format!("has {} numbers", numbers.len()), right));
    }
    let (mut all, mut known, mut sum) = (Vec::new(), Vec::new(), 0.0);
    for pair in numbers.chunks_exact(2) {
        // The ONE cuts off what follows the point.
        let (index, share) = (pair[0].trunc(), pair[1]);
        sum += share;
        if !(0.0..=1e6).contains(&index) || !(0.0..=1.0).contains(&share) || sum > 1.0 {
            return Err(
                found.wrong(format!("gives file {} probability {}", short(index), short(share)), right)
            );
        }
        if known.contains(&(index as u32)) {
            return Err(found.wrong(format!("names file {} twice", short(index)), "name each file once"));
        }
        known.push(index as u32);
        let key = format!("poiFile{}", index as u32);
        let file = file(&space.run.space("PointsOfInterest").need(&key, "places/shops.wkt")?, space)?;
        all.push(PointsOfInterest { file, share });
    }
    Ok(all)
}

/// `ExternalMovement`: its hosts, of whatever group, take the nodes of the file in turn.
pub fn samples(space: &Space, before: &Before, files: &Files) -> Result<Built> {
    let settings = space.run.space("ExternalMovement");
    // How far The ONE reads ahead.
    let _ = settings.find("nrofPreload");
    let MapFile { path, place } = file(&settings.need("file", "positions.txt")?, space)?;
    let tracks = tracks::samples(&path.display().to_string(), &files.read(&path, &place)?)?;
    Ok(recorded(tracks.of_files(vec![path]), before.recorded))
}

/// `ExternalPathMovement`: each host takes the paths of its own number.
pub fn paths(space: &Space, before: &Before, files: &Files) -> Result<Built> {
    let MapFile { path, place } = file(&space.need("traceFile", "paths.txt")?, space)?;
    let active = file(&space.need("activeFile", "active.txt")?, space)?;
    let scenario = space.run.space("Scenario");
    let tick = scenario.find("updateInterval").map(|found| super::time(&found)).transpose()?;
    let (bytes, active_bytes) = (files.read(&path, &place)?, files.read(&active.path, &active.place)?);
    let name = active.path.display().to_string();
    let activity = Some((name.as_str(), &active_bytes[..]));
    let tracks = tracks::paths(&path.display().to_string(), &bytes, activity, tick)?;
    Ok(recorded(tracks.of_files(vec![path, active.path]), before.nodes))
}

/// A model, or which of its parameters is wrong.
type Built = std::result::Result<Mobility, ParameterError>;

fn recorded(tracks: Tracks, first: usize) -> Built {
    let mobility = Mobility::named("recorded", [("first_track", (first as f64).into())]);
    mobility.map(|mobility| Mobility { tracks: Some(Arc::new(tracks)), ..mobility })
}

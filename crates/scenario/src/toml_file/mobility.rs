//! `mobility = { model = "...", ... }`: how nodes move.

use super::section::{Section, items, wrong_type};
use super::world::Motion;
use super::{Context, model};
use crate::error::{Error, Result, Wrong, is_not, quoted};
use crate::files::locate;
use crate::keys::INTEREST;
use crate::model::{Draws, Map, MapFile, Mobility, PointsOfInterest};
use crate::models::MOBILITY;
use crate::quantity::plain_number;
use crate::tracks::{self, Format, Tracks};
use crate::tree::{Node, Value};
use lightlag_worlds::mobility::map::osm::{BoundingBox, OsmOptions, Roads};
use lightlag_worlds::mobility::map::{Disconnected, MapOptions};
use lightlag_worlds::mobility::{Input, TABLE};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub fn mobility(node: &Node, path: &str, context: &Context, of: Motion) -> Result<Mobility> {
    let section = Section::open(node, path)?;
    let (chosen, parameters) = model(&section, &MOBILITY)?;
    let entry = &TABLE[chosen];
    let is_the_one = of.draws == Draws::TheOne;
    for p in entry.model.parameters.iter().filter(|p| p.unit == "m/s" && !is_the_one) {
        if parameters.range(p.name).low == 0.0 {
            return section.refuse(
                p.name,
                format!("`{}` reaches down to zero: nodes might never arrive", section.key(p.name)),
                "begin above zero, like \"0.5..1.5 m/s\"",
            );
        }
    }
    (entry.check)(&parameters)
        .map_err(|wrong| Error::new(&section.place, format!("`{path}` {}", wrong.what), wrong.right))?;
    let has = |input| entry.inputs.contains(&input);
    let map = has(Input::Map).then(|| map(&section, context, of.draws)).transpose()?;
    let routes = has(Input::Routes).then(|| routes(&section, context)).transpose()?;
    let interest = if has(Input::PointsOfInterest) { interest(&section, context)? } else { Vec::new() };
    let tracks = if has(Input::Tracks) { Some(Arc::new(tracks(&section, context, of)?)) } else { None };
    if let Some(tracks) = &tracks {
        let missing = tracks.list.len() <= parameters.number("first_track") as usize && !is_the_one;
        if missing {
            let what = format!("`{path}` takes tracks that its file does not have");
            let right = format!("the tracks are 0 to {}", tracks.list.len() - 1);
            return section.place_of("first_track").refuse(what, right);
        }
    }
    let mut places = BTreeMap::new();
    for &key in
        entry.inputs.iter().flat_map(|input| if let Input::Places(keys) = input { keys } else { &[][..] })
    {
        if let Some(node) = section.get(key) {
            places.insert(key, file(node, &section.key(key), context)?);
        }
    }
    let chances = if has(Input::Chances) { chances(&section)? } else { Vec::new() };
    let on_map = routes.is_some() || !interest.is_empty() || !places.is_empty();
    let mobility = Mobility { entry, parameters, map, routes, interest, places, chances, tracks };
    if let (Some(map), true) = (&mobility.map, on_map)
        && map.files.iter().any(MapFile::is_osm)
    {
        let what =
            format!("`{path}` names places on an OpenStreetMap file, which is projected when it is read");
        return section.place.refuse(what, "convert the roads and the places to WKT in metres");
    }
    Ok(mobility)
}

fn tracks(section: &Section, context: &Context, of: Motion) -> Result<Tracks> {
    let formats = [("samples", Format::Samples), ("paths", Format::Paths)];
    let format = section.word("format", &formats)?.unwrap_or(Format::Samples);
    let read = |name: &str, node: &Node| -> Result<(String, Arc<[u8]>)> {
        let MapFile { path, place } = file(node, &section.key(name), context)?;
        Ok((path.display().to_string(), context.files.read(&path, &place)?))
    };
    let positions = section.get("positions").ok_or_else(|| section.missing("positions", "\"walk.txt\""))?;
    let (name, bytes) = read("positions", positions)?;
    let active = section.get("active").map(|node| read("active", node)).transpose()?;
    let tracks = match (format, &active) {
        (Format::Samples, None) => tracks::samples(&name, &bytes),
        (Format::Samples, Some(_)) => {
            let right = "leave it out, or write `format = \"paths\"`";
            section.refuse("active", format!("`{}` needs paths", section.key("active")), right)
        }
        (Format::Paths, active) => {
            let active = active.as_ref().map(|(name, bytes)| (name.as_str(), &bytes[..]));
            tracks::paths(&name, &bytes, active, of.tick.filter(|_| of.draws == Draws::TheOne))
        }
    };
    let files = [Some(name), active.map(|(name, _)| name)].into_iter().flatten().map(PathBuf::from).collect();
    Ok(tracks?.of_files(files))
}

fn routes(section: &Section, context: &Context) -> Result<MapFile> {
    match section.get("routes") {
        Some(node) => file(node, &section.key("routes"), context),
        None => Err(section.missing("routes", "\"tram.wkt\"")),
    }
}

fn chances(section: &Section) -> Result<Vec<f64>> {
    let node = section.get("chances").ok_or_else(|| section.missing("chances", "[0.9, 0.5]"))?;
    let path = section.key("chances");
    let right = "give probabilities from 0 to 1, like [0.9, 0.5]";
    let chance = |node: &Arc<Node>| match node.value {
        Value::Real(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Value::Whole(number @ 0..=1) => Ok(number as f64),
        _ => Err(wrong_type(node, &path, right)),
    };
    items(node, &path, "probabilities", "add one")?.iter().map(chance).collect()
}

fn interest(section: &Section, context: &Context) -> Result<Vec<PointsOfInterest>> {
    let Some(node) = section.get("points_of_interest") else { return Ok(Vec::new()) };
    let path = section.key("points_of_interest");
    let add = "add { file = \"shops.wkt\", share = 0.3 }";
    let mut all: Vec<PointsOfInterest> = Vec::new();
    for node in items(node, &path, "tables", add)? {
        let table = Section::new(node, &path, INTEREST)?;
        let named = table.get("file").ok_or_else(|| table.missing("file", "\"shops.wkt\""))?;
        let file = file(named, &table.key("file"), context)?;
        let share = table.real("share", 0.0, 1.0)?.ok_or_else(|| table.missing("share", "0.3"))?;
        all.push(PointsOfInterest { file, share });
        let sum: f64 = all.iter().map(|one| one.share).sum();
        // A sum of decimals that is 1 on paper may be above it by rounding.
        if sum > 1.0 + 1e-9 {
            return table.refuse("share", format!("the shares of `{path}` add up to {sum}"), "1 at most");
        }
    }
    Ok(all)
}

fn map(section: &Section, context: &Context, draws: Draws) -> Result<Map> {
    let named: Vec<&Node> = match (section.get("map"), section.get("maps")) {
        (Some(node), None) => vec![node],
        (None, Some(Node { value: Value::List(list), .. })) if !list.is_empty() => {
            list.iter().map(AsRef::as_ref).collect()
        }
        _ => return Err(section.missing("map", "\"city.osm.pbf\"")),
    };
    let files = named
        .into_iter()
        .map(|node| file(node, &section.key("map"), context))
        .collect::<Result<Vec<MapFile>>>()?;
    let roads = [("all", Roads::All), ("drive", Roads::Drive), ("walk", Roads::Walk)];
    // Cuttings of real maps nearly always have crumbs at their edges; hand-made ones have no excuse.
    let largest = section.flag("largest_part")?.unwrap_or(files.iter().any(MapFile::is_osm));
    let disconnected = if largest { Disconnected::Largest } else { Disconnected::Error };
    let osm = OsmOptions {
        roads: section.word("roads", &roads)?.unwrap_or_default(),
        bounds: section.quantity("bounding_box", bounding_box)?,
    };
    let options = match draws {
        Draws::Lightlag => MapOptions { to_origin: true, disconnected, ..MapOptions::default() },
        Draws::TheOne => MapOptions { disconnected, ..MapOptions::THE_ONE },
    };
    Ok(Map { allowed: allowed(section, files.len())?, files, options, osm })
}

/// Which maps may be used.
fn allowed(section: &Section, maps: usize) -> Result<Vec<u32>> {
    let Some(node) = section.get("allowed") else { return Ok(Vec::new()) };
    let path = section.key("allowed");
    let right = format!("number the maps from 1 to {maps}");
    let number = |node: &Arc<Node>| match node.value {
        Value::Whole(number) => u32::try_from(number)
            .ok()
            .filter(|number| (1..=maps).contains(&(*number as usize)))
            .ok_or_else(|| Error::new(&node.place, format!("`{path}` names map {number}"), &right)),
        _ => Err(wrong_type(node, &path, &right)),
    };
    items(node, &path, "numbers", "add one")?.iter().map(number).collect()
}

fn file(node: &Node, path: &str, context: &Context) -> Result<MapFile> {
    let Value::Text(name) = &node.value else {
        return Err(wrong_type(node, path, "it must be a file's name in quotes"));
    };
    let path = locate(name, &context.folders);
    if crate::given::is_file(&path) {
        return Ok(MapFile { path, place: node.place.clone() });
    }
    node.place.refuse(
        format!("cannot find the file {}", quoted(&path.display().to_string())),
        "name a file relative to the scenario's folder; a map is WKT or OpenStreetMap (.osm.pbf)",
    )
}

/// `"24.92, 60.16, 24.97, 60.18 deg"`: west, south, east, north.
fn bounding_box(text: &str) -> std::result::Result<BoundingBox, Wrong> {
    let wrong = || {
        Wrong::new(
            is_not(text, "a bounding box"),
            "write west, south, east and north like \"24.92, 60.16, 24.97, 60.18 deg\"",
        )
    };
    let numbers = text.trim().strip_suffix("deg").ok_or_else(wrong)?;
    let parsed: Option<Vec<f64>> = numbers.split(',').map(|word| plain_number(word.trim())).collect();
    let four: [f64; 4] = parsed.and_then(|list| list.try_into().ok()).ok_or_else(wrong)?;
    let [west_deg, south_deg, east_deg, north_deg] = four;
    let fits = -180.0 <= west_deg && west_deg < east_deg && east_deg <= 180.0;
    let fits = fits && -90.0 <= south_deg && south_deg < north_deg && north_deg <= 90.0;
    if fits { Ok(BoundingBox { west_deg, south_deg, east_deg, north_deg }) } else { Err(wrong()) }
}

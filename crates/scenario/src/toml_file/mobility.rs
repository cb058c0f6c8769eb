//! `mobility = { model = "...", ... }`: how nodes move.

use super::Context;
use super::section::Section;
use crate::error::{Error, Result, Wrong, quoted};
use crate::files::locate;
use crate::model::{Initial, MapFile, MapReading, Mobility, Roads};
use crate::quantity::{self, Bounds, plain_number};
use crate::tree::{Node, Value};
use lightlag_protocols::time::Duration;

/// What The ONE's walkers do, whose steps are hard-coded.
const WALK_LEG_M: Bounds<f64> = Bounds { low: 0.0, high: 50.0 };

const MODELS: &[(&str, &[&str])] = &[
    ("stationary", &["model", "at", "area"]),
    ("random_waypoint", &["model", "area", "speed", "pause", "initial"]),
    ("random_walk", &["model", "area", "speed", "pause", "leg"]),
    (
        "shortest_path_map",
        &["model", "map", "maps", "area", "speed", "pause", "roads", "bounding_box", "largest_part"],
    ),
];

pub fn mobility(node: &Node, path: &str, context: &Context) -> Result<Mobility> {
    let section = Section::open(node, path)?;
    let models: Vec<(&str, usize)> = MODELS.iter().map(|model| model.0).zip(0..).collect();
    let model =
        section.word("model", &models)?.ok_or_else(|| section.missing("model", "\"random_waypoint\""))?;
    section.allow(MODELS[model].1)?;
    match MODELS[model].0 {
        "stationary" => stationary(&section),
        "random_waypoint" => Ok(Mobility::RandomWaypoint {
            area: area(&section)?,
            speed_m_per_s: speed(&section)?,
            pause: pause(&section)?,
            initial: section.word("initial", INITIALS)?.unwrap_or(Initial::Uniform),
        }),
        "random_walk" => Ok(Mobility::RandomWalk {
            area: area(&section)?,
            speed_m_per_s: speed(&section)?,
            pause: pause(&section)?,
            leg_m: section.quantity("leg", quantity::lengths_m)?.unwrap_or(WALK_LEG_M),
        }),
        _ => map(&section, context),
    }
}

const INITIALS: &[(&str, Initial)] =
    &[("uniform", Initial::Uniform), ("stationary_distribution", Initial::StationaryDistribution)];

fn stationary(section: &Section) -> Result<Mobility> {
    let at = section.quantity("at", quantity::position)?;
    let area = section.quantity("area", quantity::area)?;
    match (at, area) {
        (Some(at), None) => Ok(Mobility::At(at)),
        (None, Some(area)) => Ok(Mobility::Scattered(area)),
        _ => Err(Error::new(
            &section.place,
            format!("`{}` needs either `at` or `area`", section.path),
            "write at = \"100 m, 200 m\" for one place, area = \"1 km x 1 km\" for random ones",
        )),
    }
}

fn area(section: &Section) -> Result<quantity::Area> {
    section.need("area", "\"1 km x 1 km\"", quantity::area)
}

/// A speed of zero would never arrive.
fn speed(section: &Section) -> Result<Bounds<f64>> {
    let speed = section.need("speed", "\"0.5..1.5 m/s\"", quantity::speeds_m_per_s)?;
    if speed.low > 0.0 {
        return Ok(speed);
    }
    Err(Error::new(
        &section.place_of("speed"),
        format!("`{}` reaches down to zero: nodes might never arrive", section.key("speed")),
        "begin above zero, like \"0.5..1.5 m/s\"",
    ))
}

fn pause(section: &Section) -> Result<Bounds<Duration>> {
    Ok(section.quantity("pause", quantity::times)?.unwrap_or(Bounds::single(Duration::ZERO)))
}

fn map(section: &Section, context: &Context) -> Result<Mobility> {
    let mut maps = Vec::new();
    let mut add = |node: &Node| match &node.value {
        Value::Text(name) => {
            let path = locate(name, &context.folders);
            maps.push(MapFile { path, place: node.place.clone() });
            Ok(())
        }
        _ => Err(super::wrong_type(node, &section.key("map"), "it must be a file's name in quotes")),
    };
    match (section.get("map"), section.get("maps")) {
        (Some(node), None) => add(node)?,
        (None, Some(Node { value: Value::List(list), .. })) if !list.is_empty() => {
            list.iter().try_for_each(|node| add(node))?;
        }
        _ => return Err(section.missing("map", "\"city.osm.pbf\"")),
    }
    for file in &maps {
        if !file.path.is_file() {
            let name = file.path.display().to_string();
            return Err(Error::new(
                &file.place,
                format!("there is no map {}", quoted(&name)),
                "name a WKT or an OpenStreetMap file (.osm.pbf), relative to the scenario's folder",
            ));
        }
    }
    let roads = [("all", Roads::All), ("drive", Roads::Drive), ("walk", Roads::Walk)];
    // Cuttings of real maps nearly always have crumbs at their edges; hand-made ones have no excuse.
    let real = maps.iter().any(|file| file.path.extension().is_some_and(|end| end == "pbf"));
    let reading = MapReading {
        the_one: false,
        largest_part: section.flag("largest_part")?.unwrap_or(real),
        roads: section.word("roads", &roads)?.unwrap_or_default(),
        bounding_box_deg: section.quantity("bounding_box", bounding_box)?,
    };
    Ok(Mobility::ShortestPathMap {
        maps,
        allowed: Vec::new(),
        reading,
        area: section.quantity("area", quantity::area)?,
        speed_m_per_s: speed(section)?,
        pause: pause(section)?,
    })
}

/// `"24.92, 60.16, 24.97, 60.18 deg"`: west, south, east, north.
fn bounding_box(text: &str) -> std::result::Result<[f64; 4], Wrong> {
    let wrong = || {
        Wrong::new(
            format!("{} is no bounding box", quoted(text)),
            "write west, south, east and north like \"24.92, 60.16, 24.97, 60.18 deg\"",
        )
    };
    let numbers = text.trim().strip_suffix("deg").ok_or_else(wrong)?;
    let parsed: Option<Vec<f64>> = numbers.split(',').map(|word| plain_number(word.trim())).collect();
    let four: [f64; 4] = parsed.and_then(|list| list.try_into().ok()).ok_or_else(wrong)?;
    let [west, south, east, north] = four;
    let fits =
        -180.0 <= west && west < east && east <= 180.0 && -90.0 <= south && south < north && north <= 90.0;
    if fits { Ok(four) } else { Err(wrong()) }
}

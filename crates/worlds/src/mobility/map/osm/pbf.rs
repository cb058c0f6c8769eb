//! Reading of files in PBF format. Building its decoder takes longer than all else here: this module is the feature `osm`.

use super::super::{MapError, Point};
use super::{BYTES_MAX, BoundingBox, OsmOptions, POINTS_MAX, Roads, degree_m};
use osmpbf::{BlobDecode, BlobReader, Element, PrimitiveBlock, Way};
use std::panic::{AssertUnwindSafe, catch_unwind};

impl BoundingBox {
    fn contains(&self, p: Place) -> bool {
        (self.west_deg..=self.east_deg).contains(&p.longitude_deg())
            && (self.south_deg..=self.north_deg).contains(&p.latitude_deg())
    }
}

/// A point on the Earth in 10^-7 degrees, the resolution of OpenStreetMap.
#[derive(Clone, Copy)]
struct Place {
    longitude: i32,
    latitude: i32,
}

impl Place {
    fn longitude_deg(self) -> f64 {
        f64::from(self.longitude) * 1e-7
    }
    fn latitude_deg(self) -> f64 {
        f64::from(self.latitude) * 1e-7
    }
    fn is_on_earth(self) -> bool {
        self.latitude.abs() <= 900_000_000 && self.longitude.abs() <= 1_800_000_000
    }
}

/// Reads the roads as lines in metres about their middle. `name` stands for the file in errors.
///
/// # Errors
/// If the bytes are no OpenStreetMap data, if there is too much of it, or no road.
pub fn parse(bytes: &[u8], name: &str, options: &OsmOptions) -> Result<Vec<Vec<Point>>, MapError> {
    if bytes.is_empty() {
        return Err(MapError::Empty { file: name.to_owned() });
    }
    check_size(name, "bytes", bytes.len() as u64, BYTES_MAX)?;
    // The decoder adds differences without a check, which a build with checks turns into a panic.
    let read = catch_unwind(AssertUnwindSafe(|| read_lines(bytes, name, options)));
    let lines = read.unwrap_or_else(|_| Err(broken(name, "its numbers overflow")))?;
    if lines.is_empty() {
        let right = "expected roads with a fitting tag `highway` within the bounds";
        return Err(MapError::NoRoad { file: name.to_owned(), right });
    }
    Ok(projected(&lines))
}

fn broken(name: &str, what: impl ToString) -> MapError {
    // Messages of the decoder can span lines.
    let what = what.to_string().replace(char::is_control, " ");
    MapError::Pbf { file: name.to_owned(), what }
}

fn check_size(name: &str, what: &'static str, found: u64, most: u64) -> Result<(), MapError> {
    if found <= most {
        return Ok(());
    }
    Err(MapError::TooLarge { file: name.to_owned(), what, found, most })
}

fn read_lines(bytes: &[u8], name: &str, options: &OsmOptions) -> Result<Vec<Vec<Place>>, MapError> {
    let ways = read_ways(bytes, name, options.roads)?;
    let mut wanted: Vec<i64> = ways.iter().flatten().copied().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let places = read_places(bytes, name, &wanted)?;
    let at = |id: &i64| {
        let place = places[wanted.binary_search(id).ok()?]?;
        let inside = options.bounds.is_none_or(|bounds| bounds.contains(place));
        (inside && place.is_on_earth()).then_some(place)
    };
    let mut lines = Vec::new();
    for way in &ways {
        // A road is cut where a point is missing or outside.
        for piece in way.iter().map(at).collect::<Vec<_>>().split(Option::is_none) {
            if piece.len() > 1 {
                lines.push(piece.iter().flatten().copied().collect());
            }
        }
    }
    Ok(lines)
}

/// The ids of the points of each road.
fn read_ways(bytes: &[u8], name: &str, roads: Roads) -> Result<Vec<Vec<i64>>, MapError> {
    let mut ways = Vec::new();
    let mut count = 0_u64;
    each_block(bytes, name, |block| {
        for way in block.groups().flat_map(|group| group.ways()) {
            if is_road(&way, roads) {
                let mut id = 0_i64;
                let ids = way.raw_refs().iter().map(|by| {
                    id = id.wrapping_add(*by);
                    id
                });
                ways.push(ids.collect());
                count += way.raw_refs().len() as u64;
                check_size(name, "points on roads", count, POINTS_MAX)?;
            }
        }
        Ok(())
    })?;
    Ok(ways)
}

/// The places of the wanted points, none for those that the file does not have.
fn read_places(bytes: &[u8], name: &str, wanted: &[i64]) -> Result<Vec<Option<Place>>, MapError> {
    let mut places = vec![None; wanted.len()];
    let mut set = |id: i64, place: Place| {
        if let Ok(i) = wanted.binary_search(&id) {
            places[i] = Some(place);
        }
    };
    each_block(bytes, name, |block| {
        block.for_each_element(|element| match element {
            Element::Node(n) => {
                set(n.id(), Place { longitude: n.decimicro_lon(), latitude: n.decimicro_lat() });
            }
            Element::DenseNode(n) => {
                set(n.id(), Place { longitude: n.decimicro_lon(), latitude: n.decimicro_lat() });
            }
            Element::Way(_) | Element::Relation(_) => {}
        });
        Ok(())
    })?;
    Ok(places)
}

fn each_block(
    bytes: &[u8],
    name: &str,
    mut handle: impl FnMut(&PrimitiveBlock) -> Result<(), MapError>,
) -> Result<(), MapError> {
    let mut has_header = false;
    for blob in BlobReader::new(bytes) {
        match blob.map_err(|e| broken(name, e))?.decode().map_err(|e| broken(name, e))? {
            BlobDecode::OsmHeader(_) => has_header = true,
            BlobDecode::OsmData(block) if has_header => handle(&block)?,
            BlobDecode::OsmData(_) => return Err(broken(name, "data before the header")),
            BlobDecode::Unknown(_) => {}
        }
    }
    if has_header { Ok(()) } else { Err(broken(name, "no header found")) }
}

/// Kinds of `highway` for vehicles and people on foot.
const BOTH: [&str; 13] = [
    "trunk",
    "trunk_link",
    "primary",
    "primary_link",
    "secondary",
    "secondary_link",
    "tertiary",
    "tertiary_link",
    "unclassified",
    "residential",
    "living_street",
    "service",
    "road",
];
const DRIVE_ONLY: [&str; 2] = ["motorway", "motorway_link"];
const WALK_ONLY: [&str; 8] =
    ["footway", "path", "pedestrian", "steps", "track", "cycleway", "bridleway", "corridor"];

fn is_road(way: &Way<'_>, roads: Roads) -> bool {
    let mut kind = None;
    let (mut access, mut foot, mut motor) = (None, None, None);
    let strings = way.raw_stringtable();
    let text = |i: u32| strings.get(i as usize).and_then(|s| std::str::from_utf8(s).ok());
    for (key, value) in way.raw_tags() {
        match text(key) {
            Some("highway") => kind = text(value),
            Some("access") => access = text(value),
            Some("foot") => foot = text(value),
            Some("motor_vehicle") => motor = text(value),
            _ => {}
        }
    }
    let Some(kind) = kind else { return false };
    // The particular tag decides, the general one only in its absence.
    let allowed = |own: Option<&str>| !matches!(own.or(access), Some("no" | "private"));
    let drive = (BOTH.contains(&kind) || DRIVE_ONLY.contains(&kind)) && allowed(motor);
    let walk = (BOTH.contains(&kind) || WALK_ONLY.contains(&kind)) && allowed(foot);
    match roads {
        Roads::All => drive || walk,
        Roads::Drive => drive,
        Roads::Walk => walk,
    }
}

fn projected(lines: &[Vec<Place>]) -> Vec<Vec<Point>> {
    let middle = |values: &dyn Fn(&Place) -> f64| {
        let all = || lines.iter().flatten().map(values);
        (all().fold(f64::INFINITY, f64::min) + all().fold(f64::NEG_INFINITY, f64::max)) / 2.0
    };
    let (longitude, latitude) = (middle(&|p| p.longitude_deg()), middle(&|p| p.latitude_deg()));
    let [east, north] = degree_m(latitude);
    let point =
        |p: &Place| Point::new((p.longitude_deg() - longitude) * east, (p.latitude_deg() - latitude) * north);
    lines.iter().map(|line| line.iter().map(point).collect()).collect()
}

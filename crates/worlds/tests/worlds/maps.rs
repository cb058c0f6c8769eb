//! Maps from files: sound ones, the map of the reference, and every kind of broken bytes.

use crate::skip::reference;
use lightlag_worlds::mobility::map::osm::{self, BoundingBox, OsmOptions, Roads};
use lightlag_worlds::mobility::map::{Disconnected, MapError, MapOptions, RoadMap, wkt};
use proptest::prelude::*;

/// A writer for the few parts of the PBF format that a test needs (OSM wiki, "PBF Format").
mod pbf {
    pub fn varint(mut n: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while n >= 0x80 {
            bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
        bytes
    }
    pub fn number(field: u64, n: u64) -> Vec<u8> {
        [varint(field << 3), varint(n)].concat()
    }
    pub fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
        [&varint(field << 3 | 2)[..], &varint(content.len() as u64), content].concat()
    }
    fn zigzag(n: i64) -> u64 {
        (n << 1 ^ n >> 63) as u64
    }
    /// Packed differences.
    pub fn deltas(field: u64, values: &[i64]) -> Vec<u8> {
        let before = std::iter::once(&0).chain(values);
        let packed = values.iter().zip(before).flat_map(|(v, last)| varint(zigzag(v.wrapping_sub(*last))));
        bytes(field, &packed.collect::<Vec<u8>>())
    }
    pub fn blob(kind: &str, content: &[u8]) -> Vec<u8> {
        let blob = [bytes(1, content), number(2, content.len() as u64)].concat();
        let header = [bytes(1, kind.as_bytes()), number(3, blob.len() as u64)].concat();
        [&(header.len() as u32).to_be_bytes()[..], &header, &blob].concat()
    }
}

const STRINGS: [&str; 8] =
    ["", "highway", "residential", "motorway", "footway", "building", "access", "private"];

type Node = (i64, f64, f64);
type Way<'a> = (&'a [i64], &'a [(u64, u64)]);

/// A file of nodes (id, longitude, latitude) and roads (ids, tags by place in [`STRINGS`]).
fn file(nodes: &[Node], ways: &[Way<'_>]) -> Vec<u8> {
    let strings: Vec<u8> = STRINGS.iter().flat_map(|s| pbf::bytes(1, s.as_bytes())).collect();
    let units = |deg: f64| (deg * 1e7).round() as i64;
    let column = |f: &dyn Fn(&Node) -> i64| nodes.iter().map(f).collect::<Vec<i64>>();
    let dense = [
        pbf::deltas(1, &column(&|n| n.0)),
        pbf::deltas(8, &column(&|n| units(n.2))),
        pbf::deltas(9, &column(&|n| units(n.1))),
    ];
    let mut group = pbf::bytes(2, &dense.concat());
    for (i, (ids, tags)) in ways.iter().enumerate() {
        let keys: Vec<u8> = tags.iter().flat_map(|tag| pbf::varint(tag.0)).collect();
        let values: Vec<u8> = tags.iter().flat_map(|tag| pbf::varint(tag.1)).collect();
        let way =
            [pbf::number(1, i as u64 + 1), pbf::bytes(2, &keys), pbf::bytes(3, &values), pbf::deltas(8, ids)];
        group.extend(pbf::bytes(3, &way.concat()));
    }
    let block = [pbf::bytes(1, &strings), pbf::bytes(2, &group)].concat();
    let header = [pbf::bytes(4, b"OsmSchema-V0.6"), pbf::bytes(4, b"DenseNodes")].concat();
    [pbf::blob("OSMHeader", &header), pbf::blob("OSMData", &block)].concat()
}

/// A residential cross, a motorway and a footpath off its ends, a building, a private road.
fn village() -> Vec<u8> {
    let nodes = [
        (1, 24.93, 60.17),
        (2, 24.94, 60.17),
        (3, 24.95, 60.17),
        (4, 24.94, 60.18),
        (5, 24.96, 60.17),
        (6, 24.94, 60.19),
        (7, 24.92, 60.17),
    ];
    let ways: [Way<'_>; 6] = [
        (&[1, 2, 3], &[(1, 2)]),
        (&[2, 4], &[(1, 2)]),
        (&[3, 5], &[(1, 3)]),
        (&[4, 6, 99], &[(1, 4)]),
        (&[1, 2, 4, 1], &[(5, 2)]),
        (&[1, 7], &[(1, 2), (6, 7)]),
    ];
    file(&nodes, &ways)
}

fn roads(roads: Roads) -> RoadMap {
    let options = OsmOptions { roads, bounds: None };
    RoadMap::from_osm(&village(), "village.osm.pbf", &options, Disconnected::Error).expect("sound")
}

#[test]
fn roads_are_chosen_by_who_may_use_them() {
    assert_eq!(roads(Roads::All).vertex_count(), 6);
    assert_eq!(roads(Roads::Drive).vertex_count(), 5);
    assert_eq!(roads(Roads::Walk).vertex_count(), 5);
}

#[test]
fn lengths_of_streets_are_those_on_the_ground() {
    let (least, greatest) = roads(Roads::Walk).bounds();
    assert_eq!((least.x, least.y), (0.0, 0.0));
    // 0.02 degrees of longitude and of latitude at 60.18 degrees north, on a sphere of 6371.0088 km.
    assert!((greatest.x - 1105.9).abs() < 1.0, "{} m", greatest.x);
    assert!((greatest.y - 2223.9).abs() < 1.0, "{} m", greatest.y);
}

#[test]
fn bounds_cut_the_roads() {
    let bounds = BoundingBox { west_deg: 24.935, south_deg: 60.0, east_deg: 24.955, north_deg: 60.185 };
    let options = OsmOptions { roads: Roads::All, bounds: Some(bounds) };
    let lines = osm::parse(&village(), "village.osm.pbf", &options).expect("sound");
    assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let nowhere = BoundingBox { west_deg: 0.0, south_deg: 0.0, east_deg: 1.0, north_deg: 1.0 };
    let options = OsmOptions { roads: Roads::All, bounds: Some(nowhere) };
    let error = osm::parse(&village(), "village.osm.pbf", &options).expect_err("nothing there");
    assert!(matches!(error, MapError::NoRoad { .. }));
}

#[test]
fn broken_osm_files_are_refused_in_one_line() {
    let refused = |bytes: &[u8]| {
        let text = osm::parse(bytes, "x.pbf", &OsmOptions::default()).expect_err("refused").to_string();
        assert!(text.starts_with("x.pbf: ") && !text.contains('\n'), "{text}");
        text
    };
    assert_eq!(refused(b""), "x.pbf: the file is empty, expected a map");
    refused(b"LINESTRING (0 0, 1 1)");
    refused(b"<?xml version='1.0'?><osm></osm>");
    refused(&[0xff; 100]);
    let sound = village();
    refused(&sound[..sound.len() / 2]);
    refused(&sound[..sound.len() - 1]);
    refused(&[0, 0]);
    refused(&file(&[], &[]));
}

#[test]
fn numbers_that_overflow_are_no_panic() {
    let nodes = [(i64::MAX, 0.0, 0.0), (i64::MIN, 500.0, 99.0), (i64::MAX, f64::MAX, f64::MIN)];
    let bytes = file(&nodes, &[(&[i64::MAX, i64::MIN, 3, i64::MAX], &[(1, 2), (77, 1 << 40)])]);
    assert!(osm::parse(&bytes, "x.pbf", &OsmOptions::default()).is_err());
}

#[test]
fn the_map_of_the_reference_is_read_in_one_piece() {
    let Some(file) = reference("the-one/maps/grid.wkt") else { return };
    let bytes = std::fs::read(file).expect("a readable map");
    let map = RoadMap::from_wkt(&[("grid.wkt", &bytes)], MapOptions::THE_ONE).expect("sound");
    let (least, greatest) = map.bounds();
    assert_eq!((map.vertex_count(), least.x, least.y), (884, 0.0, 0.0));
    assert!((greatest.x - 4337.66).abs() < 0.01 && (greatest.y - 3298.21).abs() < 0.01, "{greatest:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_wkt_reader_panic(text in "(LINESTRING|MULTILINESTRING|POINT|EMPTY|[(), 0-9.eE+\n-]|é|\u{feff}){0,40}") {
        let _ = wkt::parse(text.as_bytes(), "x.wkt");
    }

    #[test]
    fn no_bytes_make_the_wkt_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = wkt::parse(&bytes, "x.wkt");
    }

    #[test]
    fn no_damage_to_an_osm_file_makes_its_reader_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = village();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = osm::parse(&bytes, "x.pbf", &OsmOptions::default());
        bytes.truncate(cut.index(bytes.len()));
        let _ = osm::parse(&bytes, "x.pbf", &OsmOptions::default());
    }
}
